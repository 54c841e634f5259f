"""The enricher without a model: a question about "him" gets the name that was mentioned last."""

import re
from collections.abc import Mapping

from internal.agents.model import EnricherRequest, TranscriptLine
from internal.language.names.mentions import NameMention, find_people
from internal.language.text.morphology import Gender, parses
from internal.language.text.spelling import Language, text_language, tokens, words
from internal.language.worker.process_pool import LanguageWorker

_PRONOUNS: Mapping[str, Gender | None] = {
    **dict.fromkeys(words("он его ему ним нем нём него нему він його йому нього ньому he him his"), "masc"),
    **dict.fromkeys(words("она ее её ей ней нею неё нее вона її їй нею неї she her hers"), "femn"),
    **dict.fromkeys(words("они их им ними них вони їх їм ними them they their"), None),
}
_CONTINUES = words("а и і й and but так тогда тоді ещё еще ще")
_SHORT = 4
_ASKS_ON = re.compile(
    r"\W*(?:(?:(?:what|how) about|what if) .{1,40}"
    r"|(?:почему|зачем|когда|где|чому|навіщо|коли|де|why|when|where)(?: \w+)?)\W*",
    re.IGNORECASE,
)
"""Questions that depend on earlier lines; "What's the weather like?" stands alone."""
_OF_PEOPLE = re.compile(
    r"\b(?:сказа|говор|дума|жив|жит|работа|звон|позвон|писа|приед|приех|уех|каза|розпов|меш|прац|дзвон|приї|поїх)",
    re.IGNORECASE,
)
"""Actions of people only: "а что она сказала?" is never about the weather of the earlier question."""
_TOPIC = 120
"""Most characters of an earlier message that is put before a question without a name."""


class OfflineEnricher:
    """The Enricher by rules, run in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def standalone(self, request: EnricherRequest) -> str:
        """Rewrites a question by rules. Raises ModelUnavailable if the language process cannot answer."""
        if not request.recent or not request.question.strip():
            return request.question
        return await self._worker.run(enrich, request)


def enrich(request: EnricherRequest) -> str:
    """The question after the name or words on which it depends; pure."""
    question = request.question
    keys = [token.key for token in tokens(question)]
    pronoun = next((key for key in keys if key in _PRONOUNS), None)
    continues = len(keys) <= _SHORT and bool(keys) and keys[0] in _CONTINUES
    follows = pronoun is not None or continues or bool(_ASKS_ON.fullmatch(question))
    if not follows or find_people(question, text_language(question, request.owner.language)):
        return question
    names = _last_named(request, _PRONOUNS[pronoun] if pronoun else None, many=pronoun is not None and _many(pronoun))
    leaning = ", ".join(names) or _topic(request)
    return f"{leaning}: {question}" if leaning else question


def _many(pronoun: str) -> bool:
    return _PRONOUNS[pronoun] is None


def _last_named(request: EnricherRequest, gender: Gender | None, many: bool) -> list[str]:
    """The names in the latest message with a person whom the pronoun can mean."""
    own_turn = next((line for line in reversed(request.recent) if line.role == "user"), None)
    for line in reversed(request.recent):
        fitting = [one for one in _sightings(line, request) if gender is None or one.gender in (None, gender)]
        if fitting:
            names = list(dict.fromkeys(mention.name for mention in fitting))
            return names if many else names[-1:]
        if line is own_turn and gender is not None and _goes_on_about_thing(request, line.text, gender):
            return []
    return []


def _goes_on_about_thing(request: EnricherRequest, before: str, gender: Gender) -> bool:
    """Whether "he" or "she" is the thing of the question before: "Какой велосипед я купил?"."""
    language = text_language(before, request.owner.language)
    if "?" not in before or language == "en" or _OF_PEOPLE.search(request.question):
        return False
    return any(_is_thing(token.text, language, gender) for token in tokens(before))


def _is_thing(word: str, language: Language, gender: Gender) -> bool:
    likeliest = next(iter(parses(word, language)), None)
    return likeliest is not None and {"NOUN", "inan", gender} <= likeliest.tag.grammemes


def _sightings(line: TranscriptLine, request: EnricherRequest) -> list[NameMention]:
    return find_people(line.text, text_language(line.text, request.owner.language))


def _topic(request: EnricherRequest) -> str:
    said = next((line.text for line in reversed(request.recent) if line.role == "user"), "")
    return " ".join(said.split())[:_TOPIC].strip(" ?.!")
