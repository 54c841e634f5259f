"""Markdown as Telegram shows it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, strategies as st

from bot.telegram.rendering import LIMIT, Rendered, draft, escape, render, render_plain, utf16_len

MARKDOWN = st.lists(
    st.sampled_from(
        [
            *(
                "**",
                "*",
                "_",
                "__",
                "`",
                "```",
                "```py\n",
                "~~",
                "||",
                "$",
                "$$",
                "[",
                "](",
                ")",
                "](https://a.b)",
                "![",
            ),
            *("# ", "> ", "- ", "1. ", "- [ ] ", "\n", "\n\n", "| a | b |\n|---|---|\n", "|", "---", "===", "    "),
            *(
                "<b>",
                "</b>",
                "<div>",
                "<!--",
                "-->",
                "<tg-spoiler>",
                "&amp;",
                "\\",
                "\\(\\frac{1}{2}\\)",
                "<https://a.b>",
            ),
            *("слово", "ім'я", " ", "5", "👨\u200d👩\u200d👧", "x", "\x00", "\r\n", "[Person:42]", ". "),
        ]
    ),
    max_size=40,
).map("".join)


def only(markdown: str) -> Rendered:
    (part,) = render(markdown)
    return part


def marked(part: Rendered) -> list[tuple[str, str]]:
    raw = part.text.encode("utf-16-le")
    return [
        (entity["type"], raw[entity["offset"] * 2 : (entity["offset"] + entity["length"]) * 2].decode("utf-16-le"))
        for entity in part.entities
    ]


def sendable(parts: list[Rendered]) -> None:
    for part in parts:
        assert part.text.strip()
        assert utf16_len(part.text) <= LIMIT
        for entity in part.entities:
            assert entity["length"] > 0
            assert 0 <= entity["offset"] <= utf16_len(part.text) - entity["length"]
        marked(part)  # decodes only if no entity begins or ends inside a surrogate pair


@given(st.one_of(MARKDOWN, st.text(max_size=200)))
@example("[]()")
@example("<!-- -->")
def test_whatever_a_model_writes_can_be_sent(markdown: str) -> None:
    """No Markdown, however broken, raises or makes a message that Telegram refuses, and something seen stays seen."""
    parts = render(markdown)
    sendable(parts)
    assert bool(parts) == bool(render_plain(markdown))


@given(st.text(max_size=200))
def test_plain_is_the_text_itself(text: str) -> None:
    """The way out shows every character that can be shown, without entities."""
    parts = render_plain(text)
    sendable(parts)
    assert all(not part.entities for part in parts)
    shown = "".join(part.text for part in parts)
    assert shown == re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "", re.sub(r"\r\n?", "\n", text)).strip()


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=100))
@example("1. список | *не* _он_ <b> $5 и 6$ # [Person:42](x) ||нет|| ~~a~~ `b` - + = !")
@example("=== --- > цитата")
@example("(000<)")
@example("\\(x \\alpha\\) \\[y \\beta\\] [Person:42]")
def test_escaped_words_are_shown_as_they_stand(text: str) -> None:
    """A name full of marks neither disappears nor formats what stands around it."""
    (part,) = render(f"**До** {escape(text)} после")
    assert part.text.split() == ["До", *text.split(), "после"]
    assert marked(part) == [("bold", "До")]


@given(MARKDOWN)
def test_a_long_reply_loses_nothing(markdown: str) -> None:
    """However often a text is repeated, its messages together hold what one message would."""
    whole = "\n\n".join([markdown] * 40)
    sendable(render(whole))


def test_formatting_becomes_entities() -> None:
    """What people read is plain text; how it looks goes beside it."""
    part = only("**Пётр** — _друг_, `код`, ~~нет~~, ||тайна||, [сайт](https://example.org)")
    assert part.text == "Пётр — друг, код, нет, тайна, сайт"
    assert marked(part) == [
        ("bold", "Пётр"),
        ("italic", "друг"),
        ("code", "код"),
        ("strikethrough", "нет"),
        ("spoiler", "тайна"),
        ("text_link", "сайт"),
    ]
    assert part.entities[-1]["url"] == "https://example.org"


def test_headings_and_lists_look_like_a_letter() -> None:
    """Headings are bold without pictures, lists have plain bullets."""
    assert only("# Люди\n- Пётр\n- Мария\n\n1. раз\n2. два").text == "Люди\n• Пётр\n• Мария\n\n1. раз\n2. два"


@pytest.mark.parametrize(
    "text",
    ["стоит 5$, а было 7$", "from $5 to $7", "<b>не тег</b>", "<div>\nслова\n</div>", "<!-- заметка -->", "a < b > c"],
)
def test_words_that_look_like_marks_stay(text: str) -> None:
    """Prices are no formulas and HTML is no Markdown: nothing of them is lost."""
    assert only(text).text == text


def test_a_link_to_nowhere_is_its_words() -> None:
    """Telegram refuses a link that is no address, so only its words are kept."""
    part = only("[сюда](foo/bar)")
    assert (part.text, part.entities) == ("сюда", [])


def test_blank_markdown_is_no_message() -> None:
    """There is nothing to send for nothing."""
    assert render(" \n\t ") == []
    assert draft("") is None
    assert draft("**") is None


def test_a_long_reply_comes_in_parts() -> None:
    """Five thousand letters are two messages, cut between paragraphs, formatted in both."""
    parts = render("\n\n".join(f"**Пункт {number}.** " + "слово " * 40 for number in range(20)))
    assert len(parts) == 2
    assert parts[1].text.startswith("Пункт ")
    assert marked(parts[1])[0][0] == "bold"


LETTER = """# Пётр

