#===-- broken_nodes.py - nodes whose attributes, inputs or shapes do not fit -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CASES in the form of broken_models.py: each has one faulty node, which the error must name."""

import numpy as np
from broken_models import Case
from models import (FLOAT, TensorProto, conv, helper, ints, model, node, numpy_helper, tensor,
                    weights)

CASES = []


def case(name, code, made, *words, count=1):
    def build():
        return made
    build.__name__ = name
    CASES.append(Case(build, code, words, (), count))


def one(op, inputs, *initializers, shape=(1, 3, 8, 8), opset=13, extra=(), element=FLOAT, result=None,
        **attributes):
    """A model of one node, named 'n'; `result` is the element type of its output, that of x for None."""
    return model([node(op, inputs, ["y"], "n", **attributes)],
                 inputs=[tensor("x", shape, element), *extra], outputs=[tensor("y", None, result or element)],
                 initializers=initializers, opset=opset)


def without(made, attribute):
    """The same with an attribute of its first node left out."""
    kept = [a for a in made.graph.node[0].attribute if a.name != attribute]
    del made.graph.node[0].attribute[:]
    made.graph.node[0].attribute.extend(kept)
    return made


def floats(name, *values):
    return numpy_helper.from_array(np.array(values, np.float32), name)


CONV = "'conv1' (Conv)"

# Convolutions: the filter, the attributes.
case("filter_of_rank_3", "E14001", conv((4, 3, 3)), CONV, "rank 3")
case("filter_of_rank_0", "E14001", conv(()), CONV, "rank 0")
case("channels_do_not_match", "E14001", conv((4, 5, 3, 3)), CONV, "5", "3 channels")
case("filter_without_filters", "E14001", conv((0, 3, 3, 3)), CONV)
case("filter_larger_than_the_input", "E14001", conv((4, 3, 9, 9)), CONV, "9", "8")
case("group_0", "E14001", conv(group=0), CONV, "'group'", "0")
case("group_negative", "E14001", conv(group=-1), CONV, "'group'", "-1")
case("group_0_of_dynamic_dims", "E14001",
     one("Conv", ["x", "w"], weights("w", 4, 3, 3, 3), shape=("n", 3, "h", "w"), group=0),
     "'group'", "at least 1")
case("groups_as_only_the_compiler_states_them", "E14001", conv(groups_by_channels=1), CONV,
     "'groups_by_channels'")
case("group_that_does_not_divide", "E14001", conv((4, 1, 3, 3), group=2), CONV)
case("strides_0", "E14001", conv(strides=[0, 1]), CONV, "'strides'", "0")
case("strides_huge", "E14001", conv(strides=[1 << 62, 1]), CONV, "'strides'")
case("strides_of_the_wrong_count", "E14001", conv(strides=[1]), CONV, "'strides'", "1 values")
case("strides_of_the_wrong_type", "E14001", conv(strides=2.5), CONV, "'strides'", "FLOAT", "INTS")
case("dilations_0", "E14001", conv(dilations=[1, 0]), CONV, "'dilations'")
case("pads_negative", "E14001", conv(pads=[-9, -9, -9, -9]), CONV, "'pads'", "-9")
case("pads_huge", "E14001", conv(pads=[(1 << 63) - 1] * 4), CONV, "'pads'")
case("kernel_shape_against_the_filter", "E14001", conv(kernel_shape=[5, 5]), CONV, "'kernel_shape'")
case("auto_pad_unknown", "E14001", conv(auto_pad="BOTH"), CONV, "'auto_pad'", "'BOTH'", "SAME_UPPER")
case("bias_of_the_wrong_size", "E14001",
     model([node("Conv", ["x", "w", "b"], ["y"], "conv1")],
           initializers=[weights("w", 4, 3, 3, 3), weights("b", 5)]), CONV, "5")
case("bias_of_the_wrong_type", "E14001",
     model([node("Conv", ["x", "w", "b"], ["y"], "conv1")],
           initializers=[weights("w", 4, 3, 3, 3), ints("b", 1, 2, 3, 4)]), CONV)
