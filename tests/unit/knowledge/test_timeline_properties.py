"""What holds for every set of claims, in whatever order they came."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings, strategies as st
from support.knowledge.timeline_cases import said
from support.long import examples

from internal.knowledge.claims.time_rules import Projection, Span, claims_held_at, project
from internal.knowledge.model import Claim

TARGETS = st.sampled_from("ABC")
YEARS = st.none() | st.integers(2000, 2008)
FACTS = st.sampled_from(["Anna likes it", "Anna does not like it", "Anna likes it a lot", "Anna sells it"])


@st.composite
def claim(draw: st.DrawFn, targets: st.SearchStrategy[str] = TARGETS) -> Claim:
    """A claim as anybody might make it: with both dates, one or none, by a model or by the owner."""
    start, end = draw(YEARS), draw(YEARS)
    if start is not None and end is not None and end <= start:
        end = start + 1
    by = draw(st.sampled_from(["archivist", "archivist", "archivist", "owner"]))
    also = draw(st.integers(0, 9)) == 0
    return said(draw(targets), start, end, fact=draw(FACTS), by=by, at=draw(st.integers(2005, 2010)), also=also)


GROUPS = st.lists(claim(), max_size=8)
STATEMENTS = st.lists(claim(st.just("A")), max_size=8)


def both(claims: list[Claim]) -> list[Projection]:
    """The timelines of claims as a functional relation's, and as another's of their first target."""
    one_target = [replace(one, target="A") for one in claims]
    return [project(claims, functional=True), project(one_target, functional=False)]


def overlap(one: Span, other: Span) -> bool:
    """Whether two spans with known beginnings hold at some moment together."""
    if one.valid_at is None or other.valid_at is None:
        return False
    return (other.invalid_at is None or one.valid_at < other.invalid_at) and (
        one.invalid_at is None or other.valid_at < one.invalid_at
    )


@given(GROUPS.flatmap(lambda claims: st.tuples(st.just(claims), st.permutations(claims))))
@settings(max_examples=examples(400))
def test_order_of_arrival_does_not_matter(orders: tuple[list[Claim], list[Claim]]) -> None:
    """The same claims in any order are the same timeline."""
    assert both(orders[0]) == both(orders[1])


@given(GROUPS, st.lists(st.integers(2000, 2030), min_size=8, max_size=8))
def test_when_it_was_said_decides_over_words_only(claims: list[Claim], said_in: list[int]) -> None:
    """Dated claims end in the same timeline whenever they were told."""
    dated = [one for one in claims if one.valid_at]
    moved = [
        replace(one, said_at=one.said_at.replace(year=at), created_at=one.created_at.replace(year=at))
        for one, at in zip(dated, said_in, strict=False)
    ]
    for here, there in zip(both(dated), both(moved), strict=True):
        assert [(s.target, s.valid_at, s.invalid_at) for s in here.spans] == [
            (s.target, s.valid_at, s.invalid_at) for s in there.spans
        ]
        assert len(here.conflicts) == len(there.conflicts)


@given(GROUPS, claim(), st.integers(0, 8))
def test_what_is_removed_was_never_there(claims: list[Claim], extra: Claim, place: int) -> None:
    """Without a claim the timeline is the one before it: what it closed is open again."""
    together = [*claims[:place], extra, *claims[place:]]
    assert both([one for one in together if one.id != extra.id]) == both(claims)


@given(GROUPS)
def test_twice_is_once(claims: list[Claim]) -> None:
    """A claim given twice counts once."""
    assert both([*claims, *claims]) == both(claims)


@given(GROUPS)
@settings(max_examples=examples(400))
def test_every_claim_has_its_one_place(claims: list[Claim]) -> None:
    """Each claim supports exactly one span, or is listed as the end of one."""
    for timeline in both(claims):
        places = [one for span in timeline.spans for one in (*span.claims, *span.ends)]
        assert sorted(places) == sorted({one.id for one in claims})


@given(GROUPS)
@settings(max_examples=examples(600))
def test_spans_of_a_functional_relation_do_not_overlap_unasked(claims: list[Claim]) -> None:
    """Two targets hold together only where that was said, or where the owner is asked."""
    timeline = project(claims, functional=True)
    beside = {frozenset(pair) for pair in timeline.parallel}
    for one, other in combinations(timeline.spans, 2):
        if one.target == other.target and None in (one.valid_at, other.valid_at):
            continue  # since when is not known, and so not either whether they overlap
        if overlap(one, other):
            asked = any({one, other} <= set(conflict.spans) for conflict in timeline.conflicts)
            assert asked or frozenset((one, other)) in beside


@given(GROUPS)
def test_every_span_is_an_interval(claims: list[Claim]) -> None:
    """No span ends before it begins, and none is without support."""
    for timeline in both(claims):
        for span in timeline.spans:
            assert span.claims or span.ends
            assert span.valid_at is None or span.invalid_at is None or span.valid_at < span.invalid_at


@given(GROUPS)
def test_no_unknown_beginning_is_guessed(claims: list[Claim]) -> None:
    """A span begins when one of its claims says so, and ends when a claim of the group begins or ends."""
    by_id = {one.id: one for one in claims}
    moments = {moment for one in claims for moment in (one.valid_at, one.invalid_at)}
    for timeline in both(claims):
        for span in timeline.spans:
            starts = {by_id[one].valid_at for one in span.claims}
            assert span.valid_at in starts or (span.valid_at is None and (not starts or None in starts))
            assert span.invalid_at is None or span.invalid_at in moments


@given(st.lists(st.tuples(TARGETS, st.integers(0, 9)), max_size=6))
def test_disjoint_intervals_stay_apart(stays: list[tuple[str, int]]) -> None:
    """Intervals with gaps between them are the timeline as it was told."""
    told = [said(target, 2000 + 2 * n, 2001 + 2 * n) for n, (target, _) in enumerate(stays)]
    timeline = project(told, functional=True)
    assert [(span.target, span.valid_at, span.invalid_at) for span in timeline.spans] == [
        (one.target, one.valid_at, one.invalid_at) for one in told
    ]
    assert timeline.conflicts == ()


@given(GROUPS, st.integers(2004, 2011))
def test_what_was_known_is_what_the_claims_of_then_say(claims: list[Claim], at: int) -> None:
    """Later claims change nothing of what was known before."""
    moment = said("A", at).said_at.replace(year=at)
    assert both(claims_held_at(claims, moment)) == both([one for one in claims if one.created_at <= moment])


@given(STATEMENTS)
def test_the_owners_word_is_never_shortened_by_a_model(claims: list[Claim]) -> None:
    """What the owner said to be open is open however much a model says."""
    own = said("A", 2001, by="owner", fact="Anna likes it")
    timeline = project([*(replace(one, set_by="archivist") for one in claims), own], functional=True)
    (span,) = [span for span in timeline.spans if own.id in span.claims]
    assert span.invalid_at is None
