//===-- OperatorTest.cpp - operators, and how opsets change them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers come from the stored models; here it is about which op with which
// attributes.

#include <catch2/catch.hpp>

#include "test/frontends/onnx/TestModel.h"

using namespace atc;
using namespace atc::test;
using Catch::Contains;
using onnx::TensorProto;

/// A model of the input x and the output y, for one node between.
static TestModel modelOf(int64_t opset, const Ints &dims) {
  TestModel model(opset);
  model.input("x", dims).output("y");
  return model;
}

TEST_CASE("Clip: bounds are attributes, from opset 11 inputs") {
  TestModel old = modelOf(10, {4});
  attr(attr(old.node("Clip", {"x"}, {"y"}), "min", 0.0f), "max", 6.0f);
  CHECK_THAT(textOf(old), Contains("graph.clip %arg0 {max = 6.000000e+00 : f64, "
                                   "min = 0.000000e+00 : f64}"));

  TestModel model = modelOf(11, {4});
  model.floats("low", {}, {-1}).floats("high", {}, {1});
  SECTION("both") {
    model.node("Clip", {"x", "low", "high"}, {"y"});
    CHECK_THAT(textOf(model), Contains("{max = 1.000000e+00 : f64, min = -1.000000e+00 : f64}"));
  }
  SECTION("only max") {
    model.node("Clip", {"x", "", "high"}, {"y"});
    CHECK_THAT(textOf(model), Contains("{max = 1.000000e+00 : f64, min = 0xFFF0000000000000"));
  }
  SECTION("a bound that is computed") {
    model.input("m", {});
    model.node("Clip", {"x", "m"}, {"y"});
    CHECK_THAT(textOf(model), Contains("graph.max %arg0, %arg1"));
  }
  SECTION("a bound of several elements") {
    model.floats("two", {2}, {1, 2});
    model.node("Clip", {"x", "two"}, {"y"});
    CHECK_THAT(errorOf(model), Contains("input 1 ('two') of node 'n' (Clip): has 2 elements"));
  }
}

TEST_CASE("Squeeze and Unsqueeze: axes are an attribute, from opset 13 an input") {
  TestModel old = modelOf(11, {1, 4, 1});
  attr(old.node("Squeeze", {"x"}, {"s"}), "axes", Ints{-1});
  attr(old.node("Unsqueeze", {"s"}, {"y"}), "axes", Ints{0, 3});
  CHECK_THAT(textOf(old), Contains("-> (tensor<1x1x4x1xf32>"));

  TestModel model = modelOf(13, {1, 4, 1});
  model.ints("a", {-1}).ints("b", {0, 3});
  model.node("Squeeze", {"x", "a"}, {"s"});
  model.node("Unsqueeze", {"s", "b"}, {"y"});
  CHECK_THAT(textOf(model), Contains("-> (tensor<1x1x4x1xf32>"));

  TestModel all = modelOf(13, {1, 4, 1});
  all.node("Squeeze", {"x"}, {"y"});
  CHECK_THAT(textOf(all), Contains("-> (tensor<4xf32>"));

  TestModel wrong = modelOf(11, {1, 4, 1});
  attr(wrong.node("Squeeze", {"x"}, {"y"}), "axes", Ints{1});
  CHECK_THAT(errorOf(wrong), Contains("names axis 1, which has 4 elements, expected 1"));
}

TEST_CASE("Softmax: before opset 13 along all dims from the axis on") {
  TestModel old = modelOf(11, {2, 3, 4});
  old.node("Softmax", {"x"}, {"y"});
  std::string text = textOf(old);
  CHECK_THAT(text,
             Contains("-> tensor<2x12xf32>") && Contains("{axis = 1 : i64} : (tensor<2x12xf32>)"));

  TestModel plain = modelOf(11, {1, 1000, 1, 1});
  plain.node("Softmax", {"x"}, {"y"});
  CHECK_THAT(textOf(plain), !Contains("reshape") && Contains("{axis = 1 : i64}"));

  TestModel model = modelOf(13, {2, 3, 4});
  model.node("LogSoftmax", {"x"}, {"y"});
  CHECK_THAT(textOf(model), Contains("graph.log_softmax %arg0 {axis = 2 : i64}"));
}

