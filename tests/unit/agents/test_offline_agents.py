"""The offline responder, enricher and reranker: rules, in three languages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fluent.runtime import FluentBundle, FluentResource
from fluent.syntax import parse as parse_fluent
from fluent.syntax.ast import Message
from hypothesis import given, settings, strategies as st
from support.paths import ROOT

from internal.agents.enricher.offline import OfflineEnricher, enrich
from internal.agents.model import (
    DialogueLine,
    EnricherRequest,
    Language,
    OwnerProfile,
    RerankerRequest,
    ResponderRequest,
    StandingInstruction,
    TranscriptLine,
)
from internal.agents.offline_phrases import phrase_source
from internal.agents.reranker.offline import OfflineReranker, pick
from internal.agents.responder.offline import agent as responder
from internal.agents.responder.offline.agent import OfflineResponder, compose
from internal.language.text.spelling import text_language
from internal.language.worker.process_pool import LanguageWorker
from internal.people.model import Circle, Person

LOCALES = ROOT / "bot" / "telegram" / "locales"
NOW = datetime(2026, 2, 7, 14, 30, tzinfo=UTC)
OWNER = OwnerProfile(user_id=1, name="Owner", username=None, language="ru", timezone="UTC")


def person(number: int, name: str, circle: Circle, bio: str = "", *aliases: str, username: str | None = None) -> Person:
    return Person(
        id=number,
        user_id=1,
        entity_id=str(number),
        display_name=name,
        circle=circle,
        bio=bio,
        first_seen=NOW,
        last_seen=NOW,
        aliases=aliases,
        username=username,
    )


PETROV = person(1, "Петров", Circle.WORK_INNER, "Мой начальник Петров опоздал.")
MARIA = person(2, "Мария", Circle.FAMILY, "Моя сестра Мария живёт в Туле.", "Маша")
TOM = person(3, "Tom Baker", Circle.WORK_INNER, "My colleague Tom Baker plays chess.")
OLENA = person(4, "Олена Коваль", Circle.FRIENDS, "Подруга Олена працює журналісткою.", username="olena_k")
NOBODY_KNOWS = person(5, "Артур", Circle.OTHER)


def asked(
    *said: str, inner: Sequence[Person] = (PETROV, MARIA, TOM), relevant: Sequence[Person] = (OLENA,), query: str = ""
) -> ResponderRequest:
    before = [DialogueLine("user", "…"), DialogueLine("assistant", "…")]
    return ResponderRequest(
        owner=OWNER,
        persona_name="Laplaced",
        persona_tone="warm",
        inner_circle=inner,
        relevant_people=relevant,
        dialogue=[*before, *(DialogueLine("user", text) for text in said)],
        now=NOW,
        query=query,
    )


def conversation(*lines: str, inner: Sequence[Person] = ()) -> ResponderRequest:
    """A dialogue of the owner and the bot in turn, after the bot's first words; nobody else is remembered."""
    turns = [DialogueLine("assistant" if number % 2 else "user", line) for number, line in enumerate(lines)]
    return replace(asked(inner=inner, relevant=()), dialogue=[DialogueLine("assistant", "…"), *turns])


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("кто такой Петров?", "Петров (близкие коллеги). Из твоих рассказов: «Мой начальник Петров опоздал.»"),
        ("что ты знаешь о Маше?", "Мария (семья). Из твоих рассказов: «Моя сестра Мария живёт в Туле.»"),
        ("хто така Олена?", "Олена Коваль (друзі). З твоїх розповідей: «Подруга Олена працює журналісткою.»"),
        ("розкажи про Коваль", "Олена Коваль (друзі). З твоїх розповідей: «Подруга Олена працює журналісткою.»"),
        ("Who is Tom?", "Tom Baker (close colleagues). From what you told me: “My colleague Tom Baker plays chess.”"),
        ("who is @olena_k", "Олена Коваль (friends). From what you told me: “Подруга Олена працює журналісткою.”"),
        ("знаешь Илью?", "Пока ничего не знаю о человеке по имени Илья."),
        ("знаешь Илью и Глеба?", "Пока ничего не знаю об этих людях: Илья и Глеб."),
        ("кто такой Задорожный?", "Пока ничего не знаю о человеке по имени Задорожный."),
        ("хто такий Кличко?", "Поки нічого не знаю про людину на ім’я Кличко."),
        ("Who is Fitzgerald?", "I don't know anything yet about a person called Fitzgerald."),
        ("Мой брат Саша приехал", "Запомню: Саша."),
        ("Мій колега Тарас і сестра Софія тут", "Запам’ятаю: Тарас і Софія."),
        ("My friend Bob and Alice came", "Noted: Bob and Alice."),
        ("Петров заболел", "Добавлю к тому, что знаю: Петров."),
        ("Petrov заболел, а Глеб приехал", "Запомню: Глеб. Добавлю к тому, что знаю: Петров."),
        ("Petrov", "Добавлю к тому, что знаю: Петров."),
        ("спасибо большое", "Пожалуйста!"),
        ("дякую", "Будь ласка!"),
        ("thanks", "You're welcome!"),
        ("сегодня дождь", "Понятно."),
        (
            "Всегда отвечай коротко. Кто такой Петров?",
            "Хорошо, буду так делать. Всё, чего я держусь, — в /instructions."
            " Петров (близкие коллеги). Из твоих рассказов: «Мой начальник Петров опоздал.»",
        ),
        ("from now on no emojis", "All right, I'll keep to that from now on. The list is in /instructions."),
        ("you can use emojis again", "All right."),
    ],
)
def test_replies(said: str, reply: str) -> None:
    """People asked about are quoted, unknown ones admitted, news noted by name, in the language of the message."""
    assert compose(asked(said)) == reply


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        (["Always answer in English"], "Noted: Саша."),
        (["Always answer in English", "пиши мне по-украински"], "Запам’ятаю: Саша."),
        (["пиши мне по-украински в будни"], "Запомню: Саша."),
        (["пиши мне по-украински по выходным"], "Запам’ятаю: Саша."),
        (["Never answer in English"], "Запомню: Саша."),
        (["If I write in English, answer in English"], "Запомню: Саша."),
    ],
)
def test_the_language_that_was_asked_for_is_spoken(told: Sequence[str], reply: str) -> None:
    """By the latest instruction that holds on this day, a Saturday; one with another condition is left to a model."""
    instructions = [StandingInstruction(n, "x", text, NOW) for n, text in enumerate(told, start=1)]
    assert compose(replace(asked("Мой брат Саша приехал"), instructions=instructions)) == reply


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        ([], "Tom Baker (close colleagues). From what you told me: “My colleague 🎲 Tom plays chess.”"),
        (
            ["відповідай завжди пунктами"],
            "- Tom Baker (close colleagues). From what you told me: “My colleague 🎲 Tom plays chess.”",
        ),
        (["отвечай списком", "no bullet points, please"], "Tom Baker"),
        (["отвечай списком", "lose the bullet points"], "Tom Baker"),
        (["from now on no emojis"], "My colleague Tom"),
        (["answer in bullet points on weekdays"], "Tom Baker"),
    ],
)
def test_the_form_that_was_asked_for_is_kept(told: Sequence[str], reply: str) -> None:
    """By the latest instruction about lists or emoji that holds on this day, a Saturday."""
    instructions = [StandingInstruction(n, "x", text, NOW) for n, text in enumerate(told, start=1)]
    tom = replace(TOM, bio="My colleague 🎲 Tom plays chess.")
    request = replace(asked("Who is Tom Baker?"), inner_circle=[tom], instructions=instructions)
    answer = compose(request)
    assert reply in answer
    assert answer.startswith("- ") == reply.startswith("- ")


