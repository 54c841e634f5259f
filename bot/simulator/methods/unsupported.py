"""Methods for what the local Telegram does not have, and their answers: stars, gifts, sticker sets, games, business."""

from bot.simulator.methods.registry import MethodCall, Parameters, method
from bot.simulator.repository import Json
from bot.simulator.server.errors import ApiRefusal, bad_request
from bot.simulator.telegram import ADMIN_RIGHTS


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
_REFUSED = {
    "BUSINESS_CONNECTION_INVALID": (
        "getBusinessConnection", "readBusinessMessage", "deleteBusinessMessages", "setBusinessAccountName",
        "setBusinessAccountUsername", "setBusinessAccountBio", "setBusinessAccountProfilePhoto",
        "removeBusinessAccountProfilePhoto", "setBusinessAccountGiftSettings", "getBusinessAccountStarBalance",
        "transferBusinessAccountStars", "getBusinessAccountGifts", "convertGiftToStars", "upgradeGift", "transferGift",
        "postStory", "editStory", "deleteStory", "repostStory", "sendChecklist", "editMessageChecklist",
    ),
    "CHARGE_ID_INVALID": ("refundStarPayment", "editUserStarSubscription"),
    "BALANCE_TOO_LOW": ("sendGift", "giftPremiumSubscription"),
    "CURRENCY_TOTAL_AMOUNT_INVALID": ("sendPaidMedia",),
    "QUERY_ID_INVALID": ("answerShippingQuery", "answerPreCheckoutQuery", "answerWebAppQuery", "answerGuestQuery",
                         "answerChatJoinRequestQuery", "sendChatJoinRequestWebApp"),
    "MESSAGE_ID_INVALID": ("editEphemeralMessageText", "editEphemeralMessageCaption", "editEphemeralMessageMedia",
                           "editEphemeralMessageReplyMarkup", "deleteEphemeralMessage", "approveSuggestedPost",
                           "declineSuggestedPost"),
    "BOT_INVALID": ("getManagedBotToken", "replaceManagedBotToken", "getManagedBotAccessSettings",
                    "setManagedBotAccessSettings"),
    "GAME_SHORTNAME_INVALID": ("sendGame", "setGameScore"),
    "STICKERSET_INVALID": (
        "getStickerSet", "createNewStickerSet", "addStickerToSet", "setStickerSetTitle", "setStickerSetThumbnail",
        "deleteStickerSet", "setStickerPositionInSet", "deleteStickerFromSet", "replaceStickerInSet",
        "setStickerEmojiList", "setStickerKeywords", "setStickerMaskPosition", "uploadStickerFile",
        "setCustomEmojiStickerSetThumbnail", "setChatStickerSet", "deleteChatStickerSet",
    ),
    "BOT_VERIFIER_FORBIDDEN": ("verifyUser", "verifyChat", "removeUserVerification", "removeChatVerification"),
    "USER_PERMISSION_DENIED": ("setUserEmojiStatus", "setPassportDataErrors", "savePreparedInlineMessage",
                               "savePreparedKeyboardButton"),
}  # fmt: skip


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