case("two_faulty_nodes", "E14001",
     model([node("Conv", ["x", "w"], ["a"], "conv1", group=0),
            node("Flatten", ["x"], ["b"], "flat", axis=9), node("Relu", ["a"], ["y"], "behind"),
            node("Relu", ["b"], ["z"], "also")],
           outputs=[tensor("y", None), tensor("z", None)], initializers=[weights("w", 4, 3, 3, 3)]),
     CONV, "'flat' (Flatten)", count=2)

# Attributes of other operators.
case("pool_without_kernel", "E14001", one("MaxPool", ["x"]), "'n' (MaxPool)", "'kernel_shape'",
     "missing")
case("pool_kernel_0", "E14001", one("AveragePool", ["x"], kernel_shape=[0, 2]), "(AveragePool)",
     "'kernel_shape'")
case("pool_kernel_larger_than_the_input", "E14001", one("MaxPool", ["x"], kernel_shape=[9, 9]),
     "(MaxPool)", "9")
case("pool_with_a_window_of_padding_alone", "E14001",
     one("MaxPool", ["x"], kernel_shape=[2, 2], pads=[5, 5, 5, 5]), "(MaxPool)")
case("concat_without_axis", "E14001", one("Concat", ["x", "x"]), "'n' (Concat)", "'axis'", "missing")
case("concat_axis_out_of_range", "E14001", one("Concat", ["x", "x"], axis=4), "(Concat)", "'axis'",
     "rank 4")
case("concat_shapes_differ", "E14001", one("Concat", ["x", "w"], weights("w", 1, 3, 9, 9), axis=1),
     "(Concat)")
case("cast_without_to", "E14001", one("Cast", ["x"]), "(Cast)", "'to'", "missing")
case("cast_to_an_unknown_type", "E14001", one("Cast", ["x"], to=123), "(Cast)", "123")
case("transpose_twice_the_same_axis", "E14001", one("Transpose", ["x"], perm=[0, 1, 1, 2]),
     "(Transpose)", "perm")
case("transpose_of_another_rank", "E14001", one("Transpose", ["x"], perm=[1, 0]), "(Transpose)", "perm")
case("softmax_axis_out_of_range", "E14001", one("Softmax", ["x"], axis=-5), "(Softmax)", "'axis'")
case("flatten_axis_out_of_range", "E14001", one("Flatten", ["x"], axis=5), "(Flatten)", "'axis'")
case("attribute_without_a_type", "E14001",
     without(one("Flatten", ["x"]), "axis"), "(Flatten)", "'axis'")
CASES[-1].build().graph.node[0].attribute.add(name="axis").i = 1
case("split_that_does_not_add_up", "E14001",
     model([node("Split", ["x", "s"], ["y", "z"], "n", axis=1)], initializers=[ints("s", 1, 1)]),
     "'n' (Split)")
case("split_negative", "E14001",
     model([node("Split", ["x", "s"], ["y", "z"], "n", axis=1)], initializers=[ints("s", -1, 4)]),
     "'n' (Split)")
case("depth_to_space_that_does_not_divide", "E14001", one("DepthToSpace", ["x"], blocksize=2),
     "(DepthToSpace)")
case("depth_to_space_0", "E14001", one("DepthToSpace", ["x"], blocksize=0), "(DepthToSpace)",
     "blocksize")
case("depth_to_space_0_of_dynamic_dims", "E14001",
     one("DepthToSpace", ["x"], blocksize=0, shape=("n", 3, "h", "w")), "'blocksize'", "at least 1")
case("constant_without_value", "E14001",
     model([node("Constant", [], ["c"], "n"), node("Add", ["x", "c"], ["y"], "add")]),
     "'n' (Constant)")
case("constant_with_damaged_value", "E14001",
     model([node("Constant", [], ["c"], "n", value=TensorProto(data_type=FLOAT, dims=[3])),
            node("Add", ["x", "c"], ["y"], "add")]), "'n' (Constant)")

# Flags are 0 or 1, also where only a kernel of the host reads them.
for op, flag, value in (("ReduceMax", "keepdims", 3), ("ReduceL2", "keepdims", -1),
                        ("ArgMax", "select_last_index", 2), ("TopK", "largest", -2),
                        ("TopK", "sorted", 5)):
    case(f"{flag}_{value}_of_{op}", "E14001",
         one(op, ["x", "k"] if op == "TopK" else ["x"], *[ints("k", 2)] * (op == "TopK"),
             **{flag: value}), f"'n' ({op})", f"'{flag}'", f"is {value}",
         "expected 0 or 1")
