"""Applies an archivist's operations on people one by one in the caller's transaction.

Each operation sees the effects of the previous ones. One that breaks a rule is refused with an event, the others apply.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.errors import Refusal, Refused
from internal.events import repository as events
from internal.language.text.spelling import name_key
from internal.people import entity_nodes, merge, repository, suggestion_repository, support, tombstones
from internal.people.bio import MAX_BIO, bio_from_names, join_bio, made_of_names, sentences_of_bio, without_sentences
from internal.people.model import Circle, Person
from internal.people.names import clean_name, clean_username, keys_of, surnames_differ, unique_names
from internal.people.operations import Added, ApplyContext, ApplyOutcome, Merged, Operation, SourceLine, Updated
from internal.people.repository import SetBy
from internal.storage.forgetting import tombstone_repository
from internal.storage.types import new_id


def apply(connection: Connection, user_id: int, operations: Sequence[Operation], context: ApplyContext) -> ApplyOutcome:
    """Applies operations in order and returns their outcome; counters are updated from it after the commit.

    Reasons of refusal: no_name, unknown_person, unknown_line, being_forgotten, forgotten, different_telegram_id,
    telegram_id_taken, username_taken, already_merged, split_by_owner, and those of `merge.merge`.
    """
    reply = _Reply(connection, user_id, context)
    for operation in operations:
        reply.take(operation)
    return reply.outcome


def record_refusal(
    connection: Connection, user_id: int, operation: str, refused: Refusal, context: ApplyContext
) -> None:
    """Appends the event of a refused operation; its detail may hold words of a model."""
    events.append(
        connection,
        "operation_refused",
        source=f"agent:{context.agent}",
        now=context.now,
        user_id=user_id,
        payload={"operation": operation, "reason": refused.reason, "detail": refused.detail},
        links={"run": context.run_id, "fragment": context.episode_id},
    )


class _Reply:
    """Applies one reply. It remembers its own revisions, so that its operations may build on one another."""

    def __init__(self, connection: Connection, user_id: int, context: ApplyContext) -> None:
        self._connection, self._user_id, self._context = connection, user_id, context
        self._own_revs: set[int] = set()
        self.outcome = ApplyOutcome()

    def take(self, operation: Operation) -> None:
        # A refusal may follow a first write, which the savepoint undoes.
        self._connection.exec_driver_sql("SAVEPOINT operation")
        try:
            self._handler(operation)()
        except Refused as refusal:
            self._connection.exec_driver_sql("ROLLBACK TO operation")
            refused = Refusal.of(refusal)
            self.outcome.refused.append(refused)
            record_refusal(self._connection, self._user_id, type(operation).__name__, refused, self._context)
        self._connection.exec_driver_sql("RELEASE operation")

    def _handler(self, operation: Operation) -> Callable[[], None]:
        match operation:
            case Added():
                return lambda: self._add(operation)
            case Updated():
                return lambda: self._update(self._known(operation.person_id), operation)
            case Merged():
                return lambda: self._merge(operation)

    def _known(self, person_id: int) -> Person:
        person = repository.resolve(self._connection, self._user_id, person_id)
        if person is None:
            raise Refused("unknown_person", f"nobody has the id {person_id}")
        return person

    # Added

    def _add(self, operation: Added) -> None:
        name = clean_name(operation.display_name)
        if not name:
            raise Refused("no_name", "a person needs a name")
        telegram_id = self._confirmed_id(operation)
        username = clean_username(operation.username or "") or None
        known = self._same_person(operation, telegram_id, username)
        if known is None:
            self._create(operation, name, telegram_id, username)
        else:
            self._update(known, _as_update(known, operation, name), rewritten=False)

    def _same_person(self, operation: Added, telegram_id: int | None, username: str | None) -> Person | None:
        """The known person that an `Added` means; None for a new person."""
        if telegram_id is not None:
            known = repository.by_telegram_id(self._connection, self._user_id, telegram_id)
            if known is not None:
                return known
        if username and (known := repository.by_username(self._connection, self._user_id, username)):
            if telegram_id is not None and known.telegram_id not in (None, telegram_id):
                raise Refused("username_taken", f"@{username} belongs to another Telegram account")
            return known
        if repository.hidden_holds(self._connection, self._user_id, telegram_id, username):
            raise Refused("being_forgotten", "this person is being forgotten")
        return self._namesake(operation, telegram_id, username)

    def _namesake(self, operation: Added, telegram_id: int | None, username: str | None) -> Person | None:
        names = (operation.display_name, *operation.aliases)
        keys = keys_of(names)
        others = {
            repository.resolve_id(self._connection, self._user_id, person_id) for person_id in operation.distinct_from
        }
        candidates = [
            person
            for person in repository.by_name_keys(self._connection, self._user_id, keys)
            if person.id not in others and not _is_different(person, names, keys, telegram_id, username)
        ]
        return candidates[0] if len(candidates) == 1 else None

    def _create(self, operation: Added, name: str, telegram_id: int | None, username: str | None) -> None:
        self._refuse_forgotten(operation, telegram_id, username)
        lines = self._lines(operation.evidence)
        aliases = unique_names(operation.aliases, without={name_key(name)})
        bio = join_bio("", self._without_forgotten(operation.bio, operation.evidence))
        person = Person(
            id=0,
            user_id=self._user_id,
            entity_id=new_id(),
            display_name=name,
            circle=operation.circle or Circle.OTHER,
            bio=bio or bio_from_names((name, *aliases)),
            first_seen=min(line.at for line in lines),
            last_seen=max(line.at for line in lines),
            aliases=aliases,
            telegram_id=telegram_id,
            username=username,
            mention_count=1,
        )
        by = _setters(bio_given=bool(bio))
        run_id = self._context.run_id
        created = repository.create(self._connection, person, by=by, now=self._context.now, run_id=run_id)
        repository.add_mention(self._connection, self._user_id, created.id, self._context.episode_id)
        if not operation.distinct_from and entity_nodes.adopt(self._connection, created):
            self.outcome.merged_entities.add(created.entity_id)
        self.outcome.added.add(created.id)
        self._note(created, "Added", operation.evidence)
        self._note_parts(None, created, (operation.display_name, *operation.aliases), operation)

    def _refuse_forgotten(self, operation: Added, telegram_id: int | None, username: str | None) -> None:
        names = (operation.display_name, *operation.aliases)
        marks = tombstones.marks(self._context.tombstone_key, self._user_id, names, username, telegram_id)
        forgotten = tombstone_repository.forgotten_at(self._connection, self._user_id, marks)
        if forgotten is None:
            return
        times = [line.at for line in self._lines(operation.evidence)]
        # An operation without evidence may come from any line of the slice, also the oldest.
        if (max(times) if operation.evidence else min(times)) <= forgotten:
            raise Refused("forgotten", "the owner had this person forgotten after that was said")

    def _without_forgotten(self, bio: str, numbers: tuple[int, ...]) -> str:
        """A bio without the sentences that were forgotten after its lines were said."""
        if not bio or not tombstone_repository.any_forgotten(self._connection, self._user_id):
            return bio
        said_at, key = max(line.at for line in self._lines(numbers)), self._context.tombstone_key
        return without_sentences(
            bio, [sentence for sentence in sentences_of_bio(bio) if self._forgotten_after(said_at, key, sentence)]
        )

    def _forgotten_after(self, said_at: datetime, key: bytes, sentence: str) -> bool:
        marks = tombstones.sentence_marks(key, self._user_id, sentence)
        forgotten = tombstone_repository.forgotten_at(self._connection, self._user_id, marks)
        return forgotten is not None and said_at <= forgotten

    # Updated

    def _update(self, person: Person, operation: Updated, *, rewritten: bool = True) -> None:
        """Updates a person; with `rewritten` the bio replaces the old one, else it is joined to it."""
        lines = self._lines(operation.evidence)
        telegram_id = self._confirmed_id(operation)
        if telegram_id is not None and person.telegram_id not in (None, telegram_id):
            raise Refused("different_telegram_id", f"Person:{person.id} has another Telegram id")
        changes = self._changes(person, operation, rewritten=rewritten)
        allowed = {name: value for name, value in changes.items() if self._may_write(person, name)}
        after = self._with_names(replace(person, **allowed), person, operation)
        if telegram_id is not None:
            after = replace(after, telegram_id=telegram_id)
        from_names = "bio" not in changes and made_of_names(person)
        if from_names:
            after = replace(after, bio=bio_from_names(after.names))
        content = after != person
        first_mention = repository.add_mention(self._connection, self._user_id, person.id, self._context.episode_id)
        after = _mentioned(after, lines, first=first_mention)
        by = _setters(bio_given=not from_names)
        run_id = self._context.run_id
        saved = repository.save(self._connection, person, after, by=by, now=self._context.now, run_id=run_id)
        asked = self._suggest_fields(person, {name: changes[name] for name in changes.keys() - allowed.keys()})
        if content or not asked:
            self._note(saved, "Updated", operation.evidence, changed=content)
        self._note_parts(person, saved, (operation.display_name or "", *operation.aliases), operation)

    def _changes(self, person: Person, operation: Updated, *, rewritten: bool) -> dict[str, Any]:
        """The single-valued fields the operation would change, with their new values."""
        changes: dict[str, Any] = {}
        name = clean_name(operation.display_name or "")
        if name and name_key(name) not in self._rejected(person):
            changes["display_name"] = name
        if operation.circle is not None:
            changes["circle"] = operation.circle
        if username := self._changed_username(person, operation):
            changes["username"] = username
        if bio := self._without_forgotten(operation.bio or "", operation.evidence).strip()[: MAX_BIO * 2]:
            changes["bio"] = join_bio(self._kept_bio(person, rewritten=rewritten), bio)
        return {field: value for field, value in changes.items() if value != getattr(person, field)}

    def _changed_username(self, person: Person, operation: Updated) -> str:
        """The username if it differs from the known one by more than case. Raises Refused if it is somebody else's."""
        username = clean_username(operation.username or "")
        if name_key(username) == name_key(person.username or ""):
            return ""
        repository.refuse_taken(self._connection, replace(person, username=username))
        return username

    def _kept_bio(self, person: Person, *, rewritten: bool) -> str:
        """The bio to which the new one is joined: empty if the archivist was shown it and rewrote it."""
        shown = person.field_meta.get("bio", {}).get("rev") not in self._own_revs
        return "" if made_of_names(person) or (rewritten and shown) else person.bio

    def _may_write(self, person: Person, field: str) -> bool:
        """Whether a field may be written: not if the owner set it or it changed since the model was called.

        A username never replaces another one: two usernames mean two people unless the owner says otherwise.
        """
        mark = person.field_meta.get(field, {})
        if field == "bio" and made_of_names(person):
            return True
        if person.owner_set(field) or (field == "username" and person.username is not None):
            return False
        return not self._changed_since(mark)

    def _changed_since(self, mark: dict[str, Any]) -> bool:
        rev = mark.get("rev", 0)
        return rev > self._context.snapshot_rev and rev not in self._own_revs

    def _with_names(self, after: Person, before: Person, operation: Updated) -> Person:
        """The person with new aliases: they are only added, a replaced name becomes one, rejected ones stay out."""
        listed = (*before.aliases, before.display_name, *operation.aliases)
        without = {name_key(after.display_name)} | self._rejected(before)
        return replace(after, aliases=unique_names(listed, without=without))

    def _rejected(self, person: Person) -> set[str]:
        return repository.rejected_keys(self._connection, self._user_id, person.entity_id)

    def _suggest_fields(self, person: Person, changes: dict[str, Any]) -> bool:
        for field, value in changes.items():
            payload = {"field": field, "value": value, "current": getattr(person, field)}
            self._suggest("field", person.id, payload)
        return bool(changes)

    # Merged

    def _merge(self, operation: Merged) -> None:
        source, target = self._known(operation.source_id), self._known(operation.target_id)
        if source.id == target.id and operation.source_id != operation.target_id:
            raise Refused("already_merged", f"Person:{operation.source_id} and {operation.target_id} are one already")
        merge.refuse(self._connection, self._user_id, source, target)
        if merge.was_split(self._connection, self._user_id, source.id, target.id):
            raise Refused("split_by_owner", "the owner said that these are two people")
        marks = [mark for person in (source, target) for mark in person.field_meta.values()]
        if any(self._changed_since(mark) for mark in marks):
            payload = {"source_id": source.id, "target_id": target.id, "reason": operation.reason}
            self._suggest("merge", target.id, payload)
            return
        # This fragment mentions both. Both are counted before the merge, so that the larger count grows by one
        # whichever side was counted by then, and a split gives each side its own mention back.
        for person in (source, target):
            self._mention(person, operation.evidence)
        merged = merge.merge(
            self._connection, self._user_id, source.id, target.id, now=self._context.now, run_id=self._context.run_id
        )
        self._note(merged, "Merged", operation.evidence)
        self.outcome.changed.add(source.id)
        self.outcome.merged_entities.add(merged.entity_id)

    def _mention(self, person: Person, numbers: tuple[int, ...]) -> None:
        first = repository.add_mention(self._connection, self._user_id, person.id, self._context.episode_id)
        after = _mentioned(person, self._lines(numbers), first=first)
        repository.save(self._connection, person, after, by="archivist", now=self._context.now)

    # What every operation does

    def _lines(self, evidence: Iterable[int]) -> list[SourceLine]:
        numbers = tuple(evidence) or tuple(self._context.lines)
        unknown = [number for number in numbers if number not in self._context.lines]
        if unknown or not numbers:
            raise Refused("unknown_line", f"there is no line {unknown[0] if unknown else 1}")
        return [self._context.lines[number] for number in numbers]

    def _note_parts(
        self, before: Person | None, after: Person, names: Sequence[str], operation: Added | Updated
    ) -> None:
        """Records which lines support which names and sentences of the profile."""
        support.record_support(
            self._connection,
            before,
            after,
            support.parts_of(names, operation.username, operation.bio or ""),
            [line.text for line in self._lines(operation.evidence)],
            episode_id=self._context.episode_id,
            segments=self._segments(operation.evidence),
            run_id=self._context.run_id,
        )

    def _confirmed_id(self, operation: Added | Updated) -> int | None:
        """The Telegram id if the metadata of the cited lines contain it; a model's word is not enough."""
        confirmed = {known for line in self._lines(operation.evidence) for known in line.telegram_ids}
        return operation.telegram_id if operation.telegram_id in confirmed else None

    def _suggest(self, kind: suggestion_repository.SuggestionKind, person_id: int, payload: dict[str, Any]) -> None:
        context = self._context
        made = suggestion_repository.suggest(
            self._connection, self._user_id, kind, person_id, payload, now=context.now, run_id=context.run_id
        )
        if made is not None:
            self.outcome.suggested += 1

    def _segments(self, numbers: tuple[int, ...]) -> dict[int, str | None]:
        return {line.segment: line.message_id for line in self._lines(numbers)} if numbers else {0: None}

    def _note(self, person: Person, op_type: str, numbers: tuple[int, ...], *, changed: bool = True) -> None:
        repository.add_evidence(
            self._connection,
            self._user_id,
            person.id,
            self._context.episode_id,
            self._segments(numbers),
            operation=op_type,
            run_id=self._context.run_id,
        )
        self._own_revs.add(person.rev)
        self.outcome.count(op_type)
        if changed:
            self.outcome.changed.add(person.id)


