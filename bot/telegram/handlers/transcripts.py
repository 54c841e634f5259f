"""Correcting a transcript: the owner's next message replaces it."""

from typing import Any, Final

from aiogram import Router
from aiogram.types import CallbackQuery, Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.awaited_answers import Answers, ask
from bot.telegram.handlers.buttons import Id, Owned, button
from bot.telegram.handlers.people.find import answer_text
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label, phrase
from internal.access.model import AwaitedAnswer, User
from internal.artifacts import repository as artifacts
from internal.flows.artifacts import transcripts

TRANSCRIPT: Final = "transcript"


class TranscriptButton(Owned, prefix="v", command="transcript"):
    """Asks for the correct transcript."""

    artifact: Id


class ListenAgainButton(Owned, prefix="va", command="transcript"):
    """Reads a recording again that could not be read during an outage."""

    artifact: Id


def listen_again_buttons(user: User, artifact_id: str) -> list[list[dict[str, Any]]]:
    """The button below the line that a recording cannot be heard now."""
    offered = ListenAgainButton(owner=user.user_id, artifact=artifact_id)
    return buttons([[button(label(user.lang, "listen-again"), offered)]]) or []


def transcript_buttons(user: User, artifact_id: str) -> list[list[dict[str, Any]]]:
    """The button below a transcript."""
    offered = TranscriptButton(owner=user.user_id, artifact=artifact_id)
    return buttons([[button(label(user.lang, "transcript-correct"), offered)]]) or []


async def pressed(query: CallbackQuery, callback_data: TranscriptButton, chat: Chat, services: Services) -> None:
    question = AwaitedAnswer(TRANSCRIPT, {"artifact": callback_data.artifact})
    await ask(chat, services, question, phrase(chat.user.lang, "transcript-how"))


async def corrected(message: Message, chat: Chat, services: Services, awaiting: AwaitedAnswer) -> None:
    words, now, artifact = answer_text(message), services.clock.now(), awaiting.details["artifact"]
    await services.write(lambda c: transcripts.correct(c, chat.user, artifact, words, transcript_buttons, now))
    await chat.say(phrase(chat.user.lang, "transcript-corrected"))


async def listen_again(query: CallbackQuery, callback_data: ListenAgainButton, chat: Chat, services: Services) -> None:
    owner, artifact, now = chat.user.user_id, callback_data.artifact, services.clock.now()
    begun = await services.write(lambda c: artifacts.read_again(c, owner, artifact, now))
    await chat.toast(label(chat.user.lang, "listening-again" if begun else "transcript-gone"))


def router() -> Router:
    built = Router(name="transcripts")
    built.callback_query.register(listen_again, ListenAgainButton.filter())
    built.callback_query.register(pressed, TranscriptButton.filter())
    built.message.register(corrected, Answers(TRANSCRIPT))
    return built
