"""The time rules, one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.knowledge.timeline_cases import disputes, said, year, years

from internal.errors import Refused
from internal.knowledge.claims.time_rules import Projection, claims_held_at, project
from internal.knowledge.model import Claim


def works(*claims: Claim) -> Projection:
    return project(claims, functional=True)


def likes(*claims: Claim) -> Projection:
    return project(claims, functional=False)


def test_what_begins_later_closes_what_was_before() -> None:
    """A new employer ends the old job at its own beginning."""
    assert years(works(said("A", 2020), said("B", 2022))) == [("A", 2020, 2022), ("B", 2022, None)]


def test_late_history_is_closed_at_birth() -> None:
    """An older job that is told last is over from the start."""
    assert years(works(said("B", 2022), said("A", 2020))) == [("A", 2020, 2022), ("B", 2022, None)]


def test_a_return_is_a_new_span() -> None:
    """A, then B, then A again are three spans."""
    timeline = works(said("A", 2020), said("A", 2024), said("B", 2022))
    assert years(timeline) == [("A", 2020, 2022), ("B", 2022, 2024), ("A", 2024, None)]


def test_the_same_again_is_one_span_from_the_earliest() -> None:
    """Told twice, a job began when the earlier claim says."""
    timeline = works(said("A", 2022), said("A", 2020))
    assert years(timeline) == [("A", 2020, None)]
    assert len(timeline.spans[0].claims) == 2


def test_disjoint_intervals_stand() -> None:
    """Two stated stays at one place with a gap stay two."""
    assert years(works(said("A", 2010, 2012), said("A", 2020, 2022))) == [("A", 2010, 2012), ("A", 2020, 2022)]


def test_touching_intervals_are_one() -> None:
    """A stay that begins when the other ends continues it."""
    assert years(works(said("A", 2010, 2012), said("A", 2012))) == [("A", 2010, None)]


def test_a_stated_end_ends_earlier_than_the_next_beginning() -> None:
    """Between the stated end and the next job nothing holds."""
    assert years(works(said("A", 2020, 2021), said("B", 2022))) == [("A", 2020, 2021), ("B", 2022, None)]


def test_an_end_alone_closes_the_running_span() -> None:
    """ "Quit in 2022" ends the job that ran, and is listed as its end."""
    quit_ = said("A", None, 2022)
    timeline = works(said("A", 2020), quit_)
    assert years(timeline) == [("A", 2020, 2022)]
    assert timeline.spans[0].ends == (quit_.id,)


def test_an_end_told_twice_ends_once() -> None:
    """The first of two ends counts; the other is the same end told again."""
    assert years(works(said("A", 2020), said("A", None, 2023), said("A", None, 2022))) == [("A", 2020, 2022)]


def test_an_end_between_two_beginnings_separates_them() -> None:
    """Quit and came back: two spans."""
    timeline = works(said("A", 2020), said("A", None, 2022), said("A", 2024))
    assert years(timeline) == [("A", 2020, 2022), ("A", 2024, None)]


def test_an_end_of_something_unknown_is_kept() -> None:
    """Of a job of which only the end is known the beginning stays unknown."""
    timeline = works(said("A", None, 2022), said("B", 2022))
    assert years(timeline) == [("A", None, 2022), ("B", 2022, None)]
    assert disputes(timeline) == []


def test_an_end_after_another_target_began_is_a_question() -> None:
    """Left A in 2023, but worked for B since 2015: when A began is not known, so the owner is asked."""
    assert disputes(works(said("B", 2015), said("A", None, 2023))) == [(("unknown_date",), ["A", "B"])]


def test_a_later_end_of_a_finished_interval_is_another_time() -> None:
    """From 2010 to 2012 and "quit in 2023": when she came back is not guessed."""
    assert years(works(said("A", 2010, 2012), said("A", None, 2023))) == [("A", None, 2023), ("A", 2010, 2012)]


def test_intervals_said_outright_run_in_parallel() -> None:
    """Two jobs, each with both dates, overlap as they were told; nobody is asked."""
    timeline = works(said("A", 2020, 2030), said("B", 2022, 2024))
    assert years(timeline) == [("A", 2020, 2030), ("B", 2022, 2024)]
    assert disputes(timeline) == []
    assert [[span.target for span in pair] for pair in timeline.parallel] == [["A", "B"]]


def test_an_open_span_is_closed_by_an_interval() -> None:
    """Went to B in 2022 and left it in 2023: A ended in 2022 and is not held to have resumed."""
    assert years(works(said("A", 2020), said("B", 2022, 2023))) == [("A", 2020, 2022), ("B", 2022, 2023)]


def test_also_closes_nothing() -> None:
    """ "Also works for B" leaves A; the next job closes both."""
    timeline = works(said("A", 2020), said("B", 2022, also=True))
    assert years(timeline) == [("A", 2020, None), ("B", 2022, None)]
    assert disputes(timeline) == []
    later = works(said("A", 2020), said("B", 2022, also=True), said("C", 2024))
    assert years(later) == [("A", 2020, 2024), ("B", 2022, 2024), ("C", 2024, None)]


def test_the_same_moment_is_a_question() -> None:
    """Two targets from exactly one moment: both stand."""
    timeline = works(said("A", 2020), said("B", 2020))
    assert years(timeline) == [("A", 2020, None), ("B", 2020, None)]
    assert disputes(timeline) == [(("same_moment",), ["A", "B"])]


def test_three_from_one_moment_are_one_question() -> None:
    """Conflicts that share a span are asked about once."""
    assert disputes(works(*(said(one, 2020) for one in "ABC"))) == [(("same_moment",), ["A", "B", "C"])]


def test_an_unknown_date_is_a_question() -> None:
    """Nothing is closed by a job of which nobody knows when it began."""
    timeline = works(said("A", 2020), said("B"))
    assert years(timeline) == [("B", None, None), ("A", 2020, None)]
    assert disputes(timeline) == [(("unknown_date",), ["B", "A"])]


def test_an_unknown_date_of_the_same_target_supports_it() -> None:
    """The same job without a date is no conflict."""
    timeline = works(said("A", 2020), said("A"))
    assert years(timeline) == [("A", 2020, None)]
    assert disputes(timeline) == []


def test_an_unknown_date_after_a_closed_span_is_a_question() -> None:
    """A was closed by B; a claim of A without a date may speak of now."""
    assert disputes(works(said("A", 2020), said("B", 2022), said("A"))) == [(("unknown_date",), ["A", "B"])]


def test_what_was_told_after_a_beginning_nobody_said_is_a_question() -> None:
    """ "Lives in A", then "moved to B last year": the times stand, but which of them holds now is asked."""
    timeline = works(said("A", 2024, at=2024, valid_stated=False), said("B", 2023, at=2025))
    assert years(timeline) == [("B", 2023, 2024), ("A", 2024, None)]
    assert disputes(timeline) == [(("unknown_date",), ["B", "A"])]


@pytest.mark.parametrize(
    "claims",
    [
        [said("A", 2024, at=2024), said("B", 2023, at=2025)],
        [said("A", 2024, at=2024, valid_stated=False), said("B", 2023, at=2022)],
        [said("A", 2024, at=2024, valid_stated=False), said("B", 2023, at=2024)],
        [said("A", 2024, at=2024, valid_stated=False), said("B", 2020, 2024, at=2025)],
        [said("A", 2024, at=2024, valid_stated=False), said("B", 2023, at=2025), said("B", None, 2024, at=2025)],
        [said("A", 2024, at=2024, valid_stated=False), said("A", at=2026), said("B", 2023, at=2025)],
        [said("A", 2024, at=2024, valid_stated=False), said("B", 2023, at=2025), said("C", 2026, at=2026)],
        [said("A", 2024, at=2024, valid_stated=False), said("B", 2023, at=2025, also=True)],
        [said("A", 2024, at=2024, valid_stated=False, created_at=year(2026), by="owner"), said("B", 2023, at=2025)],
    ],
    ids=["said", "told before", "told together", "interval", "ended", "told again", "over", "also", "confirmed"],
)
def test_a_beginning_nobody_said_is_asked_about_only_where_it_matters(claims: list[Claim]) -> None:
    """Nobody is asked where the dates, what was told last, or the owner himself settle what holds now."""
    assert disputes(works(*claims)) == []


def test_an_end_ends_what_had_no_beginning() -> None:
    """A job since nobody knows when, and its end."""
    assert years(works(said("A", at=2021), said("A", None, 2022, at=2022))) == [("A", None, 2022)]


def test_what_is_told_after_an_end_speaks_of_another_time() -> None:
    """An undated claim said after the end was told is not ended by it."""
    assert years(works(said("A", at=2025), said("A", None, 2022, at=2022))) == [("A", None, 2022), ("A", None, None)]


def test_the_owners_word_is_not_closed_by_a_model() -> None:
    """A later claim of a model against the owner's own word is a question; his own later word closes."""
    asked = works(said("A", 2020, by="owner"), said("B", 2022))
    assert years(asked) == [("A", 2020, None), ("B", 2022, None)]
    assert disputes(asked) == [(("owner",), ["A", "B"])]
    assert years(works(said("A", 2020, by="owner"), said("B", 2022, by="owner")))[0] == ("A", 2020, 2022)


