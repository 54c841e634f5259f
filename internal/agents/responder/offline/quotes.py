"""The lines of this dialogue and of earlier ones that are about what a question asks, the newest first.

A line is about it if it has most of the question's words, or touches its subject ("переехали наконец" answers "где я
живу?"), or goes on from a line that does: it names the Logan of the older one. The words of somebody else about
somebody else are left out. A quotation asserts nothing, so that a line too many does less harm than an old fact.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from internal.agents.model import ResponderRequest
from internal.agents.responder.offline.asked_people import SPEAKER, AskedPeople
from internal.agents.responder.offline.discretion import topics_named
from internal.agents.responder.offline.intent import intent_of
from internal.agents.responder.offline.people_in_dialogue import author_of, speaker_of
from internal.agents.responder.offline.pictures import subjects_of_file, without_question
from internal.agents.responder.offline.said_line import SaidLine
from internal.agents.responder.offline.updates import newest_update, of_other_days, states
from internal.agents.role_words import roles_of
from internal.language.commands.amendments import amend_lines, amending
from internal.language.commands.recognise import is_order
from internal.language.discretion.sensitivity import private_topics
from internal.language.facts.occasions import is_occasion
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.names.places import place_ids
from internal.language.search.message_traits import ENDS_AS_QUESTION, traits_of
from internal.language.search.subjects import (
    besides_change,
    changed_subjects,
    subjects_asked,
    subjects_of,
    tells_change,
    tells_exchange,
    tells_state,
)
from internal.language.search.terms import terms_in, topic_terms
from internal.language.text.spelling import sentence_spans, tokens, with_signs, words

_LATEST: Final = 300
"""Most lines of this dialogue that are searched: more than a prompt holds, since no passage repeats them.

15 ms, 0.4 s for words not seen before.
"""

_HALF: Final = 0.5
_STEM: Final = 7
"""Letters by which words are one: програміст and програмування."""
_RARE: Final = 3
_LEAST: Final = 4
"""Most lines with a word by which one line goes on from another, and its least letters: "out" joins nothing."""

_SHORTENED: Final = (5, 6, _STEM)
"""Letters by which a shorter word takes up a longer one: приват for ПриватБанк."""

_PARTICLES: Final = words("out up off down away back")
"""Of English verbs: "work out" and "out of milk" have nothing in common."""


_LAST_SAID: Final = 2
"""Most lines about somebody that are quoted where none tells of a change."""

_FILE: Final = re.compile(r"\[file [^\]\n]*\]")
_LONG_NUMBER: Final = re.compile(r"\d(?:[\s()-]*\d){5}")
"""Of a telephone, say."""
_NOW: Final = datetime.max.replace(tzinfo=UTC)
_LONGEST: Final = 200
"""Characters of a quotation; of a longer line the sentences that matter are quoted."""


def without_file_marks(request: ResponderRequest) -> ResponderRequest:
    """The request without lines that only say that a file came: they are nobody's words to be quoted."""
    passages = [
        replace(one, lines=[replace(line, text=_bare(line.text)) for line in one.lines]) for one in request.passages
    ]
    dialogue = [replace(line, text=_bare(line.text)) for line in request.dialogue]
    return replace(request, dialogue=dialogue, passages=passages)


def _bare(text: str) -> str:
    return _FILE.sub("", text).strip() if "[file " in text else text


