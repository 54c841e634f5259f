"""/undo: a list of changes and a tap that takes one back."""

from __future__ import annotations

from support.interfaces.handler_stage import World, only

from bot.telegram.i18n import label as text


async def test_a_tap_takes_a_change_back(world: World) -> None:
    """A task that was added by mistake is cancelled; pressed twice, it is said that it is too late."""
    assert only(await world.send("/undo")).text == text("en", "undo-nothing")
    await world.send("/tasks add water the *cactus*")
    listed = only(await world.send("/undo"))
    assert "1. Task: Water the *cactus*" in listed.text
    data = listed.buttons["1"]
    toast, left = await world.press(data)
    assert toast.text == "Taken back. Task: Water the *cactus*"
    assert "1. Task closed: Water the *cactus*" in left.text
    assert (await world.press(data))[0].text == text("en", "undo-too-late")
    await world.press(left.buttons["1"])
    assert "cactus" in only(await world.send("/tasks")).text
