"""Finds the times of a reply's memories, and known nodes with the same meaning, before the transaction."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np

from internal.agents.model import Language, TranscriptLine
from internal.agents.unavailable import or_none
from internal.graph import registry
from internal.language.dates import deadlines, parse
from internal.language.dates.deadlines import Kind, Period
from internal.language.search import word_match
from internal.language.text.spelling import words
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder, Vectors
from internal.memory.model import Likeness, NodeRef, ProposedMemory, RefKey

log = logging.getLogger(__name__)

SENTENCES: Final = words("Memory Goal Question Decision")
"""Labels named by a sentence, which may have other words for the same meaning."""
NAMES: Final = words("Concept Topic Preference")
"""Labels named by a name whose meaning may have another name."""
FORMS: Final = SENTENCES | NAMES | words("Keyword Context Contradiction TemporalMarker")
"""Labels whose nodes are compared by word forms; a source is compared letter by letter."""

MARGIN: Final = 0.01
"""The difference in cosine by which two names of one thing are nearer than the nearest two different names."""
SENTENCE_MARGIN: Final = 0.02
"""The same for sentences: two of equal structure may be nearer than the anchors (0.947 was met, against 0.935)."""
RELATED_SHARE: Final = 0.9
"""The share of pairs of different sentences that are farther apart than two related ones."""
MOST_RELATED: Final = 5

_NODES_A_CALL: Final = 500
"""Most known texts compared in one call of the language process: 0.15 s at first, 10 ms with cached words."""
_WHOLE_MONTH: Final = timedelta(days=28)

_KINDS: Final[Mapping[str, Kind]] = {
    "targetDate": "ahead", "date": "past", "answeredDate": "past", "startDate": "begin", "endDate": "end",
}  # fmt: skip

NAME_ANCHORS: Final = (
    "аутентификация", "авторизация", "машинное обучение", "глубокое обучение", "бег", "плавание", "питание",
    "тренировки", "математика", "физика", "сім'я", "діти", "подорожі", "відпустка", "інвестиції", "бюджет",
    "databases", "networks", "Java", "JavaScript", "coffee", "tea", "здоровье", "спорт", "кіно", "театр",
    "шахматы", "теннис", "garden", "kitchen", "music", "painting", "ремонт", "переезд", "навчання", "робота",
)  # fmt: skip
SENTENCE_ANCHORS: Final = (
    "выучить итальянский язык к весне", "подтянуть немецкий для работы", "купить дом за городом",
    "продать старую машину", "Бабушка попала в больницу", "Дедушку выписали из больницы", "схуднути до літа",
    "набрати вагу взимку", "Змінити роботу восени", "Отримати підвищення на роботі", "Чи їхати нам у гори?",
    "Кого запросити на весілля?", "finish the thesis in June", "start writing a blog", "Met Tom at the conference",
    "Had lunch with Kate downtown", "Which school is better for our son?", "How much does the roof repair cost?",
    "Решил уйти из банка и открыть кафе", "Вирішили не брати кредит на квартиру", "We agreed to ship on Monday",
    "The launch was moved to autumn", "Сын пошёл в первый класс", "Дочка закінчила музичну школу",
    "Сестра обожнює каву з молоком", "Брат ненавидить чай із цукром", "My wife grows tomatoes",
    "My neighbour sells cucumbers", "Записаться в бассейн", "сходить к зубному врачу", "Полагодити пральну машину",
    "Купити новий холодильник",
)  # fmt: skip
"""Different things, some of them hard to distinguish: the cosine of the nearest two is not near enough."""


class NearNode(NamedTuple):
    """A stored node near a proposed one, with the cosine of their search texts."""

    node_id: str
    words: str
    cosine: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Thresholds of one model's cosines: for names and for sentences of one meaning, and `floor` for related ones."""

    names: float
    sentences: float
    floor: float

    def likeness(self, cosine: float) -> float:
        """The likeness of two memories, from 0 at the floor to 1 for the same text."""
        return max(0.0, min(1.0, (cosine - self.floor) / (1 - self.floor)))


