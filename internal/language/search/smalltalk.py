"""Recognises messages without content, by rules in three languages: bare questions, and "I do not know"."""

import re
from typing import Final

from internal.kept_texts import kept
from internal.language.search.terms import plain_query_terms

_MOST_CHARACTERS: Final = 600
_MOST_WORDS: Final = 40
"""A longer message is taken to tell something, whatever it says of not knowing."""

_MOST_ASKED: Final = 20
"""Words of one question: a longer one tells a story first."""

NEW_WORDS: Final = 2
"""Words by which a question asks for the same in another way: "What is Masha's birthday?", "When was Masha born?"."""

_LONG: Final = 4
_PREFIX: Final = 5
"""Letters of a word that counts, and those by which two count as one, whatever their endings."""

_SENTENCE: Final = re.compile(r"[^.!?…\n]+[.!?…]*")
_WORD: Final = re.compile(r"[^\W_]+(?:['’ʼ-][^\W_]+)*")
_FIGURE: Final = re.compile(r"\d|[«»“”]|https?:")

_OPENING: Final = (
    r"(?:(?:а|и|ну|но|так|то есть|слушай|кстати|скажи|подскажи|ещё|еще|й|і|та|але|отже|слухай|до речі|ще"
    r"|and|so|but|well|hey|ok|okay|by the way|привет|привіт|hi|hello)\W+)*"
)
_ASKING: Final = (
    r"(?:кто|кого|кому|кем|ком|что|чего|чему|чем|чём|где|куда|откуда|когда|как|каков\w*|как(?:ой|ая|ое|ие|ого|ую|им|их"
    r"|ом|ими)|сколько|скольк\w+|почему|зачем|отчего|чей|чья|чьё|чье|чьи|чью|котор\w+"
    r"|хто|кого|кому|ким|що|чого|чому|чим|де|куди|звідки|коли|як|як(?:ий|а|е|і|ого|ої|у|им|их|ій)|скільки|навіщо|чий|чия"
    r"|чиє|чиї|котр\w+|чи"
    r"|who|whom|whose|what|which|where|when|why|how|what['’]s|who['’]s|where['’]s|when['’]s|how['’]s)"
)
_VERBS: Final = (
    r"(?:помнишь|знаешь|вспомни|напомни|скажи|расскажи|найди|поищи|покажи|есть ли"
    r"|пам.ятаєш|знаєш|згадай|нагадай|розкажи|знайди|пошукай"
    r"|do|does|did|is|are|was|were|has|had|can|could|remind me|tell me|show me|find)"
)
_WITH: Final = r"(?:(?:в|во|с|со|на|по|из|о|об|от|до|за|для|про|к|у|з|із|від|при|from|in|at|on|to|with|about|of)\s+)?"
_ASKS: Final = re.compile(rf"\W*{_OPENING}(?:{_WITH}{_ASKING}|{_VERBS})\b", re.IGNORECASE)
_ASKS_INSIDE: Final = re.compile(rf"\b{_ASKING}\b", re.IGNORECASE)
_ORDERS: Final = re.compile(
    rf"\W*{_OPENING}(?:напомни|скажи|подскажи|нагадай|remind me|tell me)\b"
    rf"\W+(?:(?:мне|мені|пожалуйста|будь ласка|please)\W+)*{_WITH}{_ASKING}\b",
    re.IGNORECASE,
)
_GREETS: Final = re.compile(
    r"\W*(?:привет|здравствуй|слушай|добр\w+ (?:день|вечер|утро)|привіт|вітаю|слухай|hi|hello|hey|good \w+)\W*",
    re.IGNORECASE,
)
_TELLS: Final = re.compile(
    r"\b(?:я|мы|ми|i|we|i['’]m|we['’]re|i['’]ve|мне|мені|у меня|у мене|my|мой|моя|мої|мій|мои)\b", re.IGNORECASE
)
"""Who speaks of himself before a comma tells something on the way: "I fly to Rome tomorrow, what shall I take?"."""

_NOTHING: Final = re.compile(
    r"\bне (?:знаю|помню|наш(?:л[аои]сь|[её]л|л[аи])|припоминаю|припомню)"
    r"|\bничего (?:не (?:знаю|помню|нашл\w+|сказано|говорил\w*)|нет|об этом|такого)"
    r"|\bнет (?:информации|сведений|данных|записей)"
    r"|\b(?:ты|вы) (?:(?:мне|этого|об этом|ещё|еще) )*не (?:рассказывал|говорил|упоминал|сообщал)\w*|\bне известно"
    r"|\bне (?:пам.ятаю|знайш\w+|пригадую)|\bнічого (?:не (?:знаю|пам.ятаю|знайш\w+|сказано)|немає|про це)"
    r"|\bнемає? (?:інформації|відомостей|даних|записів)|\bне відомо"
    r"|\b(?:ти|ви) (?:(?:мені|цього|про це|ще) )*не (?:розповіда|каза|говори|згадува)\w*"
    r"|\b(?:don['’]?t|do not|can['’]?t|cannot|didn['’]?t|did not|couldn['’]?t)"
    r" (?:\w+ )?(?:know|remember|recall|find|have (?:any|a|that|anything))\b"
    r"|\b(?:have|found|there is|there['’]s) (?:nothing|no (?:information|record|memory|idea|note|mention)\w*)"
    r"|\bnothing on that|\bno (?:information|record|mention)\w*"
    r"|\byou (?:have not|haven['’]?t|did not|didn['’]?t|never) (?:told|tell|mention|said|say)\w*",
    re.IGNORECASE,
)
_EXCUSES: Final = re.compile(
    r"\b(?:расскажи\w*|подскажи\w*|напиши|уточни\w*|запомню|если (?:хочешь|расскажешь|напомнишь)"
    r"|помню (?:лишь|только)|извини\w*|прости\w*|к сожалению|увы|жаль"
    r"|розкажи|розкажеш|підкажи|напиши|уточни|запам.ятаю|якщо (?:хочеш|розкажеш)|вибач\w*|на жаль|шкода"
    r"|tell me|let me know|remind me|if you (?:tell|want|like)|i(?:['’]ll| will) remember"
    r"|i only remember|sorry|unfortunately|i['’]m not sure)\b",
    re.IGNORECASE,
)
"""What an answer without knowledge says besides: it asks for the information, or is sorry."""