TEST_CASE("Reduce: axes are an attribute, later an input") {
  TestModel old = modelOf(11, {2, 3, 4});
  attr(attr(old.node("ReduceMean", {"x"}, {"y"}), "axes", Ints{-1, 0}), "keepdims", int64_t(0));
  CHECK_THAT(textOf(old),
             Contains("axes = array<i64: 0, 2>, keepdims = false") && Contains("-> tensor<3xf32>"));

  TestModel all = modelOf(11, {2, 3, 4});
  all.node("ReduceMax", {"x"}, {"y"});
  CHECK_THAT(textOf(all), Contains("axes = array<i64: 0, 1, 2>"));

  for (auto [op, opset] : {std::pair("ReduceSum", 13), {"ReduceMean", 18}}) {
    TestModel model = modelOf(opset, {2, 3, 4});
    model.ints("axes", {1});
    model.node(op, {"x", "axes"}, {"y"});
    CHECK_THAT(textOf(model), Contains("axes = array<i64: 1>") && Contains("tensor<2x1x4xf32>"));
  }

  TestModel noop = modelOf(18, {2, 3});
  attr(noop.node("ReduceSumSquare", {"x"}, {"y"}), "noop_with_empty_axes", int64_t(1));
  CHECK_THAT(textOf(noop), Contains("graph.mul %arg0, %arg0"));

  TestModel outside = modelOf(11, {2, 3, 4});
  attr(outside.node("ReduceSum", {"x"}, {"y"}), "axes", Ints{1, 3});
  CHECK_THAT(errorOf(outside), Contains("attribute 'axes' of node 'n' (ReduceSum): 3 is "));
}

TEST_CASE("Slice: bounds are attributes, from opset 10 inputs with steps") {
  TestModel old = modelOf(9, {4, 6});
  attr(attr(attr(old.node("Slice", {"x"}, {"y"}), "starts", Ints{1}), "ends", Ints{INT64_MAX}),
       "axes", Ints{1});
  CHECK_THAT(textOf(old), Contains("sizes = array<i64: 4, 5>, starts = array<i64: 0, 1>"));

  TestModel model = modelOf(13, {4, 6});
  model.ints("s", {-1, 0}).ints("e", {INT64_MIN, 6}).ints("a", {-1, 0}).ints("t", {-2, 3});
  model.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
  CHECK_THAT(textOf(model), Contains("sizes = array<i64: 2, 3>, starts = array<i64: 0, 5>, "
                                     "steps = array<i64: 3, -2>"));

  for (int64_t end : {int64_t(INT32_MAX), INT64_MAX}) {
    TestModel backward = modelOf(13, {4, 6});
    backward.ints("s", {-2}).ints("e", {end}).ints("a", {1}).ints("t", {-1});
    backward.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
    CHECK_THAT(textOf(backward), Contains("sizes = array<i64: 4, 5>"));
  }

  TestModel empty = modelOf(13, {4, 6});
  empty.ints("s", {3}).ints("e", {1});
  empty.node("Slice", {"x", "s", "e"}, {"y"});
  CHECK_THAT(textOf(empty), Contains("graph.constant dense<> : tensor<0x6xf32>"));

  TestModel zero = modelOf(13, {4, 6});
  zero.ints("s", {0}).ints("e", {1}).ints("a", {0}).ints("t", {0});
  zero.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
  CHECK_THAT(errorOf(zero), Contains("node 'n' (Slice): has a step of 0"));
}

