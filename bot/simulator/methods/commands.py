"""The bot's own settings: command menus, name and descriptions, each by language."""

import re
from collections.abc import Callable
from typing import Any

from bot.simulator.methods.registry import JsonObject, JsonObjects, MethodCall, Parameters, method
from bot.simulator.repository import Json, Repository
from bot.simulator.server.errors import bad_request

_SCOPES = frozenset({"default", "all_private_chats", "all_group_chats", "all_chat_administrators"})
_CHAT_SCOPES = frozenset({"chat", "chat_administrators"})


class OfScope(Parameters):
    scope: JsonObject = None
    language_code: str = ""


class SetMyCommands(OfScope):
    commands: JsonObjects = None


class OfLanguage(Parameters):
    language_code: str = ""


class SetText(OfLanguage):
    name: str = ""
    description: str = ""
    short_description: str = ""


def _scope_key(scope: Json | None) -> str:
    kind = (scope or {}).get("type", "default")
    if kind in _SCOPES:
        return str(kind)
    chat_id = (scope or {}).get("chat_id")
    if kind in _CHAT_SCOPES and chat_id is not None:
        return f"{kind}:{chat_id}"
    if kind == "chat_member" and chat_id is not None and (scope or {}).get("user_id") is not None:
        return f"{kind}:{chat_id}:{(scope or {})['user_id']}"
    raise bad_request("can't parse BotCommandScope: Unsupported type specified")


def _checked(command: Json) -> Json:
    name, description = str(command.get("command", "")).removeprefix("/"), str(command.get("description", ""))
    if not re.fullmatch(r"[a-z0-9_]{1,32}", name):
        raise bad_request("BOT_COMMAND_INVALID")
    if not 1 <= len(description) <= 256:
        raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    return {"command": name, "description": description}


@method("setMyCommands", SetMyCommands)
async def set_my_commands(call: MethodCall, wanted: SetMyCommands) -> bool:
    commands = [_checked(command) for command in wanted.commands or []]
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    key = _scope_key(wanted.scope)
    if commands:
        call.telegram.repository.save_commands(key, wanted.language_code, commands)
    else:
        call.telegram.repository.delete_commands(key, wanted.language_code)
    call.telegram.feed.publish("commands")
    return True


@method("getMyCommands", OfScope)
async def get_my_commands(call: MethodCall, wanted: OfScope) -> list[Json]:
    return call.telegram.repository.commands(_scope_key(wanted.scope), wanted.language_code) or []


@method("deleteMyCommands", OfScope)
async def delete_my_commands(call: MethodCall, wanted: OfScope) -> bool:
    call.telegram.repository.delete_commands(_scope_key(wanted.scope), wanted.language_code)
    call.telegram.feed.publish("commands")
    return True


def _text_methods(suffix: str, field: str, limit: int) -> None:
    """Registers `setMy...` and `getMy...` of a text for each language; languages without one get the general text."""

    async def set_text(call: MethodCall, wanted: SetText) -> bool:
        text = str(getattr(wanted, field))
        if len(text) > limit:
            raise bad_request(f"bot {field.replace('_', ' ')} is too long")
        call.telegram.repository.set_setting(f"{field}:{wanted.language_code}", text)
        call.telegram.feed.publish("bot")
        return True

    async def get_text(call: MethodCall, wanted: OfLanguage) -> dict[str, str]:
        return {field: own_text(call.telegram.repository.setting, field, wanted.language_code)}

    method(f"setMy{suffix}", SetText)(set_text)
    method(f"getMy{suffix}", OfLanguage)(get_text)


def own_text(setting: Callable[[str], Any], field: str, language: str) -> str:
    """The bot's `name`, `description` or `short_description` in a language, else the general one, else empty."""
    return str(setting(f"{field}:{language}") or setting(f"{field}:") or "")


_text_methods("Name", "name", 64)
_text_methods("Description", "description", 512)
_text_methods("ShortDescription", "short_description", 120)


class MenuButton(Parameters):
    chat_id: int | None = None
    menu_button: JsonObject = None


_MENU_BUTTONS = {"default": (), "commands": (), "web_app": ("text", "web_app")}


@method("setChatMenuButton", MenuButton)
async def set_chat_menu_button(call: MethodCall, wanted: MenuButton) -> bool:
    """Stores the button of a private chat, or (no chat) of all; the page still offers the command menu."""
    button = wanted.menu_button or {"type": "default"}
    needed = _MENU_BUTTONS.get(str(button.get("type")))
    if needed is None or not all(button.get(name) for name in needed):
        raise bad_request("can't parse menu button: MenuButton must be specified and supported")
    call.telegram.repository.set_setting(f"menu_button:{_button_chat(call, wanted)}", button)
    call.telegram.feed.publish("commands")
    return True


@method("getChatMenuButton", MenuButton)
async def get_chat_menu_button(call: MethodCall, wanted: MenuButton) -> Json:
    return menu_button_of(call.telegram.repository, _button_chat(call, wanted))


def menu_button_of(repository: Repository, chat_id: int) -> Json:
    """The button beside the input field of a private chat: its own, else the one for all chats."""
    general: Json = repository.setting("menu_button:0", {"type": "commands"})
    own: Json = repository.setting(f"menu_button:{chat_id}", general)
    return general if own["type"] == "default" else own


def _button_chat(call: MethodCall, wanted: MenuButton) -> int:
    return 0 if wanted.chat_id is None else int(call.telegram.reachable_chat(wanted.chat_id)["id"])