@pytest.mark.parametrize(
    ("phrase", "language", "said"),
    [
        ("greeting", "ru", ["Привет!", "Добрый день, Лапласед"]),
        ("greeting", "uk", ["Вітаю", "доброго ранку"]),
        ("greeting", "en", ["Hi there", "good morning, Laplaced!"]),
        ("how-are-you", "ru", ["Как дела?", "Привет, как ты?", "что нового?"]),
        ("how-are-you", "uk", ["Як справи?", "Привіт! Як ти?"]),
        ("how-are-you", "en", ["How are you?", "hey, how's it going", "What's up?"]),
        ("farewell", "ru", ["Пока!", "до завтра", "Спокойной ночи"]),
        ("farewell", "uk", ["До побачення", "на добраніч!", "бувай"]),
        ("farewell", "en", ["bye", "See you later!", "Good night"]),
        (
            "abilities",
            "ru",
            ["Что ты умеешь?", "кто ты?", "Ну и кто же ты вообще?", "Расскажи о себе"],
        ),
        ("abilities", "uk", ["Що ти вмієш?", "хто ти такий?", "а ти хто", "Як тебе звати?"]),
        (
            "abilities",
            "en",
            ["What can you do?", "Who are you?", "so who are you anyway", "Who am I talking to?"],
        ),
    ],
)
def test_small_talk_is_answered_politely(phrase: str, language: Language, said: Sequence[str]) -> None:
    """A greeting, a farewell and the usual questions get what people say, in their language and about nobody."""
    expected = responder._Speech(language)(phrase, persona="Laplaced")
    assert {text: compose(asked(text)) for text in said} == dict.fromkeys(said, expected)


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_it_speaks_to_a_friend(language: Language) -> None:
    """No phrase says вы, as nothing else of the bot does."""
    formal = re.compile(r"\b(?:вы|вас|вам|ваш\w*|ви|вами|расскажите|здравствуйте|розкажіть)\b", re.IGNORECASE)
    assert not formal.search(phrase_source("internal.agents.responder.offline", language))


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_circles_are_called_as_the_bot_calls_them(language: Language) -> None:
    """The names of circles are those of the menus."""
    source = (LOCALES / language / "people.ftl").read_text(encoding="utf-8")
    menus = FluentBundle([language], use_isolating=False)
    menus.add_resource(FluentResource(source))
    pattern = menus.get_message("circle").value
    assert pattern is not None
    speech = responder._Speech(language)
    for circle in Circle:
        assert speech(circle.value) == menus.format_pattern(pattern, {"circle": circle.value})[0]


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("Моя сестра Маша переехала в Тверь.", "Что ты знаешь о Маше?", "Маша. Из нашего разговора: «{}»"),
        ("Мій друг Тарас купив човен.", "Хто такий Тарас?", "Тарас. З нашої розмови: «{}»"),
        ("My wife Alice paints.", "Who is Alice?", "Alice. From our conversation: “{}”"),
        ("My wife Alice paints.", "Who is my wife?", "Alice. From our conversation: “{}”"),
        ("Masha сломала ногу.", "Что с Машей?", "Masha. Из нашего разговора: «{}»"),
        ("Моя сестра переехала в Тверь.", "Где живёт моя сестра?", "Из нашего разговора: «{}»"),
    ],
)
def test_what_was_just_told_is_not_denied(told: str, question: str, answer: str) -> None:
    """Before it is archived, what the owner said in this dialogue is quoted to whoever asks."""
    assert compose(conversation(told, "…", question)) == answer.format(told)
    assert compose(conversation(told + " " + question)).startswith(answer.format(told))


