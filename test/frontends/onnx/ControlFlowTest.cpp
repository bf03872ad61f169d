//===-- ControlFlowTest.cpp - branches, loops, functions, host calls ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>
#include <google/protobuf/unknown_field_set.h>

#include "test/frontends/onnx/TestModel.h"

using namespace atc;
using namespace atc::test;
using Catch::Contains;
using onnx::TensorProto;

/// The graph of attribute `name`, made like a model.
static void body(onnx::NodeProto &node, const char *name, const TestModel &made) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  *attribute->mutable_g() = made.model.graph();
}

/// y = op(x), where x is of the graph around it.
static TestModel branch(const char *op) {
  TestModel made;
  made.output("b");
  made.node(op, {"x"}, {"b"}, "inner");
  return made;
}

TEST_CASE("If") {
  TestModel model;
  model.input("c", {}, TensorProto::BOOL).input("x", {4}).output("y");
  onnx::NodeProto &node = model.node("If", {"c"}, {"y"}, "if1");
  SECTION("both branches, which read what is around them") {
    body(node, "then_branch", branch("Relu"));
    body(node, "else_branch", branch("Neg"));
    CHECK_THAT(textOf(model), Contains("graph.if %arg0 : (tensor<i1>) -> tensor<4xf32>") &&
                                  Contains("graph.relu %arg1") && Contains("} else {"));
  }
  SECTION("a known condition leaves one branch, the other need not be possible") {
    model.graph().mutable_input()->DeleteSubrange(0, 1);
    model.initializer("c", {}, TensorProto::BOOL).add_int32_data(1);
    body(node, "then_branch", branch("Relu"));
    TestModel wrong = branch("Relu");
    wrong.graph().mutable_node(0)->add_input("x");
    body(node, "else_branch", wrong);
    std::string text = textOf(model);
    CHECK_THAT(text, Contains("graph.relu") && !Contains("graph.if"));
  }
  SECTION("more outputs than the branches have") {
    node.add_output("z");
    model.output("z");
    body(node, "then_branch", branch("Relu"));
    body(node, "else_branch", branch("Neg"));
    CHECK_THAT(errorOf(model), Contains("E14001: node 'if1' (If): has output 1 ('z'), but its "
                                        "body makes 1"));
  }
  SECTION("a missing branch") {
    body(node, "then_branch", branch("Relu"));
    CHECK_THAT(errorOf(model), Contains("E14001: node 'if1' (If): attribute 'else_branch' is "
                                        "missing"));
  }
  SECTION("branches with different numbers of outputs") {
    body(node, "then_branch", branch("Relu"));
    TestModel two = branch("Neg");
    two.output("x2");
    two.node("Abs", {"x"}, {"x2"});
    body(node, "else_branch", two);
    CHECK_THAT(errorOf(model), Contains("its branches have 1 and 2 outputs"));
  }
  SECTION("operators without importer are found inside") {
    body(node, "then_branch", branch("Relu"));
    body(node, "else_branch", branch("Nothing"));
    CHECK_THAT(errorOf(model), Contains("E16002: ") && Contains("Nothing x1 (inner)"));
  }
}

/// (i, go, v) -> (go, v + x, v): one carried value and one that is collected.
static TestModel loopBody() {
  TestModel made;
  made.input("i", {}, TensorProto::INT64).input("go", {}, TensorProto::BOOL).input("v", {4});
  made.output("go2").output("next").output("seen");
  made.node("Identity", {"go"}, {"go2"}, "i1");
  made.node("Add", {"v", "x"}, {"next"}, "add");
  made.node("Identity", {"v"}, {"seen"}, "i2");
  return made;
}

