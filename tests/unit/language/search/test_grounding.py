"""Whether what a model proposes stands in the lines it cites."""

import pytest

from internal.language.names.introductions import own_names
from internal.language.search.grounding import Proposed, is_owner, is_variant_of_owner, owner_as_person, ungrounded
from internal.language.text.spelling import Language

OWNER = ("Анна", "anna_k")


@pytest.mark.parametrize(
    ("names", "text", "evidence", "grounded"),
    [
        (["Александр"], "", "Саша пришёл", True),
        (["Petrov"], "", "говорил с Петровым", True),
        (["Киев"], "", "I live in Kyiv", True),
        (["Оксана"], "Сестра", "Вчера дзвонила Оксані", True),
        ([], "Хочет выучить испанский", "хочу учить испанский язык", True),
        ([], "Mira sails.", "Mira was sailing", True),
        (["Анна"], "Работает врачом", "она врач", True),
        ([], "Wants to learn Spanish", "хочу выучить испанский", True),
        ([], "", "что угодно", True),
        (["ACME"], "Works at ACME as a designer", "Yesterday we were at the cinema", False),
        (["Иван Сидоров"], "Друг владельца", "Петров пришёл", False),
        (["Dr. Ruth"], "Любимый врач", "хочу выучить испанский", False),
        ([], "Ждёт ответа хозяина квартиры", "Купила велосипед", False),
        (["ACME"], "Works at ACME", "Работаю врачом", False),
    ],
)
def test_a_name_in_any_form_or_one_content_word_grounds_an_item(
    names: list[str], text: str, evidence: str, grounded: bool
) -> None:
    """Case, alphabet, short forms and translations of places count; another language is judged by names alone."""
    assert (ungrounded([Proposed(tuple(names), text, (evidence,))], "ru") == []) is grounded


@pytest.mark.parametrize(
    ("names", "evidence", "language", "owner"),
    [
        (["Анна"], "Переехала во Львов", "ru", True),
        (["Anna"], "Переехала во Львов", "ru", True),
        (["@anna_k"], "Переехала во Львов", "ru", True),
        (["Х", "", "anna_k"], "Переехала во Львов", "ru", False),
        (["Мама", "Анна"], "Маме шестьдесят", "ru", True),
        (["Mum", "Anna"], "I called", "en", True),
        (["Анна"], "Меня зовут Анна", "ru", True),
        (["Анна"], "Меня зовут Анна, я врач", "ru", True),
        (["Анна"], "Моя подруга Анна приехала", "ru", False),
        (["Анна"], "Анна прислала отчёт", "ru", False),
        (["Анна Петрова"], "Анна Петрова прислала отчёт", "ru", False),
        (["Петров", "Анна"], "Петров пришёл", "ru", False),
    ],
)
def test_the_owner_is_recognised_and_a_namesake_is_not_lost(
    names: list[str], evidence: str, language: Language, owner: bool
) -> None:
    """By name in any form and alphabet, by username, and behind a role word that has the owner's name as alias."""
    assert owner_as_person(names, OWNER, [evidence], language) is owner


def test_a_longer_name_is_somebody_elses() -> None:
    """The owner's first name alone is his; a surname that he does not have makes it another's."""
    assert is_owner("Анна", ("Анна Петрова",))
    assert not is_owner("Анна Петрова", ("Анна",))


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("Меня зовут Ира Соколова, я врач.", "ru", "Ира Соколова"),
        ("Мене звати Ольга Коваль, я лікарка.", "uk", "Ольга Коваль"),
        ("I'm Sarah Connor, I work nights.", "en", "Sarah Connor"),
    ],
)
def test_who_introduces_himself_has_that_name(text: str, language: Language, name: str) -> None:
    """Whatever Telegram calls him, and whatever he says of himself behind the name."""
    owner = ("xXx", *own_names(text, language))
    assert name in owner
    assert owner_as_person([name], owner, [text], language)


@pytest.mark.parametrize(
    ("name", "line", "variant"),
    [
        ("Anna Petrova", "I like tea", True),
        ("Аня", "Люблю чай", True),
        ("Аня", "Аня любит чай", False),
        ("Ольга", "Люблю чай", False),
    ],
)
def test_a_variant_of_the_owners_name_that_nobody_wrote_is_his(name: str, line: str, variant: bool) -> None:
    """A model made it of the name that it was shown; whom a line names is somebody else."""
    assert is_variant_of_owner([name], ("Анна", "anna_k"), [line]) is variant
