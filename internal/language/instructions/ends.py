"""How an owner takes an instruction back: an order to drop a rule, leave to do it again, or what he wants no more."""

import re
from typing import Final

from internal.language.text.tables import table

LIFTED: Final = re.compile(
    r"(?:you (?:can|may|could)(?! not|n't)|you (?:don't|do not) (?:have|need) to|you needn't|(?:it's"
    r"|it is) (?:ok|okay|fine) (?:to|if)"
    r"|no need to|feel free to|(?:ты )?(?:можешь|можете)|можно|(?:необязательно|не обязательно)|разрешаю"
    r"|(?:ти )?можеш|можна"
    r"|(?:необов'язково|не обов'язково)|дозволяю)(?![\w'-])"
)
AGAIN: Final = re.compile(
    r"(?<!\w)(?:again|any ?more|now|no longer|still|снова|опять|уже|больше|теперь|знову|вже|більше|тепер"
    r"|не обязательно"
    r"|необязательно|не обов'язково|необов'язково|don't have to|don't need to|needn't|no need)(?!\w)"
)
_VERBS: Final = table("internal.language.commands", "verbs")["verbs"]
_REMOVED: Final = "|".join(
    verb for kind in ("forget", "remove", "cancel") for verb in _VERBS[kind].split() if verb.isascii()
)
_RULE: Final = (
    r"rules?|bans?|instructions?|thing|requests?|(?:i )?(?:asked|told|said)|правил\w*|запрет\w*|указани\w+|просьб\w+"
    r"|просил[аи]?|говорил[аи]?|вказівк\w+|заборон\w*|прохання|просив|просила|казав|казала"
)
TAKEN_BACK: Final = re.compile(
    rf"(?:{_REMOVED}|never ?mind|ignore|disregard|(?:i )?take back|undo|lift|end|забудь(?:те)?|отмени(?:те)?"
    r"|убери(?:те)?|удали(?:те)?|сними|снимаю|отменяю|игнорируй|скасуй(?:те)?|прибери(?:ть)?|видали|зніми|знімаю"
    rf"|скасовую|ігноруй)\b.*\b(?:{_RULE})(?![\w'-])"
)
OVER: Final = re.compile(
    r"^(?!.*\b(?:if|when|если|когда|якщо|коли)\b).*(?:\b(?:снова|опять|знову) (?:можно|можна|ок)\b"
    r"|\b(?:can be used|are|is) (?:ok|okay|fine|allowed|back|welcome)\b.*\bagain\b"
    r"|\b(?:rule|ban|правило|запрет|заборона)\b.*\b(?:is over|no longer|off|ended|больше не|більше не|отмен\w+"
    r"|скасован\w+))"
)
"""What says that a rule holds no more, without an order."""
UNWANTED: Final = re.compile(
    r"(?:i (?:no longer|don't|do not|never) (?:want|need|like)|i'm (?:done with|tired of|over|sick of)"
    r"|(?:я |мне )?(?:больше )?не (?:хочу|люблю|нужн\w+|надо)|(?:мне )?надоели"
    r"|(?:я |мені )?(?:більше )?не (?:хочу|люблю|потрібн\w+|треба)|(?:мені )?набридли)(?![\w'-])[\s,]*"
)
"""What the owner wants no more: a rule about it where it is a manner of answering, and for longer than once."""
NO_LONGER: Final = re.compile(r"\b(?:no longer|any ?more|больше|більше|done with|tired of|sick of|надоели|набридли)\b")
_ANSWERS: Final = re.compile(
    r"\b(?:your|answer|repl|respon|message|text|sentence|rule|ответ|отвеч|сообщени|предложени|правил|пиши|писал|відпов"
    r"|повідомл|речен|пишеш)|твои"
)
_PLAINLY: Final = frozenset({"emoji", "list", "heading", "markup", "sorry", "praise", "joke"})


def of_answers(folded: str, topics: frozenset[str]) -> bool:
    """Whether it is the bot's own answers that are long or short: no haircut, no skirt."""
    return bool(topics & _PLAINLY) or _ANSWERS.search(folded) is not None
