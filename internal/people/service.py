"""Changes of people by the owner, contact cards and forwards, in the caller's transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from internal.errors import NotFound, Refused, expect_found
from internal.language.text.spelling import name_key
from internal.people import merge as people_merge, repository, suggestion_repository
from internal.people.bio import MAX_BIO, bio_from_names, made_of_names
from internal.people.model import Circle, Person
from internal.people.names import clean_name, clean_username, unique_names
from internal.people.suggestion_repository import Suggestion, SuggestionState
from internal.storage.types import new_id

EDITABLE = ("display_name", "aliases", "username", "circle", "bio")
"""Fields that the owner may change; `telegram_id` comes from message metadata only."""


@dataclass(frozen=True, slots=True)
class TelegramAccount:
    """A Telegram account in a message's metadata: of a contact card, or of the author of a forward."""

    telegram_id: int
    name: str
    username: str | None = None


def person(connection: Connection, user_id: int, person_id: int) -> Person:
    """The person with this id, redirects followed. Raises NotFound, also while the person is being forgotten."""
    return expect_found(repository.resolve(connection, user_id, person_id), f"there is no person {person_id}")


def find(connection: Connection, user_id: int, name: str, *, limit: int = 10) -> list[Person]:
    """People whom a typed name may mean: those whom it identifies, else those with a name that begins with it."""
    exact = identified(connection, user_id, name, limit=limit)
    return exact or repository.by_name_prefix(connection, user_id, name_key(name), limit=limit)


def identified(connection: Connection, user_id: int, name: str, *, limit: int = 10) -> list[Person]:
    """People by @username or Telegram id, else by equal name or alias."""
    text = name.strip()
    if text.isascii() and text.isdigit() and len(text) < 19:
        by_id = repository.by_telegram_id(connection, user_id, int(text))
        if by_id is not None:
            return [by_id]
    by_username = repository.by_username(connection, user_id, text)
    if by_username is not None:
        return [by_username]
    return repository.by_name_keys(connection, user_id, [name_key(text)])[:limit]


def edit(connection: Connection, user_id: int, person_id: int, changes: Mapping[str, Any], *, now: datetime) -> Person:
    """Changes some of EDITABLE for the owner and marks the fields, so that no model overrides them.

    `aliases` is the whole new list: those left out are rejected for good. `username` may be None or empty. Raises
    NotFound, Refused("unknown_field" | "no_name" | "unknown_circle" | "bad_username" | "bad_value" | "username_taken").
    """
    before = person(connection, user_id, person_id)
    values = {field: _checked(field, value) for field, value in changes.items()}
    after = _renamed(before, replace(before, **values))
    from_names = not values["bio"] if "bio" in values else made_of_names(before)
    if from_names:
        after = replace(after, bio=bio_from_names(after.names))
    removed = {name_key(alias) for alias in before.aliases} - {name_key(name) for name in after.names}
    repository.reject_keys(connection, user_id, before.entity_id, removed)
    setters: dict[str, repository.SetBy] = dict.fromkeys(repository.CONTENT, "owner")
    setters["bio"] = "names" if from_names else "owner"
    return repository.save(connection, before, _marked(before, after, values, now), by=setters, now=now)


def keep_edit(connection: Connection, before: Person, after: Person, now: datetime) -> str | None:
    """Stores the values that an edit replaced, for `undo_edit`. Returns their id, None if it replaced nothing."""
    fields = [name for name in EDITABLE if getattr(before, name) != getattr(after, name)]
    setters = {name: before.field_meta.get(name, {}).get("by", "archivist") for name in fields}
    kept = {"before": _plain(before, fields), "after": _plain(after, fields), "by": setters}
    return suggestion_repository.keep_edit(connection, before.user_id, before.id, kept, now) if fields else None


def edited(connection: Connection, user_id: int, edit_id: str) -> tuple[Person, dict[str, Any]]:
    """The edited person and the replaced values. Raises NotFound if the profile was changed again since."""
    person_id, kept = expect_found(suggestion_repository.kept_edit(connection, user_id, edit_id), "no such edit")
    known = person(connection, user_id, person_id)
    if known.id != person_id or _plain(known, kept["after"]) != kept["after"]:
        raise NotFound("the profile was changed since")
    return known, kept


