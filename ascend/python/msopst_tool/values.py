# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random values of a distribution within a range."""
import numpy as np

# Names of element types as case files write them, with NumPy's.
TYPES = {"float16": np.float16, "float": np.float32, "float32": np.float32, "double": np.float64,
         "float64": np.float64, "int8": np.int8, "uint8": np.uint8, "int16": np.int16,
         "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64,
         "uint64": np.uint64, "bool": np.bool_}
ALIASES = {"float32": "float", "fp32": "float", "fp16": "float16", "float64": "double",
           "half": "float16"}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(x):
    powers = np.exp(x - x.max(initial=0))
    return powers / max(powers.sum(), 1e-30)


# Each returns values of any range for a generator and a shape.
DISTRIBUTIONS = {
    "uniform": lambda rng, shape: rng.uniform(0, 1, shape),
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "beta": lambda rng, shape: rng.beta(0.5, 0.5, shape),
    "laplace": lambda rng, shape: rng.laplace(0, 1, shape),
    "triangular": lambda rng, shape: rng.triangular(0, 0.5, 1, shape),
    "relu": lambda rng, shape: np.maximum(rng.uniform(-1, 1, shape), 0),
    "sigmoid": lambda rng, shape: _sigmoid(rng.uniform(-6, 6, shape)),
    "softmax": lambda rng, shape: _softmax(rng.uniform(-3, 3, shape)),
    "tanh": lambda rng, shape: np.tanh(rng.uniform(-3, 3, shape)),
}


def make_values(rng, distribution, shape, bounds, dtype):
    """Returns an array of `dtype` with values of the distribution, stretched to the range `bounds`.

    `bounds` is [low, high], both included; for bool it is ignored.
    """
    if np.dtype(dtype) == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    low, high = bounds
    if np.issubdtype(dtype, np.integer):
        if distribution == "uniform":
            return rng.integers(int(low), int(high), shape, dtype=np.int64, endpoint=True).astype(dtype)
    values = DISTRIBUTIONS[distribution](rng, shape)
    first, last = values.min(initial=np.inf), values.max(initial=-np.inf)
    if last > first:
        values = low + (values - first) * ((high - low) / (last - first))
    else:
        values = np.full(shape, (low + high) / 2)
    if np.issubdtype(dtype, np.integer):
        values = np.rint(values)
    return values.astype(dtype)
