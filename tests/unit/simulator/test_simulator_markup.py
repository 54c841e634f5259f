"""HTML and MarkdownV2 as Telegram reads them."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given, strategies as st

from bot.simulator.entities import utf16_slice
from bot.simulator.markup import parse
from bot.simulator.server.errors import ApiRefusal

plain_texts = st.text(alphabet=st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), max_size=80)


def marked(text: str, mode: str) -> tuple[str, list[tuple[str, str]]]:
    plain, entities = parse(text, mode)
    return plain, [(e["type"], utf16_slice(plain, e["offset"], e["offset"] + e["length"])) for e in entities]


@given(plain_texts)
def test_escaped_html_is_the_text_itself(text: str) -> None:
    """Escaping brings any text through HTML unchanged, without entities."""
    assert parse(escape(text), "HTML") == (text, [])


@given(plain_texts)
def test_escaped_markdown_is_the_text_itself(text: str) -> None:
    """Escaping every reserved character brings any text through MarkdownV2 unchanged, without entities."""
    escaped = "".join(f"\\{letter}" if letter in "\\_*[]()~`>#+-=|{}.!" else letter for letter in text)
    assert parse(escaped, "MarkdownV2") == (text, [])


@given(
    st.text(alphabet=st.sampled_from("ab *_~|`[]()>\\\n!<b></b>😀"), max_size=40),
    st.sampled_from(["HTML", "MarkdownV2"]),
)
def test_any_markup_parses_or_is_refused(text: str, mode: str) -> None:
    """Whatever comes is either parsed into entities that fit, or a 400; nothing else happens."""
    try:
        plain, entities = parse(text, mode)
    except ApiRefusal as error:
        refusal = error.description
        plain, entities = "", []
    else:
        refusal = "Bad Request: can't parse entities: "
    assert refusal.startswith("Bad Request: can't parse entities: ")
    units = len(plain.encode("utf-16-le")) // 2
    assert all(0 <= e["offset"] < e["offset"] + e["length"] <= units for e in entities)


@pytest.mark.parametrize(
    ("mode", "text", "plain", "entities"),
    [
        ("HTML", '<a href="https://x.org/?a=1&amp;b">сайт</a>', "сайт", [("text_link", "сайт")]),
        ("HTML", '<pre><code class="language-py">a &lt; b</code></pre>', "a < b", [("pre", "a < b")]),
        ("HTML", "<span class='tg-spoiler'>с</span><u>п</u><s>о</s>", "спо",
         [("spoiler", "с"), ("underline", "п"), ("strikethrough", "о")]),
        ("HTML", "<blockquote expandable>довго</blockquote>", "довго", [("expandable_blockquote", "довго")]),
        ("MarkdownV2", "*b _i_ b*", "b i b", [("bold", "b i b"), ("italic", "i")]),
        ("MarkdownV2", "__u__ ~s~ ||x||", "u s x", [("underline", "u"), ("strikethrough", "s"), ("spoiler", "x")]),
        ("MarkdownV2", "[сайт](https://x.org/\\))", "сайт", [("text_link", "сайт")]),
        ("MarkdownV2", "`a*b` ```py\nx_y```", "a*b x_y", [("code", "a*b"), ("pre", "x_y")]),
        ("MarkdownV2", ">раз\n>два\nтри", "раз\nдва\nтри", [("blockquote", "раз\nдва\n")]),
        ("Markdown", "*b* _i_ \\_ a-b [c](https://x.org) `*`", "b i _ a-b c *",
         [("bold", "b"), ("italic", "i"), ("text_link", "c"), ("code", "*")]),
        ("Markdown", "```py\nx_y```", "x_y", [("pre", "x_y")]),
        ("MarkdownV2", "**>раз\n>два||", "раз\nдва", [("expandable_blockquote", "раз\nдва")]),
    ],
)  # fmt: skip
def test_forms(mode: str, text: str, plain: str, entities: list[tuple[str, str]]) -> None:
    """Each form gives its entity over the right part of the text."""
    assert marked(text, mode) == (plain, entities)


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("HTML", "<b>x</i>"), ("HTML", "x</b>"), ("HTML", "<div>x</div>"), ("HTML", "a < b"),
        ("HTML", "<span>x</span>"), ("MarkdownV2", "*x"), ("MarkdownV2", "`x"), ("MarkdownV2", "a-b"),
        ("MarkdownV2", "[x]"), ("MarkdownV2", "*a _b* c_"),
        ("Markdown", "a *x"), ("Markdown", "```x"), ("Markdown", "[x"),
    ],
)  # fmt: skip
def test_broken_markup_is_refused(mode: str, text: str) -> None:
    """Unclosed, crossed, unknown and unescaped markup is a 400."""
    with pytest.raises(ApiRefusal) as refused:
        parse(text, mode)
    assert refused.value.code == 400
