"""Patterns of sentences that state facts, in three languages: verbs and the words that must follow."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from internal.language.dates.normalise import MONTHS
from internal.language.text.spelling import words
from internal.language.text.tables import table

Kind = Literal["place", "organization", "date", "thing"]
NEVER = "(?!)"
_WORDS: Final = table(__package__, "fact_words")


@dataclass(frozen=True, slots=True)
class VerbPattern:
    """A verb with the pattern that must follow it (`target` is the group of the other end).

    `first` forms are about the owner, `third` about the person named before them; `past` forms are of any person, and
    of the owner only after "я" or "I". `ends`: it states that something is over.
    """

    relation: str
    kind: Kind
    first: str
    third: str
    past: str
    then: str
    ends: bool = False

    @property
    def verb(self) -> re.Pattern[str]:
        forms = rf"(?P<first>{self.first})|(?P<third>{self.third})|(?P<past>{self.past})"
        return re.compile(rf"(?<![\w-])(?:{forms})(?!\w)", re.IGNORECASE)


def _any(*groups: str) -> str:
    return "|".join(form.replace("_", " ") for group in groups for form in group.split())


UPPER = "A-ZА-ЯЁІЇЄҐ"
_MONTH = rf"(?i:{'|'.join(MONTHS)})\w*"
_DAY_OF_MONTH = (
    rf"\d{{1,2}}(?:-?(?:го|е|st|nd|rd|th))?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}}\b)?(?:\s+(?:року|года|р\.|г\.))?"
)
_NO_DATE = rf"(?!{_DAY_OF_MONTH}|{_MONTH}\s+\d|\d{{1,2}}\.\d\d\b)"
"""A day after a name, which is no part of the name: "до Львова 18 червня", "Leeds June 18"."""
_NAME = (
    rf"(?P<target>[«\"“][^»\"”]{{2,40}}[»\"”]"
    rf"|[{UPPER}][\w’'.-]*(?:[ -](?:of |de )?{_NO_DATE}[{UPPER}\d][\w’'.-]*){{0,3}})"
)
_OTHER = rf"[{UPPER}][\w’'.-]*(?:[ -]{_NO_DATE}[{UPPER}][\w’'.-]*)?"
_NOT_THERE = rf"(?:(?:не|not)\s+(?:в|во|на|у|in|at|for)\s+(?:«[^»]+»|{_OTHER})\s*,?\s+(?:а|но|але|but)\s+)?"
"""A negated place before the real one: "не в Одесі, а в Миколаєві"."""
_INTO = r"(?:(?:в|во|на|у|до|in|at|to|for)\s+)"
_FIRM = (
    r"(?:(?:компани[июя]|фирм[ауые]|компані[їяю]|фірм[аиуі]|банк[еу]?|студи[июя]|студі[їяю]|мастерск(?:ой|ую)|майстерн[іюя]"
    r"|агентств[еоіу]|магазин[еіу]?|the company)\s+)?"
)
_AS = r"(?:(?:работать|на работу|на роботу|as an? [a-z ]{2,25}|[^\W\d_]+(?:ом|ем|ером|ой|ею|ою))\s+)?"
_DAY = (
    r"(?P<target>\d{1,2}(?:st|nd|rd|th)?(?:-го|-е)?\s+(?:of\s+)?[^\W\d_]{3,9}(?:,?\s+\d{4})?"
    r"|[A-Z][a-z]{2,8}\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-\d\d-\d\d)"
)
_THING = r"(?P<target>[^,.;:!?()\n]{2,60})"
_BORN = _any("родился родилась народився народилася народилась was_born")
_VERY = r"(?:(?:очень|особо|дуже|надто)\s+)?"
_TO_ME, _PLEASES = rf"(?:мне|мені)\s+(?:(?:тоже|теж)\s+)?{_VERY}", "(?:нрав(?:и|я)тся|подоба(?:є|ю)ться)"

SHAPES: Sequence[VerbPattern] = (
    VerbPattern(
        "LIVES_IN",
        "place",
        _any("живу проживаю мешкаю live living"),
        _any("живёт живет проживает живе мешкає проживає lives is_living"),
        _any("переехал переехала перебрался перебралась переїхав переїхала перебрався перебралася перебралась moved"),
        rf"(?:(?:жить|жити)\s+)?{_NOT_THERE}(?:(?:из|з|із|from)\s+{_OTHER}\s+)?(?:(?:до нас|к нам)\s+)?"
        r"(?:в|во|на|у|до|in|to)\s+"
        rf"(?:(?:городе?|місті|сел[оеі]|the city of)\s+)?{_NAME}",
    ),
    VerbPattern(
        "WORKS_FOR",
        "organization",
        _any("работаю тружусь працюю work working"),
        _any("работает трудится працює works is_working"),
        _any(
            "устроился устроилась влаштувався влаштувалася влаштувалась начал_работать начала_работать",
            "почав_працювати почала_працювати joined started_working",
        ),
        rf"{_AS}{_NOT_THERE}{_INTO}?{_FIRM}{_NAME}",
    ),
    VerbPattern(
        "WORKS_FOR",
        "organization",
        _any("больше_не_работаю більше_не_працюю no_longer_work don't_work do_not_work"),
        _any("больше_не_работает більше_не_працює no_longer_works"),
        _any("уволился уволилась ушёл_из ушел_из ушла_из звільнився звільнилася звільнилась quit resigned"),
        rf"(?:(?:из|с|з|із|в|во|у|at|for|from)\s+)?(?:(?:компании|фирмы|компанії|фірми)\s+)?{_NAME}(?:\s+anymore)?",
        ends=True,
    ),
    VerbPattern(
        "STUDIES_AT",
        "organization",
        _any("учусь обучаюсь навчаюся навчаюсь вчуся вчусь study studying"),
        _any("учится обучается навчається вчиться studies is_studying"),
        _any("поступил поступила вступив вступила enrolled"),
        rf"{_NOT_THERE}(?:[^\W\d_]+\s+)?{_INTO}(?:the\s+)?{_NAME}",
    ),
    VerbPattern(
        "BORN_IN",
        "place",
        NEVER,
        NEVER,
        _BORN,
        rf"(?:(?:и вырос|и выросла|і виріс|і виросла)\s+)?(?:в|во|у|in)\s+{_NAME}",
    ),
    VerbPattern("BORN_ON", "date", NEVER, NEVER, _BORN, rf"(?:on\s+)?{_DAY}"),
    VerbPattern(
        "DISLIKES",
        "thing",
        _any(
            "не_люблю ненавижу терпеть_не_могу терпіти_не_можу ненавиджу не_терплю не_выношу",
            "не_виношу не_зношу can't_stand can’t_stand cannot_stand don't_like don’t_like do_not_like hate dislike",
        )
        + rf"|{_TO_ME}не\s+{_VERY}{_PLEASES}",
        _any("не_любит ненавидит не_любить ненавидить doesn't_like doesn’t_like does_not_like hates dislikes"),
        NEVER,
        _THING,
    ),
    VerbPattern(
        "LIKES",
        "thing",
        _any("люблю обожаю обожнюю like love adore enjoy") + rf"|{_TO_ME}{_PLEASES}",
        _any("любит обожает любить обожнює likes loves adores enjoys"),
        NEVER,
        _THING,
    ),
    VerbPattern("PREFERS", "thing", _any("предпочитаю prefer"), _any("предпочитает prefers"), NEVER, _THING),
)

_YEARS = r"в прошлом году|торік|last year|(?:в|у|з|с|since|in) \d{4}(?: году| року| года)?"
ADVERBS = rf"(?:(?:{_YEARS}|(?:on\s+)?{_DAY_OF_MONTH}|" + _any(_WORDS["adverbs"]) + r")\s+)*"
"""Words allowed between a subject and its verb, or between the verb and its object."""

SINCE = r"(?:(?:с|со|з|із|зі|since|from)\s+)?"
JOINT = r"(?:и|а|но|та|і|й|але|and|but)"

I_BEFORE = re.compile(
    rf"(?:^|[\s,;(—–-])(?:я\s+(?:[^\s,;:.!?]+\s+){{0,3}}|i(?:\s+(?:am|have)|['’](?:m|ve))?\s+{ADVERBS})$", re.IGNORECASE
)
THING_BEFORE = re.compile(
    rf"(?:^|,\s*(?:а|но|але)\s+)(?!{ADVERBS}я\s|больше|більше|совсем|зовсім|вообще|взагалі)"
    r"(?P<target>[^\s,;:.!?]+(?:\s+[^\s,;:.!?]+)?)\s+я\s+$",
    re.IGNORECASE,
)
"""A thing before its verb with the owner between them: "а біг я не люблю"."""
NOUN_BEFORE = re.compile(rf"\w\s+(?P<target>[^\W\d_{UPPER}]{{3,}})\s+$")
"""A word in lower case right before the verb."""
CLAUSE_END = re.compile(r"\s*(?:[.,;!…]|$)")

CLAUSE_BEFORE = re.compile(
    rf"(?:^|[,;(—–]\s*|(?:^|\s)(?:и|а|но|та|і|й|але|and|but|so|потому что|бо|because)\s+){ADVERBS}$", re.IGNORECASE
)
"""The beginning of a clause, where a form of the first person needs no "я"."""

HEDGES = re.compile(
    r"(?<!\w)(?:" + _any(_WORDS["hedges"]) + r"|(?-i:романа?|романі))(?!\w)|['’]d\b",  # with a capital it is a person
    re.IGNORECASE,
)
DENIALS = re.compile(r"(?:^|\s)(?:не|ні|ніколи|никогда|not|never|\S+n['’]t)\s+$", re.IGNORECASE)
ENDINGS = words("до по until till by")
ANOTHER = re.compile(rf"^\s*(?:,|(?:и|або|или|та|і|й|and|or)\s)\s*(?:(?:в|у|во|на|in|at)\s+)?(?=[{UPPER}])")
"""A second place or company after the first, so that it is unknown which one is meant."""

NO_THINGS = words(
    "я ты ти он она оно они він вона воно вони мы ми вы ви его её ее их його її їх меня мене тебя тебе нас вас него ней"
    " ним them him her it you me us this that these those what when how who where why if to the то это этот эта эти так"
    " как что когда где кто если чтобы поэтому це цей ця ці як що коли де хто щоб якщо друг друга each one everything"
    " anything nothing all всё все всі ничего нічого такое таке such"
)
"""First words of phrases that are no liked thing."""

AFTER_THING = re.compile(
    r"\s+(?:" + _any(_WORDS["after_thing"]) + r")\b.*$",
    re.IGNORECASE,
)
LASTING = re.compile(
    r"^(?:(?:уже|вже|for|already)\s+)?(\S+ (?:год|года|лет|рік|роки|років|месяц|месяца|месяцев|місяць|місяці|місяців"
    r"|недели|недель|неделю|тижні|тижнів|тиждень|years?|months?|weeks?))$"
)
"""A duration: "уже три года"."""
