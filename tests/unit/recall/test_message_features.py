"""The features of messages against the formulas written out, while messages come, change and go."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.long import examples

from internal.language.search.question_kinds import NamedDates, QuestionKind
from internal.language.search.terms import Word
from internal.recall.index.bm25 import K1, B
from internal.recall.messages import features, message_rows
from internal.recall.messages.features import NAMES, candidates
from internal.recall.messages.index import MessageIndex
from internal.recall.messages.message_rows import BOT, OWNER, MessageRow
from internal.recall.messages.question import Question, without_names

Key = tuple[str, int]
"""A passage: its message, and its number in it."""

HOUR = 3_600_000_000
START = int(datetime(2026, 2, 7, tzinfo=UTC).timestamp() * 1_000_000)
_TERMS = "abcd"
_STORED = st.lists(st.lists(st.sampled_from(_TERMS), min_size=1, max_size=2, unique=True).map("|".join), max_size=7)
_WORDS = st.lists(st.sampled_from("abcdz").map(lambda term: ((term, 1.0),)), max_size=3, unique=True)
_MESSAGES = st.builds(
    MessageRow,
    ref_id=st.sampled_from("mnopqrs"),
    seq=st.integers(1, 30),
    moment=st.integers(0, 12).map(lambda hours: START + hours * HOUR),
    terms=_STORED.map(" ".join),
    text=st.none(),
    vector=st.none(),
    lane=st.sampled_from([(1, None), (2, 3)]),
    assistant=st.booleans(),
    name=st.sampled_from([None, "Anna"]),
    traits=st.integers(0, 0xFFF),
)


PASSAGE = 2
"""Terms of a passage in the drawn conversations: of four terms and more they have several."""


class Plain:
    """The same messages without any index: each value as its formula says it. Keys are passages."""

    def __init__(self, messages: Sequence[MessageRow], words: Sequence[Word]) -> None:
        self.messages = {key: message for message in messages for key in _passages(message)}
        self.beside, self.session = _neighbours(messages)
        texts = {key: text for message in messages for key, text in _passages(message).items()}
        self.idf = {word: _idf(len(texts), sum(_count(word, text) > 0 for text in texts.values())) for word in words}
        self.whole = sum(self.idf.values()) + 1e-9
        self.own = texts
        self.context = {one: self._joined(one, -1, 0) for one in texts}
        self.window = {one: self._joined(one, -2, -1, 0, 1) for one in texts}
        self.sessions: dict[int, list[list[str]]] = {}
        for key, number in self.session.items():
            self.sessions.setdefault(number, []).extend(texts[key])

    def features(self, ref_id: Key) -> Mapping[str, float]:
        before, after = self._at(ref_id, -1), self._at(ref_id, 1)
        context = {one: self._bm25(self.context, one) for one in self.own}
        words = self.own[ref_id]
        held = [idf for word, idf in self.idf.items() if _count(word, self.window[ref_id])]
        of_session = self.session[ref_id]
        among_people = self.messages[ref_id].name is not None and not self.messages[ref_id].assistant
        traits = {one: message.traits * (_only(message)) for one, message in self.messages.items()}
        return {
            "p": self._bm25(self.own, ref_id),
            "p_prev": self._bm25(self.own, before) if before else 0.0,
            "p_next": self._bm25(self.own, after) if after else 0,
            "ctx": context[ref_id],
            "win": self._bm25(self.window, ref_id),
            "cover": sum(held) / self.whole,
            "ses": self._of_session(of_session),
            "sesmax": max(context[one] for one in self.own if self.session[one] == of_session),
            "ctx/max": context[ref_id] / (max(context.values()) + 1e-9),
            "length": math.log1p(min(20, len(words))),
            "question": float(bool(traits[ref_id] & 2 and among_people)),
            "answer": self._bm25(self.own, after) * self._answered(ref_id, after) if after else 0,
            "prev_asks": float(bool(before and traits[before] & 1 and among_people)),
            "assistant": float(self.messages[ref_id].assistant),
        }

    def _answered(self, one: Key, after: Key) -> bool:
        return self.messages[after].assistant and not self.messages[one].assistant

    def _at(self, ref_id: Key | None, step: int) -> Key | None:
        for _ in range(abs(step)):
            ref_id = None if ref_id is None else self.beside[ref_id][step > 0]
        return ref_id

    def _joined(self, ref_id: Key, *steps: int) -> list[list[str]]:
        return [word for step in steps if (one := self._at(ref_id, step)) for word in self.own[one]]

    def _bm25(self, texts: Mapping[Key, list[list[str]]], ref_id: Key) -> float:
        mean = max(sum(map(len, texts.values())) / len(texts), 1e-9)
        return sum(_worth(word, idf, texts[ref_id], mean) for word, idf in self.idf.items()) / self.whole

    def _of_session(self, number: int) -> float:
        texts = list(self.sessions.values())
        mean = max(sum(map(len, texts)) / max(1, sum(bool(text) for text in texts)), 1e-9)
        idf = {word: _idf(len(texts), sum(_count(word, text) > 0 for text in texts)) for word in self.idf}
        return sum(_worth(word, idf[word], self.sessions[number], mean) for word in idf) / self.whole


def _worth(word: Word, idf: float, text: Sequence[Sequence[str]], mean: float) -> float:
    count = _count(word, text)
    return idf * count * (K1 + 1) / (count + K1 * (1 - B + B * len(text) / mean))


def _words(message: MessageRow) -> list[list[str]]:
    return [word.split("|") for word in (message.terms or "").split()]


def _count(word: Word, text: Sequence[Sequence[str]]) -> float:
    return max(weight * sum(term in one for one in text) for term, weight in word)


def _idf(documents: int, having: int) -> float:
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _passages(message: MessageRow) -> dict[Key, list[list[str]]]:
    """The parts of a message, as equal as can be."""
    words = _words(message)
    count = 1 if len(words) <= PASSAGE * 3 / 2 else math.ceil(len(words) / PASSAGE)
    bounds = [len(words) * n // count for n in range(count + 1)]
    return {(message.ref_id, n): words[bounds[n] : bounds[n + 1]] for n in range(count)}


def _only(message: MessageRow) -> bool:
    return len(_passages(message)) == 1


def _neighbours(messages: Sequence[MessageRow]) -> tuple[dict[Key, list[Key | None]], dict[Key, int]]:
    """Passages stand beside those of their own message and of the next; nothing follows a message of several."""
    beside: dict[Key, list[Key | None]] = {key: [None, None] for message in messages for key in _passages(message)}
    session: dict[Key, int] = {}
    before: MessageRow | None = None
    for message in sorted(messages, key=lambda one: (one.lane[0] or 0, one.seq)):
        keys = list(_passages(message))
        near = before and before.lane == message.lane and abs(message.moment - before.moment) <= 3 * HOUR
        number = session[before.ref_id, 0] if before and near else len(set(session.values()))
        session |= dict.fromkeys(keys, number)
        links = [(before.ref_id, 0)] if before and near and _only(before) else []
        for one, other in itertools.pairwise([*links, *keys]):
            beside[one][1], beside[other][0] = other, one
        before = message
    return beside, session


def check(index: MessageIndex, there: Mapping[str, MessageRow], words: Sequence[Word], common: float) -> None:
    """Every message is a candidate, with the values of the formulas, whatever share of them counts as very many."""
    plain = Plain(list(there.values()), words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "_COMMON", common)
        found = candidates(index.rows(), Question(words))
    key_of = {row: (ref_id, n) for ref_id in there for n, row in enumerate(index.rows_of(ref_id))}
    assert {key_of[row][0] for row in found.rows.tolist()} == set(there)
    assert len(found.rows) == len(there)
    for row, values in zip(found.rows.tolist(), found.matrix.tolist(), strict=True):
        computed, passage = dict(zip(NAMES, values, strict=True)), key_of[row]
        for name, value in plain.features(passage).items():
            assert computed[name] == pytest.approx(value, abs=1e-4), (name, passage)
        others = [key for key in plain.own if key[0] == passage[0]]
        assert computed["ctx"] >= max(plain.features(key)["ctx"] for key in others) - 1e-4, "not its best passage"


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(_MESSAGES, max_size=4, unique_by=lambda one: one.ref_id),
    st.lists(st.one_of(_MESSAGES, st.sampled_from("mnopqrs")), max_size=14),
    _WORDS,
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_features_are_those_of_the_formulas(
    monkeypatch: pytest.MonkeyPatch,
    first: list[MessageRow],
    steps: list[MessageRow | str],
    words: list[Word],
    common: float,
) -> None:
    """Loaded, added, edited, moved and dropped in any order: always the values of what is there."""
    monkeypatch.setattr(message_rows, "PASSAGE", PASSAGE)
    places = {one.seq: one for one in first}
    there = {one.ref_id: one for one in places.values()}
    index = MessageIndex.load(0, 0, there.values())
    for step in steps:
        if isinstance(step, str):
            there.pop(step, None)
            index.apply_changes([step], [])
        elif step.seq not in {one.seq for one in there.values() if one.ref_id != step.ref_id}:
            there[step.ref_id] = step
            index.apply_changes([step.ref_id], [step])
        if there:
            check(index, there, words, common)
    assert len(index) == len(there)


def line(ref_id: str, terms: str, **values: object) -> MessageRow:
    seq = ord(ref_id)
    given_values = {"seq": seq, "moment": START + seq * HOUR // 60, "text": None, "vector": None, "lane": (1, None)}
    return MessageRow(ref_id=ref_id, terms=terms, **(given_values | values))  # type: ignore[arg-type]


def of(index: MessageIndex, question: Question, ref_id: str) -> dict[str, float]:
    found = candidates(index.rows(), question)
    place = next(place for place, row in enumerate(found.rows.tolist()) if row in index.rows_of(ref_id))
    return dict(zip(NAMES, found.matrix[place].tolist(), strict=True))


def test_a_thousand_messages_that_came_late_are_linked_as_if_loaded() -> None:
    """Added one by one, with a third of them gone again, an index tells the same as one that was loaded."""
    lines = [line(chr(200 + n), f"w{n % 7} w{n % 11}", seq=n + 1, moment=START + n * HOUR // 2) for n in range(1_000)]
    index = MessageIndex(0)
    for start in range(0, len(lines), 100):
        index.apply_changes([], lines[start : start + 100])
        index.rows()
    index.apply_changes([one.ref_id for one in lines[::3]], [])
    kept = [one for n, one in enumerate(lines) if n % 3]
    loaded, question = MessageIndex.load(0, 0, kept), Question([(("w3", 1.0),)])
    for ref_id in (kept[5].ref_id, kept[600].ref_id):
        if index.rows_of(ref_id)[0] in candidates(index.rows(), question).rows:
            assert of(index, question, ref_id) == pytest.approx(of(loaded, question, ref_id), abs=1e-4)
    assert len(index) == len(kept)


def test_senders_are_owner_bot_and_whoever_was_forwarded() -> None:
    """One who is named counts 1, all others 0; several or nobody a half each. A bot is marked unless asked for."""
    index = MessageIndex.load(
        0, 0, [line("a", "x"), line("b", "x", assistant=True), line("c", "x", name="Anna"), line("d", "x", name="Ira")]
    )
    words = [(("x", 1.0),)]
    anna = index.senders.index("Anna")
    assert [of(index, Question(words, senders=frozenset({anna})), one)["sender"] for one in "abcd"] == [0, 0, 1, 0]
    assert [of(index, Question(words, senders=frozenset({OWNER})), one)["sender"] for one in "abcd"] == [1, 0, 0, 0]
    assert of(index, Question(words, senders=frozenset({BOT, anna})), "a")["sender"] == 0.5
    assert [of(index, Question(words), one)["assistant"] for one in "ab"] == [0, 1]
    assert of(index, Question(words, senders=frozenset({BOT})), "b")["assistant"] == 0
    assert of(index, Question(words, senders=frozenset({anna})), "c")["sender*ctx"] > 0


def test_dates_and_kinds_count_beside_what_messages_show() -> None:
    """The month that is named counts 1, the next one in part; a time counts if the question asks when."""
    january = int(datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp() * 1_000_000)
    index = MessageIndex.load(
        0, 0, [line("a", "x", moment=january, traits=0b1100), line("b", "x", traits=3 << 8), line("c", "x")]
    )
    asked = Question(
        [(("x", 1.0),)],
        kind=QuestionKind(when=True, place_or_person=True),
        dates=NamedDates(frozenset({1}), frozenset({2025}), frozenset({31})),
    )
    first, second = of(index, asked, "a"), of(index, asked, "b")
    assert (first["month"], first["year"], first["day"]) == (1, 0, 1)
    assert second["month"] == pytest.approx(0.3)
    assert (first["when*time"], first["many*number"], second["where_who*names"]) == (1, 0, 3)


@pytest.mark.parametrize("kind", [QuestionKind(order=True), QuestionKind(summary=True), QuestionKind(many=True)])
def test_what_opens_a_talk_with_the_bot_counts_for_its_course(kind: QuestionKind) -> None:
    """By the minutes since the session began, for an order or a summary; for an order also numbers and dates."""
    minute = HOUR // 60
    at = {"a": START, "b": START + 3 * minute, "c": START + 9 * HOUR, "d": START + 9 * HOUR + minute}
    lines = [line(one, "x", moment=moment, traits=0b1000) for one, moment in at.items()]
    lines.append(line("e", "x", moment=START + 10 * HOUR, traits=0b1000, name="Anna"))
    index, question = MessageIndex.load(0, 0, lines), Question([(("x", 1.0),)], kind=kind)
    found = [of(index, question, one) for one in "abcde"]
    minutes = [0, 3, 0, 1, 0] if kind.order or kind.summary else [0] * 5
    assert [one["opening"] for one in found] == pytest.approx([-math.log1p(passed) for passed in minutes])
    assert [one["order*number"] for one in found] == [float(kind.order)] * 4 + [0]


def test_cosines_are_told_in_spreads_and_below_the_best() -> None:
    """A line without a vector is an average one; neighbours and sessions have theirs."""
    turned = [np.array([math.cos(angle), math.sin(angle)], dtype=np.float32) for angle in (0, 0.5, 1.5)]
    lines = [line(ref_id, "", vector=vector) for ref_id, vector in zip("abc", turned, strict=True)]
    index = MessageIndex.load(2, 0, [*lines, line("d", "")])
    question = Question([], turned[0])
    asked = turned[0] - 0.3 * np.mean(turned, axis=0)
    known = np.array([vector @ asked for vector in turned]) / np.linalg.norm(asked)
    above = (known - known.mean()) / known.std()
    second, last = of(index, question, "b"), of(index, question, "d")
    assert second["dense"] == pytest.approx(above[1], abs=0.05)
    assert second["dense/max"] == pytest.approx(known[1] - known[0], abs=0.02)
    assert (second["dense_prev"], second["dense_next"]) == pytest.approx((above[0], above[2]), abs=0.05)
    assert second["dense_ses"] == pytest.approx(above[0], abs=0.05)
    assert last["dense"] == 0
    assert np.isnan(candidates(index.rows(), question).cosine[3])


def test_what_all_lines_and_the_names_mean_counts_less() -> None:
    """Of two lines equally near, the one that is near only to the name, or to everything, comes after the other.

    What is told of their meaning stays as it is.
    """
    alike, name, own = np.eye(3, dtype=np.float32)
    mixed = [(5 * alike + name) / np.sqrt(26), (5 * alike + own) / np.sqrt(26)]
    lines = [line(ref_id, "", vector=vector.astype(np.float32)) for ref_id, vector in zip("ab", mixed, strict=True)]
    index = MessageIndex.load(3, 0, [*lines, line("c", "", vector=alike)])
    question = Question([], ((2 * alike + name + own) / np.sqrt(np.float32(6))).astype(np.float32))
    about_name = replace(question, names=[name])
    assert of(index, question, "a")["dense"] == pytest.approx(of(index, question, "b")["dense"], abs=0.05)
    assert of(index, about_name, "a")["dense"] < of(index, about_name, "b")["dense"] - 0.5
    assert index.rows().common == pytest.approx(np.mean([*mixed, alike], axis=0), abs=0.01)
    assert candidates(index.rows(), about_name).cosine[0] == pytest.approx(mixed[0] @ question.vector, abs=0.01)


def test_vectors_stay_with_their_messages() -> None:
    """Long ones have one for all of their passages, edited ones keep it until a new one comes, whoever else goes."""
    angles = [n / 40 for n in range(60)]
    vectors = [np.array([math.cos(angle), math.sin(angle)], dtype=np.float32) for angle in angles]
    texts = ["w " * (100 if n % 4 else 1) for n in range(60)]
    known = [None if n == 8 else vector for n, vector in enumerate(vectors)]
    lines = [line(chr(200 + n), texts[n], vector=known[n], seq=n) for n in range(60)]
    index = MessageIndex.load(2, 0, lines[:30])
    for one in lines[30:]:
        index.apply_changes([one.ref_id], [one])
    index.apply_changes([lines[2].ref_id], [replace(lines[2], terms="other")])
    index.apply_changes([one.ref_id for n, one in enumerate(lines) if n % 2], [])
    found = candidates(index.rows(), Question([], vectors[0]))
    cosine = dict(zip(found.rows.tolist(), found.cosine.tolist(), strict=True))
    for n in range(0, 60, 2):
        [value] = [cosine[row] for row in index.rows_of(lines[n].ref_id) if row in cosine]
        assert (math.isnan(value) and n == 8) or value == pytest.approx(math.cos(angles[n]), abs=0.02), n


def test_the_meaning_of_a_line_without_a_vector_is_guessed() -> None:
    """By its words, as those of the others tell of their meaning: with few others it is an average one."""
    towards, away = np.array([1.0, 0.2]), np.array([0.0, 1.0])
    lines = []
    for number in range(60):
        vector = towards if number % 3 == 0 else away + number / 100
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        terms, lane = "cat" if number % 3 == 0 else "dog", (number + 1, None)
        lines.append(line(chr(200 + number), terms, vector=vector, lane=lane, seq=number + 1))
    late = [line("y", "cat", lane=(90, None)), line("z", "dog", lane=(91, None))]
    question = Question([(("cat", 1.0),)], np.array([1.0, 0.0], dtype=np.float32))
    index = MessageIndex.load(2, 0, [*lines, *late])
    new, known = of(index, question, "y"), of(index, question, lines[0].ref_id)
    assert new["dense"] == pytest.approx(known["dense"], abs=0.1)
    assert new["dense/max"] == pytest.approx(known["dense/max"], abs=0.05)
    assert of(index, question, "z")["dense"] < 0
    few = MessageIndex.load(2, 0, [*lines[:5], *late])
    assert of(few, question, "y")["dense"] == of(few, question, "z")["dense"] == 0


def test_a_new_line_with_all_of_the_words_means_what_the_nearest_does() -> None:
    """Nothing tells what words are worth that no other line holds; a part of the words is no such sign."""
    lines = []
    for number in range(40):
        vector = np.array([number / 40, 1.0]) / np.hypot(number / 40, 1.0)
        lines.append(line(chr(200 + number), "dog", vector=vector.astype(np.float32), lane=(number + 1, None)))
    late = [line("y", "dog zebra", lane=(90, None)), line("z", "dog", lane=(91, None))]
    index = MessageIndex.load(2, 0, [*lines, *late])
    question = Question([(("dog", 1.0),), (("zebra", 1.0),)], np.array([1.0, 0.0], dtype=np.float32))
    new, nearest = of(index, question, "y"), of(index, question, chr(239))
    assert (new["dense"], new["dense/max"]) == pytest.approx((nearest["dense"], 0.0), abs=1e-5)
    assert new["dense_ses"] == new["dense"]
    assert of(index, question, "z")["dense"] < new["dense"]


def test_words_that_name_a_sender_are_not_looked_for() -> None:
    """One alternative of a word among the name's terms is enough."""
    words = [(("катя", 1.0), ("^12", 0.6)), (("велосипед", 1.0),)]
    assert without_names(words, {"екатерина", "^12"}) == [words[1]]