class MemoryMatcher:
    """Reads times and compares words by the language process and the embedder; without them it finds less."""

    def __init__(self, worker: LanguageWorker, embedder: Embedder) -> None:
        self._worker, self._embedder = worker, embedder
        self._calibration: Calibration | None = None

    @property
    def model(self) -> str:
        """The name of the embedding model whose stored vectors are compared."""
        return self._embedder.name

    def by_meaning(self, key: RefKey) -> bool:
        """Whether nodes of this label are compared by their vectors too."""
        return key.label in SENTENCES | NAMES

    async def dated(
        self, memories: Sequence[ProposedMemory], transcript: Sequence[TranscriptLine], language: Language
    ) -> list[ProposedMemory]:
        """The memories with times in ISO 8601, resolved against their lines; an unknown time is left out."""
        said = [min(line.at for line in transcript if line.number in memory.evidence) for memory in memories]
        nodes = [(node, at) for memory, at in zip(memories, said, strict=True) for node in _nodes(memory)]
        times = await self._times([phrase for node, at in nodes for phrase in _phrases(node, at)], language)
        spans = await self._periods([(_words(node), at) for node, at in nodes if _lacks_dates(node)], language)

        def resolved(node: NodeRef, at: datetime) -> NodeRef:
            return _dated(node, at, times, spans.get((_words(node), at)))

        with_dates = {node.key: marker for node, at in nodes if _has_dates(marker := resolved(node, at))}

        def settled(node: NodeRef, at: datetime) -> NodeRef:
            dated = resolved(node, at)
            return (
                with_dates.get(node.key, dated) if node.label == "TemporalMarker" and not _has_dates(dated) else dated
            )

        return [
            ProposedMemory(
                settled(memory.node, at),
                tuple(replace(link, other=settled(link.other, at)) for link in memory.links),
                memory.evidence,
            )
            for memory, at in zip(memories, said, strict=True)
        ]

    async def same_in_form(
        self, keys: Sequence[RefKey], known: Mapping[str, Sequence[tuple[str, str]]]
    ) -> dict[RefKey, list[Likeness]]:
        """The known nodes (by label: id and words) that say the same in other word forms."""
        found: dict[RefKey, list[Likeness]] = {}
        for label in dict.fromkeys(key.label for key in keys):
            mine = [key for key in keys if key.label == label]
            nodes = known.get(label, ())
            for start in range(0, len(nodes), _NODES_A_CALL):
                part = nodes[start : start + _NODES_A_CALL]
                hits = await self._alike(label, [key.words for key in mine], [words for _, words in part])
                for key, indexes in zip(mine, hits, strict=True):
                    likely = [Likeness(part[index][0], reason) for index, reason in indexes]
                    if likely:
                        found.setdefault(key, []).extend(likely)
        return found

    async def forms(self, keys: Sequence[RefKey]) -> dict[RefKey, RefKey]:
        """The keys that say the same as an earlier key, mapped to that key."""
        found: dict[RefKey, RefKey] = {}
        for label in dict.fromkeys(key.label for key in keys):
            mine = [key for key in keys if key.label == label]
            texts = [key.words for key in mine]
            for number, indexes in enumerate(await self._alike(label, texts, texts)):
                earlier = [mine[index] for index, _ in indexes if index < number]
                if earlier:
                    found[mine[number]] = found.get(earlier[0], earlier[0])
        return found

    async def vectors(self, texts: Mapping[RefKey, str], user_id: int | None) -> dict[RefKey, Any]:
        """Vectors of the texts by which the nodes would be found; empty if the embedder cannot be asked."""
        vectors = await self._embedded(list(texts.values()), user_id)
        return {} if vectors is None else dict(zip(texts, vectors, strict=True))

    async def same_in_meaning(
        self, near: Mapping[RefKey, Sequence[NearNode]], user_id: int | None
    ) -> dict[RefKey, list[Likeness]]:
        """The near nodes with own words near enough for the same meaning, likeliest first."""
        pairs = [(key, one) for key, found in near.items() if key.label in SENTENCES | NAMES for one in found]
        calibration = await self._calibrated(user_id) if pairs else None
        if calibration is None:
            return {}
        allowed = await self._may_be_same([(key.words, one.words) for key, one in pairs])
        pairs = [pair for pair, may in zip(pairs, allowed, strict=True) if may]
        mine = await self._embedded([key.words for key, _ in pairs], user_id)
        theirs = await self._embedded([one.words for _, one in pairs], user_id)
        if mine is None or theirs is None:
            return {}
        found: dict[RefKey, list[Likeness]] = {}
        for (key, one), cosine in zip(pairs, np.sum(mine * theirs, axis=1).tolist(), strict=True):
            if cosine >= (calibration.sentences if key.label in SENTENCES else calibration.names):
                found.setdefault(key, []).append(Likeness(one.node_id, "vector", cosine))
        return {key: sorted(likely, key=lambda one: -(one.cosine or 0)) for key, likely in found.items()}

    async def related(
        self, near: Mapping[RefKey, Sequence[NearNode]], user_id: int | None
    ) -> dict[RefKey, list[Likeness]]:
        """Stored memories near a proposed one, nearest first; `cosine` is from 0 at the floor to 1."""
        memories = {key: found for key, found in near.items() if key.label == "Memory" and found}
        calibration = await self._calibrated(user_id) if memories else None
        if calibration is None:
            return {}
        kept = {
            key: [
                Likeness(one.node_id, "vector", round(calibration.likeness(one.cosine), 3))
                for one in found
                if one.cosine > calibration.floor
            ][:MOST_RELATED]
            for key, found in memories.items()
        }
        return {key: found for key, found in kept.items() if found}

    # --- The language process and the embedder

    async def _times(
        self, asked: Sequence[tuple[str, datetime, Kind]], language: Language
    ) -> dict[tuple[str, datetime, Kind], datetime | None]:
        if not asked:
            return {}
        found = await or_none(
            log, "dates_read_plainly", self._worker.run_bulk(deadlines.resolve_all, list(asked), language)
        )
        if found is None:
            plain = [parse.resolve_plainly(phrase, at, language) for phrase, at, _ in asked]
            found = [one.moment if one else None for one in plain]
        return dict(zip(asked, found, strict=True))

    async def _periods(
        self, asked: Sequence[tuple[str, datetime]], language: Language
    ) -> dict[tuple[str, datetime], tuple[Period, bool] | None]:
        if not asked:
            return {}
        found = await or_none(log, "periods_not_read", self._worker.run_bulk(deadlines.periods, list(asked), language))
        return {} if found is None else dict(zip(asked, found, strict=True))

    async def _alike(self, label: str, texts: Sequence[str], known: Sequence[str]) -> list[list[tuple[int, str]]]:
        alike = self._worker.run_bulk(word_match.match_texts, texts, known, names=label not in SENTENCES)
        return await or_none(log, "words_not_compared", alike) or [[] for _ in texts]

    async def _may_be_same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        same = self._worker.run_bulk(word_match.may_be_same, list(pairs))
        return await or_none(log, "words_not_compared", same) or [False] * len(pairs)

    async def _embedded(self, texts: Sequence[str], user_id: int | None) -> Vectors | None:
        if not texts:
            return None
        vectors = self._embedder.embed_documents(list(texts), user_id=user_id)
        return await or_none(log, "memories_not_embedded", vectors)

    async def _calibrated(self, user_id: int | None) -> Calibration | None:
        """The calibration of this model, computed once."""
        if self._calibration is None:
            vectors = await self._embedded([*NAME_ANCHORS, *SENTENCE_ANCHORS], user_id)
            if vectors is None:
                return None
            names = await self._nearness(NAME_ANCHORS, vectors[: len(NAME_ANCHORS)])
            sentences = await self._nearness(SENTENCE_ANCHORS, vectors[len(NAME_ANCHORS) :])
            floor = float(np.quantile(sentences, RELATED_SHARE))
            self._calibration = Calibration(max(names) + MARGIN, max(sentences) + SENTENCE_MARGIN, floor)
        return self._calibration

    async def _nearness(self, anchors: Sequence[str], vectors: Vectors) -> list[float]:
        """The cosines of all pairs that do not already differ by their words."""
        indexes = [(i, j) for i in range(len(anchors)) for j in range(i)]
        allowed = await self._may_be_same([(anchors[i], anchors[j]) for i, j in indexes])
        cosines = vectors @ vectors.T
        return [float(cosines[i, j]) for (i, j), may in zip(indexes, allowed, strict=True) if may] or [1.0]


