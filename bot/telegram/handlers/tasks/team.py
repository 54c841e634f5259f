"""/team: users who want to know what others promise to do for them. Each agrees for himself and may leave."""

from aiogram import F, Router
from aiogram.dispatcher.event.bases import SkipHandler
from aiogram.filters import Command, CommandObject
from aiogram.types import CallbackQuery, Message
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import InvitationButton, KeepButton, Rows, TeamAction, TeamButton, button
from bot.telegram.handlers.people.find import answer_text, reads_like_sentence
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access import repository as users
from internal.access.model import AwaitedAnswer, User
from internal.flows.notifications import teams
from internal.storage.engine.row_policies import across_owners
from internal.tasks.teams import repository, service
from internal.tasks.teams.model import LONGEST_NAME, Invitation, Team

_NAMING = AwaitedAnswer("team-name")
_INVITING = "team-invite"


async def team(message: Message, command: CommandObject, chat: Chat, services: Services) -> None:
    """Creates a team if a name is given, else shows the user's teams."""
    if command.args:
        await _create(command.args, chat, services)
        return
    await chat.say(*await services.read(lambda c: _overview(c, chat.user)))


async def new_team_pressed(query: CallbackQuery, chat: Chat, services: Services) -> None:
    await ask(chat, services, _NAMING, phrase(chat.user.lang, "team-name-ask"))


async def name_typed(message: Message, chat: Chat, services: Services) -> None:
    name = answer_text(message)
    if len(name) > LONGEST_NAME:
        raise SkipHandler
    await _create(name, chat, services)


async def invite_pressed(query: CallbackQuery, callback_data: TeamButton, chat: Chat, services: Services) -> None:
    team_id = callback_data.team or ""
    found = await services.read(lambda c: service.of_member(c, chat.user.user_id, team_id))
    question = AwaitedAnswer(_INVITING, {"team": found.id})
    await ask(chat, services, question, phrase(chat.user.lang, "team-invite-ask", team=found.name))


async def invitee_typed(message: Message, awaiting: AwaitedAnswer, chat: Chat, services: Services) -> None:
    user, now, words = chat.user, services.clock.now(), answer_text(message)
    if reads_like_sentence(words):
        raise SkipHandler
    asked = await services.write(
        lambda c: teams.invite(c, user, str(awaiting.details["team"]), words, now, phrase, _answers)
    )
    name = await services.read(lambda c: _name_of(c, asked.user_id))
    await chat.say(phrase(user.lang, "team-invited", name=name, team=asked.team_name))


async def leave_pressed(query: CallbackQuery, callback_data: TeamButton, chat: Chat, services: Services) -> None:
    lang, team_id = chat.user.lang, callback_data.team or ""
    found = await services.read(lambda c: service.of_member(c, chat.user.user_id, team_id))
    sure = TeamButton(owner=chat.user.user_id, action=TeamAction.LEFT, team=found.id)
    yes = button(label(lang, "team-button-leave-yes"), sure)
    no = button(label(lang, "button-cancel"), KeepButton(owner=chat.user.user_id))
    await chat.edit(phrase(lang, "team-leave-confirm", team=found.name), [[yes, no]])


async def leave_confirmed(query: CallbackQuery, callback_data: TeamButton, chat: Chat, services: Services) -> None:
    user, now, team_id = chat.user, services.clock.now(), callback_data.team or ""
    found = await services.write(lambda c: teams.leave_team(c, user, team_id, now, phrase))
    await chat.edit(phrase(user.lang, "team-left-yourself", team=found.name))


async def invitation_answered(
    query: CallbackQuery, callback_data: InvitationButton, chat: Chat, services: Services
) -> None:
    user, now, invitation_id = chat.user, services.clock.now(), callback_data.invitation

    def work(connection: Connection) -> tuple[str, str]:
        if callback_data.accept:
            return "team-accepted", teams.accept(connection, user, invitation_id, now, phrase).name
        return "team-declined", service.decline(connection, user.user_id, invitation_id, now).team_name

    key, name = await services.write(work)
    await chat.edit(phrase(user.lang, key, team=name))


async def _create(name: str, chat: Chat, services: Services) -> None:
    user, now = chat.user, services.clock.now()
    made = await services.write(lambda c: service.create(c, user.user_id, name, now))
    invite = TeamButton(owner=user.user_id, action=TeamAction.INVITE, team=made.id)
    rows = [[button(label(user.lang, "team-button-invite", team=made.name), invite)]]
    await chat.say(phrase(user.lang, "team-created", team=made.name), rows)


def _overview(connection: Connection, user: User) -> tuple[str, Rows]:
    mine, waiting = repository.teams_of(connection, user.user_id), repository.pending(connection, user.user_id)
    lines = [_line(user, one) for one in mine]
    lines += [_invitation_text(connection, user, one) for one in waiting]
    rows = [row for one in waiting for row in _yes_or_no(user, one, with_name=True)]
    rows += [_buttons(user, one) for one in mine]
    rows.append([button(label(user.lang, "team-button-new"), TeamButton(owner=user.user_id, action=TeamAction.NEW))])
    about = phrase(user.lang, "team-about")
    return ("\n\n".join([about, *lines]) if lines else f"{about}\n\n{phrase(user.lang, 'team-none')}"), rows


def _line(user: User, one: Team) -> str:
    names = ", ".join(member.name for member in one.members)
    return phrase(user.lang, "team-line", team=one.name, names=names)


def _invitation_text(connection: Connection, user: User, one: Invitation) -> str:
    return phrase(user.lang, "team-invitation", name=_name_of(connection, one.invited_by), team=one.team_name)


def _name_of(connection: Connection, user_id: int) -> str:
    """The name of another user, or the id if he has none."""
    with across_owners(connection):
        known = users.find(connection, user_id)
    return known.name if known is not None and known.name else str(user_id)


def _buttons(user: User, one: Team) -> list[tuple[str, str]]:
    keys = {TeamAction.INVITE: "team-button-invite", TeamAction.LEAVE: "team-button-leave"}
    return [
        button(label(user.lang, key, team=one.name), TeamButton(owner=user.user_id, action=action, team=one.id))
        for action, key in keys.items()
    ]


def _yes_or_no(user: User, asked: Invitation, *, with_name: bool = False) -> Rows:
    def answer(key: str, *, accept: bool) -> tuple[str, str]:
        data = InvitationButton(owner=user.user_id, invitation=asked.id, accept=accept)
        text = label(user.lang, key)
        return button(f"{text}: {asked.team_name}" if with_name else text, data)

    return [[answer("team-button-accept", accept=True), answer("team-button-decline", accept=False)]]


def _answers(user: User, asked: Invitation) -> list[list[dict[str, str]]]:
    return buttons(_yes_or_no(user, asked)) or []


def router() -> Router:
    built = Router(name="team")
    built.message.register(team, Command("team", ignore_mention=True))
    built.message.register(name_typed, Answers(_NAMING.kind))
    built.message.register(invitee_typed, Answers(_INVITING))
    built.callback_query.register(new_team_pressed, TeamButton.filter(F.action == TeamAction.NEW))
    built.callback_query.register(invite_pressed, TeamButton.filter(F.action == TeamAction.INVITE))
    built.callback_query.register(leave_pressed, TeamButton.filter(F.action == TeamAction.LEAVE))
    built.callback_query.register(leave_confirmed, TeamButton.filter(F.action == TeamAction.LEFT))
    built.callback_query.register(invitation_answered, InvitationButton.filter())
    return built
