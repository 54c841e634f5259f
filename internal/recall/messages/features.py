"""Features that tell messages that answer a question from others: words, neighbours, session, sender, dates, meaning.

BM25 as in `internal.recall.index.bm25`; a word's idf is that among single messages, for whole sessions that among
sessions. Every lexical value is divided by the sum of the idf of the question's words among messages, which makes it
comparable between questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from internal.language.search import message_traits
from internal.recall.index.bm25 import K1
from internal.recall.index.scoring import top
from internal.recall.index.vector_rows import cosines
from internal.recall.messages.message_rows import BOT, NOBODY, OWNER, Floats, Mask, MessageRows, Numbers, padded
from internal.recall.messages.question import Question
from internal.storage.vectors import Vector

NAMES: Final = (
    *("p", "p_prev", "p_next", "ctx", "win", "cover", "ses", "sesmax", "p/max", "ctx/max"),
    *("answer", "wish", "opening", "order*number"),
    *("sender", "sender*ctx", "assistant", "length", "question", "prev_asks", "time", "number", "names", "idf"),
    *("when*time", "many*number", "where_who*names", "month", "year", "day"),
    *("dense", "dense/max", "dense_ses", "dense_prev", "dense_next"),
)
"""The features in the order of a matrix's columns."""

CANDIDATES: Final = 400
"""The number of messages that get features: those with the best quick score."""

_QUICK_SESSION: Final = 0.3
_QUICK_SENDER: Final = 0.1
_QUICK_MEANING: Final = 0.1
_QUICK_BOT: Final = -0.3
"""Weights of session, sender, one standard deviation of the cosines and the bot in the quick score; words have 1."""

_COMMON: Final = 0.1
"""The share of messages that hold a word from which all messages are computed in order: it is faster."""

_ENOUGH: Final = 20
"""Words without function words from which a message says enough: more are no merit, a text of 1,000 is no better."""

_MOST_NAMES: Final = 3
"""Names in a message that count: a longer one has more of them."""

_MINUTE: Final = 60_000_000

_UNKNOWN_SENDER: Final = 0.5
_MONTH_LATER: Final = 0.3
"""The value of a message of the month after the one asked for: people often report in the month after."""

_PREDICTORS: Final = ("p", "ctx", "dense_prev", "dense_next")
_MIN_EMBEDDED: Final = 20
"""The features by which the meaning of a candidate without a vector is predicted, and the least number of candidates
with a vector to fit that prediction."""

_BESIDE: Final = np.float32(0.3)
"""So much of what all messages mean, and of the names of the senders that a question names, is taken from its vector:
it asks for what sets its answer apart. The names count as features of their own."""

_LEAST_SPREAD: Final = 0.02
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Candidates:
    """The messages that may answer, shape (candidates,), and their features, shape (candidates, len(NAMES)).

    `cosine` is NaN for a message without a vector.
    """

    rows: Numbers
    matrix: Floats
    cosine: Floats


@dataclass(frozen=True, slots=True)
class _Match:
    """One word of the question: the rows that hold it, and its count in each row (0 at NOBODY)."""

    idf: float
    rows: Numbers
    counts: Floats


def candidates(rows: MessageRows, question: Question, allowed: Mask | None = None) -> Candidates:
    """The messages with the best quick score among those `allowed`, with their features."""
    matches = _matches(rows, question)
    idf_sum = sum(match.idf for match in matches) + _TINY
    context = _context_scores(rows, matches) / np.float32(idf_sum)
    sessions = _session_scores(rows, matches) / np.float32(idf_sum)
    meaning = _Meaning.of(rows, question)
    quick = context[:-1] + np.float32(_QUICK_SESSION) * sessions[rows.session]
    if question.senders:
        quick += np.float32(_QUICK_SENDER) * _sender_feature(rows.sender, question)
    if meaning is not None:
        quick += np.float32(_QUICK_MEANING) * meaning.above[:-1]
    if BOT not in question.senders:
        quick += np.float32(_QUICK_BOT) * rows.assistant
    if len(rows.words) < rows.words.size:
        quick[~rows.words.alive] = -np.inf
    if allowed is not None:
        quick[~allowed] = -np.inf
    strongest = top(quick, CANDIDATES)
    wish = _wish(rows, quick)
    best = _best_passages(rows, np.concatenate((strongest[np.isfinite(quick[strongest])], wish)), quick)
    columns = _lexical_features(rows, matches, idf_sum, context, sessions, best)
    columns |= _message_features(rows, question, best)
    columns |= _meaning_features(rows, meaning, best)
    slots = rows.slot[best]
    if meaning is not None:
        _predict_meaning(columns, rows.scales[slots] > 0, _holding_all(matches, best), meaning)
    columns["sender*ctx"] = columns["sender"] * columns["ctx"]
    columns["wish"] = np.zeros(len(best), dtype=np.float32)
    columns["wish"][np.searchsorted(best, wish)] = 1
    matrix = np.stack([np.asarray(columns[name], dtype=np.float32) for name in NAMES], axis=1)
    cosine = np.full(len(best), np.nan, dtype=np.float32)
    if meaning is not None and question.vector is not None:
        of_best = cosines(rows.vectors[slots], rows.scales[slots], question.vector)
        cosine = np.where(rows.scales[slots] > 0, of_best, cosine)
    return Candidates(best, matrix, cosine)