def proposed_keys(memories: Sequence[ProposedMemory]) -> dict[RefKey, NodeRef]:
    """The nodes named by words that may be known already, by key; entities are resolved with the facts."""
    found: dict[RefKey, NodeRef] = {}
    for memory in memories:
        for node in _nodes(memory):
            if node.node_id is None and node.label in FORMS and node.key.words:
                known = found.get(node.key)
                if known is None or len(known.properties) < len(node.properties):
                    found[node.key] = node
    return found


def text_of(node: NodeRef) -> str:
    """The text by which the node would be found if it were stored."""
    properties = dict(node.properties)
    if node.label == "Memory":
        properties = registry.check_node("Memory", properties)
    return registry.text_of(node.label, properties)


def _nodes(memory: ProposedMemory) -> Iterator[NodeRef]:
    yield memory.node
    yield from (link.other for link in memory.links)


def _words(node: NodeRef) -> str:
    return node.key.words


def _phrases(node: NodeRef, at: datetime) -> list[tuple[str, datetime, Kind]]:
    return [(node.properties[name], at, kind) for name, kind in _KINDS.items() if name in node.properties]


def _has_dates(node: NodeRef) -> bool:
    return node.label == "TemporalMarker" and bool({"startDate", "endDate"} & set(node.properties))


