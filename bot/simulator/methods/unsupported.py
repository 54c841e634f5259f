"""Methods for what the local Telegram does not have, and their answers: stars, gifts, sticker sets, games, business."""

from bot.simulator.methods.registry import MethodCall, Parameters, method
from bot.simulator.repository import Json
from bot.simulator.server.errors import ApiRefusal, bad_request
from bot.simulator.telegram import ADMIN_RIGHTS
from internal.language.text.tables import table


class Anything(Parameters):
    pass


# Telegram's answers to a bot without stars, stickers and business accounts: a result, or its refusal.
_EMPTY: dict[str, Json | list[Json] | bool] = {
    "getMyStarBalance": {"amount": 0}, "getStarTransactions": {"transactions": []}, "getAvailableGifts": {"gifts": []},
    "getUserChatBoosts": {"boosts": []}, "getForumTopicIconStickers": [], "getCustomEmojiStickers": [],
    "getUserProfilePhotos": {"total_count": 0, "photos": []}, "getUserProfileAudios": {"total_count": 0, "audios": []},
    "getGameHighScores": [], "getUserPersonalChatMessages": [], "getUserGifts": {"total_count": 0, "gifts": []},
    "getChatGifts": {"total_count": 0, "gifts": []}, "setMyProfilePhoto": True, "removeMyProfilePhoto": True,
    "setMyDefaultAdministratorRights": True, "getMyDefaultAdministratorRights": dict.fromkeys(ADMIN_RIGHTS, False),
}  # fmt: skip
_REFUSED = {error: methods.split() for error, methods in table(__package__, "unsupported").items()}


def _answer_with(name: str, result: Json | list[Json] | bool) -> None:
    async def answer(call: MethodCall, wanted: Anything) -> Json | list[Json] | bool:
        return result

    method(name, Anything)(answer)


def _refuse(name: str, refusal: ApiRefusal) -> None:
    async def answer(call: MethodCall, wanted: Anything) -> None:
        raise refusal

    method(name, Anything)(answer)


for _name, _result in _EMPTY.items():
    _answer_with(_name, _result)
for _reason, _names in _REFUSED.items():
    for _name in _names:
        _refuse(_name, bad_request(_reason))
