"""What people keep to themselves, and for whom a text is meant."""

from __future__ import annotations

import pytest

from internal.language.discretion.meaning import for_others, touched
from internal.language.discretion.recipients import (
    asks_about_life,
    asks_for_himself,
    is_complete,
    matter_of,
    names_role,
    only_orders_words,
    only_says_how,
    orders_words,
    readers_of,
    recipient_of,
)
from internal.language.instructions.topics import topics_of as manners_of
from internal.language.worker.embedding import passage_states, query_states


def readers(text: str) -> str:
    return readers_of(text, for_others(text, query_states([text])[0]))


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Masha is pregnant", {"health"}),
        ("У мами знайшли діабет", {"health"}),
        ("Олег лёг в больницу на операцию", {"health"}),
        ("Tom earns €4,200 a month", {"money"}),
        ("Коля взял кредит под залог квартиры", {"money"}),
        ("Sam was arrested last year", {"legal"}),
        ("Вони розлучаються", {"intimate"}),
        ("Between us, Oleg is leaving Bosch", {"secret"}),
        ("Только никому не говори, Ира увольняется", {"secret"}),
        ("Нікому не кажи: Іван їде до Канади", {"secret"}),
        ("Anna likes green tea", set()),
        ("Я работаю в банке", set()),
        ("Мы живём в Риге с 2019 года", set()),
    ],
)
def test_topics_that_are_not_for_everybody(text: str, topics: set[str]) -> None:
    """Health, money, law, intimate things and secrets; plain facts touch none of them."""
    assert touched(text, passage_states([text])[0]) == topics


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Write an email to my boss that I need three days off", "others"),
        ("What should I tell the landlord?", "others"),
        ("introduce me to the new team in two sentences", "others"),
        ("Draft a LinkedIn post about my new project", "others"),
        ("help me reply to Anna", "person"),
        ("напиши Ане поздравление", "person"),
        ("Помоги написать письмо хозяйке квартиры", "others"),
        ("склади листа в податкову про мої доходи", "bank"),
        ("Що сказати лікарю про мої симптоми?", "doctor"),
        ("I need a toast for the wedding", "others"),
        ("a caption for the photo of my boat", "others"),
        ("хочу послать открытку тёте", "others"),
        ("что ответить Жанне про субботу?", "others"),
        ("Потрібна промова на ювілей", "others"),
        ("Як пояснити вчительці, чому Сашко пропустив школу?", "others"),
    ],
)
def test_words_for_somebody_else(text: str, role: str) -> None:
    """An order to write or say something, with an addressee or a kind of text that others read."""
    assert readers(text) == "others"
    assert recipient_of(text, ["Anna", "Ане"]).role == role


@pytest.mark.parametrize(
    "text",
    [
        "tell me about my boss", "What did I tell you about mum?", "Where does my boss live?",
        "Remind me to write to my boss", "I wrote to my boss yesterday", "he told my sister",
        "скажи, где работает мой брат?", "скажи мне, сколько зарабатывает Олег",
        "Я написал боссу", "Я розповіла мамі про хворобу",
        "що сказав лікар?", "where is the letter from the bank?",
        "что мне написал Олег?", "",
        "напиши, що ти знаєш про Олю", "Can you summarize how my reading goals have developed?",
        "My mother is ill",
        "I want to track my monthly expenses, how would you suggest I do that?", "Tell me about my sister's illness",
    ],
)  # fmt: skip
def test_words_for_the_owner_alone(text: str) -> None:
    """Questions about the memory, statements, lists and reminders: nothing is kept back from the owner."""
    assert readers(text) == "owner"