def test_the_owners_word_closes_a_models() -> None:
    """The owner's later word needs no question."""
    timeline = works(said("A", 2020), said("B", 2022, by="owner"))
    assert years(timeline) == [("A", 2020, 2022), ("B", 2022, None)]
    assert disputes(timeline) == []


def test_a_model_does_not_end_what_the_owner_said() -> None:
    """Neither an end alone nor a stated interval shortens the owner's span."""
    for shortened in (said("A", None, 2022), said("A", 2020, 2022), said("A", 2019, 2022)):
        timeline = works(said("A", 2020, by="owner"), shortened)
        assert ("A", 2020, None) in years(timeline)
        assert [reasons for reasons, _ in disputes(timeline)] == [("owner",)]


def test_the_owner_takes_his_end_back() -> None:
    """He ended it and says that it goes on: what a model told of the time after that end is asked about."""
    timeline = works(
        said("A", 2000), said("A", None, 2001, by="owner"), said("A", 2001, 2002), said("A", 2001, by="owner")
    )
    assert years(timeline) == [("A", 2000, None), ("A", 2001, 2002)]
    assert disputes(timeline) == [(("owner",), ["A", "A"])]


def test_the_owner_ends_what_a_model_said() -> None:
    """The owner's end counts at once."""
    timeline = works(said("A", 2020), said("A", None, 2022, by="owner"))
    assert years(timeline) == [("A", 2020, 2022)]
    assert disputes(timeline) == []


