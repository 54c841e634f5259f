"""Compares the ledger with the bot's database, read from outside, and with what the local Telegram delivered.

Plain SQL on purpose: a mistake in the bot's own repositories must not hide itself.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from support.faults.chronicle_check import broken_line
from support.faults.ledger import Ledger, numbers_in
from support.faults.torture_conversation import FRIEND

Json = dict[str, Any]

READERS, JUDGE = ("archivist", "context_manager", "task_manager"), "analyst"
"""Who reads each fragment, and who each closed session."""


@dataclass(slots=True)
class Verdict:
    """What was counted, and every way in which it is not as promised.

    `messages` were accepted by Telegram; `lost`, `doubled` and `out_of_order` are those of them in the bot's log.
    `replies` were owed (answers and replies to commands); `replies_doubled` were delivered twice within the declared
    window between "sending" and "sent", where `sends_unknown` replies were interrupted; `given_up` were interrupted
    there twice and shown as failed, as declared, and `never_came` are those of them that nobody saw; `apologies` stand
    for answers that were killed more often than they are tried. `operations_doubled` and `operations_lost` are replies
    of the archivist applied twice or never; `facts_wrong` are facts of theirs that are not there exactly once.
    `events` are those of the chronicle, `line_broken` the ways in which it is not one line of all that was said.
    """

    messages: int = 0
    edits: int = 0
    commands: int = 0
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    replies: int = 0
    replies_lost: int = 0
    replies_doubled: int = 0
    replies_doubled_outside: int = 0
    sends_unknown: int = 0
    given_up: int = 0
    never_came: int = 0
    apologies: int = 0
    fragments: int = 0
    operations: int = 0
    operations_lost: int = 0
    operations_doubled: int = 0
    mentions: int = 0
    mentions_wrong: int = 0
    facts: int = 0
    facts_wrong: int = 0
    events: int = 0
    line_broken: int = 0
    violations: list[str] = field(default_factory=list)

    def says(self, broken: Iterable[str]) -> int:
        """Adds what is not as promised; returns how much that is."""
        found = list(broken)
        self.violations += found
        return len(found)

    def as_json(self) -> Json:
        return asdict(self)


def judge(
    ledger: Ledger, users: Sequence[int], database: sqlite3.Connection, chats: Mapping[int, list[Json]]
) -> Verdict:
    """The verdict on a bot that has come to rest. `chats` hold what each person sees of the bot's messages."""
    verdict = Verdict(messages=len(ledger.said), edits=ledger.edits, commands=sum(ledger.commands.values()))
    for user in users:
        _messages(verdict, ledger, user, database)
        _replies(verdict, ledger, user, database, chats[user])
        _fragments(verdict, user, database)
        _people(verdict, ledger, user, database)
        _facts(verdict, ledger, user, database)
        verdict.line_broken += verdict.says(broken_line(database, user))
    verdict.events = database.execute("SELECT count(*) FROM chronicle").fetchone()[0]
    _whole(verdict, ledger, database)
    return verdict


def _messages(verdict: Verdict, ledger: Ledger, user: int, database: sqlite3.Connection) -> None:
    """Every message once, in order, with its latest text, told of in one event."""
    rows = database.execute(
        "SELECT tg_id, content, id FROM messages WHERE user_id = ? AND role = 'user' ORDER BY seq", (user,)
    ).fetchall()
    said = ledger.of_user(user)
    stored = Counter(row[0] for row in rows)
    expected = {one.tg_id: one.text for one in said}
    verdict.lost += verdict.says(f"lost: {text}" for tg_id, text in expected.items() if not stored[tg_id])
    verdict.doubled += verdict.says(
        f"message {tg_id} of {user} stored {count} times" for tg_id, count in stored.items()
        if count > 1 or tg_id not in expected
    )  # fmt: skip
    order = [row[0] for row in rows]
    if order != sorted(order):
        verdict.out_of_order += verdict.says([f"messages of {user} are out of order: {order}"])
    verdict.says(
        f"message {tg_id} of {user} says {content!r}, not {expected[tg_id]!r}" for tg_id, content, _ in rows
        if tg_id in expected and content != expected[tg_id]
    )  # fmt: skip
    numbers = [row[0] for row in database.execute("SELECT seq FROM messages WHERE user_id = ? ORDER BY seq", (user,))]
    if numbers != list(range(1, len(numbers) + 1)):
        verdict.says([f"the numbers of {user} have gaps: {numbers}"])
    told = _events(database, user, "message_received", "$.message")
    verdict.says(
        f"message {message} was received {told[message]} times" for _, _, message in rows if told[message] != 1
    )