TEST_CASE("Loop") {
  TestModel model;
  model.input("n", {}, TensorProto::INT64).input("c", {}, TensorProto::BOOL).input("x", {4});
  model.output("last").output("all");
  onnx::NodeProto &node = model.node("Loop", {"n", "c", "x"}, {"last", "all"}, "loop1");
  SECTION("carried values keep their types, the others are stacked") {
    body(node, "body", loopBody());
    CHECK_THAT(textOf(model), Contains("graph.loop ") && Contains("graph.add ") &&
                                  Contains("graph.host_call \"SequenceInsert\"") &&
                                  Contains("graph.host_call \"Stack\""));
  }
  SECTION("a body that does not fit") {
    TestModel wrong = loopBody();
    wrong.input("more", {4});
    body(node, "body", wrong);
    CHECK_THAT(errorOf(model), Contains("E14001: node 'loop1' (Loop): its body has 4 inputs and 3 "
                                        "outputs, which do not fit 1 carried values"));
  }
  SECTION("no body") { CHECK_THAT(errorOf(model), Contains("attribute 'body' is missing")); }
}

TEST_CASE("a sequence that a loop carries") {
  TestModel model;
  model.input("n", {}, TensorProto::INT64).input("x", {4}).input("d", {4}, TensorProto::DOUBLE);
  model.output("last").output("item");
  TestModel step;
  step.input("i", {}, TensorProto::INT64).input("go", {}, TensorProto::BOOL).input("s", {});
  step.output("go2").output("next");
  step.node("Identity", {"go"}, {"go2"}, "i1");
  model.input("zero", {}, TensorProto::INT64);
  SECTION("has the type of its first items, too") {
    // A loop that does not run would hand on floats as doubles.
    model.node("SequenceConstruct", {"x"}, {"first"}, "construct");
    step.node("SequenceConstruct", {"d"}, {"next"}, "other");
    body(model.node("Loop", {"n", "", "first"}, {"last"}, "loop1"), "body", step);
    model.node("SequenceAt", {"last", "zero"}, {"item"}, "at");
    CHECK_THAT(errorOf(model),
               Contains("node 'loop1' (Loop): a value that its body carries is "
                        "!graph.sequence<tensor<*xf32>> before the body and "
                        "!graph.sequence<tensor<*xf64>> behind it, expected the same kind"));
  }
  SECTION("takes that of the items where it is empty at first") {
    model.node("SequenceEmpty", {}, {"first"}, "empty");
    step.node("SequenceInsert", {"s", "d"}, {"next"}, "insert");
    body(model.node("Loop", {"n", "", "first"}, {"last"}, "loop1"), "body", step);
    model.node("SequenceAt", {"last", "zero"}, {"item"}, "at");
    CHECK_THAT(textOf(model), Contains("\"SequenceAt\"") && Contains("-> tensor<*xf64>"));
  }
}

TEST_CASE("Scan") {
  TestModel model;
  model.input("s", {4}).input("xs", {5, 4}).output("last").output("all");
  onnx::NodeProto &node = model.node("Scan", {"s", "xs"}, {"last", "all"}, "scan1");
  TestModel step;
  step.input("a", {4}).input("b", {4}).output("sum").output("copy");
  step.node("Add", {"a", "b"}, {"sum"}, "add");
  step.node("Identity", {"sum"}, {"copy"}, "id");
  body(node, "body", step);
  SECTION("states and slices") {
    attr(node, "num_scan_inputs", int64_t(1));
    CHECK_THAT(textOf(model), Contains("graph.loop ") && Contains("graph.host_call \"Gather\"") &&
                                  Contains("graph.host_call \"Stack\""));
  }
  SECTION("more slices than inputs") {
    attr(node, "num_scan_inputs", int64_t(3));
    CHECK_THAT(errorOf(model), Contains("node 'scan1' (Scan): its inputs do not fit its body"));
  }
  SECTION("without the number of slices") {
    CHECK_THAT(errorOf(model), Contains("attribute 'num_scan_inputs' is missing"));
  }
}

