"""The settings of files, voices, pictures and address books."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr

from internal.config.values import Duration, OptionalAddress, PositiveDuration, Secret, Section, off_word


class TranscriptionConfig(Section):
    base_url: OptionalAddress = ""
    api_key: Secret = SecretStr("")
    model: str = ""
    local: str = ""


class SpeechConfig(Section):
    base_url: OptionalAddress = ""
    api_key: Secret = SecretStr("")
    model: str = ""
    voice: str = "alloy"


class VisionConfig(Section):
    enabled: Annotated[Literal["auto", "off"], BeforeValidator(off_word)] = "auto"
    model: str = ""


class MediaConfig(Section):
    max_bytes: int = Field(20_971_520, ge=1)
    max_pages: int = Field(300, ge=1)
    timeout: Duration = timedelta(seconds=60)
    transcription: TranscriptionConfig = TranscriptionConfig()
    speech: SpeechConfig = SpeechConfig()
    vision: VisionConfig = VisionConfig()


class CardDavConfig(Section):
    url: OptionalAddress = ""
    user: str = ""
    password: Secret = SecretStr("")
    owner: int = 0
    every: PositiveDuration = timedelta(hours=1)