def _replies(verdict: Verdict, ledger: Ledger, user: int, database: sqlite3.Connection, chat: Sequence[Json]) -> None:
    """Every turn answered by one message that saw all of it, every command replied to, each delivered as promised."""
    turns = database.execute(
        "SELECT t.id, t.state, a.content, count(DISTINCT a.seq), group_concat(m.content, ' ') FROM turns t"
        " LEFT JOIN messages m ON m.turn_id = t.id AND m.user_id = t.user_id AND m.role = 'user'"
        " LEFT JOIN messages a ON a.turn_id = t.id AND a.user_id = t.user_id AND a.role = 'assistant'"
        " WHERE t.user_id = ? GROUP BY t.id",
        (user,),
    ).fetchall()
    for turn, state, answer, answers, asked in turns:
        if state == "failed":
            verdict.apologies += 1
        elif state != "closed" or answers != 1:
            verdict.replies_lost += verdict.says([f"turn {turn} of {user} is {state} with {answers} answers"])
        elif not numbers_in(asked or "") <= ledger.answers[answer].numbers:
            verdict.says([f"{answer!r} was written without all of what it answers: {asked}"])
    without = database.execute(
        "SELECT count(*) FROM messages WHERE user_id = ? AND role = 'user' AND turn_id IS NULL", (user,)
    ).fetchone()[0]
    if without:
        verdict.replies_lost += verdict.says([f"{without} messages of {user} belong to no turn"])
    _deliveries(verdict, ledger, user, database, chat, len(turns))


def _deliveries(
    verdict: Verdict,
    ledger: Ledger,
    user: int,
    database: sqlite3.Connection,
    chat: Sequence[Json],
    turns: int,
) -> None:
    rows = database.execute(
        "SELECT n, turn_id, state, uncertain, tg_id, error FROM outbox WHERE user_id = ? ORDER BY n", (user,)
    ).fetchall()
    owed = turns + ledger.commands[user]
    verdict.replies += owed
    if len(rows) != owed:
        verdict.replies_lost += verdict.says([f"{user} was owed {owed} replies, the outbox holds {len(rows)}"])
    verdict.sends_unknown += sum(row[3] for row in rows)
    texts = {message["message_id"]: message.get("text", "") for message in chat}
    copies = Counter(texts.values())
    for n, turn, state, uncertain, tg_id, error in rows:
        if state == "refused" and uncertain >= 2:
            verdict.given_up += 1
        elif state != "sent" or tg_id not in texts:
            verdict.replies_lost += verdict.says([f"reply {n} of {user} is {state} ({error}), Telegram's id {tg_id}"])
        elif turn is not None and texts[tg_id] in ledger.answers and copies[texts[tg_id]] > 1 + uncertain:
            verdict.says([f"{texts[tg_id]!r} was delivered {copies[texts[tg_id]]} times, {uncertain} of them unknown"])
    verdict.says(f"two replies of {user} are one message, {tg_id}" for tg_id in _repeated(row[4] for row in rows))
    sent = {row[4] for row in rows if row[2] == "sent"}
    beside = Counter(text for tg_id, text in texts.items() if tg_id not in sent)
    given_up = beside.keys() - {texts.get(tg_id) for tg_id in sent}
    verdict.replies_doubled += beside.total() - len(given_up)
    verdict.never_came += max(0, sum(row[2] == "refused" for row in rows) - len(given_up))
    outside = max(0, beside.total() - sum(row[3] for row in rows))
    if outside:
        verdict.replies_doubled_outside += outside
        verdict.says([f"{outside} replies to {user} were doubled outside the declared window"])


def _fragments(verdict: Verdict, user: int, database: sqlite3.Connection) -> None:
    """Every message in one fragment, every fragment worked off once."""
    episodes = database.execute(
        "SELECT id, first_seq, last_seq FROM episodes WHERE user_id = ? ORDER BY first_seq", (user,)
    ).fetchall()
    verdict.fragments += len(episodes)
    covered = [seq for _, first, last in episodes for seq in range(first, last + 1)]
    stored = database.execute("SELECT seq, episode_id FROM messages WHERE user_id = ? ORDER BY seq", (user,)).fetchall()
    if covered != [seq for seq, _ in stored]:
        verdict.says([f"the fragments of {user} do not hold each message once: {episodes}"])
    places = {seq: episode for episode, first, last in episodes for seq in range(first, last + 1)}
    verdict.says(
        f"message {seq} of {user} is in fragment {episode}, its number in {places.get(seq)}"
        for seq, episode in stored if episode != places.get(seq)
    )  # fmt: skip
    cited = Counter(
        dict(
            database.execute(
                "SELECT m.id, count(s.n) FROM messages m LEFT JOIN segments s"
                " ON s.user_id = m.user_id AND s.message_id = m.id"
                " WHERE m.user_id = ? AND m.role = 'user' GROUP BY m.id",
                (user,),
            )
        )
    )
    verdict.says(
        f"message {message} of {user} is cited by {count} segments" for message, count in cited.items() if count != 1
    )
    published = _events(database, user, "dialogue_fragment_published", "$.episode")
    verdict.says(
        f"fragment {e[0]} of {user} was published {published[e[0]]} times" for e in episodes if published[e[0]] != 1
    )
    _runs(verdict, user, database, [episode[0] for episode in episodes])


