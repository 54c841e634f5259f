"""Finds typed relations of people by the words beside names: my sister Anna, сын Маши Коля, замужем за Петром."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from internal.agents.archivist.offline import fact_patterns as shapes
from internal.agents.archivist.offline.bio_quotes import asks, cleaned
from internal.agents.archivist.offline.kinship import called_so, kin_before, meaning
from internal.agents.archivist.offline.people import Dossier, SentenceReading
from internal.language.kinship.kinds import Kin, composed, kin_of_word, kin_word
from internal.language.kinship.words import Relation
from internal.language.names.mentions import NameMention
from internal.language.text.spelling import Language, text_language
from internal.people.model import Person

_PAIRS: Final = {
    "spouse": r"(?:вышла\s+)?замужем за|вышла замуж за|женат на|женился на|(?:вийшла\s+)?заміжня? за|вийшла заміж за"
    r"|одружен\w+ (?:з|із|зі)|одружи\w+ (?:з|із|зі)|(?:got |gets )?married(?: to)?",
    "partner": r"встреча(?:ется|юсь) с|зустріча(?:ється|юся|юсь) (?:з|із|зі)|(?:is )?dating|goes out with",
    "ex": r"разв(?:елась|елся|едена|еден) с|розлуч(?:ена|ений|илася|ився) (?:з|із|зі)|(?:got )?divorced(?: from)?",
}
_PAIR = {kind: re.compile(rf"(?:^|\s)(?P<verb>{words})\s+$", re.IGNORECASE) for kind, words in _PAIRS.items()}
_OWNER: Final = "user"
_ENDED: Final = {"spouse": "ex", "partner": "ex"}
"""The relations of former partners; a former boss has none."""

Called = Callable[[Dossier], str]


class OfflineRelations:
    """Reads the sentences of a transcript one by one. `called` gives the reference to a dossier in facts."""

    def __init__(
        self, dossiers: Sequence[Dossier], people: Mapping[int, Person], called: Called, language: Language
    ) -> None:
        self._dossiers, self._people, self._called, self._language = dossiers, people, called, language

    def facts(self, said: SentenceReading) -> Iterator[dict[str, Any]]:
        """The relations that a sentence states beyond doubt, in the archivist's format."""
        if said.speaker is not None or asks(said.text) or shapes.HEDGES.search(said.text):
            return
        for mention, dossier in said.named:
            found = self._by_role(said, mention) or self._by_verb(said, mention)
            if found is not None and found[1] != self._called(dossier):
                kin, whom = found
                yield {
                    "source": self._called(dossier),
                    "relation": kin.relation,
                    "target": whom,
                    "fact": _own_relation_text(
                        kin, max(dossier.names, key=len), text_language(said.text, self._language)
                    )
                    if whom == _OWNER
                    else cleaned(said.text),
                    "evidence": [said.line.number],
                }

    def _by_role(self, said: SentenceReading, mention: NameMention) -> tuple[Kin, str] | None:
        """The relation by the words beside a name, and the other person."""
        kin = [_present(role) for role in mention.kin]
        if not kin or kin[0] is None:
            return None
        if len(kin) == 1:
            return (kin[0], _OWNER) if mention.kin_of is None else self._to(kin[0], said, mention.kin_of)
        if len(kin) > 2 or kin[1] is None or mention.kin_of is not None:
            return None
        between = self._relative(mention.kin[1].word)
        if between is not None:
            return kin[0], between
        whole = composed(kin[0].kind, kin[1].kind)
        return (Kin(whole, kin[0].gender), _OWNER) if whole is not None else None

    def _to(self, kin: Kin, said: SentenceReading, name: str) -> tuple[Kin, str] | None:
        whom = [dossier for one, dossier in said.named if one.name == name]
        return (kin, self._called(whom[0])) if len(whom) == 1 else None

    def _relative(self, role: str) -> str | None:
        """The owner's one relative of this role."""
        spoken = [one for one in self._dossiers if meaning(role) in map(meaning, one.roles)]
        ids = {one.person_id for one in spoken}
        known = [f"Person:{number}" for number in called_so(role, self._people) if number not in ids]
        found = [*map(self._called, spoken), *known]
        return found[0] if len(found) == 1 else None

    def _by_verb(self, said: SentenceReading, mention: NameMention) -> tuple[Kin, str] | None:
        """The relation by a verb before the name, and the other person: "Маша замужем за Игорем"."""
        before = said.text[: mention.start - said.start]
        for kind, pattern in _PAIR.items():
            verb = pattern.search(before)
            if verb is not None and not shapes.DENIALS.search(before[: verb.start("verb")]):
                whom = self._subject(said, verb.start("verb"))
                return (Kin(kind), whom) if whom is not None else None
        return None

    def _subject(self, said: SentenceReading, verb: int) -> str | None:
        for one, dossier in reversed(said.named):
            end = one.end - said.start
            if end <= verb and re.fullmatch(rf"\s+{shapes.ADVERBS}", said.text[end:verb], re.IGNORECASE):
                return self._called(dossier)
        if shapes.I_BEFORE.search(said.text[:verb]):
            return _OWNER
        kin = said.kin.get(kin_before(said.text, verb) or "")
        return self._called(kin) if kin is not None else None


def _own_relation_text(kin: Kin, name: str, language: Language) -> str:
    """The words of a relation to the owner, not the sentence's, which may state something else of the person."""
    if language == "en":
        return f"{name} is my {kin_word(kin, language)}."
    word = kin_word(kin, language)
    my = "моя" if kin.gender == "femn" else "мій" if language == "uk" else "мой"
    return f"{name} — {my} {word}."


def _present(role: Relation) -> Kin | None:
    """The present relation of a role word; None for no relation of two people, or one that has ended."""
    kin = kin_of_word(role.word) if role.word and not role.plural else None
    if kin is None or not role.former:
        return kin
    return Kin(_ENDED[kin.kind], kin.gender) if kin.kind in _ENDED else None