def _lacks_dates(node: NodeRef) -> bool:
    """Whether a time marker has its time only in words."""
    return (
        node.label == "TemporalMarker" and node.node_id is None and not {"startDate", "endDate"} & set(node.properties)
    )


def _dated(
    node: NodeRef,
    at: datetime,
    times: Mapping[tuple[str, datetime, Kind], datetime | None],
    span: tuple[Period, bool] | None,
) -> NodeRef:
    properties = {name: value for name, value in node.properties.items() if name not in _KINDS}
    found = {
        name: moment
        for name, kind in _KINDS.items()
        if name in node.properties and (moment := times.get((node.properties[name], at, kind))) is not None
    }
    if node.label == "TemporalMarker" and node.node_id is None:
        properties, found = _typed_marker(properties, found, span)
    return replace(node, properties={**properties, **{name: moment.isoformat() for name, moment in found.items()}})


def _typed_marker(
    properties: dict[str, Any], found: dict[str, datetime], span: tuple[Period, bool] | None
) -> tuple[dict[str, Any], dict[str, datetime]]:
    """A time marker with its type, and the year in its words: two summers are two markers."""
    if span is not None:
        found = {"startDate": span[0].begin, "endDate": span[0].end}
    begin, end = found.get("startDate"), found.get("endDate")
    if begin and end and end < begin:
        found = {"startDate": begin}
        end = None
    point = (span is not None and span[1]) or (begin is not None and begin == end)
    properties.setdefault("type", "point" if point else "period")
    moment = begin or end
    if moment is not None and f"{moment.year}" not in properties["description"]:
        long = not point and begin is not None and end is not None and end - begin >= _WHOLE_MONTH - timedelta(days=1)
        properties["description"] = f"{properties['description']} ({moment:{'%Y' if long else '%Y-%m-%d'}})"
    return properties, found