def _runs(verdict: Verdict, user: int, database: sqlite3.Connection, episodes: Sequence[str]) -> None:
    """One run of each agent over each fragment and closed session, and those that an edit or a late answer made due."""
    query = "SELECT id, agent, coalesce(episode_id, session_id), state, error, replaces FROM runs WHERE user_id = ?"
    runs = database.execute(query, (user,)).fetchall()
    closed = "SELECT id FROM sessions WHERE user_id = ? AND closed_at IS NOT NULL"
    sessions = [row[0] for row in database.execute(closed, (user,))]
    applied = Counter((agent, place) for _, agent, place, state, _, old in runs if state == "applied" and old is None)
    # A fragment of nothing but answers that Telegram refused holds nothing to be read, and no run.
    told = "SELECT DISTINCT episode_id FROM segments WHERE user_id = ?"
    holding = {row[0] for row in database.execute(told, (user,))}
    verdict.says(
        f"fragment {one} of {user} has {applied[agent, one]} applied runs of {agent}"
        for one in episodes
        for agent in READERS
        if applied[agent, one] != (one in holding)
    )
    verdict.says(
        f"session {one} of {user} has {applied[JUDGE, one]} applied runs"
        for one in sessions
        if applied[JUDGE, one] != 1
    )
    verdict.says(
        f"run {run} of {user} is {state}: {error}" for run, _, _, state, error, _ in runs if state != "applied"
    )
    results = Counter(
        row[0]
        for row in database.execute(
            "SELECT json_extract(links, '$.run') FROM events"
            " WHERE user_id = ? AND event_type = 'agent_result' AND json_extract(links, '$.run') IS NOT NULL",
            (user,),
        )
    )
    verdict.says(f"run {run[0]} of {user} told {results[run[0]]} results" for run in runs if results[run[0]] != 1)


def _people(verdict: Verdict, ledger: Ledger, user: int, database: sqlite3.Connection) -> None:
    """Of every fragment the one person its applied reply named; the friend, mentioned once for each that names him."""
    fragments = _fragment_numbers(database, user)
    people = database.execute(
        "SELECT id, display_name, mention_count FROM people WHERE user_id = ? AND merged_into IS NULL", (user,)
    ).fetchall()
    named = {said.number for said in ledger.of_user(user) if said.names_friend}
    once = [(name, count) for _, name, count in people if name in ledger.people]
    made = {
        episode: [name for name, _ in once if ledger.people[name].numbers & numbers]
        for episode, numbers in fragments.items()
    }
    verdict.operations += len(once)
    verdict.operations_lost += verdict.says(
        f"fragment {e} of {user} brought nobody" for e, names in made.items() if not names
    )
    verdict.operations_doubled += verdict.says(
        f"fragment {e} of {user} was applied {len(names)} times: {names}" for e, names in made.items() if len(names) > 1
    )
    verdict.mentions_wrong += verdict.says(f"{name} has {count} mentions, not 1" for name, count in once if count != 1)
    expected = sum(1 for numbers in fragments.values() if numbers & named)
    friends = [(id_, name, count) for id_, name, count in people if name in FRIEND.values()]
    strangers = [name for _, name, _ in people if name not in FRIEND.values() and name not in ledger.people]
    verdict.says(f"{user} knows {name}, whom nobody named" for name in strangers)
    verdict.mentions += expected
    counted = sum(count for _, _, count in friends)
    noted = sum(
        database.execute("SELECT count(*) FROM mentions WHERE person_id = ?", (id_,)).fetchone()[0]
        for id_, _, _ in friends
    )
    if len(friends) != bool(expected) or not counted == noted == expected:
        verdict.mentions_wrong += verdict.says(
            [f"the friend of {user} was named in {expected} fragments: counted {counted}, noted {noted}: {friends}"]
        )


