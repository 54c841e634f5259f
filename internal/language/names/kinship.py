"""Words for the relation of a person to the owner, in any case form, and the circle they suggest.

Circles are named by their wire names, so that this package knows nothing of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from internal.language.text.morphology import Gender, regular_forms
from internal.language.text.spelling import Language, name_key, words

CircleName = Literal["Family", "Work_Inner", "Friends", "Work_Outer", "Other"]


@dataclass(frozen=True, slots=True)
class Relation:
    """A role word: its dictionary form, its circle, and the gender it implies."""

    word: str
    circle: CircleName
    language: Language
    gender: Gender | None


_TABLE: dict[tuple[Language, CircleName], str] = {
    ("ru", "Family"): """
        f:мама f:мать m:папа m:отец f:сестра f:сестрёнка f:сестричка m:брат m:братишка m:братик m:сын
        m:сынок f:дочь f:дочка f:дочурка f:жена m:муж f:бабушка f:бабуля m:дедушка m:дед f:тётя f:тётка
        m:дядя m:дядька f:тёща m:тесть f:свекровь m:свёкор f:невестка m:зять m:шурин m:деверь f:золовка
        m:племянник f:племянница m:внук f:внучка m:отчим f:мачеха f:супруга m:супруг f:невеста m:жених
        m:кузен f:кузина f:крёстная m:крёстный f:двоюродная m:двоюродный
        """,
    ("uk", "Family"): """
        f:мама f:мати m:тато m:батько f:сестра f:сестричка m:брат m:братик m:син m:синок f:донька f:дочка
        f:доця f:дружина m:чоловік f:жінка f:бабуся f:баба m:дідусь m:дід f:тітка m:дядько m:вуйко f:теща
        m:тесть f:свекруха m:свекор f:невістка m:зять m:племінник f:племінниця m:небіж f:небога m:онук
        f:онука f:онучка m:вітчим f:мачуха f:наречена m:наречений m:кузен f:кузина m:хрещений f:хрещена
        m:кум f:кума f:двоюрідна m:двоюрідний
        """,
    ("en", "Family"): """
        f:mom f:mum f:mother m:dad m:father f:sister m:brother m:son f:daughter f:wife m:husband f:grandma
        f:grandmother f:granny m:grandpa m:grandfather f:aunt f:auntie m:uncle x:cousin m:nephew f:niece
        f:mother-in-law m:father-in-law f:sister-in-law m:brother-in-law m:son-in-law f:daughter-in-law
        m:stepfather f:stepmother m:stepbrother f:stepsister m:fiance f:fiancee x:spouse m:grandson
        f:granddaughter m:godfather f:godmother
        """,
    ("ru", "Work_Inner"): """
        x:коллега m:начальник f:начальница m:шеф m:босс m:директор m:руководитель f:руководительница
        m:тимлид x:сотрудник f:сотрудница m:напарник f:напарница m:заместитель x:партнёр m:ментор m:менеджер
        m:помощник f:помощница m:ассистент f:ассистентка m:подчинённый f:подчинённая m:сослуживец
        """,
    ("uk", "Work_Inner"): """
        x:колега m:начальник f:начальниця m:керівник f:керівниця m:шеф m:бос m:директор f:директорка
        m:тімлід m:співробітник f:співробітниця m:напарник f:напарниця m:заступник f:заступниця x:партнер
        m:менеджер f:менеджерка m:помічник f:помічниця m:підлеглий f:підлегла
        """,
    ("en", "Work_Inner"): """
        x:colleague x:coworker x:co-worker x:teammate x:boss x:manager x:supervisor x:director x:ceo x:cto
        x:mentor x:assistant x:lead x:teamlead x:deputy x:cofounder x:co-founder
        """,
    ("ru", "Friends"): """
        m:друг f:подруга m:дружище m:приятель f:приятельница f:подружка m:дружок m:кореш m:товарищ
        m:одноклассник f:одноклассница m:однокурсник f:однокурсница m:одногруппник f:одногруппница
        """,
    ("uk", "Friends"): """
        m:друг f:подруга m:приятель f:приятелька f:подружка m:товариш f:товаришка m:однокласник f:однокласниця
        m:однокурсник f:однокурсниця m:одногрупник f:одногрупниця
        """,
    ("en", "Friends"): """
        x:friend x:buddy x:pal x:mate x:bestie x:classmate x:roommate x:schoolmate x:flatmate f:girlfriend
        m:boyfriend
        """,
    ("ru", "Work_Outer"): """
        m:клиент f:клиентка m:заказчик f:заказчица m:подрядчик m:поставщик m:инвестор m:рекрутер m:юрист
        m:бухгалтер m:консультант m:экс-коллега m:контрагент
        """,
    ("uk", "Work_Outer"): """
        m:клієнт f:клієнтка m:замовник f:замовниця m:підрядник m:постачальник m:інвестор m:рекрутер
        f:рекрутерка m:юрист f:юристка m:бухгалтер f:бухгалтерка m:консультант f:консультантка m:контрагент
        """,
    ("en", "Work_Outer"): """
        x:client x:customer x:contractor x:supplier x:vendor x:investor x:recruiter x:lawyer x:accountant
        x:consultant x:freelancer
        """,
    ("ru", "Other"): """
        m:сосед f:соседка m:врач m:доктор f:учительница m:учитель m:тренер m:преподаватель f:преподавательница
        m:знакомый f:знакомая m:стоматолог m:психолог f:няня m:мастер m:парикмахер m:репетитор m:риелтор
        """,
    ("uk", "Other"): """
        m:сусід f:сусідка m:лікар f:лікарка m:вчитель f:вчителька m:учитель f:учителька m:тренер f:тренерка
        m:викладач f:викладачка m:знайомий f:знайома m:стоматолог m:психолог f:психологиня f:няня m:майстер
        m:перукар f:перукарка m:репетитор
        """,
    ("en", "Other"): """
        x:neighbor x:neighbour x:doctor x:teacher x:coach x:trainer x:professor x:acquaintance x:dentist
        x:therapist x:nanny x:hairdresser x:tutor x:landlord x:babysitter x:plumber
        """,
}

FORMER = words(
    "бывший бывшая бывшего бывшей бывшему бывшим бывшую экс колишній колишня колишнього колишньої колишньому колишнім"
    " колишньою колишню former ex previous old"
)
"""Before a work role these move somebody from the inner to the outer circle."""

MY = words(
    "мой моя мои моего моей моему моим мою моими моих мій моє мої мого моєї моєму моїм моїй моєю my our наш наша нашего"
    " нашей нашему нашим нашу наши нашого нашої нашому нашою нашій mine"
)

_FLEETING = {
    "отец": "отц", "сынок": "сынк", "дружок": "дружк", "свекор": "свекр", "синок": "синк", "владелец": "владельц",
    "сослуживец": "сослуживц",
}  # fmt: skip
_IRREGULAR = {
    "мать": "матери матерью", "дочь": "дочери дочерью", "мати": "матері матір'ю матір", "друг": "друзья друзей други",
    "чоловік": "чоловіком", "брат": "братья братьев", "сын": "сыновья сыновей",
    "свекровь": "свекрови свекровью",
}  # fmt: skip
_ADJECTIVES = {
    "ый": "ого ому ым ом", "ий": "ього ьому ім ого ому им", "ая": "ой ую ою", "а": "ої ій у ою",
}  # fmt: skip


@cache
def relations() -> dict[str, tuple[Relation, ...]]:
    """Every form of every role word, by its key."""
    by_form: dict[str, list[Relation]] = {}
    for (language, circle), entries in _TABLE.items():
        for entry in entries.split():
            sex, word = entry.split(":")
            gender: Gender | None = {"m": "masc", "f": "femn"}.get(sex)  # type: ignore[assignment]  # a closed table
            relation = Relation(word, circle, language, gender)
            for form in _forms(name_key(word), language):
                if relation not in by_form.setdefault(form, []):
                    by_form[form].append(relation)
    return {form: tuple(meanings) for form, meanings in by_form.items()}


def _forms(key: str, language: Language) -> set[str]:
    if language == "en":
        return {key}
    stem = _FLEETING.get(key)
    forms = {key, *regular_forms(key), *_IRREGULAR.get(key, "").split()}
    if stem:
        forms |= {stem + ending for ending in ("а", "у", "ом", "е", "ем", "ові")}
    for ending, others in _ADJECTIVES.items():
        if key.endswith(ending) and (len(ending) > 1 or key in ("підлегла", "наречена", "хрещена", "знайома")):
            forms |= {key.removesuffix(ending) + other for other in others.split()}
    return forms


def is_title(key: str) -> bool:
    """Whether a word in a name of several words is a form of address, not a name: тётя, шеф, uncle."""
    return key in relations() or key in {"пан", "пані", "господин", "госпожа", "mr", "mrs", "ms", "miss", "dr", "sir"}