@pytest.mark.parametrize(
    "text",
    [
        "напиши список покупок", "Got a card from grandma today", "Розкажи про мого колегу", "Продолжай",
        "Подготовь меня к встрече с Петровым", "Посоветуй подарок для Марии", "Мій колега Петро у відпустці",
        "Дякую, це корисно", "Mark is on vacation", "write down: milk, eggs", "describe my brother", "Опиши мою маму",
        "Скажи, когда у Маши день рождения", "Посоветуй, как помириться с Леной", "Hello again", "This is a test",
        "Кратко перескажи наш разговор",
    ],
)  # fmt: skip
def test_what_is_hardly_for_others_is_shown_all_but_private_things(text: str) -> None:
    """A word of writing or a kind of text alone is no order for somebody else, nor is talk with the bot itself."""
    assert readers(text) in ("owner", "unclear")


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("the landlord wants to know, draft him two lines", True),
        ("please text the plumber about Monday", True),
        ("what should i say to the coach?", True),
        ("сантехник ждёт, отпиши ему про среду", True),
        ("що мені відповісти сусідці", True),
        ("tell me what he said", False),
        ("I wrote a letter to the bank", False),
        ("we left a note on the door", False),
        ("ask how it works", False),
        ("сантехник написал про среду", False),
        ("thank you, they were lovely", False),
        ("я хочу сказать, что устала", False),
    ],
)
def test_a_clause_orders_words_by_its_form(text: str, ordered: bool) -> None:
    """Then others may read them, however little the vector of the whole message says so."""
    assert orders_words(text) is ordered
    assert not ordered or readers_of(text, -9.0) in ("unclear", "others")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a letter to the office, and remind them of the deadline", "others"),
        ("remind me of the letter to the office", "owner"),
    ],
)
def test_a_text_before_a_reminder_is_for_others(text: str, expected: str) -> None:
    """What begins with a kind of text is no mere reminder."""
    assert readers(text) == expected


@pytest.mark.parametrize(
    ("text", "for_himself"),
    [
        ("how much do i owe the dentist", True),
        ("and what did Ben say about the test", True),
        ("did i tell my brother", True),
        ("с кем я спорил про гараж", True),
        ("а сколько стоил ремонт", True),
        ("скільки винен кум", True),
        ("на чому їздить Петро?", True),
        ("в якій школі вчиться Мишко", True),
        ("чиї ключі лежать на столі", True),
        ("А він що сказав?", True),
        ("а она когда приедет", True),
        ("what do i say to the dentist", False),
        ("що мені сказати тестю", False),
        ("что сказать тёще", False),
        ("how should i put it", False),
        ("what about my brother", False),
        ("как отказать тёще", False),
        ("как бы ему помягче", False),
        ("як йому м'якше відмовити", False),
        ("the dentist asks when", False),
        ("хозяин спрашивает когда платить", False),
        ("начальник питає коли я вийду", False),
        ("сосед хочет знать когда ключи", False),
    ],
)
def test_a_question_of_the_owner_to_himself(text: str, for_himself: bool) -> None:
    """It asks what is or was: not what to say or do, which others may read. No model is needed to tell."""
    assert asks_for_himself(text) == for_himself
    assert (readers_of(text, None) == "owner") == for_himself


@pytest.mark.parametrize(
    "text",
    ["dentist, about the bill", "How do I explain to my mother-in-law why we aren't coming?",
     "lads group, where n when thursday",
     "What do I tell the woman from the dry cleaner's?", "тёще бы чего тёплого", "щось для сусіда про паркан",
     "remind the neighbours of the meeting", "напомни Никите про ключи", "what should grandma be told",
     "remind the gas people about the meter", "напомни группе про форму", "кто я такой, в два предложения"],
)  # fmt: skip
def test_what_may_be_for_others_is_not_taken_for_the_owners(text: str) -> None:
    """Words in doubt are on the safe side, with the model and without it."""
    assert readers(text) in ("others", "unclear")
    assert readers_of(text, None) in ("others", "unclear")