TEST_CASE("Split: equal parts, stated sizes, num_outputs") {
  TestModel equal = modelOf(11, {2, 6});
  equal.output("z");
  attr(equal.node("Split", {"x"}, {"y", "z"}), "axis", int64_t(1));
  CHECK_THAT(textOf(equal), Contains("sizes = array<i64: 2, 3>, starts = array<i64: 0, 3>"));

  TestModel stated = modelOf(13, {2, 6});
  stated.output("z").ints("split", {1, 5});
  attr(stated.node("Split", {"x", "split"}, {"y", "z"}), "axis", int64_t(1));
  CHECK_THAT(textOf(stated), Contains("sizes = array<i64: 2, 5>, starts = array<i64: 0, 1>"));

  TestModel uneven = modelOf(18, {7});
  uneven.output("z").output("w");
  attr(uneven.node("Split", {"x"}, {"y", "z", "w"}), "num_outputs", int64_t(3));
  CHECK_THAT(textOf(uneven), Contains("sizes = array<i64: 1>, starts = array<i64: 6>"));

  TestModel wrong = modelOf(13, {2, 6});
  wrong.output("z").ints("split", {1, 4});
  attr(wrong.node("Split", {"x", "split"}, {"y", "z"}), "axis", int64_t(1));
  CHECK_THAT(errorOf(wrong), Contains("split sizes add up to 5, expected 6"));
}

