"""The lab: traces of work played in virtual time on the real decision core, and what came of it as figures.

`gangline simulate` (`cli/local/simulate.py`) reads the files and shows the figures; everything here is plain computing.
Nothing here talks to an API server, sleeps, or looks at the wall clock."""
