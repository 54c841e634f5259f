"""Citations of facts and entities: episodes, and lines with their words, speakers and links."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row

from internal.knowledge import episode_repository as episodes, fact_repository, line_repository
from internal.knowledge.claims import repository as claim_repository
from internal.knowledge.facts.read import claims_of, fact
from internal.knowledge.line_repository import StoredLine
from internal.knowledge.model import Citation, CitationOperation, Episode, EvidenceLine
from internal.storage import evidence
from internal.storage.evidence import LineRef

_LAST_SEGMENT = 2**31 - 1
_OF_PROFILES: dict[str, CitationOperation] = {"Added": "created", "Updated": "updated", "Merged": "updated"}
"""Citation operations of the operations on a person's profile."""

_STRENGTH: dict[str, int] = {"created": 0, "updated": 1, "referenced": 2}


def citations_of_facts(connection: Connection, user_id: int, fact_ids: Collection[str]) -> dict[str, list[Citation]]:
    """The citations of each of these versions by its id, in the order of their claims."""
    versions = list(fact_repository.versions(connection, user_id, fact_ids).values())
    claims_of_facts = claims_of(connection, user_id, versions)
    support = evidence.rows(
        connection, user_id, "claim", [claim.id for claims in claims_of_facts.values() for claim in claims]
    )
    operations = {claim_id: rows[-1].operation for claim_id, rows in support.items()}
    known = episodes.by_ids(
        connection,
        user_id,
        {claim.episode_id for claims in claims_of_facts.values() for claim in claims if claim.episode_id},
    )
    found: dict[str, list[Citation]] = {}
    for fact_id, claims in claims_of_facts.items():
        rows = [
            (claim.episode_id, operations.get(claim.id, "referenced"))
            for claim in claims
            if claim.episode_id is not None
        ]
        found[fact_id] = _citations(rows, known)
    return found


def citations_of_episodes(connection: Connection, user_id: int, episode_ids: Collection[str]) -> list[Citation]:
    """One citation for each of these episodes that is stored, in their order."""
    known = episodes.by_ids(connection, user_id, episode_ids)
    return _citations([(episode_id, "referenced") for episode_id in episode_ids], known)


def citation_chain(connection: Connection, user_id: int, node_id: str) -> list[Citation]:
    """The history of an entity: each episode once with its strongest operation, in the order of their times."""
    targets = [evidence.target("entity", node_id)]
    person_id = fact_repository.person_of(connection, user_id, node_id)
    if person_id is not None:
        targets.append(evidence.target("person", person_id))
    support = evidence.rows_of_targets(connection, user_id, targets)
    rows = [(row.episode_id, _OF_PROFILES.get(row.operation, row.operation)) for row in support]
    claims = [
        claim for claim in claim_repository.at_nodes(connection, user_id, [node_id]) if claim.retracted_at is None
    ]
    rows += [(claim.episode_id, "referenced") for claim in claims if claim.episode_id is not None]
    known = episodes.by_ids(connection, user_id, {episode_id for episode_id, _ in rows})
    chain = _citations(rows, known)
    return sorted(chain, key=lambda one: (known[one.episode_uuid].reference_time, known[one.episode_uuid].created_at))


def evidence_of_fact(connection: Connection, user_id: int, fact_id: str) -> list[EvidenceLine]:
    """The lines that support a version of a fact, each once, in the order in which they were said. Raises NotFound."""
    fact(connection, user_id, fact_id)
    return evidence_of_facts(connection, user_id, [fact_id])[fact_id]


def evidence_of_facts(connection: Connection, user_id: int, fact_ids: Collection[str]) -> dict[str, list[EvidenceLine]]:
    """Like `evidence_of_fact`, but for many versions, by id."""
    versions = list(fact_repository.versions(connection, user_id, fact_ids).values())
    claims_of_facts = claims_of(connection, user_id, versions)
    by_claim = evidence.rows(
        connection, user_id, "claim", [claim.id for claims in claims_of_facts.values() for claim in claims]
    )
    return lines_of(
        connection,
        user_id,
        {
            fact_id: [row for claim in claims for row in by_claim.get(claim.id, ())]
            for fact_id, claims in claims_of_facts.items()
        },
    )


