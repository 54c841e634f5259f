"""Forgetting a person, with or without the messages about the person, after a confirmation."""

from functools import partial

from nicegui import ui

from bot.console.page_context import PageContext
from bot.console.pages.people.dialogs import DialogError, answer, answers, asking, cancel
from bot.console.rest import Json


async def forget_dialog(context: PageContext, person: Json) -> None:
    """Shows what will be erased and what stays, and erases at once. Raises Trouble."""
    say, path = context.say, f"/people/{person['id']}"
    about = await context.rest.get(f"{path}/messages", user_id=context.user_id)
    count, name = about["count"], person["display_name"]
    text = say("people-forget-text", count=count, days=about["backup_days"])
    with asking(context, say("people-forget-title", name=name), text) as dialog:
        fault = DialogError(context)

        async def done(*, messages: bool) -> None:
            with fault.shown():
                await context.rest.delete(path, messages=messages, user_id=context.user_id)
                ui.navigate.to(context.at("/people"))
                dialog.close()

        with answers():
            cancel(context, dialog)
            if count:
                answer(say("people-forget-about", count=count), partial(done, messages=True))
            answer(say("people-forget"), partial(done, messages=False))
