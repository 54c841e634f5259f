"""`@bot words` in any chat: finds in the asker's own memory; a tap sends a result."""

import asyncio
from collections.abc import Sequence
from typing import Final

from aiogram import Bot, Router
from aiogram.types import (
    InlineQuery,
    InlineQueryResultArticle,
    InlineQueryResultCachedAudio,
    InlineQueryResultCachedDocument,
    InlineQueryResultCachedPhoto,
    InlineQueryResultCachedVoice,
    InlineQueryResultsButton,
    InlineQueryResultUnion,
    InputTextMessageContent,
    MessageEntity,
)
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.deep_links import link
from bot.telegram.handlers.facts.fact_text import fact_line, local, message_line, period_text, shorten, source_of
from bot.telegram.handlers.people.find import find
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import label
from bot.telegram.rendering import escape, render
from internal.access.model import User
from internal.artifacts import repository as artifacts
from internal.artifacts.model import Artifact
from internal.dialogue.model import Message
from internal.flows.visibility.pending_forgettings import everything_asked, messages_to_forget
from internal.language.text.spelling import name_key, with_signs
from internal.people.bio import bio_from_names
from internal.people.model import Person

PEOPLE, FACTS, MESSAGES, FILES = 5, 8, 5, 5
RECENT_FILES: Final = 300
"""The number of the latest files that are searched by name."""
SENT_KINDS: Final = frozenset({"document", "photo", "voice", "audio"})
"""Kinds of files for which Telegram has inline results; video messages, for example, have none."""
LIKELY: Final = 0.3
"""The least chance with which a message is offered that contains none of the words."""

_TITLE: Final = 90


async def search(query: InlineQuery, chat: Chat, services: Services, bot: Bot) -> None:
    """Shows the results to the asker alone, and asks Telegram not to cache them."""
    user, words = chat.user, query.query.strip()
    found = await _search_results(words, user, services, bot) if words else []
    hint = label(user.lang, "inline-nothing" if words else "inline-hint")
    button = None if found else InlineQueryResultsButton(text=hint, start_parameter="inline")
    await query.answer(found, cache_time=0, is_personal=True, button=button)


async def _search_results(words: str, user: User, services: Services, bot: Bot) -> list[InlineQueryResultUnion]:
    prepared = await services.knowledge.prepare_query(user.user_id, words)
    people, facts, messages, texts, me = await asyncio.gather(
        find(words, user, services),
        services.knowledge.facts(user.user_id, prepared, FACTS),
        services.messages.search(user.user_id, prepared, MESSAGES),
        services.knowledge.episodes(user.user_id, prepared, FILES),
        bot.me(),
    )
    inside = [hit.episode.id for hit in texts if hit.reasons.words]
    files = await services.read(lambda c: _files(c, user, words, inside))
    threshold, name = services.knowledge.threshold, me.username
    shown: list[InlineQueryResultUnion] = [
        _article(f"p_{one.id}", one.display_name, one.bio, _person(one), link(name, "p", one.id))
        for one in people[:PEOPLE]
    ]
    stated = {hit.fact.fact.rstrip("."): hit.fact for hit in reversed(facts) if hit.reasons.relevant(threshold)}
    shown += [
        _article(f"f_{one.id}", one.fact, period_text(user, one), fact_line(user, one), link(name, "f", one.id))
        for one in reversed(stated.values())
    ]
    said = {
        _shown_words(hit.message): hit.message
        for hit in reversed(messages)
        if hit.reasons.words or hit.chance >= LIKELY
    }
    own = {text: one for text, one in said.items() if text and text.rstrip(".") not in stated and one.role == "user"}
    answers = {} if shown or files else {text: one for text, one in said.items() if one.role == "assistant"}
    shown += [
        _article(f"m_{one.id}", text, _said_at(user, one), message_line(user, one))
        for text, one in reversed((own or answers).items())
    ]
    return shown + [_file(one) for one in files]


def _shown_words(message: Message) -> str:
    """The words of a message; an attached file is found separately."""
    return "\n".join(row for row in with_signs(message.content).splitlines() if not row.startswith("[file ")).strip()


def _person(person: Person) -> str:
    """What others may read of a person: neither the circle nor the number of mentions."""
    known = "" if person.bio == bio_from_names(person.names) else f"\n{escape(person.bio)}"
    return f"**{escape(person.display_name)}**{known}"


def _said_at(user: User, message: Message) -> str:
    key, whose = source_of(message)
    return label(user.lang, key, at=local(user, message.timestamp), **whose)


def _article(key: str, title: str, description: str, text: str, url: str | None = None) -> InlineQueryResultArticle:
    part = render(text)[0]
    entities = [MessageEntity.model_validate(one) for one in part.entities]
    content = InputTextMessageContent(message_text=part.text, entities=entities)
    return InlineQueryResultArticle(
        id=key,
        title=shorten(title, _TITLE),
        description=shorten(description, _TITLE) or None,
        input_message_content=content,
        url=url,
    )


def _files(connection: Connection, user: User, words: str, inside: Sequence[str]) -> list[Artifact]:
    """Files with all the words in their names, the latest first, then those of `inside`; none is being forgotten."""
    if everything_asked(connection, user.user_id) is not None:
        return []
    to_forget, wanted = messages_to_forget(connection, user.user_id), name_key(words).split()
    recent = artifacts.listing(connection, user.user_id, limit=RECENT_FILES, without=to_forget)
    able = {one.id: one for one in recent if one.kind in SENT_KINDS and one.file_id}
    named = [one.id for one in able.values() if all(word in name_key(one.name) for word in wanted)]
    found = [able[one] for one in dict.fromkeys((*named, *inside)) if one in able]
    once = {(one.name, one.sha256 or one.id): one for one in reversed(found)}
    return list(reversed(once.values()))[:FILES]


def _file(file: Artifact) -> InlineQueryResultUnion:
    """A file as Telegram stores it: when chosen, it is sent in its original form."""
    key, known = f"a_{file.id}", file.file_id
    match file.kind:
        case "photo" if not file.mime:  # a file sent as a document has a type
            return InlineQueryResultCachedPhoto(id=key, photo_file_id=known, title=file.name)
        case "voice":
            return InlineQueryResultCachedVoice(id=key, voice_file_id=known, title=file.name)
        case "audio":
            return InlineQueryResultCachedAudio(id=key, audio_file_id=known)
        case _:
            return InlineQueryResultCachedDocument(id=key, document_file_id=known, title=file.name)


def router() -> Router:
    built = Router(name="inline")
    built.inline_query.register(search)
    return built