def newest_about(
    said: str, request: ResponderRequest, names: Sequence[str] = (), older: str = "", roles: Set[str] = frozenset()
) -> list[SaidLine]:
    """A few lines about what a question asks, the newest first: what changed last, and what says most.

    For a person without a reported change, also the latest present-tense line, whatever it is about. `names` are
    those of the people known whom the question names, `roles` what the owner calls nobody else; `older` is a fact from
    which a line may go on.
    """
    lines = _lines(request)
    meant = subjects_of_file([{term for term, _ in word} for word in topic_terms(said)])
    asked, subjects = [word for word in meant if not word <= _PARTICLES] or meant, _subjects_asked(said, names)
    people = AskedPeople(said, [*names, *_asker(said, request)], roles, request.owner.language, subjects)
    reader = _LineReader(lines, asked, subjects, people, older)
    found = _with_update(reader.answering(), lines, older, people, subjects, reader.besides)
    if not found and subjects:
        other = (line for line in reversed(lines) if not line.speaker and people.may_be_about(subjects_of(line.text)))
        exchanges = (line for line in other if tells_exchange(line.text))
        found = [replace(line, change=True) for line in exchanges if people.same(line.text, terms_in(line.text))][:1]
    chosen = _chosen([line for line in found if not line.outdated] or found, newest=bool(subjects))
    if older and people.named:  # a fact answers: what may be about anybody is left out
        chosen = [line for line in chosen if people.spoken_of(line.text) or overtakes(line, older, said)]
    replaced = bool(chosen) and bool(changed_subjects(chosen[0].text) & subjects) and chosen[0].change
    if replaced or any(overtakes(chosen[0], line.text, said) for line in chosen[1:]):
        return chosen[:1]
    if not people.named or (chosen and chosen[0].change):
        return chosen or _of_topic(said, asked, lines, people)
    return [*_last_states(lines, chosen, people), *chosen]


class _LineReader:
    """Reads lines in order and keeps those that answer a question: `asked` are its words, each as its terms."""

    def __init__(
        self,
        lines: Sequence[SaidLine],
        asked: Sequence[Set[str]],
        subjects: Set[str],
        people: AskedPeople,
        older: str,
    ) -> None:
        self._lines, self._asked, self._subjects, self._people, self._older = lines, asked, subjects, people, older
        self.besides: Set[str] = set[str]().union(*asked, people.terms)
        """The terms that the question itself has: sharing them says nothing."""
        self._terms = [terms_in(f"{one.speaker} {one.text}" if _of_oneself(one) else one.text) for one in lines]
        self._frequent = Counter(term for there in self._terms for term in there)
        self._known = {
            term for term in terms_in(older) if term[0].isalnum()
        }  # without sounds, which only capitals have
        self._taken_up = {term[:_STEM] for term in self._known - self.besides if len(term) >= _LEAST}
        self._begun: set[str] = set()
        """Beginnings of the rare words of the lines found: a later line with one of them goes on from there."""
        self._found: list[SaidLine] = []

    def answering(self) -> list[SaidLine]:
        """The lines that answer, each with the lines that continue it right behind it."""
        before = ""
        for place, (line, there) in enumerate(zip(self._lines, self._terms, strict=True)):
            follows, before = self._found and self._found[-1].text.endswith(before), line.text
            if follows and self._people.continue_in(self._found, line):
                text = f"{self._found[-1].text.rstrip(' .')}.\n{line.text}"
                self._found[-1] = replace(
                    self._found[-1], text=text, change=self._found[-1].change or tells_change(text)
                )
            else:
                self._read(replace(line, place=place), there)
        return self._found

    def _read(self, line: SaidLine, there: Set[str]) -> None:
        share = sum(bool(there & word) for word in self._asked) / max(len(self._asked), 1)
        touches, goes_on = self._touches(line, there), self._goes_on(line, there)
        fits = touches or self._fits(line, there, share)
        if not (goes_on and self._people.may_go_on(line.text)) and not (fits and self._people.same(line.text, there)):
            return
        change = (goes_on or touches) and tells_change(line.text)
        self._found.append(replace(line, share=share, change=change, follows=goes_on))
        if not goes_on:
            new = terms_in(besides_change(line.text)) - self.besides
            rare = [term for term in new if self._frequent[term] <= _RARE and len(term) >= _LEAST]
            self._begun |= {term[:length] for term in rare for length in _SHORTENED}

    def _touches(self, line: SaidLine, there: Set[str]) -> bool:
        """Whether the owner says something about the subject asked about, or of a move to a place."""
        if line.speaker:
            return False
        moves = "home" in self._subjects and tells_change(line.text) and not subjects_of(besides_change(line.text))
        return (moves and not there.isdisjoint(place_ids())) or bool(self._subjects & subjects_of(line.text))

    def _goes_on(self, line: SaidLine, there: Set[str]) -> bool:
        """Whether the owner takes up a rare word of a line found before, or of the older fact."""
        from_there = self._begun if self._known <= there else self._begun | self._taken_up
        about = self._people.named or self._people.may_be_about(subjects_of(line.text))
        return not line.speaker and about and bool(from_there & {term[:_STEM] for term in there})

    def _fits(self, line: SaidLine, there: Set[str], share: float) -> bool:
        """Whether a line shares enough words with the question, or tells a change of whom it asks about."""
        of = subjects_of(besides_change(line.text))
        names_only = not any(there & word for word in self._asked if not word & self._people.terms)
        of_another = not of & self._subjects if of else not tells_state(line.text)
        beside = self._subjects and names_only and (of_another or is_occasion(line.text))
        changed = not line.speaker and tells_change(line.text) and states(self._subjects, line.text)
        return (share >= _HALF and not beside) or (
            changed
            and bool((self._found or self._older) and (self._subjects or self._people.named))
            and not (of and self._subjects)
            and (self._people.named or self._people.spoken_of(line.text))
        )