@pytest.mark.parametrize(
    "text",
    ["Reply in a voice message, please", "always respond aloud", "Read it to me out loud: when is my flight?",
     "answer shortly", "Говори голосом", "ответь, пожалуйста, подробно", "Ответь вслух: во сколько врач?",
     "відповідай завжди коротко", "прочитай уголос, коли в мене лікар"],
)  # fmt: skip
def test_how_to_answer_is_no_order_for_others(text: str) -> None:
    """A spoken or a shorter answer is for whoever the answer before it was for, the owner most of the time."""
    assert only_says_how(text, manners_of)


@pytest.mark.parametrize(
    "text",
    ["open page 12 of Lease Kovalenko.PDF", "прочти мне первый лист из бюджет.xlsx", "read insurance.pdf, please",
     "що на третьому слайді в план.pptx"],
)  # fmt: skip
def test_what_a_file_holds_is_read_to_the_owner(text: str) -> None:
    """Whatever role or kind of text its name holds."""
    assert readers(text) == readers_of(text, None) == "owner"


@pytest.mark.parametrize(
    "text",
    ["Reply to Olya in a voice message", "respond to them briefly", "Answer briefly that the rent is late",
     "ответь соседу голосом, что ключ у меня", "Ответь Свете коротко", "ответь коротко, что заболела",
     "відповідай їм стисло", "скажи тренеру вголос, що не прийду", "answer the complaint in claim.pdf",
     "Напиши ответ на письмо.docx"],
)  # fmt: skip
def test_how_to_answer_somebody_is_for_him(text: str) -> None:
    """An addressee or what to say makes it an order, also beside a manner or a file."""
    assert not only_says_how(text, manners_of)
    assert readers(text) in ("others", "unclear")
    assert readers_of(text, None) in ("others", "unclear")


def test_what_the_owner_names_is_his_to_tell() -> None:
    """A topic of the order itself may be used; a secret never is named by accident."""
    found = recipient_of("Write my boss that I have the flu and need surgery, but it's a secret")
    assert found.named == {"health"}


@pytest.mark.parametrize(
    ("text", "named"), [("Давай о другом", False), ("Поживу в другом городе", False), ("Поговори с другом", True)]
)
def test_another_is_no_friend(text: str, named: bool) -> None:
    """The forms of "другой" are not those of "друг"."""
    assert names_role(text) is named


@pytest.mark.parametrize(
    ("sentence", "ordered"),
    [
        ("Draft a text to Caleb about what's new with me", True),
        ("Could you compose a short toast for Dad?", True),
        ("набросай сообщение Ренате про переезд", True),
        ("можешь написать Оле, что встреча отменяется", True),
        ("склади тост для Романа", True),
        ("Email from HR: Yvette's leave is approved", False),
        ("I wrote Yvette a long letter", False),
        ("Написала Ренате письмо вчера", False),
        ("Напиши Андрею, у него завтра день рождения", False),
        ("Відповідь від школи прийшла", False),
        ("Write that Rufus works at Aviva now", False),
    ],
)
def test_an_order_for_words_states_nothing(sentence: str, ordered: bool) -> None:
    """Unless it is for the owner's own memory, or says something beside the order."""
    assert only_orders_words(sentence) is ordered


@pytest.mark.parametrize(
    ("order", "life", "complete"),
    [
        ("Draft a text to Caleb about what's new with me", True, False),
        ("напиши Ренате, как у меня дела", True, False),
        ("напиши вчительці, чому ми не прийдемо", True, False),
        ("напиши Роману, що в мене нового", True, False),
        ("email Harriet that I'm running late", False, True),
        ("напиши Ренате, что я приду", False, True),
        ("Draft a birthday card for Philippa", False, False),
    ],
)
def test_an_order_asks_about_a_life_or_says_all_itself(order: str, life: bool, complete: bool) -> None:
    """Only the first has something to be looked up for it."""
    assert (asks_about_life(order), is_complete(order)) == (life, complete)


def test_for_whom_an_order_is_belongs_not_to_its_matter() -> None:
    """Harriet is not what a letter to her is about."""
    assert not matter_of("write a birthday card for Harriet")
    assert matter_of("write mum about Harriet's knee") >= matter_of("Harriet's knee")
