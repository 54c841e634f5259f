"""Finds facts that a sentence states beyond doubt, by rules: home, work, studies, birth, preferences.

A hedge, denial, question, quotation or wish states no fact, nor does a sentence whose subject is not named right
before its verb: a missed fact costs little, a wrong one is believed for years.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from internal.agents.archivist.offline import fact_patterns as shapes
from internal.agents.archivist.offline.bio_quotes import asks, cleaned
from internal.agents.archivist.offline.fact_patterns import Kind, VerbPattern
from internal.agents.model import TranscriptLine
from internal.knowledge.model import OWNER_NODE
from internal.language.dates.parse import resolve_plainly
from internal.language.names.entities import basic_form, is_place, needs_noun, place_form
from internal.language.names.mentions import NameMention
from internal.language.text.morphology import parses
from internal.language.text.spelling import Language, name_key, text_language, tokens, words

_MOST_WORDS = 4
"""Most words of a liked thing; more are a clause."""
_DATE_WORDS = 5
_LEADING_OVER = words("в во на у до к in at to for из з із from")
"""Words with which no date ends: "18 червня до" leads over to the place."""

_HEAD = re.compile(
    r"(.+?)((?:\s+(?:на|в|у|во|под|під|над|перед|за|о|об|про|по|без|с|со|з|із|зі|из|от|від|до|для|к|ко|после|після|через"
    r"|при|между|між|возле|біля)\s.*)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact of a sentence. `verb` and `target_span` are the positions of its verb and target in the sentence.

    `target` is in its basic form; `valid_at` and `invalid_at` are the words of a date. `by_owner`: about the speaker.
    """

    relation: str
    target: str
    kind: Kind
    by_owner: bool
    verb: int
    target_span: tuple[int, int]
    valid_at: str | None = None
    invalid_at: str | None = None
    third: bool = False

    @property
    def ends(self) -> bool:
        return self.invalid_at is not None


def statements(sentence: str, line: TranscriptLine) -> Iterator[Statement]:
    """The statements of one sentence, about its speaker (`by_owner`) and people named before a verb, in order."""
    if asks(sentence) or shapes.HEDGES.search(sentence) or quoted(sentence):
        return
    language = text_language(sentence, "ru")
    found = [
        _read(shape, verb, sentence, line, language)
        for shape in shapes.SHAPES
        for verb in shape.verb.finditer(sentence)
    ]
    yield from sorted((stated for stated in found if stated is not None), key=lambda stated: stated.verb)


def subject_ends_at(mention: NameMention, offset: int, sentence: str, stated: Statement) -> bool:
    """Whether a name in the nominative stands right before the verb and is its subject.

    A date may stand between the two.
    """
    end, verb = mention.end - offset, stated.verb
    if end > verb or name_key(mention.written) not in (name_key(mention.name), name_key(mention.username or "")):
        return False
    since = rf"(?:{shapes.SINCE}{re.escape(stated.valid_at)}\s+)?" if stated.valid_at and not stated.ends else ""
    between = rf"(?:\s*\([^)]*\)|,[^,.]{{1,40}},)?\s+{shapes.ADVERBS}{since}{shapes.ADVERBS}"
    return re.fullmatch(between, sentence[end:verb], re.IGNORECASE) is not None


def goes_on_from(before: Statement, stated: Statement, sentence: str) -> bool:
    """Whether a second clause follows directly, with the same subject: "quit Yandex and now works for Sber"."""
    if stated.third and before.by_owner:
        return False
    between = rf"[»\"”)]?,?\s+{shapes.JOINT}\s+{shapes.ADVERBS}"
    return re.fullmatch(between, sentence[before.target_span[1] : stated.verb], re.IGNORECASE) is not None


def pronoun_before(sentence: str, verb: int) -> bool:
    """Whether the sentence begins with he or she and the verb follows directly."""
    opening = rf"\W*(?:он|она|він|вона|he|she)\s+{shapes.ADVERBS}"
    return re.fullmatch(opening, sentence[:verb], re.IGNORECASE) is not None


def fact_of(stated: Statement, source: str, sentence: str, line: TranscriptLine) -> dict[str, object]:
    """The statement in the archivist's format, in the owner's own words."""
    types: dict[Kind, str] = {"place": "Location", "organization": "Organization"}
    if source == OWNER_NODE:  # a preference is the owner's
        types["thing"] = "Preference"
    return {
        "source": "user" if source == OWNER_NODE else source,
        "relation": stated.relation,
        "target": stated.target,
        "fact": cleaned(sentence),
        "valid_at": stated.valid_at,
        "invalid_at": stated.invalid_at,
        "entity_types": {stated.target: types[stated.kind]} if stated.kind in types else {},
        "evidence": [line.number],
    }


