"""What stands around every page: navigation, whose memory it is, theme, language, help, and errors that help."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nicegui import ui

from bot.console.elements import empty, heading, icon_button, trouble, words
from bot.console.login import LANGUAGE_COOKIE, THEME_COOKIE
from bot.console.page import Page
from bot.console.page_context import PageContext
from bot.console.phrases import LANGUAGES, Phrases
from bot.console.rest import LoggedOut, RestError

_DARK = {"auto": None, "light": False, "dark": True}


async def shown(seat: PageContext, page: Page, pages: Sequence[Page]) -> None:
    """Lays the frame and the page in it."""
    say = seat.say
    _head(say, seat.theme, f"{say(f'page-{page.name}')} · Laplaced")
    with ui.element("div").classes("frame") as frame:
        words("a", say("skip"), "skip").props('href="#main"')
        _navigation(seat, page, pages)
        with ui.element("div").classes("stage"):
            _bar(seat, page)
            # The page library has laid a <main> around everything, and a page has one.
            with ui.element("div").props('id="main" tabindex=-1').classes("main wide" if page.wide else "main"):
                await _built(seat, page)
    _help(seat, pages)
    frame.props(f"data-page={page.name}")


def down(say: Phrases, theme: str, error: RestError) -> None:
    """Instead of any page while the bot cannot be reached: it looks again by itself."""
    _head(say, theme, "Laplaced")
    with ui.element("div").props("id=main").classes("down"):
        trouble(say, error)
    ui.timer(3.0, ui.navigate.reload)


def nowhere(say: Phrases, theme: str) -> None:
    """Instead of a page whose address is none: it says so, and leads to the first page."""
    _head(say, theme, f"{say('nowhere-title')} · Laplaced")
    with ui.element("div").props("id=main").classes("down"), ui.element("div").classes("empty"):
        ui.icon("explore_off").classes("empty-icon").props("aria-hidden=true")
        heading(say("nowhere-title"), 1)
        words("p", say("nowhere-text"), "empty-text")
        words("a", say("page-control")).props('href="/"')


async def _built(seat: PageContext, page: Page) -> None:
    if seat.user_id is None and not page.everybody:
        empty("waving_hand", seat.say("nobody-title"), seat.say("nobody-text"))
        return
    try:
        await page.build(seat)
    except LoggedOut:
        ui.navigate.to("/login")
    except RestError as error:
        trouble(seat.say, error, again=True)


def _head(say: Phrases, theme: str, title: str) -> None:
    ui.page_title(title)
    ui.dark_mode(_DARK[theme])
    ui.colors(primary="#5b67e8")
    ui.add_head_html(
        '<link rel="stylesheet" href="/static/console.css"><script src="/static/console.js" defer></script>'
    )
    # The page library knows one language for all visitors.
    ui.add_head_html(f"<script>document.documentElement.lang = {json.dumps(say.language)}</script>")


def _navigation(seat: PageContext, page: Page, pages: Sequence[Page]) -> None:
    say = seat.say
    ui.element("div").classes("curtain").props("data-close")
    with ui.element("nav").classes("nav") as nav:
        nav.props["aria-label"] = say("navigation")
        with ui.element("div").classes("brand"):
            ui.element("img").props('src="/static/icon.svg" alt="" width=30 height=30')
            words("span", "Laplaced")
        for one in pages:
            link = ui.element("a").classes("nav-link").props(f'href="{seat.at(one.path)}" data-key={one.key}')
            link.props["title"] = say(f"page-{one.name}")
            if one is page:
                link.props("aria-current=page")
            with link:
                ui.icon(one.icon).props("aria-hidden=true")
                words("span", say(f"page-{one.name}"))
        ui.element("div").classes("nav-space")
        leave = ui.element("form").props('method="post" action="/logout"')
        with leave, ui.element("button").props("type=submit").classes("nav-link") as out:
            out.props["title"] = say("log-out")
            ui.icon("logout").props("aria-hidden=true")
            words("span", say("log-out"))


def _bar(seat: PageContext, page: Page) -> None:
    say = seat.say
    with ui.element("header").classes("bar"):
        icon_button("menu", say("open-navigation")).classes("bar-menu").props("data-open")
        heading(say(f"page-{page.name}"), 1).classes("bar-title")
        ui.element("div").classes("bar-space")
        if seat.admin and seat.users:
            _chooser(seat, page)
        _themes(seat)
        _languages(say)
        icon_button("keyboard", say("help")).props("data-help").classes("bar-help")


def _chooser(seat: PageContext, page: Page) -> None:
    """A plain select: fast with thousands of users, and every phone has its own good one."""
    say = seat.say
    with ui.element("label").classes("chooser"):
        words("span", say("whose"), "sr")
        with ui.element("select").props("data-user").classes("chooser-select"):
            if page.everybody:
                _option(say("everybody"), "", seat.user_id is None)
            for user in seat.users:
                _option(user["name"], str(user["user_id"]), user["user_id"] == seat.user_id)


def _option(text: str, value: str, chosen: bool) -> None:
    option = words("option", text).props("selected" if chosen else "")
    option.props["value"] = value


def _themes(seat: PageContext) -> None:
    say = seat.say
    with icon_button("contrast", say("theme")), ui.menu():
        for name in _DARK:
            ui.menu_item(say(f"theme-{name}")).on("click", js_handler=_KEEP.format(name=THEME_COOKIE, value=name))


def _languages(say: Phrases) -> None:
    with icon_button("translate", say("language")), ui.menu():
        for code, name in LANGUAGES.items():
            item = ui.menu_item(name).on("click", js_handler=_KEEP.format(name=LANGUAGE_COOKIE, value=code))
            item.props(f"lang={code}")


_KEEP = "() => laplaced.keep('{name}', '{value}')"


def _help(seat: PageContext, pages: Sequence[Page]) -> None:
    say = seat.say
    rows = [("?", say("key-help")), ("/", say("key-search")), ("Esc", say("key-escape"))]
    rows += [(f"g {page.key}", say(f"page-{page.name}")) for page in pages]
    with ui.element("dialog").classes("help").props('id="help"') as dialog:
        dialog.props["aria-label"] = say("help")
        heading(say("help"), 2)
        with ui.element("dl"):
            for keys, meaning in rows:
                with ui.element("dt"):
                    for key in keys.split():
                        words("kbd", key)
                words("dd", meaning)
        with ui.element("form").props("method=dialog"):
            words("button", say("close"), "button")