def _with_update(
    found: list[SaidLine],
    lines: Sequence[SaidLine],
    older: str,
    people: AskedPeople,
    subjects: Set[str],
    besides: Set[str],
) -> list[SaidLine]:
    """The lines that answer, up to the one that updates the most fitting of them or an older fact."""
    base = max(found, key=lambda line: line.share, default=SaidLine(older, place=-1))
    later = [line for line in lines[base.place + 1 :] if not (base.at and line.at) or line.at > base.at]
    ended = base.change and not tells_exchange(base.text)
    update = newest_update(base.text, later, people, subjects, besides, ended=ended) if base.text else None
    if update is None:
        return found
    place = lines.index(update)
    before = [line for line in found if line.place <= place]
    if before and update.text in before[-1].text:
        update = before.pop()
    ended = not tells_exchange(update.text)
    then = newest_update(base.text, lines[place + 1 :], people, subjects, besides, ended=ended)
    text = update.text if then is None or then.text in update.text else f"{update.text.rstrip(' .')}.\n{then.text}"
    return [*before, replace(update, text=text, change=True, place=place)]


def overtakes(line: SaidLine, older: str, said: str) -> bool:
    """Whether a line updates an older text: it repeats a word that nobody asked about, or gives another number."""
    besides = {term for word in topic_terms(said) for term, _ in word} | terms_in(" ".join(_PARTICLES))
    shared = (terms_in(line.text) & terms_in(older)) - besides - terms_in(said)
    named = any(len(term) >= _RARE and not subjects_of(term) & subjects_of(said) for term in shared)
    return line.change and (named or all(_LONG_NUMBER.search(text) for text in (line.text, older)))


def repeats(text: str, part: str) -> bool:
    """Whether a text says all that a part of it says, in the same words."""
    whole, words = (" ".join(token.key for token in tokens(one)) for one in (text, part))
    return words in whole


def _stated(line: SaidLine, now: datetime) -> SaidLine:
    """The line without sentences that only order the bot to do something: they are nothing to remember."""
    parts = [line.text[start:end] for start, end in sentence_spans(line.text)]
    stated = [part for part in parts if not is_order(part, line.at or now, changes=True)]
    return line if len(stated) == len(parts) else replace(line, text=" ".join(map(str.strip, stated)))


def _subjects_asked(said: str, names: Sequence[str]) -> frozenset[str]:
    """The subjects of a question; the Lada whom the owner knows is no car."""
    named = [one.text for one in tokens(said) if names and name_boosts(one.text, {0: names}).get(0, 0.0) >= NAMED]
    return subjects_asked(re.sub("|".join(map(re.escape, named)), " ", said) if named else said)


def _of_topic(said: str, asked: Sequence[Set[str]], lines: Sequence[SaidLine], people: AskedPeople) -> list[SaidLine]:
    """The newest lines that touch a private topic, for a question that only names it: "how is my health"."""
    topics = topics_named(said)
    if not topics or not all(any(map(topics_named, word)) for word in asked):
        return []
    touching = [line for line in lines if not line.speaker and topics & private_topics(line.text)]
    own = [line for line in touching if people.not_another(line.text) and not roles_of(line.text)]
    return own[: -_LAST_SAID - 1 : -1]


def _of_oneself(line: SaidLine) -> bool:
    """Whether a line of another speaker than the owner says something of that speaker, and so names him."""
    return bool(line.speaker) and any(token.key in SPEAKER for token in tokens(line.text))


