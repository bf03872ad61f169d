"""TensorFlow Lite models of operators that no converter makes of a function: single steps of
recurrent networks, lookups, operators of StableHLO. make_models.py uses them."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
from table_models import Model, schema

rng = np.random.default_rng(5)


def draw(*shape):
    return rng.uniform(-.7, .7, shape).astype("f4")


class Single:
    """A model of one operator, whose tensors are added one after the other."""

    def __init__(self):
        self.model, self.tensors, self.given = Model(), [], []

    def add(self, shape, kind="f4", data=None, **options):
        name = f"t{len(self.tensors)}"
        self.tensors.append(self.model.tensor(name, shape, kind, data, **options))
        return len(self.tensors) - 1

    def given_as(self, *shape, kind="f4"):
        self.given.append(self.add(shape, kind))
        return self.given[-1]

    def constant(self, value, kind="f4"):
        return self.add(np.shape(value), kind, value)

    def state(self, *shape):
        return self.add(shape, variable=True)

    def bytes(self, name, inputs, shapes, options=None, kinds="f4", bodies=()):
        """`bodies` are further subgraphs: operators of two scalars, or none."""
        kinds = [kinds] * len(shapes) if isinstance(kinds, str) else kinds
        outputs = [self.add(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        self.model.graph(self.tensors, self.given, outputs,
                         [self.model.operator(name, inputs, outputs, options)])
        for body, shape in bodies:
            parts = [self.model.tensor(f"{body}{i}", shape) for i in range(3)]
            operators = [self.model.operator(body, [0, 1], [2])] if body else []
            self.model.graph(parts, [0, 1], [2 if body else 1], operators)
        return self.model.bytes()


def svdf(rank, activation="NONE"):
    units, count, times, batch = 3, 4, 5, 2
    m, filters = Single(), 3 * rank
    options = schema.SVDFOptionsT()
    options.rank = rank
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation)
    inputs = [m.given_as(batch, count), m.constant(draw(filters, count)),
              m.constant(draw(filters, times)), m.constant(draw(units)),
              m.state(batch, filters * times)]
    return m.bytes("SVDF", inputs, [[batch, units]], options)


def gates(m, count, cells, results, peepholes, coupled, projects, norms):
    """The inputs 1 to 17 of an LSTM, and the layer norms."""
    def several(number, *shape):
        return [-1 if coupled and number == 4 and i == 0 else m.constant(draw(*shape))
                for i in range(number)]
    weights = several(4, cells, count) + several(4, cells, results)
    between = several(3, cells) if peepholes else [-1] * 3
    if peepholes and coupled:
        between[0] = -1
    biases = several(4, cells)
    other = [m.constant(draw(results, cells)), m.constant(draw(results))] if projects else [-1] * 2
    return [*weights, *between, *biases, *other], several(4, cells) if norms else []


def lstm(sequence=False, peepholes=False, coupled=False, projects=False, norms=False, clip=0.,
         isTimeMajor=False):
    m, batch, count, cells, steps = Single(), 2, 3, 4, 5
    results = 2 if projects else cells
    order = [steps, batch] if isTimeMajor else [batch, steps]
    x = m.given_as(*order, count) if sequence else m.given_as(batch, count)
    weights, behind = gates(m, count, cells, results, peepholes, coupled, projects, norms)
    states = [m.state(batch, results), m.state(batch, cells)]
    options = schema.UnidirectionalSequenceLSTMOptionsT() if sequence else schema.LSTMOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    options.cellClip, options.projClip = clip, clip
    if sequence:
        options.timeMajor = isTimeMajor
    return m.bytes("UNIDIRECTIONAL_SEQUENCE_LSTM" if sequence else "LSTM",
                   [x, *weights, *states, *behind],
                   [[*order, results] if sequence else [batch, results]], options)


def basic_lstm():
    m, batch, count, cells = Single(), 2, 3, 4
    options = schema.LSTMOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    options.kernelType = schema.LSTMKernelType.BASIC
    inputs = [m.given_as(batch, count), m.given_as(batch, cells),
              m.constant(draw(4 * cells, count + cells)), m.constant(draw(4 * cells)),
              m.given_as(batch, cells)]
    return m.bytes("LSTM", inputs, [[batch, cells], [batch, cells], [batch, count + cells],
                                    [batch, 4 * cells]], options)


def rnn():
    m, batch, count, cells = Single(), 2, 3, 4
    options = schema.RNNOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.RELU
    inputs = [m.given_as(batch, count), m.constant(draw(cells, count)),
              m.constant(draw(cells, cells)), m.constant(draw(cells)), m.state(batch, cells)]
    return m.bytes("RNN", inputs, [[batch, cells]], options)


def hashtable_lookup():
    m = Single()
    inputs = [m.given_as(5, kind="i4"), m.constant([-3, 2, 7, 9], "i4"), m.constant(draw(4, 2, 3))]
    return m.bytes("HASHTABLE_LOOKUP", inputs, [[5, 2, 3], [5]], kinds=["f4", "u1"])


def embedding_sum(combiner):
    """Places without rows are zeros; a place may have several rows."""
    m, options = Single(), schema.EmbeddingLookupSparseOptionsT()
    options.combiner = getattr(schema.CombinerType, combiner)
    inputs = [m.given_as(4, kind="i4"), m.constant([[0, 0], [0, 2], [2, 0], [2, 1]], "i4"),
              m.constant([3, 4], "i4"), m.given_as(4), m.constant(draw(6, 2, 3))]
    return m.bytes("EMBEDDING_LOOKUP_SPARSE", inputs, [[3, 2, 3]], options)


def dilate():
    m = Single()
    inputs = [m.given_as(3, 1, 4), m.constant([2, 3, 1], "i4"), m.constant(-1.)]
    return m.bytes("DILATE", inputs, [[5, 1, 4]], schema.DilateOptionsT())


def reduce_window(function, first):
    m, options = Single(), schema.ReduceWindowOptionsT()
    options.reduceFunction = getattr(schema.ReduceWindowFunction, function)
    lists = [[1, 2, 3], [1, 2, 1], [1, 1, 2]]
    inputs = [m.given_as(2, 4, 7), m.constant(first),
              *(m.constant(values, "i8") for values in lists)]
    return m.bytes("REDUCE_WINDOW", inputs, [[2, 2, 3]], options)


def hlo_two(name):
    m = Single()
    return m.bytes("STABLEHLO_" + name, [m.given_as(2, 3), m.given_as(2, 3)], [[2, 3]])


def hlo_shift_left():
    m = Single()
    inputs = [m.given_as(2, 3, kind="i4") for _ in range(2)]
    return m.bytes("STABLEHLO_SHIFT_LEFT", inputs, [[2, 3]], kinds="i4")


def hlo_pad():
    m, options = Single(), schema.StablehloPadOptionsT()
    options.edgePaddingLow, options.edgePaddingHigh = [1, -1, 0], [0, 2, -1]
    options.interiorPadding = [1, 0, 2]
    return m.bytes("STABLEHLO_PAD", [m.given_as(2, 3, 4), m.constant(7.)], [[4, 4, 9]], options)


def hlo_gather(isLast=True):
    """Slices [2, 1, 3] of [5, 4, 6] at 3 places, of which one is beyond the end. The interpreter
    reads what is in front of a tensor at negative ones."""
    m, options = Single(), schema.StablehloGatherOptionsT()
    options.offsetDims, options.collapsedSliceDims = [0, 2], [1]
    options.startIndexMap, options.sliceSizes = [2, 0], [2, 1, 3]
    options.indexVectorDim = 1 if isLast else 0
    inputs = [m.given_as(5, 4, 6), m.given_as(*((3, 2) if isLast else (2, 3)), kind="i4")]
    return m.bytes("STABLEHLO_GATHER", inputs, [[2, 3, 3]], options)


def hlo_scatter(function):
    """Windows [3] of [5, 4] at 3 places, of which some are beyond the end."""
    m, options = Single(), schema.StablehloScatterOptionsT()
    options.updateWindowDims, options.insertedWindowDims = [0], [0]
    options.scatterDimsToOperandDims, options.indexVectorDim = [0, 1], 1
    options.updateComputationSubgraphIndex = 1
    inputs = [m.given_as(5, 4), m.given_as(3, 2, kind="i4"), m.given_as(3, 3)]
    return m.bytes("STABLEHLO_SCATTER", inputs, [[5, 4]], options, bodies=[(function, [])])


def hlo_reduce_window(function, first):
    m, options = Single(), schema.StablehloReduceWindowOptionsT()
    options.windowDimensions, options.windowStrides = [1, 2, 2], [1, 1, 2]
    options.baseDilations, options.windowDilations = [1, 1, 2], [1, 2, 1]
    options.padding, options.bodySubgraphIndex = [0, 0, 1, 0, 0, 1], 1
    return m.bytes("STABLEHLO_REDUCE_WINDOW", [m.given_as(2, 4, 3), m.constant(first)], [[2, 3, 3]],
                   options, bodies=[(function, [])])


def hlo_case():
    m, options = Single(), schema.StablehloCaseOptionsT()
    options.branchSubgraphIndices = [1, 2, 3]
    inputs = [m.given_as(kind="i4"), m.given_as(2, 3), m.given_as(2, 3)]
    return m.bytes("STABLEHLO_CASE", inputs, [[2, 3]], options,
                   bodies=[(name, [2, 3]) for name in ("ADD", "MUL", "SUB")])
