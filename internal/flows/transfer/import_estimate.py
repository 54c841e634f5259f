"""Estimates an import: its size, its people, its period, and what the archivist would cost."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, tzinfo
from importlib.resources import files

from internal.agents.model import TranscriptLine
from internal.agents.prompts import transcript_block
from internal.import_formats.model import EpisodeDraft
from internal.knowledge.model import Segment
from internal.llm.tokens import count_tokens

REPLY_TOKENS = 500
"""Tokens of one reply of the archivist, estimated: a few people and facts per slice."""

BESIDE_TOKENS = 500
"""Tokens of a prompt besides instructions and transcript, estimated: the owner and the known people."""


class Forecast:
    """Counts drafts as they come, without storing them."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._instructions = count_tokens(files("internal.agents.archivist").joinpath("prompt.md").read_text("utf-8"))
        self.messages = self.calls = self.prompt_tokens = self.own = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.people: Counter[str] = Counter()
        self.places: Counter[str] = Counter()

    def add(self, draft: EpisodeDraft, new: Collection[int]) -> None:
        """Counts the segments of a draft that would be stored."""
        segments = [segment for segment in draft.segments if segment.n in new]
        if not segments:
            return
        self.calls += 1
        self.messages += len(segments)
        self.own += sum(segment.own for segment in segments)
        others = (one for one in segments if not one.own and one.forwarded_from is None)
        self.people.update(one.speaker for one in others if one.speaker)
        self.places[draft.place] += len(segments)
        times = [segment.at for segment in segments]
        self.first = min(times if self.first is None else [self.first, *times])
        self.last = max(times if self.last is None else [self.last, *times])
        self.prompt_tokens += self._instructions + BESIDE_TOKENS + count_tokens(self._transcript(segments))

    @property
    def tokens(self) -> int:
        """The tokens of prompts and replies together."""
        return self.prompt_tokens + self.calls * REPLY_TOKENS

    def _transcript(self, segments: list[Segment]) -> str:
        lines = [
            TranscriptLine(
                number=number,
                role="user",
                speaker=segment.speaker or "",
                at=segment.at.astimezone(self._zone),
                text=segment.text or "",
                forwarded_from=segment.forwarded_from,
            )
            for number, segment in enumerate(segments, start=1)
        ]
        return transcript_block("transcript", lines)
