"""What common servers say when a request is too long, or a model is not theirs. Each as their issues quote it."""

from __future__ import annotations

from typing import Any

import pytest

from internal.errors import (
    ModelAccessDenied,
    ModelContextExceeded,
    ModelError,
    ModelRefused,
    ModelReplyInvalid,
    ModelUnavailable,
    ModelUnknown,
)
from internal.llm.failures import RequestRejected, from_error_object, from_status

ASKED = "acme/thinker-9:8b"


def vllm(message: str, code: int = 400) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": code}


TOO_LONG: list[tuple[str, int, Any]] = [
    (
        "OpenAI",
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, you asked for 8227.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
    ),
    (
        "OpenRouter",
        400,
        {"error": {"message": "This endpoint's maximum context length is 131072 tokens. However, ...", "code": 400}},
    ),
    (
        "OpenRouter for DeepInfra",
        502,
        {
            "error": {
                "message": "Provider returned error",
                "code": 502,
                "metadata": {
                    "provider_name": "DeepInfra",
                    "raw": "This model's maximum context length is 16000",
                },
            }
        },
    ),
    (
        "llama.cpp",
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 14429,
                "n_ctx": 8192,
            }
        },
    ),
    (
        "llama.cpp, September 2025",
        500,
        {"error": {"code": 500, "message": "the request exceeds ...", "type": "exceed_context_size_error"}},
    ),
    ("vLLM", 400, vllm("This model's maximum context length is 6048 tokens. However, you requested 6616 tokens")),
    ("vLLM, 2024", 400, vllm("max_tokens must be at least 1, got -186.")),
    (
        "LM Studio",
        400,
        {
            "error": "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded"
            " with context length of only 32768 tokens, which is not enough."
        },
    ),
    ("LM Studio, 2026", 400, {"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}),
    ("Ollama", 400, {"error": "the input length exceeds the context length"}),
    ("Ollama's embeddings", 500, {"error": "the input length exceeds the context length"}),
    ("TEI", 413, {"error": "`inputs` must have less than 512 tokens. Given: 600", "error_type": "Validation"}),
    (
        "Gemini",
        400,
        [{"error": {"code": 400, "message": "The input token count (1300000) exceeds the maximum number of tokens"}}],
    ),
    (
        "Anthropic",
        400,
        {"error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}},
    ),
    (
        "Anthropic, with the reply",
        400,
        {"error": {"message": "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"}},
    ),
    (
        "Mistral",
        400,
        {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"},
    ),
    ("xAI", 400, {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
    ("Groq", 413, {"error": {"message": "Request too large for model on tokens per minute (TPM)"}}),
]

NOT_THERE: list[tuple[str, int, Any]] = [
    (
        "OpenAI",
        404,
        {"error": {"message": f"The model `{ASKED}` does not exist or you have no access", "code": "model_not_found"}},
    ),
    ("OpenRouter", 400, {"error": {"message": f"{ASKED} is not a valid model ID", "code": 400}}),
    ("OpenRouter, withdrawn", 404, {"error": {"message": f"No endpoints found for {ASKED}.", "code": 404}}),
    ("llama.cpp", 400, {"error": {"code": 400, "message": "model not found", "type": "invalid_request_error"}}),
    ("vLLM", 404, vllm(f"The model `{ASKED}` does not exist.", 404)),
    ("Ollama", 404, {"error": {"message": f"model '{ASKED}' not found", "type": "not_found_error", "code": None}}),
    ("Ollama, 2024", 404, {"error": f'model "{ASKED}" not found, try pulling it first'}),
    (
        "LM Studio, 2025",
        400,
        {"error": "No models loaded. Please load a model in the developer page or use 'lms load'."},
    ),
    (
        "LM Studio",
        400,
        {
            "error": {
                "message": f'Invalid model identifier "{ASKED}". Please specify a valid downloaded model',
                "type": "invalid_request_error",
                "param": "model",
                "code": "model_not_found",
            }
        },
    ),
    (
        "Gemini",
        404,
        [
            {
                "error": {
                    "code": 404,
                    "message": f"models/{ASKED} is not found for API version v1main",
                    "status": "NOT_FOUND",
                }
            }
        ],
    ),
    ("Anthropic", 404, {"type": "error", "error": {"type": "not_found_error", "message": f"model: {ASKED}"}}),
    ("words of nobody yet", 404, {"error": {"message": f"{ASKED}: gone"}}),
    ("words of nobody yet, with the parameter", 422, {"error": {"message": "nope", "param": "model"}}),
]

OTHERS: list[tuple[int, Any, type[ModelError]]] = [
    (429, {"error": {"message": "Rate limit: too many tokens per minute, reduce the length"}}, ModelUnavailable),
    (400, {"error": {"message": "model does not support response_format json_schema"}}, RequestRejected),
    (404, {"error": {"message": "No endpoints found that can handle response_format"}}, RequestRejected),
    (404, "404 page not found", ModelAccessDenied),
    (404, {"detail": "Not Found"}, ModelAccessDenied),
    (
        400,
        {"error": {"message": f"temperature: 0.2 is not supported by {ASKED}", "param": "temperature"}},
        RequestRejected,
    ),
    (404, {"error": {"message": f"response_format is not available for {ASKED}"}}, RequestRejected),
    (
        402,
        {"error": {"message": "Prompt tokens limit exceeded: 20000 > 1000. Upgrade.", "code": 402}},
        ModelAccessDenied,
    ),
    (400, [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}], ModelAccessDenied),
    (400, {"error": "Incorrect API key provided: [key]"}, ModelAccessDenied),
    (400, {"error": {"message": "max_tokens is too large: 4096. At most 2048 completion tokens."}}, RequestRejected),
    (500, {"error": {"message": "model runner has unexpectedly stopped"}}, ModelUnavailable),
]


@pytest.mark.parametrize(("status", "answer"), [case[1:] for case in TOO_LONG], ids=[case[0] for case in TOO_LONG])
def test_a_request_that_is_too_long_is_recognised(status: int, answer: Any) -> None:
    """By status and body; llama.cpp also says it in a stream, inside HTTP 200."""
    assert isinstance(from_status(status, answer, {}, ASKED), ModelContextExceeded)
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict) and status != 413:
        assert isinstance(from_error_object(answer["error"], ASKED), ModelContextExceeded)


@pytest.mark.parametrize(("status", "answer"), [case[1:] for case in NOT_THERE], ids=[case[0] for case in NOT_THERE])
def test_a_model_that_is_not_there_is_recognised(status: int, answer: Any) -> None:
    """It is a mistake of the settings, whatever the status: nothing that was asked is refused for good."""
    error = from_status(status, answer, {}, ASKED)
    assert isinstance(error, ModelUnknown)
    assert not isinstance(error, ModelRefused)


@pytest.mark.parametrize(("status", "answer", "expected"), OTHERS)
def test_other_errors_are_taken_for_neither(status: int, answer: Any, expected: type[ModelError]) -> None:
    """A limit of tokens a minute, a parameter that is not supported, a wrong address or key, an outage."""
    assert type(from_status(status, answer, {}, ASKED)) is expected
    assert type(from_error_object("something else", ASKED)) is ModelReplyInvalid
