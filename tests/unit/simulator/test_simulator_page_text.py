"""What the chat page makes of a message: safe HTML, and phrases in three languages."""

from __future__ import annotations

import re
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import bot.simulator.page
from bot.shared.languages import LANGUAGES
from bot.simulator.entities import TYPES, utf16_length
from bot.simulator.page.phrases import Phrases
from bot.simulator.page.rendering import html_of

_PAGE = Path(bot.simulator.page.__file__).parent


class Reader(HTMLParser):
    """Reads HTML as a browser does: its text, its tags and attributes, and whether tags nest."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "input":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader._open
    return reader


hostile = st.text(alphabet=st.sampled_from("ab<>&\"'/=😀 javascript:onload"), max_size=40)


@given(hostile, st.data())
def test_no_text_becomes_markup(text: str, data: st.DataObject) -> None:
    """Any text under any entities is shown as written, in tags and attributes of ours only."""
    end = utf16_length(text)
    offsets = st.integers(0, max(end, 1))
    entity = st.fixed_dictionaries(
        {
            "type": st.sampled_from(sorted(TYPES)),
            "offset": offsets,
            "length": offsets,
            "url": hostile,
            "language": hostile,
        }
    )
    entities = data.draw(st.lists(entity, max_size=4))
    reader = read(html_of(text, entities))
    if not any(e["type"] in {"pre", "blockquote", "expandable_blockquote"} for e in entities):
        halves = "�" in reader.text  # an entity that begins inside a surrogate pair
        assert halves or reader.text == text
    ours = {"href", "target", "rel", "class", "role", "tabindex", "data-command", "type", "aria-label"}
    for tag, attributes in reader.tags:
        assert tag in {"b", "i", "u", "s", "code", "pre", "span", "a", "blockquote", "label", "input"}
        assert set(attributes) <= ours
        assert re.match(r"(https?://|mailto:|tel:)", attributes.get("href") or "https://", re.IGNORECASE)


def test_crossing_entities_nest() -> None:
    """Two entities that cross are shown as nested tags over the right letters."""
    bold, italic = {"type": "bold", "offset": 0, "length": 4}, {"type": "italic", "offset": 2, "length": 4}
    assert html_of("abcdef", [italic, bold]) == "<b>ab<i>cd</i></b><i>ef</i>"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "JaVaScRiPt:x", "tg://user?id=1"])
def test_unsafe_addresses_are_no_links(address: str) -> None:
    """Only web, mail and telephone addresses become links."""
    html = html_of("x", [{"type": "text_link", "offset": 0, "length": 1, "url": address}])
    assert html == '<span class="tag">x</span>'


def test_newline_after_a_block_is_not_doubled() -> None:
    """A quote ends its line by itself."""
    html = html_of("цитата\nдалі", [{"type": "blockquote", "offset": 0, "length": 6}])
    assert html == "<blockquote>цитата</blockquote>далі"


def test_every_phrase_is_in_every_language() -> None:
    """The three files hold the same phrases with the same variables."""
    phrases = {}
    for language in LANGUAGES:
        source = (_PAGE / "locales" / f"{language}.ftl").read_text(encoding="utf-8")
        blocks = re.findall(r"^([a-z-]+) =((?:.|\n(?![a-z-]+ =))*)", source, re.MULTILINE)
        phrases[language] = {name: set(re.findall(r"\$(\w+)", text)) for name, text in blocks}
    assert phrases["ru"] == phrases["uk"] == phrases["en"]


def test_every_phrase_that_the_page_asks_for_exists() -> None:
    """No phrase is missing."""
    asked = set()
    for module in _PAGE.glob("*.py"):
        asked |= set(re.findall(r"\bsay\(\s*\"([a-z-]+)\"", module.read_text(encoding="utf-8")))
    english = (_PAGE / "locales" / "en.ftl").read_text(encoding="utf-8")
    assert asked
    assert asked <= set(re.findall(r"^([a-z-]+) =", english, re.MULTILINE))


@pytest.mark.parametrize(
    ("language", "count", "text"),
    [
        ("ru", 3, "3 участника"),
        ("ru", 5, "5 участников"),
        ("uk", 2, "2 учасники"),
        ("uk", 21, "21 учасник"),
        ("en", 1, "1 member"),
    ],
)
def test_plurals(language: str, count: int, text: str) -> None:
    """Numbers take the right form of the word."""
    assert Phrases(language)("group-members", count=count) == text


@pytest.mark.parametrize(
    ("language", "day", "text"),
    [
        ("uk", date(2026, 11, 21), "Сьогодні"), ("ru", date(2026, 11, 20), "Вчера"),
        ("en", date(2026, 11, 1), "November 1"), ("uk", date(2026, 3, 8), "8 березня"),
        ("ru", date(2025, 3, 8), "8 марта 2025\u202fг."), ("de-AT", date(2025, 3, 8), "March 8, 2025"),
    ],
)  # fmt: skip
def test_days(language: str, day: date, text: str) -> None:
    """Days are named as people name them; unknown languages fall back to English."""
    assert Phrases(language).day(day, today=date(2026, 11, 21)) == text
