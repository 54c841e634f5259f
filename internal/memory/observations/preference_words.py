"""Whether the words of a preference express a dislike, in Russian, Ukrainian and English."""

import re
from typing import Final

_DISLIKES: Final = re.compile(
    r"""(?<!\w)(?:
        (?:не|ні|ни)\s+(?:очень\s+|дуже\s+|слишком\s+|надто\s+)?
            (?:люб|нрав|подоба|хоч|хот|перенос|выно|вино|терп|терпі|ест|єм|ем|їм|їсть|пь|п['’]?є|смотр|дивл|слуша|слуха)
        | терпеть\s+не | терпіти\s+не | не\s+перевар | не\s+перетрав
        | ненави | избега | уника | раздража | драту | бесит | бісить | против\s | проти\s | отвращ | огид | без\s
        | аллерги | алергі
        | (?:do|does|did)(?:\s+not|n['’]t)\s+(?:really\s+)?(?:like|want|enjoy|eat|drink|watch|love|care)
        | (?:can['’]?t|cannot|could\s*n['’]t)\s+(?:stand|bear)
        | dislik | hate[sd]?\b | hating | avoid | detest | loath | annoy | against\s | (?:no|not|never|without)\s
        | allerg
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def is_dislike(words: str) -> bool:
    """Whether a preference is against something: "ненавидит спам", "no meetings before ten"."""
    return _DISLIKES.search(words) is not None