def test_news_of_somebody_known_stands_beside_what_was_known() -> None:
    """The profile first, then what this dialogue adds; what the profile holds already is not said twice."""
    said = compose(conversation("Петров купил лодку.", "…", "кто такой Петров?", inner=[PETROV]))
    assert said.endswith("«Мой начальник Петров опоздал.» Из нашего разговора: «Петров купил лодку.»")
    assert compose(conversation(PETROV.bio, "…", "кто такой Петров?", inner=[PETROV])).count(PETROV.bio) == 1


def test_who_somebody_is_stands_behind_news_that_overtake_the_profile() -> None:
    """The newer line first, but the question is who it is: the profile is not left out."""
    said = compose(conversation("Сестра переехала в Тверь.", "…", "кто такая Мария?", inner=[MARIA])).splitlines()
    assert said[0].endswith("«Сестра переехала в Тверь.»")
    assert said[1] == "Мария (семья). Из твоих рассказов: «Моя сестра Мария живёт в Туле.»"


def test_questions_and_the_bots_own_words_are_no_telling() -> None:
    """Neither was told by the owner."""
    said = compose(conversation("Кто такой Глеб?", "Глеб — сосед.", "Расскажи про Глеба"))
    assert said == "Пока ничего не знаю о человеке по имени Глеб."