TEST_CASE("Pad: pads are an attribute, from opset 11 an input, from 18 with axes") {
  TestModel old = modelOf(10, {2, 3});
  attr(attr(old.node("Pad", {"x"}, {"y"}), "pads", Ints{0, 1, 0, 2}), "value", 1.5f);
  std::string expected = "high = array<i64: 0, 2>, low = array<i64: 0, 1>";
  CHECK_THAT(textOf(old), Contains(expected) && Contains("value = 1.500000e+00"));

  TestModel model = modelOf(18, {2, 3});
  model.ints("pads", {1, 2}).ints("axes", {-1});
  attr(model.node("Pad", {"x", "pads", "", "axes"}, {"y"}), "mode", "edge");
  CHECK_THAT(textOf(model), Contains(expected) && Contains("pad_mode edge"));

  // Only what negative pads leave repeats.
  TestModel wraps = modelOf(18, {2, 3});
  wraps.ints("pads", {1, -1, 0, 2});
  attr(wraps.node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
  CHECK_THAT(textOf(wraps), Contains("graph.slice") &&
                                Contains("high = array<i64: 0, 2>, low = array<i64: 1, 0>"));

  // A value that is only known in a run is a border of its own on each side.
  TestModel filled = modelOf(18, {2, 3});
  filled.input("v", {}).ints("pads", {0, 1, 0, 2});
  filled.node("Pad", {"x", "pads", "v"}, {"y"});
  CHECK_THAT(textOf(filled), Contains("tensor<2x1xf32>, tensor<2x3xf32>, tensor<2x2xf32>") &&
                                 Contains("graph.concat"));
  TestModel several = modelOf(18, {2, 3});
  several.input("v", {2}).ints("pads", {0, 1, 0, 2});
  several.node("Pad", {"x", "pads", "v"}, {"y"});
  CHECK_THAT(errorOf(several), Contains("must have one element"));
}

TEST_CASE("Upsample and Resize") {
  std::string sizes = "(tensor<1x2x3x4xf32>) -> tensor<1x2x6x12xf32>";
  TestModel upsample7 = modelOf(7, {1, 2, 3, 4});
  attr(upsample7.node("Upsample", {"x"}, {"y"}), "scales", Floats{1, 1, 2, 3});
  CHECK_THAT(textOf(upsample7), Contains(sizes) && Contains("graph.resize"));

  for (auto [op, opset] : {std::pair("Upsample", 9), {"Resize", 10}}) {
    TestModel model = modelOf(opset, {1, 2, 3, 4});
    model.floats("scales", {4}, {1, 1, 2, 3});
    model.node(op, {"x", "scales"}, {"y"});
    CHECK_THAT(textOf(model), Contains(sizes));
  }

  TestModel scales = modelOf(13, {1, 2, 3, 4});
  scales.floats("scales", {4}, {1, 1, 2, 3});
  attr(scales.node("Resize", {"x", "", "scales"}, {"y"}), "mode", "linear");
  CHECK_THAT(textOf(scales), Contains(sizes));

  TestModel given = modelOf(13, {1, 2, 3, 4});
  given.ints("sizes", {1, 2, 6, 12}).floats("none", {0}, {});
  given.node("Resize", {"x", "none", "none", "sizes"}, {"y"});
  CHECK_THAT(textOf(given), Contains(sizes));

  TestModel axes = modelOf(18, {1, 2, 3, 4});
  axes.ints("sizes", {12, 6});
  attr(axes.node("Resize", {"x", "", "", "sizes"}, {"y"}), "axes", Ints{3, -2});
  CHECK_THAT(textOf(axes), Contains(sizes));

  TestModel aspect = modelOf(18, {1, 2, 3, 4});
  aspect.ints("sizes", {6, 12});
  attr(attr(aspect.node("Resize", {"x", "", "", "sizes"}, {"y"}), "axes", Ints{2, 3}),
       "keep_aspect_ratio_policy", "not_larger");
  CHECK_THAT(textOf(aspect), Contains("-> tensor<1x2x6x8xf32>"));

  TestModel none = modelOf(13, {1, 2, 3, 4});
  none.node("Resize", {"x"}, {"y"});
  CHECK_THAT(errorOf(none), Contains("node 'n' (Resize): needs either scales or sizes"));

  TestModel crop = modelOf(13, {1, 2, 3, 4});
  crop.ints("sizes", {1, 2, 6, 12});
  attr(crop.node("Resize", {"x", "", "", "sizes"}, {"y"}), "coordinate_transformation_mode",
       "tf_crop_and_resize");
  CHECK_THAT(textOf(crop),
             Contains("graph.host_call \"Resize\"") && Contains("-> tensor<1x2x6x12xf32>"));
}

TEST_CASE("Conv: auto_pad becomes pads") {
  auto pads = [](const char *mode) {
    TestModel model = modelOf(13, {1, 1, 6, 5});
    model.floats("w", {1, 1, 3, 2}, Floats(6, 1));
    attr(attr(model.node("Conv", {"x", "w"}, {"y"}), "auto_pad", mode), "strides", Ints{2, 1});
    return textOf(model);
  };
  CHECK_THAT(pads("SAME_UPPER"), Contains("pads = array<i64: 0, 0, 1, 1>"));
  CHECK_THAT(pads("SAME_LOWER"), Contains("pads = array<i64: 1, 1, 0, 0>"));
  CHECK_THAT(pads("VALID"), Contains("pads = array<i64: 0, 0, 0, 0>"));
}

TEST_CASE("ConvTranspose: output_shape becomes pads") {
  TestModel model = modelOf(13, {1, 1, 3, 3});
  model.floats("w", {1, 2, 3, 3}, Floats(18, 1));
  attr(attr(model.node("ConvTranspose", {"x", "w"}, {"y"}), "strides", Ints{3, 2}), "output_shape",
       Ints{10, 8});
  CHECK_THAT(textOf(model), Contains("output_padding = array<i64: 1, 1>, "
                                     "pads = array<i64: 0, 0, 0, 0>") &&
                                Contains("-> tensor<1x2x10x8xf32>"));
}

TEST_CASE("Gemm becomes fully_connected where it is one") {
  TestModel model = modelOf(13, {2, 3});
  model.floats("w", {4, 3}, Floats(12, 1)).floats("b", {1, 4}, Floats(4, 1));
  SECTION("with a bias") {
    attr(model.node("Gemm", {"x", "w", "b"}, {"y"}), "transB", int64_t(1));
    CHECK_THAT(textOf(model), Contains("graph.fully_connected %arg0"));
  }
  SECTION("with factors") {
    attr(
        attr(attr(model.node("Gemm", {"x", "w", "b"}, {"y"}), "transB", int64_t(1)), "alpha", 0.5f),
        "beta", 2.0f);
    CHECK_THAT(textOf(model),
               Contains("graph.matmul") && Contains("graph.mul") && Contains("graph.add"));
  }
}

TEST_CASE("BatchNormalization in training mode: by the batch's own statistics") {
  TestModel model = modelOf(14, {1, 2, 4});
  model.floats("p", {2}, {1, 1}).output("m").output("v");
  attr(model.node("BatchNormalization", {"x", "p", "p", "p", "p"}, {"y", "m", "v"}),
       "training_mode", int64_t(1));
  CHECK_THAT(textOf(model), Contains("mean") && Contains("axes = array<i64: 0, 2>") &&
                                !Contains("graph.batch_norm"));
}

TEST_CASE("Einsum: a matrix product of rearranged tensors") {
  TestModel model = modelOf(13, {2, 3, 4});
  model.input("b", {4, 5, 2});
  SECTION("batch, rows, sum and columns") {
    attr(model.node("Einsum", {"x", "b"}, {"y"}), "equation", "nij, jkn -> kni");
    CHECK_THAT(textOf(model), Contains("graph.matmul") && Contains("-> (tensor<5x2x3xf32>"));
  }
  SECTION("no result is named") {
    attr(model.node("Einsum", {"x"}, {"y"}), "equation", "cba");
    CHECK_THAT(textOf(model), Contains("-> (tensor<4x3x2xf32>"));
  }
  SECTION("sizes that differ") {
    attr(model.node("Einsum", {"x", "b"}, {"y"}), "equation", "abc,abd->cd");
    CHECK_THAT(errorOf(model), Contains("gives 'a' dims of 2 and of 4 elements"));
  }
  SECTION("a diagonal") {
    attr(model.node("Einsum", {"x"}, {"y"}), "equation", "iij->ij");
    CHECK_THAT(errorOf(model), Contains("diagonals are not supported"));
  }
  SECTION("what cannot be read") {
    attr(model.node("Einsum", {"x"}, {"y"}), "equation", "a.b->a");
    CHECK_THAT(errorOf(model), Contains("attribute 'equation' of node 'n' (Einsum)"));
  }
}

TEST_CASE("what generated code cannot make is a host kernel") {
  TestModel pool = modelOf(13, {1, 1, 4, 4});
  pool.output("i");
  attr(pool.node("MaxPool", {"x"}, {"y", "i"}), "kernel_shape", Ints{2, 2});
  CHECK_THAT(textOf(pool),
             Contains("graph.host_call \"MaxPool\"(%arg0) {kernel_shape = array<i64: 2, 2>}") &&
                 Contains("-> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xi64>)"));

  TestModel old = modelOf(7, {1, 2, 4});
  old.floats("p", {2}, {1, 1});
  attr(old.node("BatchNormalization", {"x", "p", "p", "p", "p"}, {"y"}), "volume", int64_t(0));
  CHECK_THAT(errorOf(old), Contains("attribute 'volume'"));
}

TEST_CASE("QuantizeLinear and DequantizeLinear of com.microsoft are those of the standard domain") {
  // Above 2^16 elements a host call would not be folded, and a filter has to be a constant.
  TestModel model = modelOf(17, {1, 128, 2, 2});
  onnx::OperatorSetIdProto *import = model.model.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  model.floats("scale", {}, {0.5f});
  model.initializer("zero", {}, TensorProto::UINT16).add_int32_data(32768);
  model.initializer("middle", {}, TensorProto::INT8).add_int32_data(0);
  TensorProto &filter = model.initializer("filter", {1024, 128, 1, 1}, TensorProto::INT8);
  for (int i = 0; i < 1024 * 128; ++i)
    filter.add_int32_data(i % 7);
  model.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"}).set_domain("com.microsoft");
  model.node("DequantizeLinear", {"q", "scale", "zero"}, {"d"}).set_domain("com.microsoft");
  model.node("DequantizeLinear", {"filter", "scale", "middle"}, {"w"}).set_domain("com.microsoft");
  model.node("Conv", {"d", "w"}, {"y"});
  CHECK_THAT(textOf(model), Contains("graph.conv") && !Contains("host_call"));
}

TEST_CASE("Resize of opset 10: nearest is rounded up along axes that shrink, down along others") {
  TestModel model = modelOf(10, {1, 1, 8, 5});
  SECTION("axes of both kinds") {
    model.floats("s", {4}, {1, 1, 1.5f, 0.5f}).node("Resize", {"x", "s"}, {"y"});
    CHECK_THAT(textOf(model),
               Contains("ceil>, scales = array<f64: 1.000000e+00, 1.000000e+00, 1.000000e+00, "
                        "5.000000e-01>} : (tensor<1x1x8x5xf32>) -> tensor<1x1x8x2xf32>") &&
                   Contains("floor>, scales = array<f64: 1.000000e+00, 1.000000e+00, 1.500000e+00, "
                            "1.000000e+00>} : (tensor<1x1x8x2xf32>)"));
  }
  // Where sizes are those of the run, the same by one or two host calls.
  TestModel dynamic(10);
  dynamic.symbolicInput("x", {"h", "w"}).output("y");
  const std::string up = "nearest_mode = \"ceil\"", down = "nearest_mode = \"floor\"";
  SECTION("dynamic sizes that shrink") {
    dynamic.floats("s", {2}, {1, 0.5f}).node("Resize", {"x", "s"}, {"y"});
    CHECK_THAT(textOf(dynamic), Contains(up) && !Contains(down));
  }
  SECTION("dynamic sizes that grow") {
    dynamic.floats("s", {2}, {1, 1.5f}).node("Resize", {"x", "s"}, {"y"});
    CHECK_THAT(textOf(dynamic), !Contains(up) && Contains(down));
  }
  SECTION("dynamic sizes of both kinds") {
    dynamic.floats("s", {2}, {1.5f, 0.5f}).node("Resize", {"x", "s"}, {"y"});
    CHECK_THAT(textOf(dynamic), Contains("dense<[1.000000e+00, 5.000000e-01]>") &&
                                    Contains("dense<[1.500000e+00, 1.000000e+00]>") &&
                                    Contains(up) && Contains(down));
  }
  SECTION("scales of the run") {
    dynamic.input("s", {2}).node("Resize", {"x", "s"}, {"y"});
    CHECK_THAT(textOf(dynamic),
               Contains("\"Min\"") && Contains("\"Max\"") && Contains(up) && Contains(down));
  }
}

TEST_CASE("Dropout does nothing; its mask is true, before opset 12 false") {
  for (auto [opset, type] : {std::pair(7, "f32"), {10, "i1"}, {13, "i1"}}) {
    TestModel model = modelOf(opset, {4});
    model.output("mask");
    model.node("Dropout", {"x"}, {"y", "mask"});
    CHECK_THAT(textOf(model),
               Contains("return %arg0, ") && Contains("tensor<4x" + std::string(type) +
                                                      "> {om.name = "
                                                      "\"mask\"}"));
  }
  // Dims that are not known change nothing, but the mask's shape is that of the run.
  for (auto [opset, type] : {std::pair(7, "f32"), {10, "i1"}, {13, "i1"}}) {
    TestModel model(opset);
    model.symbolicInput("x", {"rows", "columns"}).output("y").output("mask");
    if (opset < 12) {
      model.node("Dropout", {"x"}, {"y", "mask"});
    } else {
      model.initializer("off", {}, TensorProto::BOOL).add_int32_data(0);
      model.node("Dropout", {"x", "", "off"}, {"y", "mask"});
    }
    CHECK_THAT(textOf(model), !Contains("\"Dropout\"") && Contains("host_call \"Expand\"(") &&
                                  Contains(std::string("dense<") + (opset < 10   ? "0.0"
                                                                    : opset < 12 ? "false"
                                                                                 : "true")) &&
                                  Contains("return %arg0, "));
  }
  // A flag that is an input is known only when the model runs.
  TestModel open(13);
  open.symbolicInput("x", {"rows"}).input("flag", {}, TensorProto::BOOL).output("y");
  open.node("Dropout", {"x", "", "flag"}, {"y"});
  CHECK_THAT(textOf(open), Contains("host_call \"Dropout\""));
  TestModel training = modelOf(13, {4});
  training.floats("ratio", {}, {0.5f});
  TensorProto &flag = training.initializer("training", {}, TensorProto::BOOL);
  flag.add_int32_data(1);
  training.node("Dropout", {"x", "ratio", "training"}, {"y"});
  CHECK_THAT(textOf(training), Contains("graph.host_call \"Dropout\""));
}

TEST_CASE("Constant takes every kind of value") {
  auto make = [](auto set) {
    TestModel model(13);
    model.output("y");
    set(model.node("Constant", {}, {"y"}));
    return model;
  };
  CHECK_THAT(textOf(make([](auto &n) { attr(n, "value_float", 1.5f); })),
             Contains("dense<1.500000e+00> : tensor<f32>"));
  CHECK_THAT(textOf(make([](auto &n) { attr(n, "value_int", int64_t(7)); })),
             Contains("dense<7> : tensor<i64>"));
  CHECK_THAT(textOf(make([](auto &n) { attr(n, "value_floats", Floats{1, 2}); })),
             Contains("dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>"));
  CHECK_THAT(textOf(make([](auto &n) { attr(n, "value_ints", Ints{3, 4}); })),
             Contains("dense<[3, 4]> : tensor<2xi64>"));
  CHECK_THAT(textOf(make([](auto &n) { attr(n, "value_string", "text"); })),
             Contains("dense<\"text\"> : tensor<!graph.string>"));
  CHECK_THAT(textOf(make([](auto &n) {
               onnx::AttributeProto &attribute = *n.add_attribute();
               attribute.set_name("value_strings");
               attribute.set_type(onnx::AttributeProto::STRINGS);
               attribute.add_strings("a");
               attribute.add_strings("bc");
             })),
             Contains("dense<[\"a\", \"bc\"]> : tensor<2x!graph.string>"));
  CHECK_THAT(errorOf(make([](auto &n) { attr(n, "value_string", 1.5f); })),
             Contains("attribute 'value_string' of node 'n' (Constant): holds no text"));
  CHECK_THAT(errorOf(make([](auto &) {})),
             Contains("node 'n' (Constant): has no value of a known kind"));

  auto sparse = [](int64_t index) {
    return [index](onnx::NodeProto &n) {
      onnx::AttributeProto *attribute = n.add_attribute();
      attribute->set_name("sparse_value");
      attribute->set_type(onnx::AttributeProto::SPARSE_TENSOR);
      onnx::SparseTensorProto *tensor = attribute->mutable_sparse_tensor();
      tensor->add_dims(4);
      tensor->mutable_values()->set_data_type(TensorProto::FLOAT);
      tensor->mutable_values()->add_dims(1);
      tensor->mutable_values()->add_float_data(5);
      tensor->mutable_indices()->set_data_type(TensorProto::INT64);
      tensor->mutable_indices()->add_dims(1);
      tensor->mutable_indices()->add_int64_data(index);
    };
  };
  CHECK_THAT(textOf(make(sparse(2))),
             Contains("dense<[0.000000e+00, 0.000000e+00, 5.000000e+00, 0.000000e+00]>"));
  CHECK_THAT(errorOf(make(sparse(4))), Contains("has an index out of range, 4"));
}

TEST_CASE("element types") {
  for (auto [type, name] : {std::pair(TensorProto::FLOAT, "f32"),
                            {TensorProto::FLOAT16, "f16"},
                            {TensorProto::BFLOAT16, "bf16"},
                            {TensorProto::DOUBLE, "f64"},
                            {TensorProto::INT8, "i8"},
                            {TensorProto::INT16, "i16"},
                            {TensorProto::INT32, "i32"},
                            {TensorProto::INT64, "i64"},
                            {TensorProto::UINT8, "ui8"},
                            {TensorProto::UINT16, "ui16"},
                            {TensorProto::UINT32, "ui32"},
                            {TensorProto::UINT64, "ui64"},
                            {TensorProto::BOOL, "i1"}}) {
    TestModel model(13);
    model.input("x", {2}, type).output("x").output("w");
    TensorProto &tensor = model.initializer("w", {2}, type);
    // 0 and 1 in the field that the type is stored in.
    if (type == TensorProto::FLOAT)
      tensor.mutable_float_data()->Resize(2, 1);
    else if (type == TensorProto::DOUBLE)
      tensor.mutable_double_data()->Resize(2, 1);
    else if (type == TensorProto::INT64)
      tensor.mutable_int64_data()->Resize(2, 1);
    else if (type == TensorProto::UINT32 || type == TensorProto::UINT64)
      tensor.mutable_uint64_data()->Resize(2, 1);
    else
      tensor.mutable_int32_data()->Resize(2, 1);
    CHECK_THAT(textOf(model), Contains("tensor<2x" + std::string(name) + "> {om.name = \"x\"}") &&
                                  Contains("> : tensor<2x" + std::string(name) + ">"));
  }
}

TEST_CASE("Cast to strings; to a type that is not there") {
  TestModel text = modelOf(13, {2});
  attr(text.node("Cast", {"x"}, {"y"}), "to", int64_t(TensorProto::STRING));
  CHECK_THAT(textOf(text), Contains("-> tensor<2x!graph.string>"));

  TestModel model = modelOf(13, {2});
  attr(model.node("Cast", {"x"}, {"y"}), "to", int64_t(77));
  CHECK_THAT(errorOf(model), Contains("node 'n' (Cast)"));
}

TEST_CASE("arithmetic on constants is folded") {
  TestModel model(13);
  model.output("y").ints("a", {6, 7}).ints("b", {2, 2});
  model.node("Div", {"a", "b"}, {"q"});
  attr(model.node("Concat", {"q", "a"}, {"y"}), "axis", int64_t(0));
  CHECK_THAT(textOf(model), Contains("dense<[3, 3, 6, 7]> : tensor<4xi64>"));
}

TEST_CASE("constant strings that double again and again are not folded beyond a limit") {
  TestModel model(20);
  model.output("y");
  model.initializer("s0", {1}, TensorProto::STRING).add_string_data(std::string(1024, 'a'));
  for (int i = 0; i < 60; ++i) {
    const std::string last = "s" + std::to_string(i);
    model.node("StringConcat", {last, last}, {i == 59 ? "y" : "s" + std::to_string(i + 1)});
  }
  const std::string text = textOf(model);
  // The first calls are folded, up to 1 MiB.
  CHECK(text.size() < (4u << 20));
  CHECK_THAT(text, Contains("\"StringConcat\""));
}

TEST_CASE("MatMulInteger: a zero point of the input that is computed leaves the product as it is") {
  TestModel model(10);
  model.input("x", {2, 3}, TensorProto::UINT8).input("z", {}, TensorProto::UINT8).output("y");
  model.initializer("w", {3, 2}, TensorProto::INT8).set_raw_data("\x01\x02\x03\x04\xff\x06");
  model.initializer("wz", {2}, TensorProto::INT8).set_raw_data("\x01\x02");
  model.node("MatMulInteger", {"x", "w", "z", "wz"}, {"y"});
  std::string text = textOf(model);
  CHECK_THAT(text, Contains("graph.integer_fully_connected") &&
                       Contains("filter_zero_points = array<i64: 1, 2>") &&
                       Contains("zero_point = 0 : i64"));
  // Each column's sum less 3 times its zero point, by which the product is too large per zero
  // point.
  CHECK_THAT(text, Contains("dense<[0, 6]> : tensor<2xi32>") && Contains("graph.sub"));
}
