#===-- layers.py - the layers of a small CNN, forwards and backwards ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers of a small CNN with numpy: forward, backward, and their place in an ONNX file.

Activations are [pictures, rows, columns, channels], so that a convolution is one matrix product
over long rows; the ONNX file gets the usual channels-first weights.

    y, cache = layer.forward(x, statistics)    statistics: a dict that batch norm fills in training,
                                               None to use the stored ones
    dx, gradients = layer.backward(dy, cache)  gradients: {name: array}
    tensor = layer.to_onnx(graph, tensor)

Everything is computed in the type of its inputs: f32 in training, f64 when a test compares the
gradients with differences.

`parameters` maps names to the arrays that training changes. All state of a pass is in `cache`, so
several threads may run one layer at once.
"""

import numpy as np


def _shifted(kernel, stride, rows, columns):
    """For each kernel tap, the slices of the padded input that it reads."""
    return [(slice(None), slice(ky, ky + stride * rows, stride),
             slice(kx, kx + stride * columns, stride))
            for ky in range(kernel) for kx in range(kernel)]


class Conv:
    """A square convolution without bias (a batch norm follows), padded to keep the size."""

    def __init__(self, name, inputs, outputs, kernel, rng, stride=1, depthwise=False,
                 needs_dx=True):
        self.name, self.kernel, self.stride = name, kernel, stride
        self.depthwise, self.needs_dx = depthwise, needs_dx
        self.pad = kernel // 2
        fan_in = kernel * kernel * (1 if depthwise else inputs)
        shape = (kernel * kernel, outputs) if depthwise else (fan_in, outputs)
        weight = rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)
        self.parameters = {name + ".weight": weight.astype(np.float32)}

    @property
    def weight(self):
        return self.parameters[self.name + ".weight"]

    def _taps(self, shape):
        rows, columns = ((extent + 2 * self.pad - self.kernel) // self.stride + 1
                         for extent in shape[1:3])
        return rows, columns, _shifted(self.kernel, self.stride, rows, columns)

    def forward(self, x, statistics):
        p = self.pad
        padded = np.pad(x, ((0, 0), (p, p), (p, p), (0, 0))) if p else x
        rows, columns, taps = self._taps(x.shape)
        if self.depthwise:
            y = padded[taps[0]] * self.weight[0]
            for tap, weight in zip(taps[1:], self.weight[1:]):
                y += padded[tap] * weight
            return y, (x.shape, padded)
        patches = np.concatenate([padded[tap] for tap in taps], axis=3)
        patches = patches.reshape(-1, self.weight.shape[0])
        y = (patches @ self.weight).reshape(len(x), rows, columns, -1)
        return y, (x.shape, patches)

    def backward(self, dy, cache):
        shape, saved = cache
        p = self.pad
        _, _, taps = self._taps(shape)
        dx = None
        if self.needs_dx:
            dx = np.zeros((shape[0], shape[1] + 2 * p, shape[2] + 2 * p, shape[3]), dy.dtype)
        if self.depthwise:
            gradient = np.stack([np.einsum("nyxc,nyxc->c", saved[tap], dy) for tap in taps])
            for tap, weight in zip(taps, self.weight):
                dx[tap] += dy * weight
        else:
            flat = dy.reshape(-1, dy.shape[3])
            gradient = saved.T @ flat
            if dx is not None:
                dpatches = (flat @ self.weight.T).reshape(*dy.shape[:3], len(taps), -1)
                for index, tap in enumerate(taps):
                    dx[tap] += dpatches[:, :, :, index]
        if dx is not None and p:
            dx = dx[:, p:-p, p:-p]
        return dx, {self.name + ".weight": gradient}

    def to_onnx(self, graph, tensor):
        k, outputs = self.kernel, self.weight.shape[1]
        weight = self.weight.reshape(k, k, -1, outputs).transpose(3, 2, 0, 1)
        weight = graph.constant(self.name + ".weight", weight)
        return graph.node("Conv", self.name, [tensor, weight], kernel_shape=[k, k],
                          pads=[self.pad] * 4,
                          strides=[self.stride] * 2, group=outputs if self.depthwise else 1)


class BatchNorm:
    EPSILON = 1e-5

    def __init__(self, name, channels):
        self.name = name
        self.parameters = {name + ".scale": np.ones(channels, np.float32),
                           name + ".bias": np.zeros(channels, np.float32)}
        self.mean = np.zeros(channels, np.float32)
        self.variance = np.ones(channels, np.float32)

    def forward(self, x, statistics):
        mean, variance = self.mean, self.variance
        if statistics is not None:
            flat = x.reshape(-1, x.shape[-1])
            mean = flat.mean(axis=0)
            variance = np.einsum("pc,pc->c", flat, flat) / len(flat) - mean * mean
            variance = np.maximum(variance, 0)
            statistics[self.name] = (mean, variance)
        # Dividing by a large count made f64 of f32 in numpy 1.
        inverse = (1 / np.sqrt(variance + self.EPSILON)).astype(x.dtype)
        normal = (x - mean) * inverse
        y = normal * self.parameters[self.name + ".scale"] + self.parameters[self.name + ".bias"]
        return y, (normal, inverse)

    def backward(self, dy, cache):
        normal, inverse = cache
        count = dy.size // dy.shape[-1]
        dbias = dy.reshape(count, -1).sum(axis=0)
        dscale = np.einsum("nyxc,nyxc->c", dy, normal)
        dx = dy - dbias / np.float32(count)
        dx -= normal * (dscale / np.float32(count))
        dx *= self.parameters[self.name + ".scale"] * inverse
        return dx, {self.name + ".scale": dscale, self.name + ".bias": dbias}

    def to_onnx(self, graph, tensor):
        arrays = [("scale", self.parameters[self.name + ".scale"]),
                  ("bias", self.parameters[self.name + ".bias"]),
                  ("mean", self.mean), ("variance", self.variance)]
        inputs = [graph.constant(f"{self.name}.{key}", array) for key, array in arrays]
        return graph.node("BatchNormalization", self.name, [tensor, *inputs],
                          epsilon=self.EPSILON)


class Relu:
    """max(x, 0), or with a limit min(max(x, 0), limit)."""

    def __init__(self, name, limit=None):
        self.name, self.limit, self.parameters = name, limit, {}

    def forward(self, x, statistics):
        if self.limit is None:
            return np.maximum(x, 0), x > 0
        return np.clip(x, 0, np.float32(self.limit)), (x > 0) & (x < self.limit)

    def backward(self, dy, cache):
        return dy * cache, {}

    def to_onnx(self, graph, tensor):
        if self.limit is None:
            return graph.node("Relu", self.name, [tensor])
        return graph.node("Clip", self.name, [
            tensor, graph.constant("zero", np.float32(0)),
            graph.constant(f"limit_{self.limit}", np.float32(self.limit))])


class MaxPool:
    """The largest of each 2 x 2 window."""

    def __init__(self, name):
        self.name, self.parameters = name, {}

    def forward(self, x, statistics):
        taps = [x[tap] for tap in _shifted(2, 2, x.shape[1] // 2, x.shape[2] // 2)]
        y = np.maximum(np.maximum(taps[0], taps[1]), np.maximum(taps[2], taps[3]))
        return y, (x, y)

    def backward(self, dy, cache):
        x, y = cache
        dx = np.zeros_like(x)
        free = np.ones(y.shape, bool)  # Of equal values the first one takes the gradient.
        for tap in _shifted(2, 2, y.shape[1], y.shape[2]):
            taken = free & (x[tap] == y)
            dx[tap] = dy * taken
            free &= ~taken
        return dx, {}

    def to_onnx(self, graph, tensor):
        return graph.node("MaxPool", self.name, [tensor], kernel_shape=[2, 2], strides=[2, 2])


class Sequence:
    """Layers one after another."""

    def __init__(self, layers):
        self.layers = layers

    @property
    def parameters(self):
        return {name: array for layer in self.layers for name, array in layer.parameters.items()}

    def update(self, values):
        for layer in self.layers:
            if hasattr(layer, "layers"):
                layer.update(values)
            else:
                layer.parameters = {name: values[name] for name in layer.parameters}

    def flat(self):
        for layer in self.layers:
            yield layer
            if hasattr(layer, "layers"):
                yield from layer.flat()

    def forward(self, x, statistics):
        caches = []
        for layer in self.layers:
            x, cache = layer.forward(x, statistics)
            caches.append(cache)
        return x, caches

    def backward(self, dy, caches):
        gradients = {}
        for layer, cache in zip(reversed(self.layers), reversed(caches)):
            dy, part = layer.backward(dy, cache)
            gradients.update(part)
        return dy, gradients

    def to_onnx(self, graph, tensor):
        for layer in self.layers:
            tensor = layer.to_onnx(graph, tensor)
        return tensor


class Residual(Sequence):
    """x + layers(x)."""

    def __init__(self, name, layers):
        super().__init__(layers)
        self.name = name

    def forward(self, x, statistics):
        y, caches = super().forward(x, statistics)
        return y + x, caches

    def backward(self, dy, caches):
        dx, gradients = super().backward(dy, caches)
        return dx + dy, gradients

    def to_onnx(self, graph, tensor):
        return graph.node("Add", self.name, [super().to_onnx(graph, tensor), tensor])


class AveragePoolLinear:
    """The mean of every channel, then a fully connected layer: the scores."""

    def __init__(self, name, inputs, outputs, rng):
        self.name = name
        weight = rng.standard_normal((inputs, outputs)) * np.sqrt(1.0 / inputs)
        self.parameters = {name + ".weight": weight.astype(np.float32),
                           name + ".bias": np.zeros(outputs, np.float32)}

    def forward(self, x, statistics):
        means = x.mean(axis=(1, 2))
        scores = means @ self.parameters[self.name + ".weight"]
        return scores + self.parameters[self.name + ".bias"], (x.shape, means)

    def backward(self, dy, cache):
        shape, means = cache
        dmeans = dy @ self.parameters[self.name + ".weight"].T
        dx = np.broadcast_to(dmeans[:, None, None, :] / np.float32(shape[1] * shape[2]), shape)
        return dx, {self.name + ".weight": means.T @ dy, self.name + ".bias": dy.sum(axis=0)}

    def to_onnx(self, graph, tensor):
        tensor = graph.node("GlobalAveragePool", "pool_mean", [tensor])
        tensor = graph.node("Flatten", "flatten", [tensor], axis=1)
        weight = graph.constant(self.name + ".weight",
                                self.parameters[self.name + ".weight"].T)
        bias = graph.constant(self.name + ".bias", self.parameters[self.name + ".bias"])
        return graph.node("Gemm", self.name, [tensor, weight, bias], transB=1)