def test_nobody_out_of_a_forward_is_noted() -> None:
    """The author is named, and nothing is promised of those whom he names; nor is his the owner's word later."""
    forward = DialogueLine("user", "See you at the gallery on Monday, bring Sophie!", {"forwarded_from": "Victor Hugo"})
    reply = compose(replace(asked(), dialogue=[DialogueLine("assistant", "…"), forward]))
    assert "I remember an author whose account Telegram shows me" in reply
    assert "Victor Hugo" in reply
    assert "Sophie" not in reply
    both = [DialogueLine("assistant", "…"), forward, DialogueLine("user", "My friend Bob sent this")]
    assert compose(replace(asked(), dialogue=both)).startswith("Noted: Bob. Forwarded from Victor Hugo")
    later = [forward, DialogueLine("assistant", "…"), DialogueLine("user", "Who is Sophie?")]
    assert compose(replace(asked(), dialogue=later)) == "I don't know anything yet about a person called Sophie."


@pytest.mark.parametrize("said", ["What's the weather like?", "Какая сегодня погода?", "Яка сьогодні погода?", "2+2?"])
def test_what_is_about_nobody_gets_nobody(said: str) -> None:
    """Closeness in meaning alone does not make a person an answer, above all one of whom only the name is known."""
    rachel = person(8, "Rachel Green", Circle.OTHER, "Rachel Green")
    reply = compose(asked(said, relevant=[rachel, OLENA], query=enrich(follow_up(said, "I met Rachel Green"))))
    assert reply == responder._Speech(text_language(said, "ru"))("nothing")


@pytest.mark.parametrize("bio", ["Rachel Green", "Rachel Green.", "Rachel", ""])
def test_a_name_is_not_quoted_as_a_saying(bio: str) -> None:
    """A contact card's bio is the name: the owner said nothing."""
    rachel = person(8, "Rachel Green", Circle.OTHER, bio)
    reply = compose(asked("Who is Rachel Green?", relevant=[rachel]))
    assert reply == "Rachel Green (others). I know the name and nothing more yet."
    assert compose(asked("кто пишет для газеты?", relevant=[rachel])).startswith("Об этом у меня ничего нет")


def test_a_role_is_bound_to_the_one_it_stands_with() -> None:
    """One sentence names three people; the wife among them is one."""
    bio = "My wife Alice, our son Ben and grandma Rose live in Leeds."
    family = [person(n, name, Circle.FAMILY, bio) for n, name in enumerate(("Ben", "Rose", "Alice"), start=20)]
    reply = compose(asked("Who is my wife?", inner=family))
    assert reply.startswith("Alice (family)")
    assert len(reply.splitlines()) == 1


def test_a_name_is_found_in_the_other_alphabet() -> None:
    """Джейми is Jamie."""
    jamie = person(21, "Jamie", Circle.FRIENDS, "My friend Jamie sings.")
    assert compose(asked("Кто такой Джейми?", relevant=[jamie])).startswith("Jamie (друзья)")


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        ("с кем я работаю?", {"Петров", "Tom Baker"}),
        ("З ким я працюю?", {"Петров", "Tom Baker"}),
        ("who is in my family?", {"Мария"}),
        ("кто мои друзья?", {"Олена Коваль"}),
    ],
)
def test_a_circle_is_listed(said: str, listed: set[str]) -> None:
    """A question about a circle names everybody in it and nobody else."""
    lines = [line for line in compose(asked(said)).splitlines() if line.startswith("- ")]
    assert {line.removeprefix("- ").split(":")[0] for line in lines} == listed


