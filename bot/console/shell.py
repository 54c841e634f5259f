"""The frame of every page: navigation, choice of user, theme, language, help, and errors."""

from collections.abc import Sequence

from nicegui import ui

from bot.console.elements import empty_list, heading, icon_button, trouble, words
from bot.console.login import LANGUAGE_COOKIE, THEME_COOKIE
from bot.console.page_context import Page, PageContext
from bot.console.phrases import Phrases
from bot.console.rest import LoggedOut, RestError
from bot.shared.languages import LANGUAGES, speak

_DARK = {"auto": None, "light": False, "dark": True}


async def lay_page(context: PageContext, page: Page, pages: Sequence[Page]) -> None:
    """Lays out the frame and the page in it."""
    say = context.say
    _head(say, context.theme, f"{say(f'page-{page.name}')} · Laplaced")
    with ui.element("div").classes("frame") as frame:
        words("a", say("skip"), "skip").props('href="#main"')
        _navigation(context, page, pages)
        with ui.element("div").classes("stage"):
            _bar(context, page)
            # The page library has put a <main> around everything, and a page may have only one.
            with ui.element("div").props('id="main" tabindex=-1').classes("main wide" if page.wide else "main"):
                await _built(context, page)
    _help(context, pages)
    frame.props(f"data-page={page.name}")


def bot_down(say: Phrases, theme: str, error: RestError) -> None:
    """Shows an error instead of any page while the bot cannot be reached."""
    _head(say, theme, "Laplaced")
    with ui.element("div").props("id=main").classes("down"):
        trouble(say, error)
    ui.timer(3.0, ui.navigate.reload)


def page_not_found(say: Phrases, theme: str) -> None:
    """Shows an error for an unknown address, with a link to the first page."""
    _head(say, theme, f"{say('nowhere-title')} · Laplaced")
    with ui.element("div").props("id=main").classes("down"), ui.element("div").classes("empty"):
        ui.icon("explore_off").classes("empty-icon").props("aria-hidden=true")
        heading(say("nowhere-title"), 1)
        words("p", say("nowhere-text"), "empty-text")
        words("a", say("page-control")).props('href="/"')


async def _built(context: PageContext, page: Page) -> None:
    if context.user_id is None and not page.everybody:
        empty_list("waving_hand", context.say("nobody-title"), context.say("nobody-text"))
        return
    try:
        await page.build(context)
    except LoggedOut:
        ui.navigate.to("/login")
    except RestError as error:
        trouble(context.say, error, again=True)


def _head(say: Phrases, theme: str, title: str) -> None:
    ui.page_title(title)
    ui.dark_mode(_DARK[theme])
    ui.colors(primary="#5b67e8")
    ui.add_head_html(
        '<link rel="stylesheet" href="/static/console.css"><script src="/static/console.js" defer></script>'
    )
    speak(ui.context.client, say.language)


def _navigation(context: PageContext, page: Page, pages: Sequence[Page]) -> None:
    say = context.say
    ui.element("div").classes("curtain").props("data-close")
    with ui.element("nav").classes("nav") as nav:
        nav.props["aria-label"] = say("navigation")
        with ui.element("div").classes("brand"):
            ui.element("img").props('src="/static/icon.svg" alt="" width=30 height=30')
            words("span", "Laplaced")
        for one in pages:
            link = ui.element("a").classes("nav-link").props(f'href="{context.at(one.path)}" data-key={one.key}')
            link.props["title"] = say(f"page-{one.name}")
            if one is page:
                link.props("aria-current=page")
            with link:
                ui.icon(one.icon).props("aria-hidden=true")
                words("span", say(f"page-{one.name}"))
        ui.element("div").classes("nav-space")
        leave = ui.element("form").props('method="post" action="/logout"')
        with leave:
            everywhere = "log-out-everybody" if context.admin else "log-out-everywhere"
            for name, icon, value in (("log-out", "logout", ""), (everywhere, "phonelink_erase", "true")):
                with ui.element("button").props("type=submit name=everywhere").classes("nav-link") as out:
                    out.props["value"] = value
                    out.props["title"] = say(name)
                    ui.icon(icon).props("aria-hidden=true")
                    words("span", say(name))


def _bar(context: PageContext, page: Page) -> None:
    say = context.say
    with ui.element("header").classes("bar"):
        icon_button("menu", say("open-navigation")).classes("bar-menu").props("data-open")
        heading(say(f"page-{page.name}"), 1).classes("bar-title")
        ui.element("div").classes("bar-space")
        if context.admin and context.users:
            _chooser(context, page)
        _themes(context)
        _languages(say)
        icon_button("keyboard", say("help")).props("data-help").classes("bar-help")


def _chooser(context: PageContext, page: Page) -> None:
    """A plain select: fast with thousands of users, and phones have good ones of their own."""
    say = context.say
    with ui.element("label").classes("chooser"):
        words("span", say("whose"), "sr")
        with ui.element("select").props("data-user").classes("chooser-select"):
            if page.everybody:
                _option(say("everybody"), "", context.user_id is None)
            for user in context.users:
                _option(user["name"], str(user["user_id"]), user["user_id"] == context.user_id)


def _option(text: str, value: str, chosen: bool) -> None:
    option = words("option", text).props("selected" if chosen else "")
    option.props["value"] = value


def _themes(context: PageContext) -> None:
    say = context.say
    with icon_button("contrast", say("theme")), ui.menu():
        for name in _DARK:
            ui.menu_item(say(f"theme-{name}")).on("click", js_handler=_KEEP.format(name=THEME_COOKIE, value=name))


def _languages(say: Phrases) -> None:
    with icon_button("translate", say("language")), ui.menu():
        for code, name in LANGUAGES.items():
            item = ui.menu_item(name).on("click", js_handler=_KEEP.format(name=LANGUAGE_COOKIE, value=code))
            item.props(f"lang={code}")


_KEEP = "() => laplaced.keep('{name}', '{value}')"


def _help(context: PageContext, pages: Sequence[Page]) -> None:
    say = context.say
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