def _best_passages(rows: MessageRows, strongest: NDArray[np.intp], quick: Floats) -> Numbers:
    """The row of each of these messages with the best quick score, in order."""
    if len(rows.slot) == len(rows.scales):  # every message has one row
        return np.unique(strongest).astype(np.int32)
    order = strongest[np.lexsort((-quick[strongest], rows.slot[strongest]))]
    slots = rows.slot[order]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = slots[1:] != slots[:-1]
    return np.sort(order[first]).astype(np.int32)


def _wish(rows: MessageRows, quick: Floats) -> NDArray[np.intp]:
    """The row of the owner's standing wish with the best quick score, if there is any."""
    wishes = np.flatnonzero(rows.traits & message_traits.WISH)
    wishes = wishes[(rows.sender[wishes] == OWNER) & np.isfinite(quick[wishes])]
    best: NDArray[np.intp] = wishes[np.argsort(-quick[wishes], kind="stable")[:1]]
    return best


def _matches(rows: MessageRows, question: Question) -> list[_Match]:
    documents = len(rows.words)
    matches = []
    for word in rows.words.with_relatives(question.words):
        holding, counts = rows.words.occurrences(word)
        matches.append(_Match(_idf(documents, len(holding)), holding, counts))
    return matches


def _idf(documents: int, having: int) -> float:
    return math.log1p((documents - having + 0.5) / (having + 0.5))


def _bm25(counts: Floats, of_length: Floats) -> Floats:
    """BM25 of term counts; `of_length` is the length weight as in `Lengths`."""
    scores: Floats = np.divide(counts * np.float32(K1 + 1), counts + of_length)
    return scores


def _context_scores(rows: MessageRows, matches: list[_Match]) -> Floats:
    """BM25 of each message together with the one before it: shape (rows + 1,), with a zero at the end."""
    lengths, size = rows.lengths, rows.words.size
    total = np.zeros(size + 1, dtype=np.float32)
    for match in matches:
        idf = np.float32(match.idf)
        if len(match.rows) > _COMMON * size:
            counts_in_both = match.counts[:-1] + match.counts[rows.previous]
            total[:-1] += idf * _bm25(counts_in_both, lengths.of_context[:-1])
            continue
        next_rows = rows.following[match.rows]
        touched = np.concatenate((match.rows, next_rows[next_rows != NOBODY]))
        counts = match.counts[touched] + match.counts[rows.previous[touched]]
        # A row that occurs twice in `touched` is assigned the same value twice: it is read before it is written.
        total[touched] += idf * _bm25(counts, lengths.of_context[touched])
    return total


def _session_scores(rows: MessageRows, matches: list[_Match]) -> Floats:
    """BM25 of each session as one text, shape (sessions,); a word's idf is that among sessions."""
    lengths, total = rows.lengths, np.zeros(rows.sessions, dtype=np.float32)
    sessions = len(rows.begun)
    for match in matches:
        counts = np.bincount(rows.session[match.rows], match.counts[match.rows], minlength=rows.sessions)
        idf = np.float32(_idf(sessions, int(np.count_nonzero(counts))))
        total += idf * _bm25(counts.astype(np.float32), lengths.of_session)
    return total


