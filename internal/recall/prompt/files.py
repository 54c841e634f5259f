"""Passages of files that came with the question itself: the whole of a short one, else its start and what matters."""

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import Connection

from internal.agents.model import PassageLine, RecalledPassage
from internal.knowledge import episode_repository as episodes
from internal.knowledge.model import Segment
from internal.language.search.terms import Word
from internal.recall.prompt.passages import shared_words

CHARACTERS: Final = 6_000
"""Of one file in a prompt; `read_file` reads more."""

_SEGMENTS: Final = 400


def with_files(
    connection: Connection,
    user_id: int,
    file_ids: Collection[str],
    words: Sequence[Word],
    recalled: Sequence[RecalledPassage],
) -> list[RecalledPassage]:
    """What was recalled, with the passages of these files for it in place of those that were found among all."""
    found = [one for one in recalled if one.ref_id not in file_ids]
    following = max((one.n for one in recalled), default=0) + 1
    for file_id in file_ids:
        parts = episodes.episode_segments(connection, user_id, file_id, 1, _SEGMENTS)
        lines = [PassageLine(one.at, one.speaker or "", one.text or "", "other") for one in _chosen(parts, words)]
        if lines:
            found.append(RecalledPassage(following, "episode", file_id, lines))
            following += 1
    return found


def _chosen(parts: Sequence[Segment], words: Sequence[Word]) -> list[Segment]:
    """Its first part, and those that share most words with the question, as many as there is room for, in order."""
    shared = shared_words([one.text or "" for one in parts], words)
    best = sorted(range(len(parts)), key=lambda index: (index > 0, -shared[index], index))
    chosen, room = set[int](), CHARACTERS
    for index in best:
        room -= len(parts[index].text or "")
        if room < 0 and chosen:
            break
        chosen.add(index)
    return [parts[index] for index in sorted(chosen)]