def _as_update(known: Person, operation: Added, name: str) -> Updated:
    """Converts the operation to an update: the known name stays, the new one becomes an alias."""
    return Updated(
        person_id=known.id,
        aliases=(name, *operation.aliases),
        username=operation.username,
        telegram_id=operation.telegram_id,
        circle=operation.circle,
        bio=operation.bio,
        evidence=operation.evidence,
    )


def _is_different(
    person: Person, names: Sequence[str], keys: set[str], telegram_id: int | None, username: str | None
) -> bool:
    """Whether username, Telegram id or surname show that a person of the same name is somebody else."""
    if username and person.username and name_key(username) != name_key(person.username):
        return True
    if telegram_id is not None and person.telegram_id not in (None, telegram_id):
        return True
    return surnames_differ(person.names, names, keys & keys_of(person.names))


def _setters(*, bio_given: bool) -> dict[str, SetBy]:
    return {"telegram_id": "metadata", "bio": "archivist" if bio_given else "names"}


def _mentioned(person: Person, lines: Sequence[SourceLine], *, first: bool) -> Person:
    times = [line.at for line in lines]
    return replace(
        person,
        mention_count=person.mention_count + first,
        first_seen=min(person.first_seen, *times),
        last_seen=max(person.last_seen, *times),
    )