case("ceil_mode_2_of_dynamic_dims", "E14001",
     one("MaxPool", ["x"], shape=("n", 3, "h", "w"), kernel_shape=[2, 2], ceil_mode=2),
     "'n' (MaxPool)", "'ceil_mode'", "expected 0 or 1")

# Element types that an attribute asks for.
for op in ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"):
    like = op.endswith("Like")
    for name, dtype in (("UINT8", 2), ("BOOL", 9), ("COMPLEX64", 14), ("data type 4294967297", (1 << 32) + 1)):
        case(f"{op}_of_{name.replace(' ', '_')}", "E14001",
             one(op, ["x"] if like else [], dtype=dtype, **({} if like else {"shape": [2, 3]})),
             f"'n' ({op})", "'dtype'", name)
    if like:
        case(f"{op}_as_integers", "E14001", one(op, ["x"], element=TensorProto.INT32), f"'n' ({op})")
case("cast_to_a_type_beyond_32_bits", "E14001", one("Cast", ["x"], to=(1 << 32) + 1), "(Cast)", "'to'")
for dtype in (17, 18, 19, 20, 24):
    for name, value, said in (("saturate", -1, "expected 0 or 1"), ("round_mode", "x", "expected one of")):
        case(f"cast_to_{dtype}_with_{name}_{value}", "E14001",
             one("Cast", ["x"], result=TensorProto.UINT8, to=dtype, opset=24, **{name: value}),
             "(Cast)", f"'{name}'", said)
case("quantized_to_an_unknown_type", "E14001",
     one("QuantizeLinear", ["x", "s"], numpy_helper.from_array(np.float32(1), "s"), opset=21,
         output_dtype=99), "(QuantizeLinear)", "'output_dtype'")
for dtype in (99, -1, TensorProto.INT32, TensorProto.STRING):
    case(f"real_numbers_of_type_{dtype}", "E14001",
         one("DequantizeLinear", ["x", "s"], numpy_helper.from_array(np.float32(1), "s"), opset=23,
             element=TensorProto.UINT8, output_dtype=dtype), "(DequantizeLinear)", "'output_dtype'")
for op, attributes in (("AveragePool", {"kernel_shape": [2, 2]}), ("LpPool", {"kernel_shape": [2, 2]}),
                       ("LRN", {"size": 3})):
    case(f"{op}_of_integers", "E14001", one(op, ["x"], element=TensorProto.INT16, **attributes),
         f"'n' ({op})", "floating-point type")
for name, element, lists in (("texts_for_numbers", FLOAT, {"cats_strings": ["1", "2"]}),
                             ("numbers_for_texts", TensorProto.STRING, {"cats_int64s": [1, 2]}),
                             ("both", FLOAT, {"cats_int64s": [1], "cats_strings": ["1"]}),
                             ("none", FLOAT, {})):
    made = one("OneHotEncoder", ["x"], element=element, domain="ai.onnx.ml", **lists)
    made.opset_import.extend([helper.make_opsetid("ai.onnx.ml", 3)])
    case(f"categories_{name}", "E14001", made, "'n' (OneHotEncoder)", "expected attribute cats_")

# Inputs of nodes.
case("input_missing", "E14001", one("Conv", ["x"]), "input 1", "'n' (Conv)", "missing")
case("all_inputs_missing", "E14001", one("Relu", []), "'n' (Relu)", "missing")
case("too_many_inputs", "E14001", one("Relu", ["x", "x", "x"]), "'n' (Relu)")
case("too_many_outputs", "E14001",
     model([node("Relu", ["x"], ["y", "z"], "n")], outputs=[tensor("y", None), tensor("z", None)]),
     "'n' (Relu)", "'z'")
case("types_differ", "E14001", one("Add", ["x", "i"], extra=[tensor("i", [8], TensorProto.INT64)]),
     "'n' (Add)")
case("shapes_do_not_broadcast", "E14001", one("Add", ["x", "w"], weights("w", 7)), "'n' (Add)", "7")
case("matmul_that_does_not_fit", "E14001", one("MatMul", ["x", "w"], weights("w", 9, 2)),
     "'n' (MatMul)", "9")
