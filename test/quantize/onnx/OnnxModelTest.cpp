//===-- OnnxModelTest.cpp - what is folded and what is written anew -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/quantize/SmallModel.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace atc::quantize;
using atc::Diagnostics;
using Ops = std::vector<std::string>;

TEST_CASE("a batch normalization goes into the weights") {
  SmallModel small;
  small.input("x", {1, 1, 2, 2}).output("y").constant("w", {2, 1, 1, 1}, {1, 2});
  small.constant("scale", {2}, {3, 1}).constant("bias", {2}, {0.5f, -1});
  small.constant("mean", {2}, {1, 4}).constant("var", {2}, {4, 0.25f});
  small.node("Conv", {"x", "w"}, "c");
  onnx::NodeProto &norm =
      small.node("BatchNormalization", {"c", "scale", "bias", "mean", "var"}, "y");
  norm.add_attribute()->set_name("epsilon");
  norm.mutable_attribute(0)->set_type(onnx::AttributeProto::FLOAT);
  norm.mutable_attribute(0)->set_f(0);
  auto model = small.finish();
  simplify(*model);
  REQUIRE(opsOf(*model) == Ops{"Conv"});
  const onnx::NodeProto &conv = model->graph().node(0);
  CHECK(conv.output(0) == "y");
  CHECK(*readFloats(*model->findConstant(conv.input(1))) == std::vector<float>{1.5f, 4});
  CHECK(*readFloats(*model->findConstant(conv.input(2))) == std::vector<float>{-1, -9});
  CHECK(model->graph().initializer_size() == 2);
}

TEST_CASE("an added constant becomes the bias, one of another shape does not") {
  for (bool perChannel : {true, false}) {
    SmallModel small;
    small.input("x", {1, 1, 2, 2}).output("y").constant("w", {2, 1, 1, 1}, {1, 2});
    if (perChannel)
      small.constant("b", {2, 1, 1}, {5, 6});
    else
      small.constant("b", {2, 2}, {5, 6, 7, 8});
    small.node("Conv", {"x", "w"}, "c");
    small.node("Add", {"b", "c"}, "y");
    auto model = small.finish();
    simplify(*model);
    CHECK(opsOf(*model) == (perChannel ? Ops{"Conv"} : Ops{"Conv", "Add"}));
  }
}

TEST_CASE("what others read too is not folded") {
  SmallModel small;
  small.input("x", {1, 1, 2, 2}).output("y").output("c").constant("w", {1, 1, 1, 1}, {1});
  small.constant("b", {1, 1, 1}, {5});
  small.node("Conv", {"x", "w"}, "c");
  small.node("Add", {"c", "b"}, "y");
  auto model = small.finish();
  simplify(*model);
  CHECK(opsOf(*model) == Ops{"Conv", "Add"});
}

TEST_CASE("a transposed convolution with groups is scaled by its output channels") {
  SmallModel small;
  // Two groups of one input and two outputs.
  small.input("x", {1, 2, 1, 1}).output("y").constant("w", {2, 2, 1, 1}, {1, 1, 1, 1});
  small.constant("scale", {4}, {1, 2, 3, 4}).constant("zero", {4}, {0, 0, 0, 0});
  small.constant("one", {4}, {1, 1, 1, 1});
  setAttribute(small.node("ConvTranspose", {"x", "w"}, "c"), "group", int64_t(2));
  small.node("BatchNormalization", {"c", "scale", "zero", "zero", "one"}, "y");
  auto model = small.finish();
  simplify(*model);
  REQUIRE(opsOf(*model) == Ops{"ConvTranspose"});
  const auto weights = *readFloats(*model->findConstant(model->graph().node(0).input(1)));
  for (int i = 0; i < 4; ++i)
    CHECK(weights[i] == Approx(i + 1).epsilon(1e-4));
}

TEST_CASE("nodes that do nothing go") {
  SmallModel small;
  small.input("x", {1, 2}).output("y");
  small.node("Identity", {"x"}, "a");
  small.node("Dropout", {"a"}, "b");
  small.node("Relu", {"b"}, "c");
  small.node("Identity", {"c"}, "y"); // it makes an output: it stays
  auto model = small.finish();
  simplify(*model);
  REQUIRE(opsOf(*model) == Ops{"Relu", "Identity"});
  CHECK(model->graph().node(0).input(0) == "x");
}

TEST_CASE("opset 9 becomes opset 13") {
  SmallModel small(9);
  small.input("x", {1, 2, 4, 4}).output("y");
  auto floats = [](onnx::NodeProto &node, const char *name, float value) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  };
  auto ints = [](onnx::NodeProto &node, const char *name, std::vector<int64_t> values) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values)
      attribute.add_ints(value);
  };
  onnx::NodeProto &clip = small.node("Clip", {"x"}, "a");
  floats(clip, "min", 0);
  floats(clip, "max", 6);
  onnx::NodeProto &slice = small.node("Slice", {"a"}, "b");
  ints(slice, "starts", {1});
  ints(slice, "ends", {2});
  ints(slice, "axes", {1});
  ints(small.node("Pad", {"b"}, "c"), "pads", {0, 0, 1, 1, 0, 0, 1, 1});
  small.constant("scales", {4}, {1, 1, 2, 2});
  small.node("Upsample", {"c", "scales"}, "d");
  ints(small.node("Squeeze", {"d"}, "e"), "axes", {0});
  setAttribute(small.node("Softmax", {"e"}, "y"), "axis", int64_t(1));
  auto model = small.finish();
  Diagnostics diagnostics;
  REQUIRE(upgradeOpset(*model, diagnostics));
  CHECK(model->opset() == 13);
  CHECK(opsOf(*model) ==
        Ops{"Clip", "Slice", "Pad", "Resize", "Squeeze", "Shape", "Flatten", "Softmax", "Reshape"});
  auto inputs = [&](int node, int input) {
    return model->findConstant(model->graph().node(node).input(input));
  };
  CHECK(readFloats(*inputs(0, 2))->front() == 6);
  CHECK(*readInts(*inputs(1, 3)) == std::vector<int64_t>{1});
  CHECK(readInts(*inputs(2, 1))->size() == 8);
  CHECK(model->graph().node(3).input(1).empty());
  CHECK(model->graph().node(3).input(2) == "scales");
  CHECK(*readInts(*inputs(4, 1)) == std::vector<int64_t>{0});
  CHECK(model->graph().node(8).output(0) == "y");
  for (const onnx::NodeProto &node : model->graph().node())
    for (const onnx::AttributeProto &attribute : node.attribute())
      CHECK(attribute.name() != "axes");
}

TEST_CASE("what cannot be upgraded is named") {
  SmallModel small(9);
  small.input("x", {1, 2}).output("y").output("z");
  for (const char *name : {"y", "z"}) {
    onnx::AttributeProto &body = *small.node("If", {"x"}, name).add_attribute();
    body.set_name("then_branch");
    body.set_type(onnx::AttributeProto::GRAPH);
    body.mutable_g()->set_name("body");
  }
  auto model = small.finish();
  Diagnostics diagnostics;
  CHECK(!upgradeOpset(*model, diagnostics));
  REQUIRE(diagnostics.numErrors() == 2);
  CHECK(diagnostics.all()[0].code == "E10055");
  CHECK_THAT(diagnostics.all()[1].text, Catch::Contains("node_z"));
  CHECK(model->opset() == 9);
}