TEST_CASE("SequenceMap") {
  TestModel model(17);
  model.input("a", {4}).input("b", {4}).output("y");
  model.node("SequenceConstruct", {"a", "b"}, {"list"}, "list");
  onnx::NodeProto &node = model.node("SequenceMap", {"list"}, {"y"}, "map1");
  TestModel each;
  each.input("item", {4}).output("r");
  each.node("Relu", {"item"}, {"r"}, "relu");
  body(node, "body", each);
  CHECK_THAT(textOf(model), Contains("graph.loop ") && Contains("graph.host_call \"SequenceAt\"") &&
                                Contains("!graph.sequence<"));
}

TEST_CASE("functions of the model") {
  TestModel model;
  model.input("x", {4}).output("y");
  onnx::OperatorSetIdProto *import = model.model.add_opset_import();
  import->set_domain("ours");
  import->set_version(1);
  onnx::NodeProto &call = model.node("Scale", {"x"}, {"y"}, "call");
  call.set_domain("ours");
  onnx::FunctionProto &function = *model.model.add_functions();
  function.set_name("Scale");
  function.set_domain("ours");
  function.add_input("v");
  function.add_output("r");
  onnx::NodeProto &inner = *function.add_node();
  inner.add_input("v");
  inner.add_output("r");
  SECTION("attributes come from the call") {
    inner.set_op_type("LeakyRelu");
    onnx::AttributeProto &alpha = *inner.add_attribute();
    alpha.set_name("alpha");
    alpha.set_ref_attr_name("slope");
    alpha.set_type(onnx::AttributeProto::FLOAT);
    attr(call, "slope", 0.25f);
    CHECK_THAT(textOf(model), Contains("2.5"));
  }
  SECTION("attributes that the call leaves out have the function's defaults") {
    inner.set_op_type("LeakyRelu");
    onnx::AttributeProto &alpha = *inner.add_attribute();
    alpha.set_name("alpha");
    alpha.set_ref_attr_name("slope");
    alpha.set_type(onnx::AttributeProto::FLOAT);
    onnx::AttributeProto stated;
    stated.set_name("slope");
    stated.set_type(onnx::AttributeProto::FLOAT);
    stated.set_f(0.125f);
    // FunctionProto.attribute_proto, which older protobuf classes do not know.
    function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(
        11, stated.SerializeAsString());
    CHECK_THAT(textOf(model), Contains("1.25"));
    attr(call, "slope", 0.25f);
    CHECK_THAT(textOf(model), Contains("2.5") && !Contains("1.25"));
  }
  SECTION("two of one name") {
    inner.set_op_type("Relu");
    *model.model.add_functions() = function;
    CHECK_THAT(errorOf(model),
               Contains("E13009: function 'Scale' of domain 'ours' is defined twice"));
    // NodeProto.overload and FunctionProto.overload, which older protobuf classes do not know.
    auto overload = [](auto &message, int field, const std::string &name) {
      message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, name);
    };
    onnx::FunctionProto &other = *model.model.mutable_functions(1);
    other.mutable_node(0)->set_op_type("Tanh");
    overload(other, 13, "curved");
    CHECK_THAT(textOf(model), Contains("graph.relu") && !Contains("graph.tanh"));
    overload(call, 8, "curved");
    CHECK_THAT(textOf(model), Contains("graph.tanh") && !Contains("graph.relu"));
    overload(call, 8, "straight");
    CHECK_THAT(errorOf(model),
               Contains("E16002: ") && Contains("defines no function of overload 'straight'"));
    *model.model.add_functions() = other;
    CHECK_THAT(errorOf(model), Contains("E13009: function 'Scale' of domain 'ours' and overload "
                                        "'curved' is defined twice"));
  }
  SECTION("one that calls itself") {
    inner.set_op_type("Scale");
    inner.set_domain("ours");
    CHECK_THAT(errorOf(model), Contains("E16004: ") && Contains("must not call itself"));
  }
  SECTION("one with less outputs than the call") {
    inner.set_op_type("Relu");
    function.clear_output();
    CHECK_THAT(errorOf(model),
               Contains("E14001: node 'call'") && Contains("its function has 0 outputs"));
  }
}