case("gemm_of_rank_4", "E14001", one("Gemm", ["x", "x"]), "'n' (Gemm)", "rank 4")
case("batchnorm_of_other_channels", "E14001",
     one("BatchNormalization", ["x", "s", "s", "s", "s"], weights("s", 5)),
     "'n' (BatchNormalization)")
case("reshape_of_another_size", "E14001", one("Reshape", ["x", "s"], ints("s", 7, 7)),
     "'n' (Reshape)")
case("reshape_with_two_unknown_dims", "E14001", one("Reshape", ["x", "s"], ints("s", -1, -1)),
     "'n' (Reshape)")
case("reshape_that_overflows", "E14001",
     one("Reshape", ["x", "s"], ints("s", 1 << 62, 1 << 62, 192)), "'n' (Reshape)")
case("squeeze_of_a_dim_that_is_not_1", "E14001", one("Squeeze", ["x", "a"], ints("a", 1)),
     "'n' (Squeeze)")
case("unsqueeze_twice_the_same_axis", "E14001", one("Unsqueeze", ["x", "a"], ints("a", 0, 0)),
     "'n' (Unsqueeze)")
case("slice_with_step_0", "E14001",
     one("Slice", ["x", "b", "e", "a", "t"], ints("b", 0), ints("e", 4), ints("a", 2), ints("t", 0)),
     "'n' (Slice)")
case("slice_lists_differ", "E14001",
     one("Slice", ["x", "b", "e"], ints("b", 0, 0), ints("e", 4)), "'n' (Slice)")
case("slice_axis_out_of_range", "E14001",
     one("Slice", ["x", "b", "e", "a"], ints("b", 0), ints("e", 4), ints("a", 9)), "'n' (Slice)")
case("pad_of_the_wrong_count", "E14001", one("Pad", ["x", "p"], ints("p", 1, 1)), "'n' (Pad)")
case("pad_negative_beyond_the_input", "E14001",
     one("Pad", ["x", "p"], ints("p", 0, 0, -5, 0, 0, 0, -5, 0)), "'n' (Pad)")
case("pad_of_an_unknown_mode", "E14001",
     one("Pad", ["x", "p"], ints("p", *[1] * 8), mode="wobble"), "'n' (Pad)", "'wobble'")
case("tile_that_overflows", "E14001", one("Tile", ["x", "r"], ints("r", *[1 << 40] * 4)), "'n' (Tile)")
case("tile_negative", "E14001", one("Tile", ["x", "r"], ints("r", 1, 1, -1, 1)), "'n' (Tile)")
case("expand_that_overflows", "E14001", one("Expand", ["x", "s"], ints("s", *[1 << 30] * 4)),
     "'n' (Expand)")
case("expand_that_does_not_broadcast", "E14001", one("Expand", ["x", "s"], ints("s", 1, 3, 8, 9)),
     "'n' (Expand)")
case("resize_without_sizes_and_scales", "E14001", one("Resize", ["x"]), "'n' (Resize)")
case("resize_by_infinity", "E14001",
     one("Resize", ["x", "", "s"], floats("s", 1, 1, np.inf, np.nan)), "'n' (Resize)")
case("resize_by_a_huge_scale", "E14001",
     one("Resize", ["x", "", "s"], floats("s", 1, 1, 1e30, 1)), "'n' (Resize)")
case("resize_to_nothing", "E14001",
     one("Resize", ["x", "", "s"], floats("s", 1, 1, 0, 1)), "'n' (Resize)")
case("range_without_end", "E14001",
     model([node("Range", ["a", "b", "c"], ["r"], "n"), node("Add", ["x", "r"], ["y"])],
           initializers=[numpy_helper.from_array(np.float32(v), k)
                         for k, v in (("a", 0), ("b", 1e30), ("c", 1e-30))]), "'n' (Range)")
case("range_with_step_0", "E14001",
     model([node("Range", ["a", "b", "c"], ["r"], "n"), node("Add", ["x", "r"], ["y"])],
           initializers=[numpy_helper.from_array(np.float32(v), k)
                         for k, v in (("a", 0), ("b", 5), ("c", 0))]), "'n' (Range)")
