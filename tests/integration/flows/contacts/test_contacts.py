"""Contacts come in as people with receipts, once; go out as they were; and what was forgotten stays away."""

from __future__ import annotations

import pytest
from support.flows.erase_stage import KEY, ErasingStage, LanguageHere
from support.flows.flow_stage import OTHER, OWNER, Talk
from support.paths import DATA

from internal.flows.contacts.imports import ContactBook
from internal.flows.contacts.review import BookCard, ImportReport, cards_of
from internal.flows.forgetting import requests
from internal.flows.merging import people as merging
from internal.import_formats.contact_card import contact_of
from internal.import_formats.vcard import decoded, read_cards
from internal.knowledge import service as knowledge
from internal.knowledge.facts import occasions
from internal.people import suggestion_repository

CARDS = DATA / "contacts"


class Book:
    """The address book of an owner in a store."""

    def __init__(self, stage: ErasingStage) -> None:
        self.stage = stage
        self.book = ContactBook(stage.database, stage.talk.clock, LanguageHere(), KEY)

    async def take(self, name: str, owner: int = OWNER, *, dry_run: bool = False) -> ImportReport:
        return await self.text(decoded((CARDS / name).read_bytes()), owner, dry_run=dry_run)

    async def text(self, text: str, owner: int = OWNER, *, dry_run: bool = False) -> ImportReport:
        cards = [BookCard(card) for card in cards_of(text)]
        return await self.book.take(owner, cards, source="contacts.vcf", dry_run=dry_run)

    async def facts(self) -> set[tuple[str, str, str]]:
        return {(one.source_name, one.name, one.target_name) for one in await self.stage.facts()}


@pytest.fixture
def book(talk: Talk) -> Book:
    return Book(ErasingStage(talk))


def vcard(*lines: str) -> str:
    return "\r\n".join(("BEGIN:VCARD", "VERSION:3.0", *lines, "END:VCARD", ""))


async def outcomes(book: Book, text: str) -> list[tuple[str, str]]:
    return [(one.outcome, one.reason) for one in (await book.text(text)).reviewed]


async def test_contacts_become_people_with_facts_whose_source_is_the_card(book: Book) -> None:
    """A dry run shows the same and stores nothing; the same file again changes nothing."""
    seen = await book.take("icloud.vcf", dry_run=True)
    assert await book.stage.people() == []
    done = await book.take("icloud.vcf")
    assert (
        [one.outcome for one in done.reviewed] == [one.outcome for one in seen.reviewed] == ["new", "new", "nameless"]
    )
    masha, oleh = sorted(await book.stage.people(), key=lambda one: one.display_name)
    assert (masha.display_name, masha.aliases, masha.username) == ("Марія Петренко", ("Маша",), "masha_p")
    assert "ромашки" in masha.bio
    found = await book.facts()
    assert ("Марія Петренко", "WORKS_FOR", "Нова Пошта") in found
    assert ("Марія Петренко", "HAS_JOB_TITLE", "Інженерка") in found
    assert (oleh.display_name, "BROTHER_OF", masha.display_name) in found
    assert (oleh.display_name, "HAS_PHONE", "+380501112233") in found
    [phone] = [one for one in await book.stage.facts() if one.name == "HAS_EMAIL"]
    lines = await book.stage.talk.read(lambda c: knowledge.evidence_of_fact(c, OWNER, phone.id))
    assert [line.quote for line in lines] == ["email: Masha@Example.com"]
    now = book.stage.talk.clock.now()
    [day] = await book.stage.talk.read(lambda c: occasions.of_owner(c, OWNER, now=now))
    assert (day.name, day.month, day.day, day.year) == ("Марія Петренко", 3, 2, None)
    before = await book.facts()
    assert {one.outcome for one in (await book.take("icloud.vcf")).reviewed} == {"same", "nameless"}
    assert await book.facts() == before
    assert await book.stage.talk.read(lambda c: occasions.of_owner(c, OTHER, now=now)) == []


@pytest.mark.parametrize(
    ("again", "outcome"),
    [
        (("FN:Masha", "TEL:+38 (050) 111-22-33"), ("updated", "phone")),
        (("FN:M. P.", "EMAIL:MASHA@example.com"), ("updated", "email")),
        (("FN:Maria Petrenko", "TITLE:Boss"), ("updated", "name")),
        (("FN:Somebody", "X-TELEGRAM:@masha_p", "TITLE:Boss"), ("updated", "telegram")),
        (("FN:Олег Петренко", "TEL:+380501112233"), ("new", "")),
        (("FN:Мария Сидоренко", "TITLE:x"), ("new", "")),
    ],
)
async def test_the_same_person_is_known_again(book: Book, again: tuple[str, ...], outcome: tuple[str, str]) -> None:
    """By phone, mail, account and name in either alphabet; a phone of a family does not make two people one."""
    first = vcard("FN:Мария Петренко", "TEL:+380501112233", "EMAIL:masha@example.com", "X-TELEGRAM:masha_p")
    assert await outcomes(book, first) == [("new", "")]
    assert await outcomes(book, vcard(*again)) == [outcome]


