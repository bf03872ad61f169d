"""Writes .air graphs (MindSpore, the Ascend toolchain's graph interface) field by field."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import struct

import numpy as np

TYPES = {"float32": 1, "float16": 2, "int8": 3, "uint8": 4, "int32": 7, "int64": 8, "uint64": 10, "bool": 11}


def varint(value):
    value &= (1 << 64) - 1
    out = bytes()
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number(field_number, value):
    return varint(field_number << 3) + varint(value)


def desc(dims=None, type="float32", layout="NCHW"):
    """A tensor; without dims their number is not known either."""
    out = number(2, TYPES[type] if type else 0)
    if dims is not None:
        out += field(3, field(1, b"".join(varint(d) for d in dims)) if dims else b"")
    return out + field(4, layout)


def attribute(value):
    if isinstance(value, bool):
        return number(5, value)
    if isinstance(value, int):
        return number(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        return field(2, value)
    if isinstance(value, np.ndarray):
        return field(12, field(1, desc(value.shape, str(value.dtype), "ND")) +
                     field(2, value.tobytes()))
    return field(1, field(3, b"".join(varint(v) for v in value)) + number(20, 2))


def op(name, type, inputs=(), outputs=(), input_descs=(), graphs=(), **attributes):
    """`inputs` are "producer:0"; `outputs` and `input_descs` are made by desc(); `graphs` are names."""
    out = field(1, name) + field(2, type)
    out += b"".join(field(5, i) for i in inputs)
    out += b"".join(field(10, field(1, k) + field(2, attribute(v))) for k, v in attributes.items())
    out += b"".join(field(33, d) for d in input_descs) + b"".join(field(34, d) for d in outputs)
    return out + b"".join(field(35, g) for g in graphs)


def constant(name, value):
    return op(name, "Const", (), [desc(value.shape, str(value.dtype), "ND")], value=value)


def data(name, dims=None, type="float32", **attributes):
    """An input; inside a graph that an operator calls it states none of its tensor."""
    return op(name, "Data", (), [desc(dims, type if dims is not None else None, "ND")], **attributes)


def net_output(inputs, numbers=None):
    """The results of a graph; `numbers` are those of the calling operator's outputs."""
    descs = [desc(None, None, "ND") + (b"" if numbers is None else field(5, field(
        1, "_parent_node_index") + field(2, attribute(numbers[i])))) for i in range(len(inputs))]
    return op("Node_Output", "NetOutput", inputs, (), descs)


def serialized(ops, outputs=(), graphs=None):
    """`graphs`: operators of those that operators call, by name."""
    def graph(name, ops, outputs=()):
        return field(7, field(1, name) + b"".join(field(5, o) for o in outputs) +
                     b"".join(field(6, o) for o in ops))
    return field(1, "model") + graph("net", ops, outputs) + b"".join(
        graph(name, ops) for name, ops in (graphs or {}).items())


def save(path, ops, outputs=(), graphs=None):
    path.write_bytes(serialized(ops, outputs, graphs))
    return path