def _lexical_features(
    rows: MessageRows, matches: list[_Match], idf_sum: float, context: Floats, sessions: Floats, best: Numbers
) -> dict[str, Floats]:
    before, after = rows.previous[best], rows.following[best]
    long_before = padded(rows.previous)
    long_before[NOBODY] = NOBODY
    second = long_before[before]
    window = (second, before, best, after)
    own_scores = np.zeros((3, len(best)), dtype=np.float32)
    window_scores, cover = np.zeros(len(best), dtype=np.float32), np.zeros(len(best), dtype=np.float32)
    lengths = rows.lengths
    for match in matches:
        idf, counts = np.float32(match.idf), match.counts
        for i, neighbours in enumerate((best, before, after)):
            own_scores[i] += idf * _bm25(counts[neighbours], lengths.of_own[neighbours])
        counts_in_window = np.sum([counts[neighbours] for neighbours in window], axis=0)
        window_scores += idf * _bm25(counts_in_window, lengths.of_window[best])
        cover += idf * (counts_in_window > 0)
    own_scores, window_scores, cover = (values / np.float32(idf_sum) for values in (own_scores, window_scores, cover))
    of_context = context[best]
    return {
        "p": own_scores[0],
        "p_prev": own_scores[1],
        "p_next": own_scores[2],
        "answer": own_scores[2] * (padded(rows.assistant)[after] & ~rows.assistant[best]),
        "ctx": of_context,
        "win": window_scores,
        "cover": cover,
        "ses": sessions[rows.session[best]],
        "sesmax": _best_of_session(of_context, rows.session[best], rows.sessions),
        "p/max": own_scores[0] / np.float32(own_scores[0].max(initial=0) + _TINY),
        "ctx/max": of_context / np.float32(of_context.max(initial=0) + _TINY),
    }


def _best_of_session(values: Floats, session: Numbers, sessions: int) -> Floats:
    best = np.zeros(sessions, dtype=np.float32)
    np.maximum.at(best, session, values)
    return best[session]


def _sender_feature(sender: Numbers, question: Question) -> Floats:
    """1 if the question names the sender, 0 if it names another one, 0.5 if it names nobody or several."""
    if len(question.senders) != 1:
        return np.full(len(sender), _UNKNOWN_SENDER, dtype=np.float32)
    is_sender: Floats = (sender == next(iter(question.senders))).astype(np.float32)
    return is_sender


def _message_features(rows: MessageRows, question: Question, best: Numbers) -> dict[str, Floats]:
    """Features of the messages themselves, and of how they fit what the question asks for."""
    bits = padded(rows.traits)
    bits_own, bits_before = bits[best], bits[rows.previous[best]]
    time, number = _bit(bits_own, message_traits.TIME), _bit(bits_own, message_traits.NUMBER)
    names: Floats = ((bits_own >> message_traits.NAMES_SHIFT) & message_traits.MOST_NAMES).astype(np.float32)
    np.minimum(names, _MOST_NAMES, out=names)
    kind = question.kind
    # Who talks with a bot always asks, and with details: there the form of a message tells nothing.
    among_people = rows.sender[best] > BOT
    return {
        "sender": _sender_feature(rows.sender[best], question),
        "assistant": rows.assistant[best] * np.float32(BOT not in question.senders),
        "length": np.log1p(np.minimum(rows.lengths.own[best], np.float32(_ENOUGH))),
        "opening": _opening(rows, best) * ~among_people if kind.order or kind.summary else np.zeros_like(time),
        "order*number": number * (np.float32(kind.order) * ~among_people),
        "question": _bit(bits_own, message_traits.ASKS) * among_people,
        "prev_asks": _bit(bits_before, message_traits.ENDS_AS_QUESTION) * among_people,
        "time": time * among_people,
        "number": number * among_people,
        "names": names * among_people,
        "idf": rows.mean_idf[best],
        "when*time": time * np.float32(kind.when),
        "many*number": number * np.float32(kind.many),
        "where_who*names": names * np.float32(kind.place_or_person),
        **_date_features(rows.moment[best], question),
    }


def _opening(rows: MessageRows, best: Numbers) -> Floats:
    """How early messages stand in their sessions: a session begins with its subject, and details follow."""
    begins = np.zeros(rows.sessions, dtype=np.int64)
    begins[rows.begun] = np.minimum.reduceat(rows.moment[rows.order], rows.starts)
    minutes = (rows.moment[best] - begins[rows.session[best]]).astype(np.float32) / np.float32(_MINUTE)
    opening: Floats = -np.log1p(minutes)
    return opening


def _bit(bits: Numbers, bit: int) -> Floats:
    return ((bits & bit) > 0).astype(np.float32)


def _date_features(moment: NDArray[np.int64], question: Question) -> dict[str, Floats]:
    """How well the dates of messages fit the dates that the question names."""
    zeros = np.zeros(len(moment), dtype=np.float32)
    dates = question.dates
    if not dates.months and not dates.years:
        return {"month": zeros, "year": zeros, "day": zeros}
    day = moment.astype("datetime64[us]").astype("datetime64[D]")
    of_month = day.astype("datetime64[M]")
    month = of_month.astype(np.int64) % 12 + 1
    year = of_month.astype("datetime64[Y]").astype(np.int64) + 1970
    same = np.isin(month, list(dates.months))
    later = np.isin((month - 2) % 12 + 1, list(dates.months))
    on_day = same & np.isin((day - of_month).astype(np.int64) + 1, list(dates.days))
    return {
        "month": same + np.float32(_MONTH_LATER) * later,
        "year": np.isin(year, list(dates.years)).astype(np.float32),
        "day": on_day.astype(np.float32),
    }


