"""Neutralises texts from outside for a prompt, so that they cannot open or close its blocks."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Final

BLOCK_TAGS: Final = (
    *(
        "owner", "known_facts", "known_entities", "known_memory", "inner_circle", "instructions",
        "context_snapshot", "notifications", "tasks", "relevant_people", "relations", "facts", "memories",
        "past_messages", "lessons", "notes", "metadata", "people", "candidates", "page", "results",
    ),
    *("may_be_the_same_as", "transcript", "dialogue", "question", "query"),
    *("rules", "topic", "responses", "open_tasks"),
)  # fmt: skip
"""Every tag of our prompts."""

_OPENING: Final = "<＜﹤‹〈⟨〈❬❮❰⧼˂ᐸ≮"
_CLOSING: Final = ">＞﹥›〉⟩〉❭❯❱⧽˃ᐳ≯"
_SLASHES: Final = "/／⁄∕╱⧸"
_ALIKE: Final = (
    "аaеeоoрpсcуyхxіiїiјjѕsкkмmнhтtвbԁdԛqԝwһhӏlոnսuցg"  # Cyrillic and Armenian
    "αaβbεeηnιiκkνvοoρpτtυuχxγyωw"  # Greek
    "ɑaɡgıiȷjʟlɩiᴏoᴄcᴜuᴠvᴡwᴢzɴnʀrѵvꮯcꮪs"
)
"""Letters that look like another one, each before that one. Their Unicode names handle case and style."""

_INVISIBLE: Final = "\u200b"
_LOOK_ALIKES: Final = (
    *(range(0x590), range(0x1D00, 0x2150), range(0x2460, 0x2500), range(0x2800, 0x2801), range(0x2C60, 0x2C80)),
    *(range(0x3164, 0x3165), range(0xA640, 0xA800), range(0xFE00, 0x10000), range(0x1D400, 0x1D800)),
    *(range(0x1F100, 0x1F200), range(0xE0000, 0xE01F0)),
)
"""Ranges of Unicode with letters, signs and marks that look like ASCII, or like nothing."""


def neutralised(text: str) -> str:
    """A text, unchanged except for the tags of our blocks, which can neither open nor close one any more.

    For dialogues, where code and line breaks must stay; on one line inside a block everything is escaped. A tag counts
    with look-alike letters or brackets, and with invisible characters in it, too.
    """
    if not _ANY_OPENING.search(text):
        return text
    pieces, at = [], 0
    for tag in _ANGLED.finditer(text.translate(_plain())):
        # An unclosed "<owner" counts too: the text that follows may close it.
        if _NAME.match(tag[0].replace(_INVISIBLE, "")):
            pieces.append(text[at : tag.start()])
            pieces += [
                _ESCAPED.get(plain, own) for plain, own in zip(tag[0], text[tag.start() : tag.end()], strict=True)
            ]
            at = tag.end()
    return "".join((*pieces, text[at:]))


def escape(text: str) -> str:
    """Text escaped for a line inside a block: without tags and on one line."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(neutralised(escaped).split())


_ANY_OPENING: Final = re.compile(f"[{_OPENING}]")
_ANGLED: Final = re.compile(r"<[^<>]*>?")
_TAGS: Final = "|".join(BLOCK_TAGS).replace("_", r"[\s_-]+")
_NAME: Final = re.compile(rf"<[\s/]*(?:{_TAGS})(?![\w-])")
_ESCAPED: Final = {"<": "&lt;", ">": "&gt;"}


@cache
def _plain() -> dict[int, str]:
    """The character that each look-alike stands for; always one for one, so that positions in a text stay the same."""
    found = {code: plain for code in chain(*_LOOK_ALIKES) if (plain := _taken_for(chr(code)))}
    found |= dict(_pairs(_ALIKE)) | dict(_pairs(_ALIKE.upper()))
    for plain, alike in (("<", _OPENING), (">", _CLOSING), ("/", _SLASHES)):
        found |= dict.fromkeys(map(ord, alike), plain)
    return found


def _pairs(alike: str) -> Iterator[tuple[int, str]]:
    return zip(map(ord, alike[::2]), alike[1::2].lower(), strict=True)


def _taken_for(character: str) -> str | None:
    category = unicodedata.category(character)
    # Besides marks and controls, invisible letters of Braille and Hangul.
    if category in {"Mn", "Me", "Cf"} or (category == "Cc" and not character.isspace()) or character in "\u2800\u3164":
        return _INVISIBLE
    if category == "Pc":
        return "_"
    parts = unicodedata.normalize("NFKD", character).casefold()
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return bare if len(bare) == 1 and bare.isascii() else None