def lines_of(
    connection: Connection, user_id: int, support: Mapping[str, Collection[Row[Any]]]
) -> dict[str, list[EvidenceLine]]:
    """The lines of the evidence rows of each of several things, by its id."""
    refs = {(row.episode_id, row.segment) for rows in support.values() for row in rows}
    lines = line_repository.stored_lines(connection, user_id, refs)
    return {one: _lines(rows, lines) for one, rows in support.items()}


def evidence_lines(connection: Connection, user_id: int, support: Iterable[Row[Any]]) -> list[EvidenceLine]:
    """The lines of these evidence rows."""
    rows = list(support)
    line_refs = {(row.episode_id, row.segment) for row in rows}
    return _lines(rows, line_repository.stored_lines(connection, user_id, line_refs))


def episode_content(connection: Connection, user_id: int, episode: Episode, *, without: Collection[str] = ()) -> str:
    """The content of an episode: its own, or its messages, one line each with the speaker.

    `without` are the ids of messages to leave out.
    """
    if episode.source != "message" or episode.content:
        return episode.content
    parts = episodes.episode_segments(connection, user_id, episode.id, 0, _LAST_SEGMENT)
    lines = line_repository.stored_lines(connection, user_id, {(episode.id, part.n) for part in parts})
    shown = [part.n for part in parts if part.message_id not in without]
    kept = [lines[episode.id, number] for number in shown if (episode.id, number) in lines]
    return "\n".join(spoken(line.text, line.speaker or line.role, line.forwarded_from) for line in kept)


def spoken(text: str, speaker: str | None, forwarded_from: str | None) -> str:
    """A line with its speaker; a forwarded one also names its author."""
    if forwarded_from is not None:
        speaker = f"{speaker or ''} (forwarded from {forwarded_from or 'somebody else'})".lstrip()
    return f"{speaker}: {text}" if speaker else text


def wire_description(episode: Episode) -> str:
    """The description with the URL embedded once."""
    if episode.source_url and f"source_url: {episode.source_url}" in episode.source_description:
        return episode.source_description
    return episodes.embed_source_url(episode.source_description, episode.source_url)


def telegram_link(chat_id: int | None, tg_id: int | None, thread_id: int | None = None) -> str | None:
    """The link that opens a message of a supergroup or channel; private chats and small groups have none.

    Source of the form: Telegram's own "Copy Message Link" (t.me/c/<id without -100>/<message>).
    """
    if chat_id is None or tg_id is None or not str(chat_id).startswith("-100"):
        return None
    path = f"{thread_id}/{tg_id}" if thread_id else str(tg_id)
    return f"https://t.me/c/{str(chat_id).removeprefix('-100')}/{path}"


def _lines(support: Iterable[Row[Any]], stored: Mapping[LineRef, StoredLine]) -> list[EvidenceLine]:
    quotes = {(row.episode_id, row.segment): row for row in support}
    lines = [_line(row, stored.get(key)) for key, row in quotes.items()]
    return sorted((line for line in lines if line is not None), key=_said)


def _line(row: Row[Any], line: StoredLine | None) -> EvidenceLine | None:
    if line is None:
        return None
    return EvidenceLine(
        episode_id=row.episode_id,
        segment=row.segment,
        at=line.at,
        quote=row.quote or line.text,
        message_id=line.message_id,
        speaker=line.speaker,
        role="assistant" if line.role == "assistant" else "user",
        forwarded_from=line.forwarded_from,
        url=line.url,
        telegram_link=telegram_link(line.chat_id, line.tg_id, line.thread_id),
    )


def _said(line: EvidenceLine) -> tuple[datetime, str, int]:
    return line.at, line.episode_id, line.segment


def _citations(rows: Iterable[tuple[str, CitationOperation]], known: dict[str, Episode]) -> list[Citation]:
    strongest: dict[str, CitationOperation] = {}
    for episode_id, operation in rows:
        before = strongest.setdefault(episode_id, operation)
        strongest[episode_id] = min(before, operation, key=lambda one: _STRENGTH.get(one, 2))
    return [_citation(known[one], operation) for one, operation in strongest.items() if one in known]


def _citation(episode: Episode, operation: CitationOperation) -> Citation:
    return Citation(
        episode_uuid=episode.id,
        episode_name=episode.name,
        source=episode.source,
        source_description=wire_description(episode),
        created_at=episode.created_at,
        source_url=episode.source_url or episodes.extract_source_url(episode.source_description),
        operation=operation,
    )
