//===-- DeclaredShapeTest.cpp - shapes that only the model's types tell ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include "test/frontends/onnx/TestModel.h"

using namespace atc;
using namespace atc::test;
using Catch::Contains;
using onnx::TensorProto;

/// A model whose output y is declared with a shape and whose second input `list`
/// only the run knows.
static TestModel declared(const Ints &from, const Ints &to, int64_t listSize = 1) {
  TestModel model(13);
  model.input("x", from).input("list", {listSize}, TensorProto::INT64).output("y");
  auto *type = model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  for (int64_t dim : to)
    type->mutable_shape()->add_dim()->set_dim_value(dim);
  return model;
}

static Imported importOp(TestModel &model, const char *op) {
  model.node(op, {"x", "list"}, {"y"});
  return import(model);
}

TEST_CASE("a shape that the run decides is the declared one, with a warning") {
  auto [op, from, to, text] = GENERATE(table<const char *, Ints, Ints, const char *>({
      {"Reshape", {2, 6}, {3, 4}, "graph.reshape"},
      {"Expand", {1, 3}, {2, 3}, "graph.expand"},
      {"Squeeze", {1, 3, 1}, {3}, "graph.reshape"},
      {"Unsqueeze", {3}, {1, 3}, "graph.reshape"},
      {"Tile", {2, 3}, {4, 9}, "repeats = array<i64: 2, 3>"},
      {"ReduceSum", {2, 3, 4}, {2, 1, 4}, "axes = array<i64: 1>"},
  }));
  TestModel model = declared(from, to, to.size());
  Imported result = importOp(model, op);
  INFO(op << "\n" << result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains(text));
  CHECK_THAT(result.messages(), Contains("W11001: input 1 ('list') of node 'n'"));
}

TEST_CASE("a declared shape that leaves a choice or does not fit is left to the run") {
  auto [op, from, to] = GENERATE(table<const char *, Ints, Ints>({
      {"Reshape", {2, 6}, {3, 5}},
      {"Tile", {2, 3}, {3, 3}},
      {"ReduceSum", {2, 3}, {2, 2}},
      {"Expand", {2, 3}, {2, 4}},
  }));
  TestModel model = declared(from, to, to.size());
  Imported result = importOp(model, op);
  INFO(op << "\n" << result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("graph.host_call \"" + std::string(op) + "\""));
  CHECK_THAT(result.messages(), !Contains("W11001: input 1 ('list')"));
}

TEST_CASE("ReduceSum without keepdims: only where one choice of axes fits") {
  TestModel one = declared({2, 3, 4}, {2, 4});
  attr(one.node("ReduceSum", {"x", "list"}, {"y"}), "keepdims", int64_t(0));
  Imported result = import(one);
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("axes = array<i64: 1>, keepdims = false"));

  TestModel two = declared({2, 2}, {2});
  attr(two.node("ReduceSum", {"x", "list"}, {"y"}), "keepdims", int64_t(0));
  Imported open = import(two);
  REQUIRE(open);
  CHECK_THAT(open.text(), Contains("graph.host_call \"ReduceSum\""));
}

TEST_CASE("declared shapes do not hold for other input shapes") {
  TestModel model = declared({2, 6}, {3, 4}, 2);
  model.node("Reshape", {"x", "list"}, {"y"});
  OnnxImportOptions options;
  options.inputShapes = {{"x", {4, 6}}};
  Imported result = import(model, options);
  REQUIRE(result);
  CHECK_THAT(result.text(),
             Contains("graph.host_call \"Reshape\"") && Contains("-> tensor<*xf32>"));
}

TEST_CASE("errors of the operators by indices") {
  TestModel model(13);
  model.input("x", {2, 3}).input("i", {4, 3}, TensorProto::INT64).output("y");
  SECTION("GatherElements") {
    attr(model.node("GatherElements", {"x", "i"}, {"y"}), "axis", int64_t(1));
    CHECK_THAT(import(model).messages(), Contains("input 1 ('i') of node 'n' (GatherElements): "
                                                  "dim 0 is 4, expected at most 2"));
  }
  SECTION("GatherND") {
    model.node("GatherND", {"x", "i"}, {"y"});
    CHECK_THAT(import(model).messages(), Contains("does not fit the input and batch_dims of 0"));
  }
  SECTION("NegativeLogLikelihoodLoss") {
    model.node("NegativeLogLikelihoodLoss", {"x", "i"}, {"y"});
    CHECK_THAT(import(model).messages(), Contains("has rank 2 beside scores of rank 2"));
  }
}

TEST_CASE("tuples of unknown length leave the rank of what they gather open") {
  TestModel model(13);
  model.input("x", {2, 3, 4}).symbolicInput("i", {"n", "length"}).output("y");
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::INT64);
  model.node("GatherND", {"x", "i"}, {"y"});
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("host_call \"GatherND\"") && Contains("-> tensor<*xf32>"));
}

TEST_CASE("before opset 7 the second operand stands at an axis") {
  TestModel model(6);
  model.input("x", {2, 3, 4}).input("b", {3}).output("y");
  attr(attr(model.node("Add", {"x", "b"}, {"y"}), "broadcast", int64_t(1)), "axis", int64_t(1));
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("tensor<3x1xf32>"));

  TestModel wrong(6);
  wrong.input("x", {2, 3}).input("b", {3}).output("y");
  attr(attr(wrong.node("Add", {"x", "b"}, {"y"}), "broadcast", int64_t(1)), "axis", int64_t(2));
  CHECK_THAT(import(wrong).messages(), Contains("attribute 'axis' of node 'n' (Add): 2 leaves"));
}

