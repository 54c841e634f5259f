"""Message text as Telegram measures it: UTF-16 units, the entities over them, and entities that it finds itself."""

import re
from collections.abc import Iterator
from typing import Any

from bot.simulator.server.errors import bad_request

Entity = dict[str, Any]

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024

TYPES = frozenset({
    "mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bold", "italic", "underline",
    "strikethrough", "spoiler", "blockquote", "expandable_blockquote", "code", "pre", "text_link", "text_mention",
    "custom_emoji", "date_time",
})  # fmt: skip
_NEEDS = {"text_link": "url", "text_mention": "user", "custom_emoji": "custom_emoji_id"}

_FOUND = re.compile(
    r"(?P<url>\b(?:https?|tg)://[^\s<>\"]+[^\s<>\".,;:!?)\]}'»])"
    r"|(?P<email>\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?<![\w/@])(?P<bot_command>/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)(?![\w/])"
    r"|(?<![\w@])(?P<mention>@[A-Za-z][A-Za-z0-9_]{3,31})\b"
    r"|(?<![\w#])(?P<hashtag>#\w*[^\W\d_]\w*)"
    r"|(?<![\w$])(?P<cashtag>\$[A-Z]{1,8})\b"
    r"|(?<![\w+])(?P<phone_number>\+\d(?:[ ()-]{0,2}\d){7,14})\b"
)


def utf16_length(text: str) -> int:
    """The length of `text` in UTF-16 units: characters beyond the basic plane count twice."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def utf16_slice(text: str, start: int, end: int) -> str:
    """The part of `text` between two UTF-16 offsets; half of a surrogate pair becomes U+FFFD."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", errors="replace")


def split_text(text: str, limit: int = TEXT_LIMIT) -> list[str]:
    """`text` cut as Telegram's apps cut what a user types: pieces of at most `limit` UTF-16 units."""
    pieces: list[str] = []
    while utf16_length(text) > limit:
        room = _characters_within(text, limit)
        cut = max(text.rfind("\n", 0, room), text.rfind(" ", 0, room)) + 1 or room
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def _characters_within(text: str, limit: int) -> int:
    units = 0
    for index, character in enumerate(text):
        units += 2 if character > "\uffff" else 1
        if units > limit:
            return index
    return len(text)


def check_entities(entities: list[Entity], text: str) -> list[Entity]:
    """The `entities` in order, without empty ones. Raises Telegram's 400 for one that does not fit `text`."""
    end_of_text = utf16_length(text)
    inside_pairs = set(_pair_middles(text))
    kept = [_checked_one(entity, end_of_text, inside_pairs) for entity in entities]
    return sorted((entity for entity in kept if entity["length"] > 0), key=_position)


def _checked_one(entity: Entity, end_of_text: int, inside_pairs: set[int]) -> Entity:
    kind, start, length = entity.get("type"), entity.get("offset"), entity.get("length")
    if kind not in TYPES:
        raise bad_request("can't parse MessageEntity: Unsupported type specified")
    if not isinstance(start, int) or not isinstance(length, int):
        raise bad_request('can\'t parse MessageEntity: Field "offset" and "length" must be of type Number')
    if kind in _NEEDS and not entity.get(_NEEDS[kind]):
        raise bad_request(f"can't parse MessageEntity: Can't find field \"{_NEEDS[kind]}\"")
    if start < 0 or start in inside_pairs:
        raise bad_request(f"entity begins in a middle of a UTF-16 symbol at UTF-16 offset {start}")
    end = start + length
    if end > end_of_text:
        raise bad_request(
            f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {end}"
        )
    if end in inside_pairs:
        raise bad_request(
            f"entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at UTF-16 offset {end}"
        )
    return {key: value for key, value in entity.items() if value is not None}


def _pair_middles(text: str) -> Iterator[int]:
    at = 0
    for character in text:
        if character > "\uffff":
            yield at + 1
            at += 1
        at += 1


def trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """The `text` without the blanks around it, as Telegram stores it, and the entities moved accordingly."""
    inner = text.strip()
    shift = utf16_length(text[: len(text) - len(text.lstrip())])
    end = utf16_length(inner)
    moved = []
    for entity in entities:
        first = max(entity["offset"] - shift, 0)
        last = min(entity["offset"] + entity["length"] - shift, end)
        if last > first:
            moved.append({**entity, "offset": first, "length": last - first})
    return inner, moved


def with_found(text: str, entities: list[Entity]) -> list[Entity]:
    """`entities` and the links, mentions, commands and tags that Telegram finds in `text` outside them."""
    found = [entity for entity in _find(text) if not any(_overlap(entity, other) for other in entities)]
    return sorted([*entities, *found], key=_position)


def _find(text: str) -> Iterator[Entity]:
    for match in _FOUND.finditer(text):
        yield {
            "type": match.lastgroup,
            "offset": utf16_length(text[: match.start()]),
            "length": utf16_length(match.group()),
        }


def _overlap(one: Entity, other: Entity) -> bool:
    return bool(one["offset"] < other["offset"] + other["length"] and other["offset"] < one["offset"] + one["length"])


def _position(entity: Entity) -> tuple[int, int]:
    return entity["offset"], -entity["length"]