def undo_edit(connection: Connection, user_id: int, edit_id: str, *, now: datetime) -> Person:
    """Restores what an edit replaced, with the setters. Raises like `edited`, and Refused("username_taken")."""
    known, kept = edited(connection, user_id, edit_id)
    values: dict[str, Any] = {name: _checked(name, old) for name, old in kept["before"].items()}
    return repository.save(connection, known, replace(known, **values), by=kept["by"], now=now)


def _plain(known: Person, fields: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(known, name) for name in fields}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def merge(connection: Connection, user_id: int, source_id: int, target_id: int, *, now: datetime) -> Person:
    """Merges two people for the owner. Raises what `people_merge.merge` raises."""
    return people_merge.merge(connection, user_id, source_id, target_id, now=now, by="owner")


def split(connection: Connection, user_id: int, person_id: int, *, now: datetime) -> tuple[Person, Person]:
    """Undoes a merge. Raises what `people_merge.split` raises."""
    return people_merge.split(connection, user_id, person_id, now=now)


def undo_merge(connection: Connection, user_id: int, source_id: int, *, now: datetime) -> tuple[Person, Person]:
    """Undoes the last merge of this person into another; idempotent. Raises what `people_merge.undo` raises."""
    return people_merge.undo(connection, user_id, source_id, now=now)


def from_metadata(
    connection: Connection, user_id: int, sender: TelegramAccount, *, seen_at: datetime, now: datetime
) -> Person:
    """Creates or updates the person with the Telegram id of a contact card or of a forward's author.

    Other people of this name stay unchanged; the archivist or the owner may merge one without a Telegram id. A
    username moves with its account. Raises Refused("no_name" | "being_forgotten").
    """
    if repository.hidden_holds(connection, user_id, sender.telegram_id, None):
        raise Refused("being_forgotten", "this person is being forgotten")
    username = _free_username(connection, user_id, sender)
    known = repository.by_telegram_id(connection, user_id, sender.telegram_id)
    if known is None and username is not None:
        known = repository.by_username(connection, user_id, username)
    if known is None:
        return _create_from_metadata(connection, user_id, sender, username, seen_at, now)
    after = replace(
        known,
        telegram_id=sender.telegram_id,
        username=known.username if known.owner_set("username") else username or known.username,
        aliases=_with_alias(connection, known, sender.name),
        first_seen=min(known.first_seen, seen_at),
        last_seen=max(known.last_seen, seen_at),
    )
    return repository.save(connection, known, after, by="metadata", now=now)


def note_mentions(
    connection: Connection, user_id: int, episode_id: str, seen: Mapping[int, Iterable[datetime]], *, now: datetime
) -> int:
    """Counts a mention in this fragment for each person of `seen` (person id -> message times). Returns their number.

    Unknown ids are skipped. A person counted in this fragment before, such as by an operation, is not counted again.
    """
    new = 0
    for person_id, times in seen.items():
        known, moments = repository.resolve(connection, user_id, person_id), tuple(times)
        if known is None or not moments:
            continue
        first = repository.add_mention(connection, user_id, known.id, episode_id)
        after = replace(
            known,
            mention_count=known.mention_count + first,
            first_seen=min(known.first_seen, *moments),
            last_seen=max(known.last_seen, *moments),
        )
        repository.save(connection, known, after, by="archivist", now=now)
        new += first
    return new


def accept(connection: Connection, user_id: int, suggestion_id: str, *, now: datetime) -> Person:
    """Applies a suggestion as the owner's own change and returns the person, also if it was accepted before.

    Raises NotFound, also for a declined or outdated one, and Refused if it is impossible by now.
    """
    suggestion = _open(connection, user_id, suggestion_id, decided="accepted")
    payload = suggestion.payload
    if suggestion.state == "accepted":
        return person(connection, user_id, payload["target_id"] if suggestion.kind == "merge" else suggestion.person_id)
    suggestion_repository.decide(connection, user_id, suggestion.id, "accepted", now)
    if suggestion.kind == "merge":
        return merge(connection, user_id, payload["source_id"], payload["target_id"], now=now)
    return edit(connection, user_id, suggestion.person_id, {payload["field"]: payload["value"]}, now=now)


