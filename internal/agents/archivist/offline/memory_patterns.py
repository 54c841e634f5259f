"""Patterns of goals, decisions, questions and events in three languages."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from internal.language.text.spelling import words
from internal.language.text.tables import table

# --- Words before a verb whose subject is the owner

_WORDS: Final = table(__package__, "memory_words")
OPENING: Final = frozenset(_WORDS["opening"].split())
"""Words with which a sentence about the owner himself begins; any other may name somebody else."""

SUBJECT: Final = re.compile(
    r"(?:^|(?<!\w))(?:я|мы|ми|i|we|у меня|у нас|у мене|моя|наша|my|our)(?:\s+(?:с|со|з|із|and)\s+(?:\w+\s+)?\w+)?"
    r"(?P<behind>(?:\s+[^\s,;:—–]+){0,3})\s*$",
    re.IGNORECASE,
)
"""The owner right before a verb, alone or with somebody else."""

UNSURE: Final = re.compile(
    r"(?<!\w)(?:если|якщо|якби|бы|б|if|would|unless|как будто|будто|наче|ніби|шучу|жартую|kidding|imagine|представь"
    r"|уяви|сказал[аи]?|говорит|говорят|сказав|сказала|каже|кажуть|said|says|told|приснилось|снилось|наснилося|dreamt"
    r"|dreamed that|герой|героиня|персонаж|в фильме|у фільмі|in the movie|in the novel)(?!\w)|['’]d\b",
    re.IGNORECASE,
)
"""Words with which a sentence does not report a fact."""

ASKING: Final = re.compile(
    r"^\W*(?:(?:а|и|і|о|об|про|с|со|з|із|из|от|від|до|на|в|во|у|за|к|from|about|with|to)\s+)?"
    r"(?:чём|чем|чего|чого|кого|ком|кем|ким|кому|чому|котор\w+|как(?:ой|ая|ое|ие|ом|ую)|як(?:ий|а|і|ому|у)|когда|коли|when"
    r"|what|which|who|whose|where|how)\b",
    re.IGNORECASE,
)
"""A question without its mark: "о чём мы договорились"."""

PERHAPS: Final = re.compile(
    r"(?<!\w)(?:наверно|наверное|возможно|может быть|кажется|вроде|мабуть|напевно|можливо|здається|начебто|probably"
    r"|perhaps|maybe|i think|i guess|seems)(?!\w)",
    re.IGNORECASE,
)

# --- Goals

_SOME: Final = r"(?:\S+\s+){0,2}"
_BIG: Final = (
    rf"{_SOME}(?:квартир|дом|дач|машин|авто|участок|землю|жиль|будин|хат|ділянк|житло|house|flat|apartment|home|car"
    r"|land)"
)
_WORKS: Final = rf"{_SOME}(?:книг|роман|диссерт|дисерт|диплом|курсов|thesis|book|novel|dissertation|paper)"
_PAPERS: Final = (
    rf"{_SOME}(?:диплом|прав|повыш|граждан|виз|степен|образован|підвищ|громадян|освіт|ступін|сертифик|сертифік|degree"
    r"|promotion|citizenship|visa|licen|certif|promoted|fit|in shape)"
)
_HABITS: Final = (
    r"(?:курить|пить|палити|пити|сладкое|солодке|спорт|работу|роботу|smoking|drinking|sugar|my job|vaping|eating"
    r"|procrast)"
)
_FIRMS: Final = (
    rf"{_SOME}(?:бизнес|бізнес|кафе|магазин|студи|студі|школ|компани|компані|стартап|мастерск|майстерн|ателье|ательє"
    r"|галере|пекарн|кав['’]ярн|кофейн|ресторан|клиник|клінік|салон|business|cafe|shop|studio|company|startup|workshop"
    r"|gallery|bakery|restaurant|clinic|salon)"
)
_CLOTHES: Final = (
    rf"{_SOME}(?:сукн|плать|костюм|пальт|спідниц|юбк|штор|ковдр|лоскутн|вишиванк|сорочк|рубашк|dress|suit|coat|skirt"
    r"|quilt|curtains)"
)
_STRUCTURES: Final = (
    rf"{_SOME}(?:панел|батаре|паркан|забор|теплиц|альтанк|беседк|баню|лазню|сауну|веранд|терас|террас|котел|котёл|ворота"
    r"|генератор|тепловий|тепловой|solar|panels|fence|greenhouse|sauna|shed|heat pump|boiler)"
)
_EXAMS: Final = rf"{_SOME}(?:экзамен|іспит|прав|ielts|toefl|зно|нмт|егэ|exam|test)"
_MUCH: Final = rf"{_SOME}(?:\d|марафон|(?:half )?marathon|всего|всю|all)"
_POSTS: Final = rf"{_SOME}(?:работу|роботу|job|career)"
GOAL_VERBS: Final[Mapping[str, str]] = _WORDS["goal_verbs"]
"""Verbs of long undertakings, each with the words that must follow if it may be an errand ("buy milk")."""

WISHES: Final = re.compile(
    r"(?<![\w-])(?:хочу|планирую|собираюсь|намерен|намерена|планую|збираюся|збираюсь|маю намір|хотим|хочемо|want to"
    r"|wanna|plan to|planning to|aim to|aiming to|intend to|hope to|going to|determined to|(?P<dream>мечтаю|мрію|мріємо"
    r"|мечтаем|dream of|dreaming of))\s+(?P<rest>[^.!?;]*)",
    re.IGNORECASE,
)
BETWEEN: Final = 3
"""Most words between a wish and its verb: "хочу всё-таки до лета выучить"."""
AIMS: Final = re.compile(
    r"(?<![\w-])(?:моя|наша|мо[йе]|my|our|маю за|себе|собі)?\s*(?:(?P<first>главная|основная|важнейшая|головна|основна"
    r"|найважливіша|main|biggest|top|number one)\s+)?(?:цель|мета|мечта|мрія|goal|dream|aim)(?:\s+(?:на|for"
    r"|у)\s+[^—–:-]{2,25}?)?\s*(?:—|–|-|:|\bis\b)\s*(?:это\s+|це\s+|to\s+)?(?P<rest>[^.!?;]{4,160})",
    re.IGNORECASE,
)
ACHIEVED: Final = re.compile(
    r"(?<!\w)(?:наконец|наконец-то|ура|нарешті|finally|at last|i did it|получилось|вдалося|удалось)(?!\w)",
    re.IGNORECASE,
)
IRREGULAR: Final = dict(
    pair.split("/")
    for pair in words(
        "ran/run bought/buy built/build wrote/write written/write got/get found/find made/make learnt/learn left/leave"
        " sold/sell won/win gave/give took/take taken/take began/begin became/become drove/drive flew/fly went/go"
        " spoke/speak swam/swim met/meet lost/lose paid/pay saw/see taught/teach rode/ride sang/sing"
    )
)
"""Pasts of English verbs that have goals, with their bases."""
NEGATED: Final = re.compile(r"(?<!\w)(?:не|ні|нет|not|never)(?!\w)|n['’]t(?!\w)", re.IGNORECASE)
GIVEN_UP: Final = re.compile(
    r"(?<!\w)(?:бросаю|забросил[а]?|передумал[а]?|больше не хочу|отказал(?:ся|ась) от|сдаюсь|кидаю|закинув|закинула"
    r"|передумав|більше не хочу|відмовив(?:ся)? від|відмовилас[яь] від|здаюся|gave up|given up|giving up|no longer want"
    r"|changed my mind about|don['’]t want to [^.]{2,30} (?:any ?more|any longer))(?!\w)",
    re.IGNORECASE,
)
CLAUSE: Final = re.compile(
    r"\s*(?:,\s*(?:чтобы|щоб|но|але|but|so that|потому что|так как|бо|тому що)|\s(?:because|so that|but)\s).*$",
    re.IGNORECASE,
)

# --- Decisions

DECIDED: Final = re.compile(
    r"(?<![\w-])(?:решил[аи]?|вирішив|вирішил[аи]|(?:принял[аи]?|прийняв|прийнял[аи]) (?:решение|рішення)"
    r"|decided|made up (?:my|our) minds?)[,:]?\s+(?:(?:to|that)\s+|(?:что|що)\s+)?(?P<rest>[^.!?;]{3,220})",
    re.IGNORECASE,
)
WHY: Final = re.compile(
    r"[,\s—–-]+(?:потому что|так как|поскольку|ведь|бо|тому що|оскільки|адже|because|since)\s+(?P<why>.+)$",
    re.IGNORECASE,
)
FOR_NOW: Final = re.compile(
    r"(?<!\w)(?:пока(?: что)?|временно|на пробу|поки(?: що)?|тимчасово|for now|for the time being|temporarily)(?!\w)",
    re.IGNORECASE,
)
FOR_GOOD: Final = re.compile(
    r"(?<!\w)(?:окончательно|бесповоротно|раз и навсегда|назад дороги нет|остаточно|безповоротно|назавжди|for good"
    r"|once and for all|no way back|irreversibl\w+)(?!\w)",
    re.IGNORECASE,
)
THEREFORE: Final = re.compile(
    r"^\W*(?:и\s+|а\s+|та\s+|and\s+)?(?:поэтому|тому|отже|therefore|so|as a result)\b", re.IGNORECASE
)
OUTCOME: Final = re.compile(
    r"(?<!\w)(?:в итоге|в результате|оказалось|зрештою|у підсумку|в результаті|виявилося|as a result|in the end"
    r"|it turned out|turned out)(?!\w)",
    re.IGNORECASE,
)

# --- Questions

_UNDECIDED: Final = (
    r"(?:не знаю|не знаем|не знаємо|не (?:могу|можем|можу|можемо) (?:решить|понять|определиться|вирішити|зрозуміти"
    r"|визначитися)|не решил[аи]?|не вирішив|не вирішил[аи]|не уверен[аы]?|не впевнен(?:ий|а|і)|сомневаюсь|сомневаемся"
    r"|сумніваюся|сумніваємося|раздумываю|роздумую|думаю|думаем|думаємо|ломаю голову|вагаюся|вагаюсь|вагаємося)"
)
_ASKED: Final = (
    r"(?:(?:и|і)\s+)?(?:(?:до|в|у|на|с|з|к|о|об|про|из|із|от|від|за)\s+)?(?:чи|как(?:ой|ая|ое|ие|ую|ого|ому|им|ом)?"
    r"|як(?:ий|а|е|і|у|ого|ої|ій|им)?|куда|где|когда|кого|кому|кем|кто|сколько|зачем|почему|куди|де|коли|хто|ким"
    r"|скільки|навіщо|чому|что (?:делать|выбрать|купить|подарить)|що (?:робити|обрати|вибрати|купити|подарувати)"
    r"|[^\W\d_]+ ли)\b[^.!;]*"
)
_UNSURE_OF: Final = (
    r"(?:(?:still\s+)?(?:don['’]t know|do not know|can['’]t decide|cannot decide|wonder|haven['’]t decided|have not"
    r" decided)|(?:['’](?:m|re)|\s*am|\s*are)\s+(?:still\s+)?(?:not sure|wondering|torn on|torn about|undecided))"
)
OPEN: Final = re.compile(
    rf"(?<![\w-]){_UNDECIDED}\s*[,:—–]\s*(?:над тем,\s*)?(?P<slavic>{_ASKED})"
    rf"|(?<![\w-])(?:i|we)\s*{_UNSURE_OF}\s+(?:yet\s+)?"
    r"(?P<english>(?:whether|if|how|where|which|what|when|who|why)\b[^.!;]*)",
    re.IGNORECASE,
)
IDLE: Final = re.compile(
    r"(?<!\w)(?:сказать|ответить|ответила|и думать|объяснить|тебе|вам|ты|вы|так|сказати|відповісти|пояснити|тобі|ти|ви"
    r"|to say|to tell|to think|you|it works|this means|happened)(?!\w)",
    re.IGNORECASE,
)
"""Questions to the bot and figures of speech, which leave nothing open."""
WHEN: Final = re.compile(r"^\W*(?:когда|коли|when)\b", re.IGNORECASE)
WHERE: Final = re.compile(r"^\W*(?:где|куда|де|куди|where)\b", re.IGNORECASE)
HOW_MANY: Final = re.compile(r"^\W*(?:сколько|скільки|how (?:much|many|old|long))\b", re.IGNORECASE)
WHETHER: Final = re.compile(r"(?<!\w)(?:ли|чи|whether|should|if)(?!\w)", re.IGNORECASE)
WHO: Final = re.compile(r"^\W*(?:кто|хто|who)\b", re.IGNORECASE)

# --- Preferences

LIKINGS: Final[Sequence[tuple[re.Pattern[str], float]]] = [
    (re.compile(shape, re.IGNORECASE), strength)
    for shape, strength in (
        (r"ненави|терпеть не|терпіти не|не терплю|не выношу|не виношу|не зношу|stand|hate", -0.9),
        (r"не люблю|don|do not|dislike", -0.6),
        (r"обожа|обожн|adore", 0.9),
        (r"люблю|love", 0.7),
        (r"предпоч|prefer", 0.6),
        (r"like|enjoy", 0.5),
    )
]
RATHER_THAN: Final = re.compile(
    r"\bprefer\w*\s+[^,.;!?]{2,40}?\s+(?:to|over|rather than)\s+(?P<less>[^,.;!?]{2,40})", re.IGNORECASE
)

# --- Events

_PAST: Final = "|".join(table(__package__, "past_events"))
EVENT: Final = re.compile(rf"(?<![\w-])(?P<verb>{_PAST})(?!\w)", re.IGNORECASE)
OURS: Final = re.compile(
    r"(?<![\w-])(?:я|мы|у меня|у нас|мой|моя|моё|мое|мои|моего|моей|наш|наша|наше|наши|ми|у мене|мій|моє|мої|моєї|наша"
    r"|наші|i|we|my|our)(?!\w)",
    re.IGNORECASE,
)
"""Words that show whose event it is, required unless the sentence begins with a form of the first person."""
DENIED: Final = re.compile(r"(?:^|\s)(?:не|ні|так и не|так і не|not|never|\S+n['’]t)\s+$", re.IGNORECASE)
TRIFLES: Final = re.compile(
    r"(?<!\w)(?:хлеб|молок\w+|продукт\w+|кофе|билет\w*|хліб|молоко|продукти|квитк\w+|каву|bread|milk|groceries|coffee"
    r"|lunch|snack\w*|ключ\w*|телефон|keys?|пропуск)(?!\w)",
    re.IGNORECASE,
)
"""Things that are bought, lost and found every day."""

PROJECT: Final = re.compile(
    r"(?<![\w-])(?:[Пп]ро[еє]кт\w*|[Pp]roject)\s+(?:[«\"“](?P<quoted>[^»\"”]{2,40})[»\"”]"
    r"|(?P<named>[A-ZА-ЯЁІЇЄҐ][\w-]{1,30}))|\bthe\s+(?P<before>[A-Z][\w-]{1,30})\s+project\b"
)
TASK: Final = re.compile(r"(?<![\w-])(?:[Зз]адач\w*|[Зз]авдан\w+|[Tt]ask)\s+[«\"“](?P<task>[^»\"”]{2,40})[»\"”]")
PROJECT_DONE: Final = re.compile(
    r"(?<![\w-])(?:завершил[аи]?|закрыл[аи]?|закончил[аи]?|завершив|завершил[аи]|закрив|закрил[аи]|закінчив"
    r"|закінчил[аи]|finished"
    r"|completed|closed)\s+(?:работу над\s+|роботу над\s+|наш\s+|our\s+|the\s+)?(?:про[еє]кт|project)",
    re.IGNORECASE,
)
KEYWORD: Final = re.compile(
    r"(?<![\w-])(?:(?=[A-Za-z]*\d)[A-Za-z][A-Za-z]+\d+[A-Za-z\d]*|[A-Z][a-z]+[A-Z][A-Za-z]*"
    r"|[a-z]+[A-Z][A-Za-z]*\d*)(?![\w-])"
)
"""Words with the spelling of a term: OAuth2, PostgreSQL, iPhone."""