TEST_CASE("an output of another type than it is stated with is a warning that names it") {
  auto [type, text] = GENERATE(table<TensorProto::DataType, const char *>(
      {{TensorProto::FLOAT, "output 'y' is stated as f32, and its node makes i64"},
       {TensorProto::STRING, "output 'y' is stated as string, and its node makes i64"},
       {TensorProto::INT64, nullptr},
       {TensorProto::UNDEFINED, nullptr}}));
  TestModel model(13);
  model.input("x", {2, 3}).output("y").node("ArgMax", {"x"}, {"y"});
  auto *stated = model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  stated->set_elem_type(type);
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  if (text)
    CHECK_THAT(result.messages(), Contains(text));
  else
    CHECK_THAT(result.messages(), !Contains("W11013"));
}

TEST_CASE("dims that contradict those of a node are a warning that names the tensor") {
  struct Case {
    Ints output, inner;
    const char *text;
  };
  const Case each = GENERATE(
      Case{{2, 3}, {}, "output 'y' is stated as [2, 3], and its node makes [3, 2]"},
      Case{{-1, 3}, {}, "output 'y' is stated as [?, 3], and its node makes [3, 2]"},
      Case{{6}, {}, "output 'y' is stated as [6], and its node makes [3, 2]"},
      Case{{3, 2},
           {5, 3},
           "tensor 'r' is stated as [5, 3], and its node makes [2, 3]: the dims that "
           "are made count\n"},
      Case{{3, 2}, {0, 3}, nullptr}, Case{{-1, 2}, {2, 3}, nullptr}, Case{{}, {}, nullptr});
  TestModel model(13);
  model.input("x", {2, 3}).output("y").node("Relu", {"x"}, {"r"});
  model.node("Transpose", {"r"}, {"y"});
  const auto state = [](onnx::ValueInfoProto *info, const char *name, const Ints &dims) {
    info->set_name(name);
    auto *type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(TensorProto::FLOAT);
    for (int64_t dim : dims)
      type->mutable_shape()->add_dim()->set_dim_value(dim);
  };
  state(model.graph().mutable_output(0), "y", each.output);
  state(model.graph().add_value_info(), "r", each.inner);
  state(model.graph().add_value_info(), "nothing makes it", {7});
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  if (each.text)
    CHECK_THAT(result.messages(), Contains(each.text));
  else
    CHECK_THAT(result.messages(), !Contains("W11014"));
  OnnxImportOptions options;
  options.inputShapes = {{"x", {4, 3}}};
  CHECK_THAT(import(model, options).messages(), !Contains("W11014"));
}

TEST_CASE("another element type that is stated for a tensor inside is a warning that names it") {
  auto [type, text] = GENERATE(table<TensorProto::DataType, const char *>(
      {{TensorProto::INT32, "W11013: tensor 'r' is stated as i32, and its node makes f32: the type "
                            "that is made counts\n"},
       {TensorProto::FLOAT, nullptr},
       {TensorProto::UNDEFINED, nullptr}}));
  TestModel model(13);
  model.input("x", {2, 3}).output("y").node("Relu", {"x"}, {"r"});
  model.node("Transpose", {"r"}, {"y"});
  for (const char *name : {"r", "nothing makes it"}) {
    onnx::ValueInfoProto *info = model.graph().add_value_info();
    info->set_name(name);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  }
  OnnxImportOptions options;
  options.inputShapes = {{"x", {4, 3}}};
  for (const Imported &result : {import(model), import(model, options)}) {
    INFO(result.messages());
    REQUIRE(result);
    if (text)
      CHECK_THAT(result.messages(), Contains(text));
    else
      CHECK_THAT(result.messages(), !Contains("W11013"));
  }
}

TEST_CASE("what contradicts a model with one dynamic dim is a warning, too") {
  TestModel model(13);
  model.input("x", {-1, 3}).output("y").node("Transpose", {"x"}, {"y"});
  auto *shape = model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
  shape->set_elem_type(TensorProto::FLOAT16);
  shape->mutable_shape()->add_dim()->set_dim_value(4);
  shape->mutable_shape()->add_dim()->set_dim_value(8);
  OnnxImportOptions options;
  options.makeTiles = [](mlir::ModuleOp) { return true; };
  Imported result = import(model, options);
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.messages(), Contains("W11013: output 'y'"));
  CHECK_THAT(result.messages(),
             Contains("output 'y' is stated as [4, 8], and its node makes [3, ?]"));
}

TEST_CASE("attributes that aligned inputs before opset 7 have their type") {
  auto name = GENERATE("axis", "broadcast");
  TestModel model(6);
  model.input("x", {2, 3}).input("b", {2}).output("y").node("Add", {"x", "b"}, {"y"});
  auto *attribute = model.graph().mutable_node(0)->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s("1");
  Imported result = import(model);
  INFO(result.messages());
  CHECK_FALSE(result);
  CHECK_THAT(result.messages(), Contains("has type STRING, expected INT"));
}
