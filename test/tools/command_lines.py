"""Command lines as people write them for the Ascend toolchain's compiler, each with what must come
of it, and the small models that they name.

A line is written for a shell. `expect` is a blank-separated list: `ok`, or the codes of the errors;
a code of a warning beside `ok` must come too, and words in quotes must be in the output.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import struct

import numpy as np

# ---- models ------------------------------------------------------------------------


def onnx_model(path, inputs, channels=4, outputs=1):
    """Conv_0 -> Relu_1 (-> Conv_2, Sigmoid_3 ...) of the first input; others are added at the end."""
    from onnx import TensorProto, helper, numpy_helper
    rng = np.random.default_rng(3)
    (first, shape), *others = inputs
    nodes, initializers, results = [], [], []
    weights = rng.standard_normal((channels, shape[1], 1, 1)).astype(np.float32)
    initializers.append(numpy_helper.from_array(weights, "w0"))
    nodes.append(helper.make_node("Conv", [first, "w0"], ["c0"], name="Conv_0"))
    nodes.append(helper.make_node("Relu", ["c0"], ["r1"], name="Relu_1"))
    results.append("r1")
    if outputs > 1:
        nodes.append(helper.make_node("Sigmoid", ["c0"], ["s2"], name="Sigmoid_2"))
        results.append("s2")
    if outputs > 2:
        nodes.append(helper.make_node("ReduceMean", ["r1"], ["m3"], name="ReduceMean_3", axes=[2, 3]))
        results.append("m3")
    for i, (name, _) in enumerate(others):
        nodes.append(helper.make_node("Neg", [name], [f"n{i}"], name=f"Neg_{10 + i}"))
        results.append(f"n{i}")
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())


def _field(number, payload):
    """A length-delimited field of protobuf."""
    payload = payload.encode() if isinstance(payload, str) else payload
    size, out = len(payload), bytes()
    while size > 127:
        out += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + out + bytes([size]) + payload


def tf_model(path, name, shape):
    """A frozen graph: a Placeholder, Relu and Sigmoid."""
    dims = b"".join(_field(2, b"\x08" + _varint(dim)) for dim in shape)
    attributes = [("dtype", b"\x30\x01"), ("shape", _field(7, dims))]
    nodes = [_node(name, "Placeholder", [], attributes),
             _node("relu", "Relu", [name], [("T", b"\x30\x01")]),
             _node("prob", "Sigmoid", ["relu"], [("T", b"\x30\x01")])]
    path.write_bytes(b"".join(_field(1, node) for node in nodes))


def _varint(value):
    value &= (1 << 64) - 1
    out = bytes()
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _node(name, op, inputs, attributes):
    out = _field(1, name) + _field(2, op)
    for source in inputs:
        out += _field(3, source)
    for key, value in attributes:
        out += _field(5, _field(1, key) + _field(2, value))
    return out


def make_files(folder):
    """Everything that the lines below name."""
    picture = (1, 3, 8, 8)
    onnx_model(folder / "resnet50.onnx", [("actual_input_1", picture)])
    onnx_model(folder / "yolov5s.onnx", [("images", picture)], outputs=3)
    onnx_model(folder / "bert.onnx", [("input_ids", (1, 2, 4, 4)), ("token_type_ids", (1, 16)),
                                      ("input_mask", (1, 16))])
    onnx_model(folder / "dyn.onnx", [("x", ("N", 3, 8, 8))])
    onnx_model(folder / "model with blank.onnx", [("x", picture)])
    tf_model(folder / "frozen.pb", "Placeholder", (1, 8, 8, 3))
    tf_model(folder / "open.pb", "Placeholder", (-1, 8, 8, 3))
    (folder / "models").mkdir()
    (folder / "models" / "resnet50.onnx").write_bytes((folder / "resnet50.onnx").read_bytes())
    (folder / "really_onnx.pb").write_bytes((folder / "resnet50.onnx").read_bytes())
    (folder / "net.pt").write_bytes(b"PK\x03\x04" + bytes(60))
    (folder / "net.pt2").write_bytes(b"PK\x03\x04" + bytes(60))
    (folder / "net.tflite").write_bytes(struct.pack("<I", 28) + b"TFL3" + bytes(60))
    (folder / "net.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(60))
    (folder / "net.prototxt").write_text('name: "net"\nlayer {\n  name: "data"\n}\n')
    (folder / "net.air").write_bytes(b"\x08\x01air")
    (folder / "pointer.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (folder / "page.onnx").write_text("<!DOCTYPE html><html></html>")
    (folder / "keep.txt").write_text("Relu_1\nOpType::Sigmoid\n")
    (folder / "keep_other.txt").write_text("Relu_11\n")
    (folder / "precision.ini").write_text("[ByOpType]\nSigmoid=high_precision\nConv2D=high_performance\n"
                                          "[ByNodeName]\nRelu_1=enable_float_32_execution\n")
    (folder / "precision_old.ini").write_text("Sigmoid = high_precision\n")
    (folder / "precision_bad.ini").write_text("[ByOpType]\nSigmoid=high_precison\n")
    (folder / "mixlist.json").write_text('{"black-list": {"to-add": ["Sigmoid"], "to-remove": ["Exp"]},'
                                         ' "white-list": {"to-add": ["Relu"]}}')
    (folder / "mixlist_bad.json").write_text('{"black-list": {"to-add": ["Sigmoid",]}}')
    (folder / "custom.cfg").write_text("Relu_1::InputDtype:float32,OutputDtype:float32\n"
                                       "OpType::Sigmoid:InputDtype:float16,OutputDtype:float16\n")
    (folder / "custom_bad.cfg").write_text("Relu_1:float32\n")
    (folder / "custom_mixed.cfg").write_text("Sigmoid_2::InputDtype:float32,OutputDtype:float16\n")
    (folder / "custom_cube.cfg").write_text("Conv_0::InputDtype:float16,float16,OutputDtype:float32\n"
                                            "OpType::MatMulV2:InputDtype:float16,OutputDtype:float32\n")
    (folder / "fusion.cfg").write_text("ConvBatchnormFusionPass:off\nSoftmaxFusionPass:on\n")
    (folder / "fusion.json").write_text('{"Switch": {"GraphFusion": {"ALL": "off", "SoftmaxFusionPass":'
                                        ' "on"}, "UBFusion": {"ALL": "off",'
                                        ' "TbePool2dQuantFusionPass": "on"}}}')
    # The example of the documents.
    (folder / "fusion_example.cfg").write_text(json.dumps({"Switch": {
        "GraphFusion": dict.fromkeys(
            ["RequantFusionPass", "SoftmaxFusionPass", "NotRequantFusionPass",
             "SplitConvConcatFusionPass", "ConvConcatFusionPass", "MatMulBiasAddFusionPass",
             "PoolingFusionPass", "ZConcatv2dFusionPass", "ZConcatExt2FusionPass",
             "TfMergeSubFusionPass"], "on"),
        "UBFusion": {"TbePool2dQuantFusionPass": "on", "FusionVirtualOpSetSwitch": "on",
                     "TbeAippCommonFusionPass": "off"}}}))
    (folder / "fusion_own.cfg").write_text("graph-fuse-conv-activation:off\nnpu-fuse-epilogues : off\n")
    (folder / "fusion_typo.cfg").write_text("ConvBatchnormFusonPass:off\n")
    (folder / "fusion_bad.cfg").write_text("ConvBatchnormFusionPass:of\n")
    (folder / "compress.cfg").write_text("Conv_0\n")
    add = {"op": "Add", "input_desc": [{"format": "ND", "shape": [8, 16], "type": "int32"}] * 2,
           "output_desc": [{"format": "ND", "shape": [8, 16], "type": "int32"}]}
    (folder / "op_models").mkdir()
    (folder / "op_models" / "op_list.json").write_text(json.dumps([add]))
    (folder / "graph.txt").write_text('name: "ge"\ngraph {\n  name: "g"\n  op {\n    name: "a"\n'
                                      '    type: "Data"\n  }\n}\n')


# ---- lines -------------------------------------------------------------------------

RESNET = "--model=resnet50.onnx --framework=5 --output=out"
YOLO = "--model=yolov5s.onnx --framework=5 --output=out"
TF = "--model=frozen.pb --framework=3 --output=out"

LINES = [
    # the forms of flags and quotes
    ('atc --model=resnet50.onnx --framework=5 --output=resnet50 '
     '--input_shape="actual_input_1:1,3,8,8"  --soc_version=Ascend310', "ok"),
    ("atc --model resnet50.onnx --framework 5 --output resnet50 --soc_version Ascend310", "ok"),
    ("atc -model resnet50.onnx -framework 5 -output resnet50 -soc_version Ascend310", "ok"),
    ("atc --model=./resnet50.onnx --framework=5 --output=./resnet50_bs1 --input_format=NCHW "
     "--input_shape='actual_input_1:1,3,8,8' --log=error --soc_version=Ascend310P3", "ok"),
    ('atc --model="resnet50.onnx" --framework="5" --output="out" --soc-version="Ascend310"', "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --input_shape=actual_input_1:1,3,8,8', "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --input_shape="actual_input_1: 1, 3, 8, 8"', "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --input_shape="actual_input_1:2,3,16,16;"', "ok"),
    (f"atc {RESNET} --soc_v=Ascend310 --input_form=NCHW", "ok"),
    (f"atc {RESNET} --soc_version=Ascend310 --log=info", "ok"),
    (f"atc {RESNET} --soc_version=Ascend310 --mode=0", "ok"),
    (f"atc {RESNET} --mode 0 --soc_version Ascend310 --log=debug", "ok"),
    ('atc --model="model with blank.onnx" --framework=5 --output="out put" --soc_version=Ascend310',
     "ok"),
    ("atc --model=models/resnet50.onnx --framework=5 --output=build/om/resnet50 "
     "--soc_version=Ascend310", "ok"),
    ("atc --framework=5 --model=models/resnet50.onnx --output=./a/b/c/resnet50 "
     "--soc_version=Ascend910A", "ok"),
    (f"atc {RESNET} --soc_version=Ascend310 --insert_op_conf=", "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --out_nodes="" --input_fp16_nodes=""', "ok"),
    # chips
    *((f"atc {RESNET} --soc_version={chip}", "ok") for chip in (
        "Ascend310P1", "Ascend310B4", "Ascend910", "Ascend910B4-1", "Ascend710", "Ascend910B",
        "Ascend610", "Ascend310B2", "Ascend910ProA", "Ascend910B2C", "Ascend910PremiumA")),
    (f"atc {RESNET} --target=mini", "ok W10055"),
    (f"atc {RESNET} --target=npu --soc_version=Ascend310 --device 0", "ok"),
    (f"atc {RESNET} --soc_version=Ascend310 --device_id=3", "ok W10055"),
    (f"atc {RESNET} --soc_version=310P3", 'E10001 "did you mean "Ascend310P3"?"'),
    (f"atc {RESNET} --soc_version=ascend310", 'E10001 "did you mean "Ascend310"?"'),
    (f"atc {RESNET} --soc_version=Ascend301", 'E10001 "Ascend310"'),
    (f"atc {RESNET} --soc_version=Hi3796CV300ES", 'E10055 "no table of this chip"'),
    (f"atc {RESNET}", 'E10007 "--soc_version is required" "Ascend310P3"'),
    (f"atc {RESNET} --soc_version=", "E10004"),
    # outputs and inputs
    *((f"atc {RESNET} --soc_version=Ascend310 --output_type={name}", "ok")
      for name in ("FP32", "FP16", "UINT8", "INT8")),
    *((f"atc {RESNET} --soc_version=Ascend310 --output_type={name}", 'E10001 "FP32, FP16, UINT8, INT8"')
      for name in ("FLOAT", "fp32", "INT32", "float16")),
    (f"atc {RESNET} --target=cpu --output_type=INT32", "ok"),
    (f"atc {RESNET} --target=cpu --output_type=FLOAT", "E10001"),
    (f'atc {RESNET} --soc_version=Ascend310 --out_nodes="Relu_1:0" --output_type="Relu_1:0:FP16"', "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --output_type="Relu_1:0:FP16"', 'E10001 "--out_nodes="Relu_1:0""'),
    (f'atc {YOLO} --soc_version=Ascend310 --out_nodes="Relu_1:0;Sigmoid_2:0" '
     '--output_type="Relu_1:0:FP16;Sigmoid_2:0:FP32"', "ok"),
    (f'atc {YOLO} --soc_version=Ascend310 --out_nodes="Sigmoid_2:0;Relu_1:0" '
     '--output_type="Relu_1:0:FP16"', "ok"),
    (f'atc {YOLO} --target=cpu --output_type="Relu_11:0:FP16"', 'E10016 "is not an output"'),
    (f'atc {YOLO} --soc_version=Ascend310 --out_nodes="Relu_1:0" --output_type="Sigmoid_2:0:FP32"',
     'E10001 "Sigmoid_2:0"'),
    (f"atc {RESNET} --soc_version=Ascend310 --output_type=FP8", 'E10001 "UINT8"'),
    (f"atc {RESNET} --soc_version=Ascend310 --input_fp16_nodes=actual_input_1", "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --input_fp16_nodes="actual_input_1" '
     '--is_input_adjust_hw_layout=true', "ok"),
    (f'atc {RESNET} --soc_version=Ascend310 --input_fp16_nodes="actual_input_1" '
     '--is_input_adjust_hw_layout=false --out_nodes="Relu_1:0" --is_output_adjust_hw_layout=true',
     "ok"),
    ('atc --model=bert.onnx --framework=5 --output=bert --soc_version=Ascend310P3 '
     '--input_shape="input_ids:1,2,4,4;token_type_ids:1,16;input_mask:1,16" '
     '--input_fp16_nodes="token_type_ids;input_mask"', "ok"),
    (f"atc {RESNET} --soc_version=Ascend310 --input_fp16_nodes=actual_input",
     'E10017 "did you mean "actual_input_1"?"'),
    (f"atc {RESNET} --soc_version=Ascend310 --is_input_adjust_hw_layout=true", "E10057"),
    (f"atc {RESNET} --soc_version=Ascend310 --input_fp16_nodes=actual_input_1 "
     "--is_input_adjust_hw_layout=maybe", "E10005"),
    (f'atc {YOLO} --soc_version=Ascend310 --out_nodes="Conv_0:0;Relu_1:0"', "ok"),
    (f'atc {YOLO} --soc_version=Ascend310 --out_nodes="r1;m3"', "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --out_nodes=Conv_0", 'E10016 "did you mean "Conv_0:0"?"'),
    (f"atc {YOLO} --soc_version=Ascend310 --out_nodes=Relu_2:0", 'E10016 "Relu_1:0"'),
    (f"atc {RESNET} --soc_version=Ascend310 --input_shape=actual_input1:1,3,8,8",
     'E10016 "actual_input_1"'),
    # TensorFlow
    (f"atc {TF} --soc_version=Ascend310", "ok"),
    (f'atc {TF} --soc_version=Ascend310 --input_format=NHWC --input_shape="Placeholder:1,8,8,3" '
     '--out_nodes="prob:0"', "ok"),
    (f'atc {TF} --soc_version=Ascend310 --out_nodes="relu" --output_type="relu:0:FP16"', "ok"),
    (f"atc {TF} --soc_version=Ascend310 --input_fp16_nodes=Placeholder --output_type=FP16", "ok"),
    (f"atc {TF} --soc_version=Ascend310 --enable_scope_fusion_passes=ScopeLayerNormPass",
     "ok W10055"),
    (f"atc {TF} --soc_version=Ascend310 --out_nodes=relux", 'E10016 "did you mean "relu"?"'),
    ('atc --model=open.pb --framework=3 --output=out --soc_version=Ascend310 '
     '--input_shape="Placeholder:2,8,8,3"', "ok"),
    # precision
    *((f"atc {YOLO} --soc_version=Ascend310 --precision_mode={mode}", "ok") for mode in (
        "force_fp16", "force_fp32", "cube_fp16in_fp32out", "allow_fp32_to_fp16",
        "allow_mix_precision", "allow_mix_precision_fp16")),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode=must_keep_origin_dtype", "ok W11010"),
    *((f"atc {YOLO} --soc_version=Ascend310P3 --precision_mode_v2={mode}", "ok") for mode in (
        "fp16", "cube_fp16in_fp32out", "mixed_float16")),
    (f"atc {YOLO} --soc_version=Ascend310P3 --precision_mode_v2=origin", "ok W11010"),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode=allow_mix_precision_bf16", "E10055"),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode_v2=mixed_bfloat16", "E10055"),
    *((f"atc {YOLO} --soc_version=Ascend910B1 --precision_mode={mode}", 'ok W10055 "65504"')
      for mode in ("allow_mix_precision_bf16", "allow_fp32_to_bf16")),
    (f"atc {YOLO} --soc_version=Ascend910_9391 --precision_mode_v2=mixed_bfloat16", "ok W10055"),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode=fp16", "E10001"),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode=force_fp16 --precision_mode_v2=fp16",
     "E10056"),
    (f"atc {YOLO} --target=cpu --precision_mode=must_keep_origin_dtype", "ok"),
    (f"atc {YOLO} --target=cpu --precision_mode=force_fp16", 'ok W10055 "in f16"'),
    (f"atc {YOLO} --target=cpu --target_cpu=v3 --precision_mode=force_fp16", 'ok W10055 "in f16 on a CPU"'),
    (f"atc {YOLO} --target=cpu --precision_mode_v2=mixed_bfloat16", 'ok W10055 "in bf16 on a CPU"'),
    (f"atc {YOLO} --soc_version=Ascend310 --keep_dtype=keep.txt", "ok"),
    (f"atc {YOLO} --target=cpu --keep_dtype=keep.txt", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --keep_dtype=keep_other.txt",
     'ok W11002 "did you mean "Relu_1"?"'),
    (f"atc {YOLO} --soc_version=Ascend310 --keep_dtype=none.txt", "E10410"),
    (f"atc {YOLO} --soc_version=Ascend310 --op_precision_mode=precision.ini", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --op_precision_mode=precision_old.ini", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --op_precision_mode=precision_bad.ini",
     'E10001 "precision_bad.ini:2" "did you mean "high_precision"?"'),
    (f"atc {YOLO} --target=cpu --op_precision_mode=precision.ini", "E10055"),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode=allow_mix_precision "
     "--modify_mixlist=mixlist.json", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --modify_mixlist=mixlist.json", "E10001"),
    (f"atc {YOLO} --soc_version=Ascend310 --precision_mode_v2=mixed_float16 "
     "--modify_mixlist=mixlist_bad.json", 'E10032 "mixlist_bad.json:1"'),
    (f"atc {YOLO} --soc_version=Ascend310 --customize_dtypes=custom.cfg "
     "--precision_mode=force_fp16", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --customize_dtypes=custom_bad.cfg", "E10001"),
    (f"atc {YOLO} --soc_version=Ascend310 --customize_dtypes=custom_mixed.cfg", 'E10055 "Sigmoid_2"'),
    (f"atc {YOLO} --soc_version=Ascend310 --customize_dtypes=custom_cube.cfg "
     "--precision_mode=force_fp32", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --enable_compress_weight=true "
     "--compress_weight_conf=compress.cfg", "E10047"),
    (f"atc {RESNET} --soc_version=Ascend910_9589", 'E10055 "no table of this chip"'),
    (f"atc {RESNET} --soc_version=Ascend310M1", 'E10055 "no table of this chip"'),
    (f'atc {YOLO} --soc_version=Ascend310 --op_select_implmode=high_performance '
     '--optypelist_for_implmode="Gelu"', "ok"),
    (f'atc {YOLO} --soc_version=Ascend310 --optypelist_for_implmode="Sigmoid" '
     '--op_select_implmode=high_precision', "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --op_select_implmode=high_precision_for_all", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --optypelist_for_implmode=Sigmoid", "E10057"),
    (f"atc {YOLO} --soc_version=Ascend310 --is_weight_clip=1", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --is_weight_clip=0", "ok"),
    (f"atc {YOLO} --target=cpu --is_weight_clip=0", "ok W10055"),
    # fusions and passes
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=fusion.cfg", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=./fusion.json", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=fusion_example.cfg", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=fusion_own.cfg", "ok"),
    (f"atc {YOLO} --target=cpu --fusion_switch_file=fusion_own.cfg", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=fusion_typo.cfg",
     'ok W11002 "did you mean "ConvBatchnormFusionPass"?"'),
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=fusion_bad.cfg", "E10001"),
    (f"atc {YOLO} --soc_version=Ascend310 --fusion_switch_file=none.cfg", "E10410"),
    (f'atc {YOLO} --soc_version=Ascend310 --optimization_switch="ConvBatchnormFusionPass:off"', "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --oo_level=O1 --oo_constant_folding=true", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --oo_dead_code_elimination=false", "ok"),
    (f"atc {YOLO} --soc_version=Ascend310 --disable_reuse_memory=1", "ok"),
    # flags without a meaning here
    *((f"atc {YOLO} --soc_version=Ascend310 --{flag}", "ok W10055") for flag in (
        "enable_small_channel=1", "buffer_optimize=off_optimize", "virtual_type=1",
        "op_debug_level=1",
        "enable_single_stream=true", "ac_parallel_enable=1", "tiling_schedule_optimize=1",
        "input_hint_shape=images:1,3,8,8", "sparsity=1", "core_type=VectorCore", "aicore_num=1",
        "op_bank_path=./bank", "mdl_bank_path=./bank", "atomic_clean_policy=1", "jit_compile=true",
        "topo_sorting_mode=1", "quant_dumpable=1", "enable_attr_compression=true",
        "export_compile_stat=2", "shape_generalized_build_mode=shape_generalized",
        "static_model_ops_lower_limit=8", "save_original_model=true", "status_check=1",
        "multi_stream_parallel_mode=cv", "h2d_overlapped_with_compute=1", "allow_hf32=false",
        "enable_compress_weight=true", "compress_weight_conf=compress.cfg", "build_config=x",
        "external_weight=1", "external_weight=2")),
    *((f"atc {YOLO} --soc_version=Ascend310 --{flag}", "ok") for flag in (
        "deterministic=1", "deterministic_level=1", "host_env_os=linux --host_env_cpu=x86_64",
        "op_compiler_cache_mode=disable", "op_compiler_cache_mode=enable",
        "op_compiler_cache_mode=force --op_compiler_cache_dir=./cache", "display_model_info=1", "enable_small_channel=0",
        "buffer_optimize=l2_optimize", "external_weight=0", "op_debug_level=0",
        "enable_graph_parallel=0")),
    # refused, with a reason
    *((f"atc {YOLO} --soc_version=Ascend310 --{flag}", expect) for flag, expect in (
        ("auto_tune_mode=RL,GA", 'E10001 "aoe"'), ("cluster_config=c.json", 'E10055 "--out_nodes"'),
        ("hccl_sub_comm_config=c.json", "E10055"), ("raw_ge_options=none.json", "E10410"),
        ("mode=7", 'E10055 "OM2"'),
        ("shard_model_dir=parts --model_relation_config=r.json", 'E10055 E10055 "--parallel"'),
        ("precision_mode_v2=cube_hif8", 'E10055 "hifloat8"'), ("static_model_ops_lower_limit=-2", "E10001"),
        ("out_nodes=Conv_0:99999999999999999999", "E10013"),
        ("cal_conf=c.cfg", 'E10055 "--compression_optimize_conf"'),
        ("enable_graph_parallel=1", 'E10055 "--parallel"'), ("encrypt_mode=0", "E10055"),
        ("host_env_os=windows", "E10001"), ("host_env_cpu=arm", "E10001"),
        ("deterministic=2", "E10006"), ("log=verbose", "E10010"),
        ("compress_weight_conf=none.cfg", "E10410"), ("buffer_optimize=l2_optimise", 'E10001 "l2_optimize"'),
        ("disable_passes=graph-fuse-conv-bm", 'E10001 "did you mean "graph-fuse-conv-bn"?"'),
        ("modle=x", 'E10055 "did you mean --model?"'), ("optypelist=Gelu", "E10057"))),
    # characters of word processors
    ("atc –model=resnet50.onnx --framework=5 --output=out --soc_version=Ascend310", 'E10055 "U+2013"'),
    ("atc —model=resnet50.onnx --framework=5 --output=out --soc_version=Ascend310", 'E10055 "U+2014"'),
    (f"atc {RESNET} --soc_version=“Ascend310”", 'E10001 "U+201C"'),
    (f"atc {RESNET} --soc_version=Ascend310 --input_shape=actual_input_1：1,3,8,8", 'E10001 "U+FF1A"'),
    (f"atc {RESNET} --soc_version=Ascend310 --input_shape=actual_input_1:1，3，8，8", 'E10001 "U+FF0C"'),
    (f"atc {RESNET} --soc_version='Ascend310\r'", 'E10001 "dos2unix"'),
    (f"atc {RESNET} --soc_version=Ascend310 '\\ '", "E10055"),
    (f"atc {RESNET} --soc_version=Ascend310 --input_shape=actual_input_1: 1,3,8,8",
     'E10049 "is left out"'),
    (f'atc {TF} --soc_version=Ascend310 --input_shape="Placeholder:1,8,8,3" "input_name1:Placeholder"',
     "ok W10055"),
    (f"atc {RESNET} --soc_version=Ascend310 --input_shape=actual_input_1:9,3,8,8 "
     "--input_shape_range=actual_input_1:[1,3,8,8]", "ok W10055"),
    # files of other frameworks
    *((f"atc --model={file} --framework={framework} --output=out --soc_version=Ascend310", expect)
      for file, framework, expect in (
          ("net.pt", 5, 'E13005 "PyTorch" "torch.onnx.export"'), ("net.pt2", 5, 'E13005 "torch.export"'),
          ("net.tflite", 5, 'E13005 "TensorFlow Lite"'), ("net.tflite", 3, 'E13005 "TensorFlow Lite"'),
          ("net.h5", 3, 'E13005 "HDF5"'), ("frozen.pb", 5, 'E13005 "--framework=3"'),
          ("resnet50.onnx", 3, 'E13005 "--framework=5"'), ("really_onnx.pb", 5, "ok"),
          ("net.prototxt", 5, 'E13005 "--framework=0"'), ("pointer.onnx", 5, 'E13005 "git lfs pull"'),
          ("page.onnx", 5, 'E13005 "web site"'), ("none.onnx", 5, "E10410"))),
    # --framework is what the file says, --output may have its suffix
    ("atc --model=resnet50.onnx --output=out.om --soc_version=Ascend310", "ok"),
    ("atc --model=net.pt --output=out --soc_version=Ascend310", 'E13005 "torch.onnx.export"'),
    # modes
    ("atc --mode=3 --model=resnet50.onnx --framework=5 --check_report=reports/check.json", "ok"),
    ("atc --mode=3 --model=yolov5s.onnx --framework=5 --op_precision_mode=precision.ini", "ok"),
    ("atc --mode=3 --model=yolov5s.onnx --framework=5 --soc_version=Ascend310 "
     "--op_precision_mode=precision.ini", "ok"),
    ("atc --mode=3 --model=yolov5s.onnx --framework=5 --keep_dtype=none.txt", "E10410"),
    ("atc --mode=3 --model=net.pt --framework=5", "E13005"),
    ("atc --mode=1 --om=resnet50.onnx --framework=5 --json=json/resnet50.json", "ok"),
    ("atc --mode=1 --om=frozen.pb --framework=3 --json=frozen.json", "ok"),
    ("atc --mode=1 --om=frozen.pb --framework=5 --json=frozen.json", "E13005"),
    ("atc --mode=1 --om=resnet50.onnx --framework=5", 'E10007 "--json"'),
    ("atc --mode=5 --om=graph.txt --json=graph.json", "ok"),
    ("atc --mode=5 --om=resnet50.onnx --json=graph.json", "E13018"),
    ("atc --mode=1 --om=frozen.pb --json=frozen.json", 'E10041 "--framework=3"'),
    ("atc --mode=6 --om=resnet50.onnx", 'E10041 "--framework=5"'),
    ("atc --mode=30 --model=resnet50.onnx --framework=5 --output=out --soc_version=Ascend310P3",
     'E10055 "--mode=0"'),
    ("atc --mode=6", "E10007"),
    # single operators
    ("atc --singleop=op_models/op_list.json --soc_version=Ascend310 --output=op_models", "ok"),
    ("atc --singleop=./op_models/op_list.json --output=./new/models --soc_version=Ascend310P3 "
     "--log=info", "ok"),
    ("atc --singleop=none.json --soc_version=Ascend310 --output=op_models", "E10410"),
    ("atc --singleop=keep.txt --soc_version=Ascend310 --output=op_models", "E10025"),
    ("atc --singleop=op_models/op_list.json --soc_version=Ascend310", 'E10007 "--output"'),
]


# ---- the same lines in other forms ---------------------------------------------------

FORMS = {
    "--flag=v": lambda name, value: f"--{name}={value}",
    "--flag v": lambda name, value: f"--{name} {value}",
    "-flag=v": lambda name, value: f"-{name}={value}",
    "-flag v": lambda name, value: f"-{name} {value}",
    "--fl-ag=v": lambda name, value: f"--{name.replace('_', '-')}={value}",
    "--flag='v'": lambda name, value: f"--{name}='{value}'",
    '--flag="v"': lambda name, value: f'--{name}="{value}"',
    "'--flag=v'": lambda name, value: f"'--{name}={value}'",
    "--fla=v": lambda name, value: f"--{SHORT.get(name, name)}={value}",
    "--flag=v \\": lambda name, value: f"--{name}={value} \\\n",
}
# Unique beginnings.
SHORT = {"framework": "fram", "soc_version": "soc_v", "input_shape": "input_shape", "output": "output",
         "out_nodes": "out_n", "output_type": "output_t", "input_fp16_nodes": "input_fp",
         "precision_mode": "precision_mode", "op_select_implmode": "op_sel", "log": "log"}
BASES = [
    [("model", "resnet50.onnx"), ("framework", "5"), ("output", "out"), ("soc_version", "Ascend310"),
     ("input_shape", "actual_input_1:1,3,8,8"), ("log", "error")],
    [("framework", "5"), ("model", "./yolov5s.onnx"), ("input_format", "NCHW"),
     ("input_shape", "images:1,3,8,8"), ("output", "build/yolov5s"), ("soc_version", "Ascend310P3"),
     ("out_nodes", "Sigmoid_2:0;Relu_1:0"), ("output_type", "FP16")],
    [("model", "frozen.pb"), ("framework", "3"), ("output", "tf"), ("soc_version", "Ascend910A"),
     ("input_fp16_nodes", "Placeholder"), ("out_nodes", "prob:0"),
     ("op_select_implmode", "high_precision")],
]


def _quoted(value, form):
    """A value with a semicolon needs quotes of a shell."""
    plain = form not in ("--flag='v'", '--flag="v"', "'--flag=v'")
    return f'"{value}"' if plain and ";" in value else value


LINES += [("atc " + " ".join(write(name, _quoted(value, form)) for name, value in base) +
           f" --verbose={i % 2}", "ok")
          for i, base in enumerate(BASES) for form, write in FORMS.items()]