TEST_CASE("older forms become the newest one of a host kernel") {
  auto open = [](int64_t opset) {
    TestModel model(opset);
    model.symbolicInput("x", {"n", "6"}).output("y");
    return model;
  };
  SECTION("an attribute becomes an input") {
    TestModel model = open(9);
    attr(attr(model.node("Slice", {"x"}, {"y"}), "starts", Ints{1}), "ends", Ints{3});
    CHECK_THAT(textOf(model), Contains("graph.host_call \"Slice\"(%arg0, %") &&
                                  Contains("dense<1> : tensor<1xi64>") && !Contains("starts"));
  }
  SECTION("bounds have the type of what they bound, one may be left out") {
    TestModel model = open(6);
    attr(model.node("Clip", {"x"}, {"y"}), "max", 2.0f);
    CHECK_THAT(textOf(model),
               Contains("at [0, 2]") && Contains("dense<2.000000e+00> : tensor<f32>"));
  }
  SECTION("Softmax along all dims from the axis on") {
    TestModel model = open(11);
    model.node("Softmax", {"x"}, {"y"});
    CHECK_THAT(textOf(model), Contains("\"Flatten\"") &&
                                  Contains("\"Softmax\"(%0) {axis = array<i64: -1>}") &&
                                  Contains("\"Reshape\""));
  }
}

TEST_CASE("errors of host calls name the node") {
  TestModel model(13);
  model.symbolicInput("x", {"n", "6"}).output("y");
  // Behind the warning that the shape is open.
  auto errorText = [&] {
    std::string messages = errorOf(model);
    return messages.substr(messages.find('\n') + 1);
  };
  SECTION("an attribute of the wrong type") {
    attr(model.node("Softmax", {"x"}, {"y"}, "s"), "axis", 1.0f);
    CHECK(errorText() ==
          "E14001: node 's' (Softmax): attribute 'axis' has type FLOAT, expected INT\n");
  }
  SECTION("an attribute that became an input, of the wrong type") {
    onnx::AttributeProto &axes = *model.node("ReduceMean", {"x"}, {"y"}, "m").add_attribute();
    axes.set_name("axes");
    axes.set_type(onnx::AttributeProto::STRINGS);
    axes.add_strings("1");
    CHECK(errorText() ==
          "E14001: node 'm' (ReduceMean): attribute 'axes' has type STRINGS, expected INTS\n");
  }
  SECTION("an attribute that is missing") {
    model.node("Concat", {"x", "x"}, {"y"}, "c");
    CHECK(errorText() ==
          "E14001: node 'c' (Concat): attribute 'axis' is missing; the operator needs "
          "it\n");
  }
  SECTION("an attribute that it does not have") {
    attr(model.node("Relu", {"x"}, {"y"}, "r"), "slope", 1.0f);
    CHECK(errorText() ==
          "E14001: node 'r' (Relu): attribute 'slope' is not known for this operator of "
          "opset 13\n");
  }
  SECTION("an attribute that is given twice") {
    onnx::NodeProto &node = model.node("Softmax", {"x"}, {"y"}, "s");
    attr(node, "axis", int64_t(0));
    attr(node, "axis", int64_t(1));
    CHECK(errorOf(model) == "E14001: node 's' (Softmax): attribute 'axis' is given twice\n");
  }
  SECTION("a text that is no choice") {
    attr(model.node("Pad", {"x", "x"}, {"y"}, "p"), "mode", "mirror");
    CHECK_THAT(errorText(), Contains("attribute 'mode' is 'mirror', expected one of constant, "
                                     "reflect, edge, wrap"));
  }
  SECTION("an input that is missing") {
    model.node("Add", {"x", ""}, {"y"}, "a");
    CHECK(errorText() == "E14001: node 'a' (Add): input 1 is missing; the operator needs it\n");
  }
  SECTION("inputs that there are too many of") {
    model.node("Relu", {"x", "x"}, {"y"}, "r");
    CHECK(errorText() == "E14001: node 'r' (Relu): has 2 inputs, expected at most 1\n");
  }
}