case("constant_of_shape_negative", "E14001",
     model([node("ConstantOfShape", ["s"], ["c"], "n"), node("Add", ["x", "c"], ["y"])],
           initializers=[ints("s", 3, -3)]), "'n' (ConstantOfShape)", "-3")
case("constant_of_shape_that_overflows", "E14001",
     model([node("ConstantOfShape", ["s"], ["c"], "n"), node("Add", ["x", "c"], ["y"])],
           initializers=[ints("s", 1 << 40, 1 << 40)]), "'n' (ConstantOfShape)")
case("result_with_too_many_elements", "E14001",
     one("MatMul", ["x", "v"], shape=(1 << 30, 1), extra=[tensor("v", [1, 1 << 30])]),
     "'n' (MatMul)", "2^40")
case("clip_with_a_list", "E14001", one("Clip", ["x", "w"], weights("w", 3)), "'n' (Clip)")
case("reduce_axis_out_of_range", "E14001", one("ReduceMean", ["x"], axes=[7]), "'n' (ReduceMean)",
     "axes")
case("argmax_axis_out_of_range", "E14001", one("ArgMax", ["x"], axis=7), "'n' (ArgMax)", "axis")
case("more_dims_than_any_tensor_has", "E14001", one("Relu", ["x"], shape=[1] * 300), "'x'", "300 dims")
case("result_of_more_dims_than_any_tensor_has", "E14001",
     one("Unsqueeze", ["x", "a"], ints("a", *range(20))), "'n' (Unsqueeze)", "24 dims")
case("integer_convolution_of_floats", "E14001", one("ConvInteger", ["x", "x"]), "'n' (ConvInteger)")


# What generated code cannot do and host kernels can: (name, model, words of the warning).
HOSTED = [
    ("cast_to_string", one("Cast", ["x"], result=TensorProto.STRING, to=TensorProto.STRING), ()),
    ("reshape_by_data", one("Reshape", ["x", "s"], extra=[tensor("s", [2], TensorProto.INT64)]), ()),
    ("convolution_of_doubles",
     one("Conv", ["x", "w"], numpy_helper.from_array(np.zeros((2, 3, 3, 3)), "w"),
         element=TensorProto.DOUBLE), ()),
    ("power_of_integers",
     one("Pow", ["x", "i"], shape=[4], element=TensorProto.INT64,
         extra=[tensor("i", [4], TensorProto.INT64)]), ()),
    ("result_without_elements", one("Slice", ["x", "b", "b"], ints("b", 0)), ()),
    # Integers divided by 0 are 0 at run time, so this shape fails there.
    ("division_of_constants_by_zero",
     model([node("Div", ["a", "b"], ["c"], "n"), node("Reshape", ["x", "c"], ["y"], "r")],
           initializers=[ints("a", 4, 4), ints("b", 0, 0)]), ()),
    ("past_keys_without_past_values",
     one("Attention", ["x", "x", "v", "", "k"], weights("v", 2, 3, 6, 8), shape=("b", 3, "n", 8), opset=23,
         extra=[tensor("k", ["b", 3, "m", 8])]), ("W11001",)),
    ("convolution_of_what_has_one_dim",
     model([node("Concat", ["x", "s"], ["c"], "c", axis=0), node("Conv", ["c", "w"], ["y"], "n")],
           inputs=[tensor("x", ["n"])], initializers=[weights("s", 24), weights("w", 4, 1, 3)]), ("W11001",)),
    *((f"unused_input_of_type_{element}",
       one("Relu", ["x"], shape=["n"], opset=25, extra=[tensor("unused", [7, 5], element)]), ())
      for element in (21, 22, 23, 25, 26)),
    ("strings", one("Identity", ["x"], element=TensorProto.STRING), ()),
    ("symbolic_dims", one("Relu", ["x"], shape=["N", 3, "H", 8]), ("W11001", "'x' [N, 3, H, 8]")),
    ("unknown_rank", one("Relu", ["x"], shape=None), ("W11001", "'x' of unknown rank")),
    ("negative_dims", one("Relu", ["x"], shape=[-5, -8]), ("W11001", "'x' [?, ?]")),
]