**Пётр Иванов** — твой _коллега_ по проекту `X_1`, ~~бывший~~ нынешний. ||Секрет||

- первое **важное** дело
- второе: [сайт](https://example.org/a_b)

> он сказал: «2 * 2 = 4»

```py
x = [1, 2]
**не жирно**
```

1. раз
2. два

Итого 5$ и `конец`."""


def test_a_draft_only_grows() -> None:
    """While a reply is written, what is shown is always a beginning of what it will be: no mark flickers."""
    final = only(LETTER)
    shown = ""
    for end in range(len(LETTER) + 1):
        part = draft(LETTER[:end])
        text = part.text if part else ""
        assert final.text.startswith(text), LETTER[:end]
        assert len(text) >= len(shown) - 3, LETTER[:end]  # a closing mark may wait for the letter after it
        shown = text
    assert draft(LETTER) == final


def test_open_marks_are_already_shown() -> None:
    """Words are bold from their first letter on, not only once the closing mark arrives."""
    part = draft("Это **очень ва")
    assert part is not None
    assert (part.text, marked(part)) == ("Это очень ва", [("bold", "очень ва")])


@given(MARKDOWN)
def test_a_draft_never_fails(markdown: str) -> None:
    """Any beginning of any reply can be shown."""
    for end in range(0, len(markdown) + 1, 3):
        part = draft(markdown[:end])
        sendable([part] if part else [])


def test_a_draft_shows_the_message_that_grows() -> None:
    """Once a reply outgrows one message, the draft goes on with the last one."""
    part = draft("слово. " * 1000)
    assert part is not None
    assert utf16_len(part.text) <= LIMIT
    assert part.text.endswith("слово.")


@pytest.mark.parametrize("above", ["", "Prices <now>, 5$:\n\n"])
def test_a_table_keeps_its_markdown(above: str) -> None:
    """For a client that shows columns; what is no table, or too long for one message, is entities alone."""
    table = "| Café | Coffee |\n|---|---:|\n| **Кит** | 90 |"
    [part] = render(above + table)
    assert part.rich is not None
    assert part.rich.endswith(table)
    assert [entity["type"] for entity in part.entities] == ["pre"]
    assert "<now>" not in part.rich.replace("\\<now>", "")
    assert [one.rich for one in render("a | b\n\n- c | d")] == [None]
    assert {one.rich for one in render(f"{table}\n\n{'word ' * 2000}")} == {None}