def decline(connection: Connection, user_id: int, suggestion_id: str, *, now: datetime) -> Suggestion:
    """Declines a suggestion; the same one is not made again. Raises NotFound for an accepted one."""
    suggestion = _open(connection, user_id, suggestion_id, decided="declined")
    suggestion_repository.decide(connection, user_id, suggestion.id, "declined", now)
    return suggestion


def _open(connection: Connection, user_id: int, suggestion_id: str, *, decided: SuggestionState) -> Suggestion:
    """A pending suggestion, or one already decided in the same way: a button press may come twice."""
    suggestion = suggestion_repository.get(connection, user_id, suggestion_id)
    if suggestion is None or suggestion.state not in ("pending", decided):
        raise NotFound("this suggestion is not open any more")
    return suggestion


def _checked(field: str, value: Any) -> Any:
    match field:
        case "display_name":
            if not isinstance(value, str) or not (name := clean_name(value)):
                raise Refused("no_name", "display_name: a person needs a name")
            return name
        case "aliases":
            if not isinstance(value, list | tuple) or not all(isinstance(alias, str) for alias in value):
                raise Refused("bad_value", "aliases: a list of names is expected")
            return unique_names(value)
        case "username":
            return _checked_username(value)
        case "circle":
            return _checked_circle(value)
        case "bio":
            if not isinstance(value, str) or len(value) > MAX_BIO:
                raise Refused("bad_value", f"bio: a text of at most {MAX_BIO} characters is expected")
            return value.strip()
    raise Refused("unknown_field", f"{field}: this cannot be changed; there are {', '.join(EDITABLE)}")


def _checked_username(value: Any) -> str | None:
    if value in (None, ""):
        return None
    username = clean_username(value) if isinstance(value, str) else ""
    if not username:
        raise Refused("bad_username", "username: 3 to 32 Latin letters, digits and _ are expected")
    return username


def _checked_circle(value: Any) -> Circle:
    try:
        return Circle.parse(str(value))
    except ValueError as error:
        raise Refused("unknown_circle", f"circle: {error}") from None


def _renamed(before: Person, after: Person) -> Person:
    """The person with its new aliases; a replaced name becomes one."""
    kept = (before.display_name,) if name_key(before.display_name) != name_key(after.display_name) else ()
    aliases = unique_names((*after.aliases, *kept), without={name_key(after.display_name)})
    return replace(after, aliases=aliases)


def _marked(before: Person, after: Person, values: Mapping[str, Any], now: datetime) -> Person:
    """Marks fields as set by the owner that he confirmed without a change, also those confirmed to be empty."""
    confirmed = [field for field, value in values.items() if value == getattr(before, field)]
    marks = {field: {"by": "owner", "rev": before.rev, "at": now.isoformat()} for field in confirmed}
    return replace(after, field_meta={**after.field_meta, **marks})


def _free_username(connection: Connection, user_id: int, sender: TelegramAccount) -> str | None:
    """The account's username, removed from the person who had it if that is known to be another account."""
    username = clean_username(sender.username or "")
    if not username or repository.hidden_holds(connection, user_id, None, username):
        return None
    holder = repository.by_username(connection, user_id, username)
    return None if holder is not None and holder.telegram_id not in (None, sender.telegram_id) else username


def _with_alias(connection: Connection, known: Person, name: str) -> tuple[str, ...]:
    rejected = repository.rejected_keys(connection, known.user_id, known.entity_id)
    return unique_names((*known.aliases, name), without={name_key(known.display_name)} | rejected)


def _create_from_metadata(
    connection: Connection,
    user_id: int,
    sender: TelegramAccount,
    username: str | None,
    seen_at: datetime,
    now: datetime,
) -> Person:
    name = clean_name(sender.name)
    if not name:
        raise Refused("no_name", "a person needs a name")
    created = Person(
        id=0,
        user_id=user_id,
        entity_id=new_id(),
        display_name=name,
        circle=Circle.OTHER,
        bio=bio_from_names((name,)),
        first_seen=seen_at,
        last_seen=seen_at,
        telegram_id=sender.telegram_id,
        username=username,
    )
    return repository.create(connection, created, by={"bio": "names", "display_name": "metadata", **_METADATA}, now=now)


_METADATA: dict[str, repository.SetBy] = {"telegram_id": "metadata", "username": "metadata"}