@dataclass(frozen=True, slots=True)
class _Meaning:
    """Cosines with what a question means by slot, and their distance from the mean in standard deviations (rows + 1,).

    A message without a vector has the mean of the others.
    """

    cosines: Floats
    above: Floats
    best: float
    mean: float
    spread: float

    @classmethod
    def of(cls, rows: MessageRows, question: Question) -> _Meaning | None:
        embedded = rows.scales > 0
        count = int(np.count_nonzero(embedded))
        if question.vector is None or not count:
            return None
        found = cosines(rows.vectors, rows.scales, _question_vector(rows, question.vector, question.names))
        known = found if count == len(found) else found[embedded]
        mean, spread = np.float32(known.mean()), np.float32(max(float(known.std()), _LEAST_SPREAD))
        if count < len(found):
            found[~embedded] = mean
        above = np.zeros(len(rows.slot) + 1, dtype=np.float32)
        np.take((found - mean) / spread, rows.slot, out=above[:-1], mode="clip")
        return cls(found, above, float(known.max()), float(mean), float(spread))


def _question_vector(rows: MessageRows, vector: Vector, names: Sequence[Vector]) -> Vector:
    """The vector of a question without the direction that all questions about these messages share and without these
    names."""
    rest = vector - _BESIDE * (rows.common + sum(names))
    return np.asarray(rest / np.float32(max(float(np.linalg.norm(rest)), _TINY)), dtype=np.float32)


def _meaning_features(rows: MessageRows, meaning: _Meaning | None, best: Numbers) -> dict[str, Floats]:
    zeros = np.zeros(len(best), dtype=np.float32)
    if meaning is None:
        return dict.fromkeys(("dense", "dense/max", "dense_ses", "dense_prev", "dense_next"), zeros)
    above = meaning.above
    of_sessions = np.zeros(rows.sessions, dtype=np.float32)
    of_sessions[rows.begun] = np.maximum.reduceat(above[rows.order], rows.starts)
    return {
        "dense": above[best],
        "dense/max": meaning.cosines[rows.slot[best]] - np.float32(meaning.best),
        "dense_ses": of_sessions[rows.session[best]],
        "dense_prev": above[rows.previous[best]],
        "dense_next": above[rows.following[best]],
    }


def _holding_all(matches: list[_Match], best: Numbers) -> Mask:
    """Which candidates hold every word of the question; none if it has no words."""
    each = [match.counts[best] > 0 for match in matches] or [np.zeros(len(best), dtype=np.bool_)]
    holds_all: Mask = np.logical_and.reduce(each)
    return holds_all


def _predict_meaning(columns: dict[str, Floats], embedded: Mask, holds_all: Mask, meaning: _Meaning) -> None:
    """Predicts the cosine of candidates without a vector from candidates with as many words and similar neighbours.

    One that holds all of the question's words (`holds_all`) gets the best cosine: if no other candidate holds them
    there is nothing to learn their worth from, and new messages are searched for by their words. The others'
    cosines are predicted by least squares over the candidates of this question. Of 1,177 answers on the development
    conversations, 0.738 were among the first ten with average cosines instead, 0.768 with predicted ones (by words
    and the line before), and 0.785 with known ones.
    """
    if embedded.all() or np.count_nonzero(embedded) < _MIN_EMBEDDED:
        return
    predictors = np.stack([*(columns[name] for name in _PREDICTORS), np.ones(len(embedded))], axis=1).astype(np.float64)
    above = columns["dense"][embedded].astype(np.float64)
    weights, *_ = np.linalg.lstsq(predictors[embedded], above, rcond=None)
    predicted = np.clip(predictors[~embedded] @ weights, above.min(), above.max()).astype(np.float32)
    predicted[holds_all[~embedded]] = above.max()
    columns["dense"][~embedded] = predicted
    # A session is as similar to the question as its most similar message, this one included.
    columns["dense_ses"][~embedded] = np.maximum(columns["dense_ses"][~embedded], predicted)
    columns["dense/max"][~embedded] = meaning.mean + np.float32(meaning.spread) * predicted - np.float32(meaning.best)