_BUT: Final = re.compile(
    r"\b(?:но|зато|однако|хотя|кроме|может быть|возможно|але|проте|зате|однак|хоча|крім|може|можливо"
    r"|but|however|though|although|except|maybe|perhaps)\b",
    re.IGNORECASE,
)
_OF_TALK: Final = re.compile(
    r"\b(?:спрашива\w+|спроси\w+|вопрос\w*|отвеча\w+|ответи\w+|ответ\w*|питав\w*|питала|запит\w+|питан\w+|відпові\w+"
    r"|ask(?:ed|ing|s)?|question\w*|answer\w*|repl(?:y|ied|ies))\b",
    re.IGNORECASE,
)
_OF_BOT: Final = re.compile(
    r"\bdid you (?!know|hear|see)\w+|\byou(?:['’]ve| have| had|['’]d)? (?:\w+ly )?(?:said|told|recommended|suggested"
    r"|advised|explained|proposed|mentioned|wrote|written|listed|gave|given|offered|promised|showed|helped)\b"
    r"|\b(?:summari[sz]\w+|summary|recap|overview|подыто\w+|подведи итог\w*|перескажи|підсумуй\w*|підсумок|перекажи)\b"
    r"|\byour (?:\w+ )?(?:advice|answer|suggestion|recommendation|proposal|explanation|reply|replies)s?\b"
    r"|\b(?:ты|вы)\b(?! не\b)[^.?!,]{0,30}?\b(?:говорил|сказал|(?:по)?советовал|(?:по)?рекомендовал|предлагал|предложил"
    r"|объяснял|объяснил|(?:на)?писал|отвечал|ответил|давал|дал|помог|помогал|перечислил|упоминал|упомянул|обещал)[аи]?\b"
    r"|\b(?:тво|ваш)\w+ (?:\w+ )?(?:совет|ответ|рекомендаци|предложени|объяснени)\w*"
    r"|\b(?:ти|ви)\b(?! не\b)[^.?!,]{0,30}?\b(?:каза|говори|сказа|(?:по)?ради|(?:по)?рекомендува|(?:за)?пропонува"
    r"|поясни|пояснюва|(?:на)?писа|відповіда|відпові|дава|да|допоміг|допомага|перелічи|згадува|згада|обіця)(?:в|ла|ли|)\b"
    r"|\b(?:тво|ваш)\w+ (?:\w+ )?(?:порад|відповід|рекомендаці|пропозиці|пояснен)\w*",
    re.IGNORECASE,
)


def asks_again(text: str, question: str) -> bool:
    """Whether a message only asks the present question: "А когда у Маши день рождения?", "Напомни, где ключ".

    With more than NEW_WORDS words of its own it states something too ("What shall I give my wife Anna on Friday?"), and
    so does a statement.
    """
    return _only_asks(text) and len(_beginnings(text) - _beginnings(question)) <= NEW_WORDS


@kept(1_000)
def _only_asks(text: str) -> bool:
    if len(text) > _MOST_CHARACTERS:
        return False
    sentences = [sentence for sentence in _sentences(text) if not _GREETS.fullmatch(sentence)]
    return bool(sentences) and all(_is_bare_question(sentence) for sentence in sentences)


@kept(1_000)
def knows_nothing(text: str) -> bool:
    """Whether a short answer only says that nothing is known: "I have nothing on that. Tell me and I'll remember"."""
    if len(text) > _MOST_CHARACTERS:
        return False
    sentences = _sentences(text)
    if _FIGURE.search(text) or _BUT.search(text) or len(_WORD.findall(text)) > _MOST_WORDS:
        return False
    nothing = [bool(_NOTHING.search(sentence)) for sentence in sentences]
    return any(nothing) and all(
        says_nothing or sentence.endswith("?") or bool(_EXCUSES.search(sentence))
        for sentence, says_nothing in zip(sentences, nothing, strict=True)
    )


def asks_about_talk(text: str) -> bool:
    """Whether a question is about what was asked or answered before: then questions and refusals are content."""
    return bool(_OF_TALK.search(text))


def asks_of_bot(text: str) -> bool:
    """Whether a question is about what the assistant said, too: "what did you recommend?", "твой совет", a summary."""
    return bool(_OF_BOT.search(text))


@kept(1_000)
def _beginnings(text: str) -> frozenset[str]:
    """The beginnings of the longer words of a text, without function words."""
    words = (forms[0][0] for forms in plain_query_terms(text))
    return frozenset(word[:_PREFIX] for word in words if len(word) >= _LONG)


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if _WORD.search(sentence)]


def _is_bare_question(sentence: str) -> bool:
    if len(_WORD.findall(sentence)) > _MOST_ASKED:
        return False
    if not sentence.endswith("?"):
        return bool(_ORDERS.match(sentence))
    if _ASKS.match(sentence):
        return True
    before, comma, _ = sentence.partition(",")
    return bool(_ASKS_INSIDE.search(sentence)) and not (comma and _TELLS.search(before))
