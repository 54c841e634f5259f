"""Names by which authors introduce themselves: "меня зовут Олег", "I'm Kate"."""

import re

from internal.language.names.mentions import NameMention, find_people
from internal.language.text.spelling import Language, name_key, text_language

_HIMSELF = re.compile(
    r"(?:^|(?<![\w-]))(?:(?P<named>меня зовут|мене звати|мо[её] имя|моє ім['’ʼ]я|зовите меня|my name is|my name['’]s"
    r"|calls? me|(?:i['’]?m|i am) (?:called|named|known as)|i go by|меня (?:\w+ )?(?:звать|зовут|кличут|называют)"
    r"|мене (?:\w+ )?(?:звати|звуть|кличуть|називають))|я\s*[—–-]|i am|i['’]m)\s*[—–:-]?\s*$"
    r"|^\W*(?:привет|здравствуй(?:те)?|добрый день|вітаю|привіт|добрий день)?\W*я\s+$",
    re.IGNORECASE,
)
"""Words before one's own name, within _INTRODUCTION characters."""
_INTRODUCTION = 60
_ME = re.compile(r"\b(?:меня|мене)\s+(?:\w+\s+)?$", re.IGNORECASE)
_CALLED = re.compile(r"\s+(?:зовут|звать|кличут|называют|звати|звуть|кличуть|називають)\b")
_GOES_ON = re.compile(r"['’]s?(?!\w)|\s+\w+л[аи]?\b")


def own_names(text: str, language: Language) -> list[str]:
    """The names that the author of a text gives as his own, also as written; `language` is his."""
    own = [one for one in find_people(text, text_language(text, language)) if is_own_name(one, text)]
    return [name for one in own for name in dict.fromkeys((one.name, one.written))]


def is_own_name(mention: NameMention, text: str) -> bool:
    """Whether the author gives his own name there: "Меня зовут Олег", "I'm Kate", but not "I'm Kate's brother"."""
    if _CALLED.match(text, mention.end) and _ME.search(text[: mention.start]):
        return True  # "меня Сандрой зовут"
    before = _HIMSELF.search(text, max(0, mention.start - _INTRODUCTION), mention.start)
    if before is None or (before["named"] is None and name_key(mention.written) != name_key(mention.name)):
        return False  # "Я Олега не видел"
    return _GOES_ON.match(text, mention.end) is None and (before["named"] is not None or mention.role is None)
