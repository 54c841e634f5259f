"""The encoder of multilingual-e5-small as an ONNX graph over its 4-bit weights, in the bytes of the format.

onnxruntime computes it. The bytes are written here, because the package `onnx` is large and nothing else needs it.
"""

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from internal.language.worker.e5_file import E5File

INPUT, OUTPUT = "embedded", "encoded"
INNER: Final = (4, 6, 8)
"""Layers whose states are read beside the last, which knows more of what a text is about than of what it asks for."""

_MICROSOFT: Final = "com.microsoft"
_ELEMENT_TYPES: Final = {"float32": 1, "uint8": 2}


def encoder(file: E5File) -> bytes:
    """A model that reads the embeddings of a text's tokens, float32 (1, tokens, width).

    It writes what they mean, and the states of the inner layers behind that.
    """
    graph = _Graph(file)
    hidden, inner_states = graph.normalised(INPUT, "emb.ln"), list[str]()
    for number in range(file.layers):
        layer = f"l{number}."
        parts = [graph.product(hidden, layer + part) for part in "qkv"]
        attended = graph.node("MultiHeadAttention", parts, _MICROSOFT, num_heads=file.heads)
        added = graph.node("Add", [hidden, graph.product(attended, layer + "ao")])
        hidden = graph.normalised(added, layer + "aln")
        inner = graph.node("Gelu", [graph.product(hidden, layer + "fi")], _MICROSOFT)
        added = graph.node("Add", [hidden, graph.product(inner, layer + "fo")])
        hidden = graph.normalised(added, layer + "oln")
        if number + 1 in INNER:
            inner_states.append(hidden)
    graph.node("Concat", [hidden, *inner_states], output=OUTPUT, axis=2)
    return graph.model()


class _Graph:
    """The nodes and tensors written so far, which follow the field numbers of onnx.proto."""

    def __init__(self, file: E5File) -> None:
        self._file = file
        self._written: list[bytes] = []

    def model(self) -> bytes:
        """The whole model: version 9 of the format, version 17 of the standard operators."""
        widths = {(11, INPUT): self._file.width, (12, OUTPUT): self._file.width * (1 + len(INNER))}
        declared = [_field(field, _field(1, name) + _floats(width)) for (field, name), width in widths.items()]
        declared.append(_field(2, "e5"))
        operators = [_field(8, _field(1, domain) + _field(2, number)) for domain, number in (("", 17), (_MICROSOFT, 1))]
        return b"".join([_field(1, 9), *operators, _field(7, b"".join(self._written + declared))])

    def node(self, kind: str, inputs: list[str], domain: str = "", output: str = "", **attributes: float) -> str:
        """Adds an operation and returns the name of its result."""
        output = output or f"n{len(self._written)}"
        written = [_field(1, name) for name in inputs] + [_field(2, output), _field(4, kind), _field(7, domain)]
        written += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
        self._written.append(_field(1, b"".join(written)))
        return output

    def tensor(self, name: str, values: NDArray[np.generic]) -> str:
        """Adds constant numbers and returns their name."""
        shape = b"".join(_field(1, size) for size in values.shape)
        kind = _field(2, _ELEMENT_TYPES[values.dtype.name])
        self._written.append(_field(5, shape + kind + _field(8, name) + _field(9, values.tobytes())))
        return name

    def normalised(self, value: str, name: str) -> str:
        """The layer normalisation of that name."""
        constants = [self.tensor(f"{name}.{part}", self._file.floats(f"{name}.{part}")) for part in "wb"]
        return self.node("LayerNormalization", [value, *constants], epsilon=self._file.epsilon)

    def product(self, value: str, name: str) -> str:
        """The product with the matrix of that name, and its bias added; inputs are rounded to 8 bits."""
        inputs = self._file.inner if name.endswith("fo") else self._file.width
        blocks, bias = self._file.blocks(f"{name}.w", inputs), self.tensor(f"{name}.b", self._file.floats(f"{name}.b"))
        weights = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], axis=-1)
        packed = self.tensor(f"{name}.w", weights[..., ::2] | weights[..., 1::2] << 4)
        scales = self.tensor(f"{name}.s", blocks["scale"].astype(np.float32))
        sizes = {"K": inputs, "N": len(blocks), "bits": 4, "block_size": 32, "accuracy_level": 4}
        return self.node("MatMulNBits", [value, packed, scales, "", "", bias], _MICROSOFT, **sizes)


def _floats(width: int) -> bytes:
    """The type of a tensor (1, tokens, width)."""
    shape = b"".join(_field(1, size) for size in (_field(1, 1), _field(2, "tokens"), _field(1, width)))
    return _field(2, _field(1, _field(1, _ELEMENT_TYPES["float32"]) + _field(2, shape)))


def _field(number: int, value: int | str | bytes) -> bytes:
    """A field of a protocol buffer: a number, or a text or message with its length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + b"\x15" + struct.pack("<f", value) + _field(20, 1)
