"""Commands that only look at a cluster and show what is there: trees, tables that renew themselves, the web page."""
