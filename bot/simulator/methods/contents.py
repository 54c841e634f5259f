"""Contents that are neither text nor a file: places, contacts, dice and polls."""

import re
import secrets
from collections.abc import Callable
from itertools import groupby
from typing import TypeVar

from bot.simulator.methods.registry import JsonList, JsonObject, JsonObjects, MethodCall, Numbers, Parameters, method
from bot.simulator.methods.sending import Sending, deliver, formatted
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request

_DICE = {"🎲": 6, "🎯": 6, "🎳": 6, "🏀": 5, "⚽": 5, "🎰": 64}
_FOREVER = 0x7FFFFFFF
_POLL_KEPT = (
    "is_closed", "is_anonymous", "type", "allows_multiple_answers", "allows_revoting", "open_period", "close_date",
)  # fmt: skip

P = TypeVar("P", bound=Sending)


class Place(Parameters):
    latitude: float | None = None
    longitude: float | None = None
    horizontal_accuracy: float | None = None
    live_period: int | None = None
    heading: int | None = None
    proximity_alert_radius: int | None = None


class SendLocation(Sending, Place):
    pass


class SendVenue(Sending, Place):
    title: str = ""
    address: str = ""
    foursquare_id: str = ""
    google_place_id: str = ""


class SendContact(Sending):
    phone_number: str = ""
    first_name: str = ""
    last_name: str = ""
    vcard: str = ""


class SendDice(Sending):
    emoji: str = "🎲"


class SendPoll(Sending):
    question: str = ""
    question_parse_mode: str | None = None
    question_entities: JsonObjects = None
    options: JsonList = None
    is_anonymous: bool = True
    type: str = "regular"
    allows_multiple_answers: bool = False
    allows_revoting: bool = False
    correct_option_id: int | None = None
    correct_option_ids: Numbers = None
    explanation: str | None = None
    explanation_parse_mode: str | None = None
    explanation_entities: JsonObjects = None
    open_period: int | None = None
    close_date: int | None = None
    is_closed: bool = False


class SendInvoice(Sending):
    title: str = ""
    description: str = ""
    start_parameter: str = ""
    provider_token: str = ""
    currency: str = ""
    prices: JsonObjects = None


class SendRich(Sending):
    rich_message: JsonObject = None


def location_of(place: Place) -> Json:
    """The Location object. Raises the refusal of an invalid one."""
    if place.latitude is None or place.longitude is None:
        raise bad_request("latitude and longitude must be specified")
    if not -90 <= place.latitude <= 90 or not -180 <= place.longitude <= 180:
        raise bad_request("wrong location specified")
    if place.live_period and not 60 <= place.live_period <= 86_400 and place.live_period != _FOREVER:
        raise bad_request("wrong live location period specified")
    return {key: value for key, value in place.model_dump(include=set(Place.model_fields)).items() if value is not None}


def venue_of(wanted: SendVenue) -> Json:
    if not wanted.title or not wanted.address:
        raise bad_request(f"{'address' if wanted.title else 'title'} must be non-empty")
    more = {name: getattr(wanted, name) for name in ("foursquare_id", "google_place_id") if getattr(wanted, name)}
    place = location_of(wanted)
    return {"location": place, "venue": {"location": place, "title": wanted.title, "address": wanted.address, **more}}


def contact_of(wanted: SendContact) -> Json:
    if not wanted.phone_number or not wanted.first_name:
        raise bad_request(f"{'first name' if wanted.phone_number else 'phone number'} must be non-empty")
    fields = ("phone_number", "first_name", "last_name", "vcard")
    return {"contact": {name: getattr(wanted, name) for name in fields if getattr(wanted, name)}}


def _dice_of(wanted: SendDice) -> Json:
    emoji = wanted.emoji or "🎲"
    if emoji not in _DICE:
        raise bad_request("EMOTICON_INVALID")
    return {"dice": {"emoji": emoji, "value": 1 + secrets.randbelow(_DICE[emoji])}}