def _facts(verdict: Verdict, ledger: Ledger, user: int, database: sqlite3.Connection) -> None:
    """Of every fragment one claim about the person it brought: with its line, its fact and what that is found by."""
    told = database.execute(
        "SELECT c.episode_id, p.display_name, c.fact, c.edge_id, f.fact, e.expired_at,"
        " (SELECT count(*) FROM evidence v WHERE v.user_id = c.user_id AND v.target = 'claim:' || c.id),"
        " (SELECT count(*) FROM search_items s WHERE s.user_id = c.user_id AND s.item = 'fact:' || c.edge_id)"
        " FROM claims c LEFT JOIN people p ON p.entity_id = c.source"
        " LEFT JOIN facts f ON f.user_id = c.user_id AND f.edge_id = c.edge_id"
        " LEFT JOIN graph_edges e ON e.user_id = c.user_id AND e.id = c.edge_id WHERE c.user_id = ?",
        (user,),
    ).fetchall()
    verdict.facts += len(told)
    counted = Counter(row[0] for row in told)
    expected = _fragment_numbers(database, user).keys()  # late answers alone may be a fragment: they tell nothing
    wrong = [
        f"fragment {e} of {user} told {counted[e]} facts" for e in expected | counted if counted[e] != (e in expected)
    ]
    for episode, name, claim, edge, fact, expired, lines, items in told:
        whole = fact == claim and expired is None and lines == 1 and items == 1
        if name not in ledger.people or name not in claim or not whole:
            wrong.append(f"fact {edge} of fragment {episode}: {(name, claim, fact, expired, lines, items)}")
    for table in ("facts", "graph_edges"):
        count = database.execute(f"SELECT count(*) FROM {table} WHERE user_id = ?", (user,)).fetchone()[0]
        if count != len(told):
            wrong.append(f"{user} has {len(told)} claims and {count} {table}")
    verdict.facts_wrong += verdict.says(wrong)


def _whole(verdict: Verdict, ledger: Ledger, database: sqlite3.Connection) -> None:
    """What holds for the file as a whole."""
    for pragma in ("integrity_check", "foreign_key_check"):
        found = [row for row in database.execute(f"PRAGMA {pragma}") if row != ("ok",)]
        verdict.says(f"{pragma}: {row}" for row in found)
    states = dict(database.execute("SELECT state, count(*) FROM inbox GROUP BY state"))
    if set(states) - {"ingested", "ignored"} or sum(states.values()) != ledger.updates:
        verdict.says([f"Telegram had {ledger.updates} updates, the inbox holds {states}"])
    stale = database.execute(
        "SELECT count(*) FROM search_items s LEFT JOIN vectors v USING (user_id, item)"
        " WHERE v.text_hash IS NOT s.text_hash"
    ).fetchone()[0]
    people = database.execute("SELECT count(*) FROM people WHERE merged_into IS NULL").fetchone()[0]
    items = database.execute("SELECT count(*) FROM search_items WHERE kind = 'person'").fetchone()[0]
    if stale or people != items:
        verdict.says([f"{people} people, {items} of them searchable, {stale} vectors that do not follow"])
    for table in ("tasks", "task_firings", "notifications", "context_snapshots"):  # nobody's words were of any of these
        count = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        verdict.says([f"{count} {table} came of nothing"] if count else [])
    lost = database.execute(
        "SELECT count(*) FROM episodes e LEFT JOIN search_items s"
        " ON s.user_id = e.user_id AND s.item = 'episode:' || e.id WHERE s.item IS NULL"
    ).fetchone()[0]
    if lost:
        verdict.says([f"{lost} fragments cannot be searched for"])


def _fragment_numbers(database: sqlite3.Connection, user: int) -> dict[str, frozenset[int]]:
    texts: dict[str, str] = {}
    for episode, content in database.execute(
        "SELECT episode_id, content FROM messages WHERE user_id = ? AND role = 'user' AND episode_id IS NOT NULL",
        (user,),
    ):
        texts[episode] = f"{texts.get(episode, '')} {content}"
    return {episode: numbers_in(text) for episode, text in texts.items()}


def _events(database: sqlite3.Connection, user: int, kind: str, path: str) -> Counter[str]:
    query = "SELECT json_extract(payload, ?) FROM events WHERE user_id = ? AND event_type = ?"
    return Counter(row[0] for row in database.execute(query, (path, user, kind)))


def _repeated(ids: Iterable[int | None]) -> list[int]:
    counted = Counter(one for one in ids if one is not None)
    return [one for one, count in counted.items() if count > 1]