@pytest.mark.parametrize(
    "text",
    [
        vcard("FN:Anna Lee", "BDAY:1985-02-29") + vcard("FN:Ben Roe", "BDAY:1984-02-29"),
        "First Name,Last Name,Birthday\nAnna,Lee,1985-02-29\nBen,Roe,1984-02-29\n",
    ],
)
async def test_a_card_with_a_day_that_its_year_has_not_is_taken_without_it(book: Book, text: str) -> None:
    """In a review too, and beside good cards, whose days are kept."""
    for dry_run in (True, False):
        seen = await book.text(text, dry_run=dry_run)
        assert [(one.name, one.outcome) for one in seen.reviewed] == [("Anna Lee", "new"), ("Ben Roe", "new")]
    now = book.stage.talk.clock.now()
    days = await book.stage.talk.read(lambda c: occasions.of_owner(c, OWNER, now=now))
    assert [(one.name, one.month, one.day, one.year) for one in days] == [("Ben Roe", 2, 29, 1984)]


async def test_who_may_be_the_same_is_asked_about(book: Book) -> None:
    """A short form is no proof: somebody new is added, and the owner has a suggestion to merge."""
    await book.text(vcard("FN:Александр Иванов"))
    [one] = (await book.text(vcard("FN:Саша Иванов", "TEL:+380501112233"))).reviewed
    assert (one.outcome, one.perhaps) == ("new", ("Александр Иванов",))
    pending = await book.stage.talk.read(lambda c: suggestion_repository.pending(c, OWNER))
    assert [asked.kind for asked in pending] == ["merge"]


@pytest.mark.parametrize("name", ["icloud.vcf", "nextcloud.vcf", "old_phone.vcf", "google.csv", "google_old.csv"])
async def test_what_came_in_goes_out_without_loss(book: Book, name: str) -> None:
    """Every property of every person's card, photos included, and what Google knows besides."""
    await book.take(name)
    exported = read_cards(await book.book.export(OWNER))
    by_name = {contact_of(card).name: card for card in exported}
    for card in cards_of(decoded((CARDS / name).read_bytes())):
        contact = contact_of(card)
        if contact.name == "Таксі":
            continue
        lines = {
            (line.name, line.value.replace(",", "\\,") if name == "old_phone.vcf" else line.value) for line in card
        }
        there = {(line.name, line.value) for line in by_name[contact.name]}
        lost = {line for line in lines if line[0] not in ("VERSION", "NOTE")} - there
        assert lost == set(), contact.name


async def test_what_is_told_since_is_in_the_export_and_what_was_corrected_is_not(book: Book) -> None:
    """The owner's name wins; a phone that was forgotten is gone from the card; a second instance knows all."""
    await book.take("icloud.vcf")
    masha, _ = sorted(await book.stage.people(), key=lambda one: one.display_name)
    now = book.stage.talk.clock.now()
    await book.stage.talk.write(
        lambda c: merging.edit(c, OWNER, masha.id, {"display_name": "Маруся", "circle": "Family"}, now=now)
    )
    [phone] = [one for one in await book.stage.facts() if one.name == "HAS_PHONE" and one.source == masha.entity_id]
    await book.stage.forget("fact", phone.id)
    assert "contacts" not in await book.stage.tables_with("123-45-67")
    text = await book.book.export(OWNER)
    card = next(card for card in read_cards(text) if contact_of(card).name == "Маруся")
    assert contact_of(card).values("phone") == []
    assert "PHOTO" in {line.name for line in card}
    again = (await book.text(text, OTHER)).reviewed
    assert [one.outcome for one in again] == ["new", "new"]
    assert (await book.text(text, OTHER)).count("same") == 2
    assert (await book.book.export(OTHER)).count("BEGIN:VCARD") == 2
    circles = {
        line.value for card in read_cards(await book.book.export(OTHER)) for line in card if "CIRCLE" in line.name
    }
    assert circles == {"Family"}


async def test_a_forgotten_person_takes_everything_imported_along_and_stays_away(book: Book) -> None:
    """The card, its lines and facts go; the same card, and another one with the same phone, do not bring them back."""
    await book.take("icloud.vcf")
    masha, oleh = sorted(await book.stage.people(), key=lambda one: one.display_name)
    await book.stage.forget("person", str(masha.id))
    for word in ("Нова Пошта", "masha@example.com", "123-45-67", "ромашки", "3F1A9C0E"):
        assert await book.stage.tables_with(word) <= {"forgettings"}, word
    assert [one.display_name for one in await book.stage.people()] == [oleh.display_name]
    assert [one.outcome for one in (await book.take("icloud.vcf")).reviewed] == ["forgotten", "same", "nameless"]
    assert await outcomes(book, vcard("FN:Somebody", "TEL:+380671234567")) == [("forgotten", "")]
    assert await outcomes(book, vcard("FN:Somebody", "UID:3F1A9C0E-1B7C-4C5E-9D0B-AB12CD34EF56")) == [("forgotten", "")]
    assert "Марія" not in await book.book.export(OWNER)


async def test_people_who_are_being_forgotten_are_not_exported(book: Book) -> None:
    """They are hidden everywhere until then."""
    await book.take("icloud.vcf")
    masha, _ = sorted(await book.stage.people(), key=lambda one: one.display_name)
    now = book.stage.talk.clock.now()
    asked = await book.stage.talk.write(lambda c: requests.ask(c, OWNER, "person", str(masha.id), now=now))
    assert asked is not None
    assert "Марія" not in await book.book.export(OWNER)
