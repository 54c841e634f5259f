"""Callback data of the buttons of /groups and /share."""

from bot.telegram.handlers.buttons import Id, Owned, UndoButton


class GroupButton(Owned, prefix="gr", command="/groups"):
    """Switches the groups (`group` 0: all) on or off, or listening. `act`: on, off, listen, quiet."""

    group: int
    act: str


class UndoMineButton(UndoButton, prefix="gm", command="/groups"):
    """Undoes what the member `by` asked with /forget me."""

    forgetting: Id
    by: int


class ShareButton(Owned, prefix="sh", command="/share"):
    group: int
