"""Bios grow by what is new."""

from hypothesis import given, strategies as st

from internal.people.bio import MAX_BIO, bio_from_names, join_bio, sentences_of_bio, without_sentences


def test_a_repeated_sentence_is_not_added_again() -> None:
    """The same sentence in other case or punctuation adds nothing."""
    assert join_bio("Коллега по проекту X.", "коллега по проекту X") == "Коллега по проекту X."


def test_what_is_new_is_added() -> None:
    """A new sentence follows the known ones."""
    assert join_bio("Живёт в Киеве", "Любит чай.") == "Живёт в Киеве. Любит чай."


def test_a_sentence_that_says_more_takes_the_place_of_the_shorter_one() -> None:
    """A longer wording of a known sentence replaces it, a shorter one is dropped."""
    assert join_bio("Работает в ACME.", "Работает в ACME архитектором.") == "Работает в ACME архитектором."
    assert join_bio("Работает в ACME архитектором.", "Работает в ACME.") == "Работает в ACME архитектором."


def test_a_negation_is_not_a_repetition() -> None:
    """A sentence that turns another one around is kept beside it, whichever came first."""
    assert join_bio("Не живёт в Киеве.", "Живёт в Киеве.") == "Не живёт в Киеве. Живёт в Киеве."
    assert join_bio("Lives in Kyiv.", "No longer lives in Kyiv.") == "Lives in Kyiv. No longer lives in Kyiv."


def test_the_oldest_sentences_give_way_when_a_bio_is_full() -> None:
    """A bio has a bound; what was said last stays."""
    bio = ""
    for number in range(200):
        bio = join_bio(bio, f"Событие номер {number} случилось в городе {number}.")
    assert len(bio) <= MAX_BIO
    assert "номер 199" in bio
    assert "номер 0 " not in bio


def test_sentences_can_be_taken_out_again() -> None:
    """What a merge brought into a bio can be removed from it."""
    assert without_sentences("Живёт в Киеве. Любит чай.", ["любит чай"]) == "Живёт в Киеве."


def test_a_bio_of_names_names_them() -> None:
    """Somebody of whom only names are known has them as his bio."""
    assert bio_from_names(("Петров", "Саша")) == "Петров, Саша"


_BIO = st.lists(
    st.sampled_from(["Живёт в Киеве", "Любит чай!", "Не любит чай", "Works at ACME", "Работает", "Друг детства…"]),
    max_size=6,
).map(" ".join)


@given(_BIO, _BIO)
def test_joining_the_same_again_changes_nothing(known: str, more: str) -> None:
    """However often an archivist repeats a bio, the profile stays as it is after the first time."""
    once = join_bio(known, more)
    assert join_bio(once, more) == once
    assert len(sentences_of_bio(once)) == len(set(map(str.casefold, sentences_of_bio(once))))


@given(st.text(max_size=4000), st.text(max_size=4000))
def test_a_joined_bio_is_never_longer_than_its_bound(known: str, more: str) -> None:
    """No input makes a bio exceed its bound."""
    assert len(join_bio(known, more)) <= MAX_BIO