def test_an_empty_circle_is_admitted() -> None:
    """Nobody is made up to fill a circle."""
    assert compose(asked("кто в моей семье?", inner=[])) == "Семья: пока никого не знаю."


def test_what_it_cannot_answer_it_says() -> None:
    """Without anybody remembered there is nothing to say; with somebody only near in meaning it says it is unsure."""
    assert compose(asked("what is the weather?", relevant=[])).startswith("I have nothing on that")
    assert compose(asked("кто пишет для газеты?")).startswith("Точно не знаю. Может быть, речь об этом:\n- Олена")


def test_an_empty_profile_is_admitted() -> None:
    """A person of whom only the name is known is not embroidered."""
    assert compose(asked("кто такой Артур?", relevant=[NOBODY_KNOWS])) == "Артур (остальные). Пока знаю только имя."


def test_a_pronoun_is_answered_through_the_standalone_question() -> None:
    """Who is meant by "он" stands in the enriched query."""
    assert compose(asked("а он что сказал?", query="Петров: а он что сказал?")).startswith("Петров (")


def test_the_first_reply_says_that_no_model_answers() -> None:
    """Once, at the beginning of a dialogue."""
    first = ResponderRequest(OWNER, "Laplaced", "", [], [], [DialogueLine("user", "Мой начальник Петров")], NOW)
    assert "без языковой модели" in compose(first)
    assert "без языковой модели" not in compose(asked("Мой начальник Петров"))


def test_stored_words_cannot_format_the_reply() -> None:
    """Replies are Markdown; a bio is text."""
    crooked = person(9, "Артур", Circle.OTHER, "пишет **жирно** [сюда](http://x)")
    assert r"\*\*жирно\*\* \[сюда\]" in compose(asked("кто такой Артур?", relevant=[crooked]))


@settings(deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=3))
def test_any_message_gets_some_reply(said: list[str]) -> None:
    """Messages are whatever people type."""
    assert compose(asked(*said)).strip()


def test_every_language_has_every_phrase() -> None:
    """The three phrase files hold the same phrases."""
    phrases = [
        {
            entry.id.name
            for entry in parse_fluent(phrase_source("internal.agents.responder.offline", language)).body
            if isinstance(entry, Message)
        }
        for language in ("ru", "uk", "en")
    ]
    assert phrases[0] == phrases[1] == phrases[2]
    assert {circle.value for circle in Circle} < phrases[0]


@pytest.fixture
async def worker() -> AsyncIterator[LanguageWorker]:
    language = LanguageWorker()
    yield language
    await language.close()


async def test_the_reply_is_streamed(worker: LanguageWorker) -> None:
    """The pieces make up the whole, which comes last; the prompt for receipts holds the people and the dialogue."""
    offline = OfflineResponder(worker)
    request = asked("кто такой Петров?")
    deltas = [delta async for delta in offline.reply(request)]
    assert len(deltas) > 2
    final = deltas[-1].final
    assert final is not None
    assert deltas[-1].text == ""
    assert "".join(delta.text for delta in deltas) == final.text == compose(request)
    assert [message.role for message in offline.messages(request)] == ["system", "system", "user", "assistant", "user"]
    assert "[Person:1] Петров" in offline.messages(request)[0].content


# --- Enricher


def follow_up(question: str, *recent: str) -> EnricherRequest:
    lines = [TranscriptLine(number, "user", "Owner", NOW, text) for number, text in enumerate(recent, start=1)]
    return EnricherRequest(OWNER, question, lines)


