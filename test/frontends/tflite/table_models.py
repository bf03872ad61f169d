"""TensorFlow Lite models that no converter makes of a function: they are put together from the
tables of the format. make_models.py uses them. Needs tensorflow and flatbuffers."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import flatbuffers
import numpy as np
from flatbuffers import flexbuffers
from tensorflow.lite.python import schema_py_generated as schema

KINDS = {"f4": schema.TensorType.FLOAT32, "u1": schema.TensorType.UINT8,
         "i4": schema.TensorType.INT32, "i8": schema.TensorType.INT64}
rng = np.random.default_rng(3)


class Model:
    """Graphs are added one after the other; the first one is the main one."""

    def __init__(self):
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes, self.model.subgraphs = [], []

    def tensor(self, name, shape, kind="f4", data=None, scale=None, zero=0, variable=False):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type, tensor.buffer = name, list(shape), KINDS[kind], 0
        tensor.isVariable = variable
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = list(np.asarray(data, kind).tobytes())
            tensor.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        if scale:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [zero]
        return tensor

    def operator(self, name, inputs, outputs, options=None, custom=None):
        """`options` is an object of one of the format's tables."""
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode, code.customCode = min(code.builtinCode, 127), custom
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes)
        self.model.operatorCodes.append(code)
        operator.inputs, operator.outputs = inputs, outputs
        kind = type(options).__name__[:-1]
        if custom:
            operator.customOptions = list(flexbuffers.Dumps(options))
        elif hasattr(schema.BuiltinOptions2, kind):
            operator.builtinOptions2 = options
            operator.builtinOptions2Type = getattr(schema.BuiltinOptions2, kind)
        elif options:
            operator.builtinOptions = options
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        return operator

    def graph(self, tensors, inputs, outputs, operators):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = tensors, operators
        graph.inputs, graph.outputs = inputs, outputs
        self.model.subgraphs.append(graph)

    def bytes(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def detections(background=1, kind="f4", **changed):
    """12 boxes of 4 classes, with a score of the background in front or not."""
    count, classes = 12, 4
    options = {"max_detections": 5, "max_classes_per_detection": 1, "nms_score_threshold": .2,
               "nms_iou_threshold": .5, "num_classes": classes, "y_scale": 10., "x_scale": 10.,
               "h_scale": 5., "w_scale": 5.} | changed
    anchors = np.concatenate([rng.uniform(0, 1, (count, 2)), rng.uniform(.2, .6, (count, 2))], 1)
    isReal = kind == "f4"
    if not isReal:
        anchors = np.round(anchors * 200)
    total = options["max_detections"] * options["max_classes_per_detection"]
    model = Model()

    def stored(name, shape, scale, zero, data=None):
        return model.tensor(name, shape, kind, data, None if isReal else scale, zero)

    tensors = [stored("boxes", [1, count, 4], .05, 120),
               stored("scores", [1, count, classes + background], 1 / 256, 0),
               stored("anchors", [count, 4], 1 / 200, 0, anchors),
               model.tensor("out_boxes", [1, total, 4]), model.tensor("out_classes", [1, total]),
               model.tensor("out_scores", [1, total]), model.tensor("out_count", [1])]
    model.graph(tensors, [0, 1], [3, 4, 5, 6],
                [model.operator("CUSTOM", [0, 1, 2], [3, 4, 5, 6], options,
                                "TFLite_Detection_PostProcess")])
    return model.bytes()


def composite():
    """An operator whose subgraph is (p + q) * q, and p + q."""
    model = Model()
    options = schema.StableHLOCompositeOptionsT()
    options.name, options.decompositionSubgraphIndex = "own.two", 1
    model.graph([model.tensor(name, [2, 3]) for name in "xyabc"], [0, 1], [4, 3],
                [model.operator("STABLEHLO_COMPOSITE", [0, 1], [2, 3], options),
                 model.operator("ABS", [2], [4])])
    model.graph([model.tensor(name, [2, 3]) for name in "pqrs"], [0, 1], [3, 2],
                [model.operator("ADD", [0, 1], [2], schema.AddOptionsT()),
                 model.operator("MUL", [2, 1], [3], schema.MulOptionsT())])
    return model.bytes()


def both_directions(name, merges, isTimeMajor):
    """A recurrent network over 5 steps of 2 sequences in both directions."""
    inputs, hidden, steps, batch = 3, 4, 5, 2
    model, isLstm = Model(), name == "LSTM"
    order = [steps, batch] if isTimeMajor else [batch, steps]
    tensors = [model.tensor("x", [*order, inputs])]

    def add(*shape, variable=False):
        data = None if variable else rng.uniform(-.7, .7, shape)
        tensors.append(model.tensor(f"t{len(tensors)}", shape, data=data, variable=variable))
        return len(tensors) - 1

    def weights():
        if not isLstm:
            return [add(hidden, inputs), add(hidden, hidden), add(hidden)]
        return [*(add(hidden, inputs) for _ in range(4)), *(add(hidden, hidden) for _ in range(4)),
                -1, -1, -1, *(add(hidden) for _ in range(4)), -1, -1]

    def states(count):
        return [add(batch, hidden, variable=True) for _ in range(count)]

    given = ([0, *weights(), *weights(), *states(4), *[-1] * 9] if isLstm else
             [0, *weights(), *states(1), *weights(), *states(1), -1, -1, -1])
    options = getattr(schema, f"BidirectionalSequence{name}OptionsT")()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    options.mergeOutputs, options.timeMajor = merges, isTimeMajor
    width = 2 * hidden if merges else hidden
    outputs = [add(*order, width, variable=True) for _ in range(1 if merges else 2)]
    for index in outputs:
        tensors[index].isVariable = False
    model.graph(tensors, [0], outputs,
                [model.operator(f"BIDIRECTIONAL_SEQUENCE_{name}", given, outputs, options)])
    return model.bytes()