TEST_CASE("FlexAttention is what its formula says, with the model's graphs between") {
  TestModel model(26);
  model.input("q", {2, 4, 8, 16}).input("k", {2, 2, 6, 16}).input("v", {2, 2, 6, 12}).output("y");
  onnx::OperatorSetIdProto *import = model.model.add_opset_import();
  import->set_domain("ai.onnx.preview");
  import->set_version(1);
  onnx::NodeProto &node = model.node("FlexAttention", {"q", "k", "v"}, {"y"}, "flex");
  node.set_domain("ai.onnx.preview");
  TestModel inner(26);
  inner.input("s", {2, 4, 8, 6}).output("t");
  SECTION("without graphs") {
    CHECK_THAT(textOf(model), Contains("tensor<2x2x16x16xf32>") && // heads that share keys
                                  Contains("graph.softmax") && Contains("tensor<2x4x8x12xf32>"));
  }
  SECTION("a graph works on the scores, in their type") {
    attr(node, "softmax_precision", int64_t(TensorProto::DOUBLE));
    inner.node("Tanh", {"s"}, {"t"});
    body(node, "score_mod", inner);
    const std::string text = textOf(model);
    CHECK(text.find("graph.tanh") < text.find("graph.softmax"));
    CHECK_THAT(text, Contains("graph.tanh") && Contains("tensor<2x4x8x6xf64>"));
  }
  SECTION("a graph works on the probabilities, and reads what is around it") {
    model.floats("factor", {}, {0.5f});
    inner.node("Mul", {"s", "factor"}, {"t"});
    body(node, "prob_mod", inner);
    const std::string text = textOf(model);
    CHECK(text.find("graph.softmax") < text.rfind("graph.mul"));
  }
  SECTION("a graph of two inputs") {
    inner.input("more", {});
    inner.node("Tanh", {"s"}, {"t"});
    body(node, "score_mod", inner);
    CHECK_THAT(errorOf(model), Contains("E14001: node 'flex' (FlexAttention): the graph of "
                                        "attribute 'score_mod' has 2 inputs and 1 outputs"));
  }
  SECTION("no rank of 4") {
    model.input("w", {4, 8});
    node.set_input(1, "w");
    CHECK_THAT(errorOf(model), Contains("input 1 ('w') is not a float tensor of rank 4"));
  }
}

TEST_CASE("a model of other domains alone imports no standard opset") {
  TestModel model;
  model.input("x", {4}).output("y");
  onnx::NodeProto &node = model.node("Binarizer", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  model.model.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  model.model.mutable_opset_import(0)->set_version(3);
  CHECK_THAT(textOf(model), Contains("Binarizer"));
}

TEST_CASE("CategoryMapper maps strings to integers and integers to strings") {
  TestModel model;
  model.symbolicInput("x", {"n"}).output("y");
  const bool isText = GENERATE(true, false);
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      isText ? TensorProto::STRING : TensorProto::INT64);
  onnx::NodeProto &node = model.node("CategoryMapper", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  attr(node, "cats_int64s", Ints{3});
  onnx::AttributeProto &words = *node.add_attribute();
  words.set_name("cats_strings");
  words.set_type(onnx::AttributeProto::STRINGS);
  words.add_strings("a");
  onnx::OperatorSetIdProto &domain = *model.model.add_opset_import();
  domain.set_domain("ai.onnx.ml");
  domain.set_version(1);
  CHECK_THAT(textOf(model),
             Contains(isText ? "-> tensor<?xi64>" : "-> tensor<?x!graph.string>") ||
                 Contains(isText ? "-> tensor<*xi64>" : "-> tensor<*x!graph.string>"));
}

TEST_CASE("OptionalGetElement of what is no optional gives it as it is") {
  TestModel model(18);
  model.output("y");
  onnx::ValueInfoProto *input = model.graph().add_input();
  input->set_name("x");
  input->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::INT32);
  model.node("OptionalGetElement", {"x"}, {"y"});
  CHECK_THAT(textOf(model), Contains("-> !graph.sequence<tensor<*xi32>>"));
}