@pytest.mark.parametrize(
    ("recent", "question", "standalone"),
    [
        (["Вчера видел Петрова"], "а он что сказал?", "Петров: а он что сказал?"),
        (["Бачив Олену"], "а вона?", "Олена: а вона?"),
        (["I met Tom Baker", "Nice day"], "what about him?", "Tom Baker: what about him?"),
        (["Петров и Маша приехали"], "а она где?", "Маша: а она где?"),
        (["Маша приехала", "Петров уехал"], "а она где?", "Маша: а она где?"),
        (["Петров и Маша приехали"], "где они?", "Петров, Маша: где они?"),
        (
            ["Саша переехал", "Какой велосипед я купил?"],
            "а сколько он стоил?",
            "Какой велосипед я купил: а сколько он стоил?",
        ),
        (["Олена тут", "Яку книгу я купив?"], "а скільки вона коштує?", "Яку книгу я купив: а скільки вона коштує?"),
        (["Олена приїхала", "Яка погода?"], "а що вона сказала?", "Олена: а що вона сказала?"),
        (["Саша приехал", "Какая погода?"], "а он где?", "Саша: а он где?"),
        (["Сколько стоит билет?"], "а завтра?", "Сколько стоит билет: а завтра?"),
        (["Вчера видел Петрова"], "что сказала Оля?", "что сказала Оля?"),
        (["Вчера видел Петрова"], "какая сегодня погода на улице?", "какая сегодня погода на улице?"),
        ([], "а он?", "а он?"),
        (["I met Rachel Green"], "What's the weather like?", "What's the weather like?"),
        (["I met Rachel Green"], "When?", "Rachel Green: When?"),
        (["I met Rachel Green"], "how about tomorrow?", "Rachel Green: how about tomorrow?"),
    ],
)
def test_follow_ups(recent: list[str], question: str, standalone: str) -> None:
    """A pronoun gets the latest name of its gender, or the thing just asked about; what stands alone stays."""
    assert enrich(follow_up(question, *recent)) == standalone


async def test_the_enricher_runs_in_the_process(worker: LanguageWorker) -> None:
    """The port gives what the rule gives."""
    request = follow_up("а он что сказал?", "Вчера видел Петрова")
    assert await OfflineEnricher(worker).standalone(request) == enrich(request)


# --- Reranker

CANDIDATES = [OLENA, NOBODY_KNOWS, PETROV, MARIA, TOM]


@pytest.mark.parametrize(
    ("query", "most", "picked"),
    [
        ("что там у Петрова?", 10, [1]),
        ("Маша и Tom Baker", 10, [2, 3]),
        ("Маша и Tom Baker", 1, [2]),
        ("кто пишет для газеты", 10, [4, 5, 1]),
        ("кто мои друзья?", 10, [4]),
        ("С кем я работаю?", 10, [1, 3]),
        ("кто пишет для газеты", 2, [4, 5]),
        ("кто пишет для газеты", 0, []),
    ],
)
def test_picks(query: str, most: int, picked: list[int]) -> None:
    """Those named and nobody else; without a name a circle asked for, else the first three; never more than asked."""
    request = RerankerRequest(OWNER, query, CANDIDATES, most)
    assert [one.person_id for one in pick(request)][:most] == picked


async def test_the_reranker_runs_in_the_process(worker: LanguageWorker) -> None:
    """The port gives what the rule gives, and nobody when there is nobody to pick."""
    offline = OfflineReranker(worker)
    request = RerankerRequest(OWNER, "что там у Петрова?", CANDIDATES, 10)
    assert await offline.pick(request) == pick(request)
    assert await offline.pick(RerankerRequest(OWNER, "Петров", [], 10)) == []
    assert await offline.pick(RerankerRequest(OWNER, "Петров", CANDIDATES, 0)) == []


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Где живёт моя сестра?", "Мария"),
        ("Что говорил мой начальник?", "Петров"),
        ("What does my colleague play?", "Tom Baker"),
        ("Що робить моя подруга?", "Олена Коваль"),
    ],
)
def test_a_question_by_role_finds_whom_the_owner_called_so(said: str, name: str) -> None:
    """Who was introduced as "my sister" is found by "my sister", also without the name."""
    assert compose(asked(said)).startswith(name)
