"""Small parts of every page."""

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from bot.console.page_context import PageContext, tone
from bot.console.phrases import Phrases
from bot.console.rest import BotDown, LoggedOut, RefusedByServer, RestError
from bot.shared.phrases import initials


def words(tag: str, text: str, classes: str = "") -> TextElement:
    """Plain text, whatever it contains, in an element of that tag."""
    return TextElement(tag=tag, text=text).classes(classes)


def heading(text: str, level: int) -> TextElement:
    """A heading of the document's outline: 1 is the page's own, in the bar."""
    return words(f"h{level}", text)


def icon_button(icon: str, label: str) -> ui.button:
    """A button that shows only an icon; `label` is its accessible name."""
    button = ui.button(icon=icon, color=None).props("flat round dense").classes("icon-button")
    # A title, not the library's tooltip: that one hangs outside of every landmark.
    button.props["aria-label"] = button.props["title"] = label
    return button


def avatar(name: str, number: int) -> ui.label:
    return ui.label(initials(name)).classes(f"avatar {tone(number)}").props("aria-hidden=true")


@contextmanager
def card(title: str | None = None, classes: str = "") -> Iterator[ui.element]:
    """A panel with a heading of the second level."""
    with ui.element("section").classes(f"card {classes}".strip()) as section:
        if title is not None:
            heading(title, 2).classes("card-title")
        yield section


def chip(text: str, kind: str = "") -> TextElement:
    """A short word beside something; `kind` is "", "good", "warn" or "bad"."""
    return words("span", text, f"chip {kind}".strip())


def style(name: str) -> None:
    """Loads `static/<name>.css` for this page."""
    ui.add_head_html(f'<link rel="stylesheet" href="/static/{name}.css">')


@contextmanager
def trouble_notice(context: PageContext) -> Iterator[None]:
    """Runs a click handler: shows Trouble as a notice, and leads to the login if the session has ended."""
    try:
        yield
    except LoggedOut:
        ui.navigate.to("/login")
    except BotDown:
        ui.notify(context.say("trouble-down"), type="negative")
    except RestError as error:
        ui.notify(f"{context.say('trouble-refused')}. {error}", type="negative", multi_line=True)


def empty_list(icon: str, title: str, text: str) -> None:
    """The empty state of a list; `text` says how to fill it."""
    with ui.element("div").classes("empty"):
        ui.icon(icon).classes("empty-icon").props("aria-hidden=true")
        heading(title, 2)
        words("p", text, "empty-text")


def trouble(say: Phrases, error: RestError, *, again: bool = False) -> None:
    """Shows an error to a person: what happened and what to do; `again` offers to reload the page."""
    kind = "down" if isinstance(error, BotDown) else "gone" if _gone(error) else "refused"
    with ui.element("div").classes("empty trouble").props("role=alert"):
        ui.icon("cloud_off" if kind == "down" else "search_off").classes("empty-icon").props("aria-hidden=true")
        heading(say(f"trouble-{kind}"), 2)
        words("p", say(f"trouble-{kind}-text"), "empty-text")
        if str(error):
            words("p", str(error), "trouble-detail")
        if again:
            ui.button(say("try-again"), icon="refresh", color=None, on_click=ui.navigate.reload).props(
                "unelevated no-caps"
            ).classes("button")


def _gone(error: RestError) -> bool:
    return isinstance(error, RefusedByServer) and error.status == 404
