"""What is suggested for a word that nobody knows."""

from __future__ import annotations

from gangline.rules.values.nearest import did_you_mean, nearest

KNOWN = ("allocate", "reclaim", "preempt")


def test_the_nearest_word_is_suggested_and_nothing_where_none_is_near() -> None:
    assert nearest("alocate", KNOWN) == "allocate"
    assert nearest("zzz", KNOWN) == ""
    assert nearest("reclaim", KNOWN) == "", "the word itself is no suggestion"


def test_a_message_ends_with_the_suggestions_or_as_it_was() -> None:
    assert did_you_mean("preemt", KNOWN) == "; did you mean preempt?"
    assert did_you_mean("claim", (*KNOWN, "claims"), most=2) == "; did you mean claims or reclaim?"
    assert did_you_mean("zzz", KNOWN) == ""
