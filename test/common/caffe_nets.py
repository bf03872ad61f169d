"""Caffe nets with seeded weights, written as .prototxt and .caffemodel without Caffe."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib

import numpy as np

# The numbers of `layers { type: ... }`.
OLD_TYPES = {"Concat": 3, "Convolution": 4, "Dropout": 6, "Flatten": 8, "InnerProduct": 14,
             "LRN": 15, "Pooling": 17, "ReLU": 18, "Sigmoid": 19, "Softmax": 20, "Split": 22,
             "TanH": 23, "Eltwise": 25, "Power": 26, "Slice": 33, "AbsVal": 35}
OLD_NAMES = {"InnerProduct": "INNER_PRODUCT"}


def text_of(values, depth=1):
    """A dict as protobuf text; lists repeat a field, strings of capitals are enumerators."""
    lines = []
    for key, value in values.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                lines.append(f"{key} {{\n{text_of(item, depth + 1)}{'  ' * depth}}}")
            elif isinstance(item, bool):
                lines.append(f"{key}: {str(item).lower()}")
            elif isinstance(item, str) and (key in ("name", "type", "bottom", "top")
                                            or not item.replace("_", "").isupper()):
                lines.append(f'{key}: "{item}"')
            else:
                lines.append(f"{key}: {item}")
    return "".join("  " * depth + line + "\n" for line in lines)


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number % 128 + 128)
        number //= 128
    return bytes(out + bytes([number]))


def part(number, payload):
    """A field of bytes, text or a message."""
    return varint(number * 8 + 2) + varint(len(payload)) + payload


def blob_bytes(values, old):
    data = part(5, np.ascontiguousarray(values, "<f4").tobytes())
    if not old:
        return part(7, part(1, b"".join(map(varint, values.shape)))) + data
    dims = (1,) * (4 - values.ndim) + values.shape
    return b"".join(varint(number * 8) + varint(dim)
                    for number, dim in zip((1, 2, 3, 4), dims, strict=True)) + data


class Net:
    """Layers are added in order; `top` is what the last one made."""

    def __init__(self, seed=0, old=False, **inputs):
        self.draw = np.random.default_rng(seed)
        self.old = old
        self.layers, self.inputs = [], inputs
        self.top = next(iter(inputs), None)

    def weights(self, *shape):
        fan = max(1, int(np.prod(shape[1:])))
        return (self.draw.standard_normal(shape) * np.sqrt(2 / fan)).astype("f4")

    def add(self, kind, name, bottoms=None, tops=None, blobs=(), **params):
        bottoms = [self.top] if bottoms is None else bottoms
        tops = [name] if tops is None else tops
        self.layers.append((kind, name, bottoms, tops, list(blobs), params))
        if tops:
            self.top = tops[0]
        return self.top

    def conv(self, name, outputs, channels, kernel, group=1, bias=True, kind="Convolution",
             bottoms=None, **params):
        shape = (channels, outputs // group) if kind == "Deconvolution" else (
            outputs, channels // group)
        blobs = [self.weights(*shape, kernel, kernel)]
        if bias:
            blobs.append(self.weights(outputs) / 4)
        more = {} if bias else {"bias_term": False}
        more |= {"group": group} if group > 1 else {}
        return self.add(kind, name, bottoms, blobs=blobs, convolution_param={
            "num_output": outputs, "kernel_size": kernel} | more | params)

    def relu(self, name, **params):
        """Works in place."""
        return self.add("ReLU", name, tops=[self.top],
                        **({"relu_param": params} if params else {}))

    def batch_norm(self, name, channels):
        """BatchNorm and Scale, in place."""
        top = self.top
        self.add("BatchNorm", name, tops=[top], batch_norm_param={"use_global_stats": True}, blobs=[
            self.weights(channels) * 2, self.draw.uniform(1, 4, channels).astype("f4"),
            np.array([2], "f4")])
        return self.add("Scale", name + "_scale", tops=[top], scale_param={"bias_term": True},
                        blobs=[self.draw.uniform(0.5, 1.5, channels).astype("f4"),
                               self.weights(channels) / 4])

    def dense(self, name, outputs, depth, bottoms=None, **params):
        return self.add("InnerProduct", name, bottoms, blobs=[
            self.weights(outputs, depth), self.weights(outputs) / 4],
            inner_product_param={"num_output": outputs} | params)

    def prototxt(self):
        lines = ['name: "net"\n']
        for name, shape in self.inputs.items():
            lines.append(f'input: "{name}"\n')
            if self.old:
                lines += [f"input_dim: {dim}\n" for dim in shape]
            else:
                lines.append("input_shape {\n" + text_of({"dim": list(shape)}) + "}\n")
        for kind, name, bottoms, tops, _, params in self.layers:
            old = OLD_NAMES.get(kind, kind.upper())
            head = {"name": name, "type": old if self.old else kind, "bottom": bottoms, "top": tops}
            body = text_of(head | params)
            if self.old:
                body = body.replace(f'type: "{old}"', f"type: {old}")
            lines.append(f"{'layers' if self.old else 'layer'} {{\n{body}}}\n")
        return "".join(lines)

    def caffemodel(self):
        out = part(1, b"net")
        for kind, name, _, _, blobs, _ in self.layers:
            if self.old:
                body = part(4, name.encode()) + varint(5 * 8) + varint(OLD_TYPES[kind])
            else:
                body = part(1, name.encode()) + part(2, kind.encode())
            for blob in blobs:
                body += part(6 if self.old else 7, blob_bytes(blob, self.old))
            out += part(2 if self.old else 100, body)
        return out

    def save(self, folder):
        """Returns the paths of the .prototxt and the .caffemodel."""
        paths = pathlib.Path(folder) / "net.prototxt", pathlib.Path(folder) / "net.caffemodel"
        paths[0].write_text(self.prototxt())
        paths[1].write_bytes(self.caffemodel())
        return paths
