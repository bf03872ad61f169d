# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads names from an ONNX file and adds metadata to it, without other packages."""

import pathlib

LAYER_TYPES = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Yields (number, value) of a protobuf message; bytes of messages and strings, else numbers."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
            if at > end:
                raise IndexError
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        else:
            raise IndexError
        yield key >> 3, value


def _texts(message, number):
    return [bytes(value).decode(errors="replace")
            for field, value in fields(message) if field == number]


def _read_nodes(path):
    """Returns [(inputs, outputs, name, type)] of the nodes, and the names of constants."""
    data = memoryview(pathlib.Path(path).read_bytes())
    try:
        graphs = [value for number, value in fields(data) if number == 7]
        if not graphs:
            raise IndexError
        nodes, constants = [], set()
        for number, value in fields(graphs[0]):
            if number == 5:
                constants.update(_texts(value, 8))
            elif number == 1:
                name, kind = (_texts(value, field) for field in (3, 4))
                nodes.append((_texts(value, 1), _texts(value, 2), "".join(name), "".join(kind)))
    except (IndexError, AttributeError, TypeError):
        raise ValueError(f"'{path}' is no ONNX model") from None
    return nodes, constants


def read_layers(path):
    """Returns [(name, type)] of the layers that calibration can quantize: convolutions and matrix
    products with constant weights. A node without a name goes by its first output."""
    nodes, constants = _read_nodes(path)
    for inputs, outputs, _, kind in nodes:
        # What only computes with constants is one, such as a transpose of weights.
        if kind == "Constant" or inputs and all(each in constants for each in inputs):
            constants.update(outputs)
    return [(name or outputs[0], kind) for inputs, outputs, name, kind in nodes
            if kind in LAYER_TYPES and len(inputs) > 1 and inputs[1] in constants]


def read_aliases(path):
    """Returns {alias: name} of the nodes without a name, which the Ascend toolchain calls by their
    type and their number among such nodes ("Conv_0")."""
    nodes, _ = _read_nodes(path)
    own = {name for _, _, name, _ in nodes}
    nameless = [(outputs, kind) for _, outputs, name, kind in nodes if not name]
    made = {f"{kind}_{number}": next(filter(None, outputs), "")
            for number, (outputs, kind) in enumerate(nameless)}
    return {alias: name for alias, name in made.items() if alias not in own}


def _encoded(number, value):
    size, length = len(value), bytearray()
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return bytes([number << 3 | 2]) + bytes(length) + value


def with_metadata(data, key, value):
    """Returns the bytes of a model with one more entry of metadata_props."""
    entry = _encoded(1, key.encode()) + _encoded(2, value.encode())
    return data + _encoded(14, entry)


def read_metadata(path, key):
    """Returns the value of a key of metadata_props; None where the model has not the key."""
    found = None
    for number, value in fields(memoryview(pathlib.Path(path).read_bytes())):
        if number == 14 and _texts(value, 1) == [key]:
            found = "".join(_texts(value, 2))
    return found
