"""A source: a line of a conversation or document, with its speaker, time and link."""

from nicegui import ui

from bot.console.elements import words
from bot.console.page_context import PageContext
from bot.console.rest import Json


def lay_source(context: PageContext, line: Json) -> None:
    say = context.say
    with ui.element("blockquote").classes("quote"):
        words("p", line["quote"])
        with ui.element("footer"):
            if line["speaker"]:
                words("span", line["speaker"])
            if line["forwarded_from"]:
                words("span", say("people-forwarded", name=line["forwarded_from"]))
            words("time", say.moment(line["at"]))
            for address, name in ((line["telegram_link"], "message"), (line["url"], "source")):
                # Other schemes than the web's could run code.
                if address and address.startswith(("https://", "http://")):
                    link = words("a", say(f"people-open-{name}")).props('target="_blank" rel="noopener noreferrer"')
                    link.props["href"] = address
