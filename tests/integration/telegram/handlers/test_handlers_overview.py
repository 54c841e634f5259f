"""/settings and /more: what can be set by buttons, and the commands beyond the menu's ten."""

from __future__ import annotations

import pytest
from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import label
from bot.telegram.menu import COMMANDS, MENU, OWNER_COMMANDS
from internal.access.model import LANGUAGES, Language


async def test_settings_lead_to_each_setting(world: World) -> None:
    """Each button asks or shows what its command does; what was chosen stands in the card afterwards."""
    card = only(await world.send("/settings"))
    assert "English" in card.text
    names = ("language", "timezone", "quiet", "instructions", "privacy", "export")
    for name in names:
        pressed = only(await world.press(card.buttons[label("en", f"menu-{name}")]))
        typed = only(await world.send(f"/{name}"))
        assert (pressed.text, set(pressed.buttons)) == (typed.text, set(typed.buttons))
    chosen = only(await world.press(card.buttons[label("en", "menu-language")]))
    await world.press(chosen.buttons["Українська"])
    assert "Мова: Українська" in only(await world.send("/settings")).text


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_more_lists_what_the_menu_does_not(world: World, lang: Language) -> None:
    """Menu and /more together are all commands, each once; who is let in is the owner's to see."""
    await world.admit(2, "Taras", lang)
    for user_id, known in ((1, OWNER_COMMANDS), (2, COMMANDS)):
        lines = only(await world.send("/more", user_id)).text.splitlines()[1:]
        listed = [line.split(" — ")[0].removeprefix("/") for line in lines]
        assert sorted([*listed, *MENU]) == sorted(known)
