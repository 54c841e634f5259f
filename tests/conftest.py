"""What holds for every test."""

from __future__ import annotations

import internal.llm.transport

# No test may reach a real model provider: it would cost money and make the suite depend on the network.
internal.llm.transport.ALLOW_MODEL_REQUESTS = False