def _read(
    shape: VerbPattern, verb: re.Match[str], sentence: str, line: TranscriptLine, language: Language
) -> Statement | None:
    before = sentence[: verb.start()]
    by_owner = _by_owner(verb, before)
    if by_owner is None or shapes.DENIALS.search(before):
        return None
    adverbs = re.compile(rf"\s+{shapes.ADVERBS}", re.IGNORECASE).match(sentence, verb.end())
    # Names differ from words by their capital, so this match does not ignore case.
    found = re.compile(shape.then).match(sentence, adverbs.end()) if adverbs else None
    if found is None and shape.kind == "thing" and shapes.CLAUSE_END.match(sentence, verb.end()):
        found = _somebodys_thing(before, language) if verb["third"] else shapes.THING_BEFORE.search(before)
    if found is None or shapes.ANOTHER.match(sentence[found.end() :]):
        return None
    target = _target(shape, found["target"], language)
    ahead = found.start() < verb.start()
    if target is None or (not ahead and _cut_short(found["target"], sentence[found.end("target") :])):
        return None
    target_span, third = found.span("target"), verb["third"] is not None
    begins = target_span[0] if third and ahead else verb.start()
    stated = Statement(shape.relation, target, shape.kind, by_owner, begins, target_span, third=third)
    if shape.kind == "date":
        return stated
    around = (before, sentence[verb.end() : found.start("target")], sentence[found.end("target") :])
    return _dated(stated, shape, around[: 2 if shape.kind == "thing" else 3], line, lasting=verb["past"] is None)


def _somebodys_thing(before: str, language: Language) -> re.Match[str] | None:
    """The noun between the subject and the verb: "Катя кинзу не любит"."""
    found = shapes.NOUN_BEFORE.search(before)
    nouns = found is not None and any(
        "NOUN" in one.tag.grammemes for one in parses(name_key(found["target"]), language)
    )
    return found if nouns else None


def _by_owner(verb: re.Match[str], before: str) -> bool | None:
    """Whether the owner is the subject, False for somebody named before the verb; None if only the context shows it."""
    if verb["third"]:
        return False
    me = shapes.I_BEFORE.search(before) is not None
    if verb["first"]:
        bare = not verb["first"].strip("'’")[:1].isascii() and shapes.CLAUSE_BEFORE.search(before)
        return True if me or bare else None
    return me


def _target(shape: VerbPattern, written: str, language: Language) -> str | None:
    bare = written.strip().strip('«»"“”').rstrip(".,")
    match shape.kind:
        case "thing":
            return _liked_thing(bare, language)
        case "date":
            return bare
        case "place":
            return place_form(bare, language)
        case "organization" if is_place(bare):
            return None
        case _:
            return basic_form(bare, language)


def _cut_short(written: str, behind: str) -> bool:
    """Whether the name continues in lower case: "в Новой почте"."""
    return re.match(r"\s+[a-zа-яёіїєґ]", behind) is not None and " " not in written and needs_noun(written)


def _liked_thing(written: str, language: Language) -> str | None:
    """The liked thing without the words after it; None for a pronoun, a clause, or too many words."""
    bare = shapes.AFTER_THING.sub("", f" {written}").strip()
    found = [token.key for token in tokens(bare)]
    if not found or len(found) > _MOST_WORDS or found[0] in shapes.NO_THINGS or len(bare) < 3:
        return None
    # "вранішню каву на балконі": words after a preposition keep their case.
    head, tail = _HEAD.fullmatch(bare).groups()  # type: ignore[union-attr] # it matches every text
    return basic_form(head, language) + tail


def _dated(
    stated: Statement, shape: VerbPattern, around: Sequence[str], line: TranscriptLine, *, lasting: bool
) -> Statement | None:
    """The statement with the date before or after it; None if that is an end or in the future."""
    dates = [_date_in(part, line, lasting=lasting) for part in around]
    if "" in dates:
        return None
    said = next(filter(None, dates), None)
    if shape.ends:
        return replace(stated, invalid_at=said or line.at.isoformat(timespec="minutes"))
    return replace(stated, valid_at=said)


def _date_in(text: str, line: TranscriptLine, *, lasting: bool) -> str | None:
    """The longest date in the words; empty for an end or a future moment, which do not show the beginning.

    `lasting`: "for three years" gives the beginning too.
    """
    found = [bare for word in text.casefold().split() if (bare := word.strip('.,;:!?()«»"“”'))]
    for size in range(min(_DATE_WORDS, len(found)), 0, -1):
        for start in range(len(found) - size + 1):
            if found[start + size - 1] in _LEADING_OVER:
                continue
            phrase = " ".join(found[start : start + size])
            resolved = resolve_plainly(phrase, line.at)
            if resolved is None and lasting and (since := shapes.LASTING.match(phrase)):
                phrase = f"{since[1]} ago"
                resolved = resolve_plainly(phrase, line.at)
            if resolved is not None and resolved.precision != "time":
                ending = {*found[max(0, start - 1) : start + 1]} & shapes.ENDINGS
                return "" if ending or resolved.moment > line.at else phrase
    return None


def quoted(sentence: str) -> bool:
    """Whether the sentence contains a quotation of several words."""
    return re.search(r"[«\"“][^»\"”]*\s[^»\"”]*\s[^»\"”]*[»\"”]", sentence) is not None