def _asker(said: str, request: ResponderRequest) -> list[str]:
    """In a group, the name of the member whose own question it is."""
    asker = speaker_of(request.dialogue[-1]) if request.dialogue else ""
    return [asker] if asker and any(token.key in SPEAKER for token in tokens(said)) else []


def _chosen(lines: Sequence[SaidLine], *, newest: bool) -> list[SaidLine]:
    most = max(range(len(lines)), key=lambda position: (lines[position].share, position), default=None)
    if most is None:
        return []
    last = max(
        (position for position, line in enumerate(lines) if line.overrides), default=len(lines) - 1 if newest else most
    )
    return [lines[position] for position in sorted({most, last}, reverse=True)]


def _last_states(lines: Sequence[SaidLine], chosen: Sequence[SaidLine], people: AskedPeople) -> list[SaidLine]:
    """What was last said of those asked about that is so now, newer than what was chosen, the newest first."""
    found: list[SaidLine] = []
    for line, before in pairwise([*reversed(lines), SaidLine("")]):
        if len(found) == _LAST_SAID or any(one.text.startswith(line.text) for one in chosen):
            break
        of = subjects_of(besides_change(line.text))
        if line.speaker or line.outdated or not people.may_be_about(of) or not tells_state(line.text):
            continue
        if of_other_days(line.text, chosen[0].text if chosen else "", people):
            continue
        text = line.text if people.same(line.text, terms_in(line.text)) else people.in_two_lines(before, line)
        if text:
            found.append(replace(line, text=text, change=True))
    return found


def _lines(request: ResponderRequest) -> list[SaidLine]:
    """What was stated in this dialogue and in the passages, in the order of time, each once."""
    earlier = [
        SaidLine(
            without_question(one.text),
            one.at,
            passage.n,
            one.speaker if one.kind == "other" else "",
            one.outdated is not None,
            in_file=passage.kind == "episode",
        )
        for passage in request.passages
        for one in passage.lines
        if one.kind == "own" or (one.kind == "other" and one.speaker)
    ]
    here = [
        SaidLine(text, one.at, speaker=speaker_of(one))
        for one in request.dialogue[-_LATEST:]
        if one.role == "user" and not author_of(one)
        for text in [without_question(one.text)]
        if intent_of(text).wish == "news" and (amending(text) or not _only_nods(text))
    ]
    stating = [line for line in (*earlier, *here) if line.text and not traits_of(line.text) & ENDS_AS_QUESTION]
    once = {" ".join(line.text.split()): line for line in reversed(stating)}
    in_order = list(once.values())
    in_order.reverse()
    in_order.sort(key=lambda line: line.at or _NOW)
    amended = amend_lines(
        in_order,
        lambda line: None if line.speaker or line.in_file else (line.text, line.at),
        lambda line, text: replace(line, text=text, amended=True),
    )
    stated = [line if line.in_file else _stated(line, request.now) for line in amended]
    return [line for line in stated if line.text]


def _only_nods(text: str) -> bool:
    """Whether a message is one short word, such as "ok" or "ага"."""
    found = tokens(text)
    return len(found) < 2 and all(len(one.text) < _LEAST for one in found)


def quotable(text: str, said: str, *, part: bool = False) -> str:
    """A line, or of a long one its sentences around the first that touches what is asked.

    `part`: only the sentences that answer, however short the text is; after a mere heading also the next.
    """
    whole = " ".join(with_signs(text).split())
    if len(whole) <= _LONGEST and not part:
        return whole
    asked, subjects = {term for word in topic_terms(said) for term, _ in word}, subjects_of(said)
    rows = [with_signs(row) for row in (text.splitlines() if part else [whole])]
    parts = [found for row in rows for start, end in sentence_spans(row) if (found := " ".join(row[start:end].split()))]
    rated = [len(asked & terms_in(part)) + len(subjects & subjects_of(part)) for part in parts]
    first, last = rated.index(max(rated)), len(parts)
    if part and rated[first]:
        last = first + 1
        while last < len(parts) and (
            rated[last] == rated[first] or all(terms_in(one) <= asked for one in parts[first:last])
        ):
            last += 1
    shown = " ".join(parts[first:last])
    cut = shown if len(shown) <= _LONGEST else shown[:_LONGEST].rsplit(" ", 1)[0] + "…"
    return f"{'… ' if first else ''}{cut}"