@pytest.mark.parametrize("end", [2019, 2020])
def test_an_interval_that_ends_before_it_begins_is_refused(end: int) -> None:
    """An end at or before the beginning is no interval."""
    with pytest.raises(Refused, match="invalid_at"):
        works(said("A", 2020, end))


def test_statements_of_other_relations_stand_side_by_side() -> None:
    """Two things said of one pair are two facts, also with later dates."""
    timeline = likes(said("tea", 2020, fact="Anna likes tea with milk"), said("tea", 2022, fact="Anna sells tea"))
    assert years(timeline) == [("tea", 2020, None), ("tea", 2022, None)]
    assert disputes(timeline) == []


def test_like_words_are_one_statement() -> None:
    """The same said with another ending or order is one fact."""
    timeline = likes(said("tea", 2022, fact="Анна любит чай"), said("tea", 2020, fact="чай любит Анна!"))
    assert years(timeline) == [("tea", 2020, None)]


def test_an_end_means_the_only_statement_that_runs() -> None:
    """ "No longer drinks tea" ends the one thing that is known about her and tea."""
    timeline = likes(said("tea", 2020, fact="Анна пьёт чай"), said("tea", None, 2022, fact="Анна больше не пьёт чай"))
    assert years(timeline) == [("tea", 2020, 2022)]


def test_an_end_means_the_statement_it_resembles() -> None:
    """With several statements the nearest one ends, the others stay."""
    timeline = likes(
        said("Kyiv", 2020, fact="Anna visits Kyiv every summer"),
        said("Kyiv", 2021, fact="The sister of Oleg studies law"),
        said("Kyiv", None, 2023, fact="Anna no longer visits Kyiv every summer"),
    )
    assert years(timeline) == [("Kyiv", 2020, 2023), ("Kyiv", 2021, None)]


def test_an_unclear_end_is_a_question() -> None:
    """Where an end may mean several statements none is ended."""
    timeline = likes(
        said("tea", 2020, fact="Anna drinks tea"),
        said("tea", 2021, fact="Anna collects tea"),
        said("tea", None, 2023, fact="Anna and tea are done"),
    )
    assert years(timeline) == [("tea", None, 2023), ("tea", 2020, None), ("tea", 2021, None)]
    assert [reasons for reasons, _ in disputes(timeline)] == [("unclear_end",)]


def test_a_denial_is_a_question() -> None:
    """Two open statements of which one denies the other cannot both be right."""
    timeline = likes(said("tea", 2020, fact="Anna likes tea"), said("tea", 2022, fact="Anna does not like tea"))
    assert [reasons for reasons, _ in disputes(timeline)] == [("denial",)]
    plain = likes(said("tea", 2020, fact="Анна любит чай"), said("tea", 2022, fact="Анна не любит чай"))
    assert [reasons for reasons, _ in disputes(plain)] == [("denial",)]


def test_words_are_the_last_that_differ() -> None:
    """A span is told in the words of the last claim that says more than those before."""
    first = said("A", 2020, fact="Anna works for A", at=2020)
    more = said("A", 2021, fact="Anna leads sales at A", at=2021)
    again = said("A", 2022, fact="anna leads sales at A!", at=2022)
    assert works(first, more, again).spans[0].text == more.id


def test_the_owners_words_count_first() -> None:
    """No later wording of a model takes the place of the owner's."""
    own = said("A", 2020, fact="Anna is the boss of A", by="owner", at=2020)
    assert works(own, said("A", 2021, fact="Anna leads sales at A", at=2021)).spans[0].text == own.id


def test_what_was_known_is_the_timeline_of_the_claims_of_then() -> None:
    """Before B was told, A was open; a claim that was taken back is known until then."""
    a, b = said("A", 2020, at=2021), said("B", 2022, at=2023)
    taken_back = replace(a, retracted_at=year(2025))
    for at, expected in (
        (2021, [("A", 2020, None)]),
        (2024, [("A", 2020, 2022), ("B", 2022, None)]),
        (2026, [("B", 2022, None)]),
    ):
        moment = year(at)
        assert moment is not None
        assert years(works(*claims_held_at([taken_back, b], moment))) == expected