def _poll_of(wanted: SendPoll) -> Json:
    question, entities = formatted(
        wanted.question, wanted.question_parse_mode, wanted.question_entities, limit=300,
        too_long="poll question length must not exceed 300",
    )  # fmt: skip
    texts = [str(one["text"] if isinstance(one, dict) else one).strip() for one in wanted.options or []]
    if not question or not all(texts):
        raise bad_request(f"poll {'options' if question else 'question'} must be non-empty")
    if not 1 <= len(texts) <= 12:
        raise bad_request("poll can't have more than 12 options" if texts else "poll must have at least 1 option")
    if max(map(len, texts)) > 100:
        raise bad_request("poll options length must not exceed 100")
    if len(set(texts)) < len(texts):
        raise bad_request("POLL_OPTION_DUPLICATE")
    poll: Json = {"id": str(secrets.randbits(62)), "question": question, "total_voter_count": 0, "members_only": False}
    poll |= {name: getattr(wanted, name) for name in _POLL_KEPT if getattr(wanted, name) is not None}
    options = [{"persistent_id": str(n), "text": text, "voter_count": 0} for n, text in enumerate(texts)]
    poll |= {"options": options, **({"question_entities": entities} if entities else {})}
    if wanted.type == "quiz":
        right = wanted.correct_option_ids or [n for n in [wanted.correct_option_id] if n is not None]
        if not right or not all(0 <= n < len(texts) for n in right):
            raise bad_request("wrong correct option ID specified")
        why, marks = formatted(
            wanted.explanation, wanted.explanation_parse_mode, wanted.explanation_entities, limit=200
        )
        poll |= {"correct_option_ids": right, "correct_option_id": right[0]}
        poll |= {"explanation": why, "explanation_entities": marks} if why else {}
    return {"poll": poll}


def _invoice_of(wanted: SendInvoice) -> Json:
    prices = wanted.prices or []
    if wanted.currency != "XTR" and not wanted.provider_token:
        raise bad_request("PAYMENT_PROVIDER_INVALID")
    if not prices or (wanted.currency == "XTR" and len(prices) != 1):
        raise bad_request("CURRENCY_TOTAL_AMOUNT_INVALID")
    shown = {"title": wanted.title, "description": wanted.description, "start_parameter": wanted.start_parameter}
    return {"invoice": shown | {"currency": wanted.currency, "total_amount": sum(int(one["amount"]) for one in prices)}}


def rich_of(wanted: SendRich) -> Json:
    """A rich message: its blocks, or a table or paragraph for each piece of its HTML or Markdown."""
    given = wanted.rich_message or {}
    blocks = given.get("blocks") or [
        {"type": "paragraph", "text": line}
        for line in re.sub(r"<[^>]*>", "\n", str(given.get("html") or "")).split("\n")
        if line.strip()
    ]
    blocks = blocks or _blocks_of(str(given.get("markdown") or "").split("\n"))
    if not blocks:
        raise bad_request("message text is empty")
    return {"rich_message": {"blocks": blocks}}


def _blocks_of(lines: list[str]) -> JsonList:
    """Lines of Markdown as blocks: a table where one begins, each other line as a paragraph."""
    blocks: list[Json] = []
    for is_row, group in groupby((line.strip() for line in lines), lambda line: line.startswith("|")):
        rows = list(filter(None, group))
        if is_row and len(rows) > 1 and not set(rows[1]) - set("|-: "):
            cells = [_cells(row, head=n == 0) for n, row in enumerate(rows) if n != 1]
            blocks.append({"type": "table", "cells": cells})
        else:
            blocks += [{"type": "paragraph", "text": row} for row in rows]
    return blocks


def _cells(row: str, *, head: bool) -> JsonList:
    look = {"align": "left", "valign": "top", **({"is_header": True} if head else {})}
    return [{"text": cell.strip()} | look for cell in row.strip("|").split("|")]


def _content_method(name: str, parameters: type[P], content_of: Callable[[P], Json]) -> None:
    async def send(call: MethodCall, wanted: P) -> Json:
        chat = call.telegram.reachable_chat(wanted.chat_id)
        return deliver(call, wanted, content_of(wanted), chat)

    method(name, parameters)(send)


_content_method("sendLocation", SendLocation, lambda wanted: {"location": location_of(wanted)})
_content_method("sendVenue", SendVenue, venue_of)
_content_method("sendContact", SendContact, contact_of)
_content_method("sendDice", SendDice, _dice_of)
_content_method("sendPoll", SendPoll, _poll_of)
_content_method("sendInvoice", SendInvoice, _invoice_of)
_content_method("sendRichMessage", SendRich, rich_of)


@method("createInvoiceLink", SendInvoice)
async def create_invoice_link(call: MethodCall, wanted: SendInvoice) -> str:
    _invoice_of(wanted)
    return f"https://t.me/$lt{secrets.token_urlsafe(12)}"
