//===-- StructureTest.cpp - names, inputs, outputs, order -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>
#include <ctime>

#include "test/frontends/onnx/TestModel.h"

using namespace atc;
using namespace atc::test;
using Catch::Contains;

TEST_CASE("names become attributes and locations") {
  TestModel model;
  model.input("x", {1, 4}).output("z");
  model.node("Relu", {"x"}, {"y"}, "relu1");
  model.node("Sigmoid", {"y"}, {"z"}, "");
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  std::string text = result.text(/*locations=*/true);
  CHECK_THAT(text, Contains("module attributes {graph.name = \"test\"}"));
  CHECK_THAT(text, Contains("@main(%arg0: tensor<1x4xf32> {om.name = \"x\"}"));
  CHECK_THAT(text, Contains("-> (tensor<1x4xf32> {om.name = \"z\"})"));
  CHECK_THAT(text, Contains("loc(\"y\"(#loc") && Contains("= loc(\"relu1\")"));
  CHECK_THAT(text, Contains("= loc(\"z\")"));
}

TEST_CASE("every output of a node has its own name; inner steps have none of the model's") {
  TestModel model;
  model.input("x", {1, 6}).output("a").output("b");
  attr(model.node("Split", {"x"}, {"a", "b"}, "split"), "axis", int64_t(1));
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  std::string text = result.text(true);
  CHECK_THAT(text, Contains("loc(\"a\"(#loc") && Contains("loc(\"b\"(#loc"));

  TestModel norm(18);
  norm.input("x", {1, 4, 5, 5}).floats("s", {4}, {1, 2, 3, 4}).floats("b", {4}, {0, 0, 0, 1});
  norm.output("y");
  norm.node("InstanceNormalization", {"x", "s", "b"}, {"y"}, "norm");
  Imported second = import(norm);
  INFO(second.messages());
  REQUIRE(second);
  CHECK_THAT(second.text(true), Contains("loc(\"y#0\"(#loc") && Contains("loc(\"y\"(#loc"));
}

TEST_CASE("a graph that is not sorted is sorted") {
  TestModel model;
  model.input("x", {4}).output("z");
  model.node("Sigmoid", {"y"}, {"z"}, "second");
  model.node("Relu", {"x"}, {"y"}, "first");
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  std::string text = result.text();
  CHECK(text.find("graph.relu") < text.find("graph.sigmoid"));
}

TEST_CASE("only what the outputs need is imported") {
  TestModel model;
  model.input("x", {4}).output("y");
  model.node("Relu", {"x"}, {"y"}, "used");
  model.node("NonMaxSuppression", {"x"}, {"unused"}, "dead");
  Imported result = import(model);
  INFO(result.messages());
  CHECK(result);
}

TEST_CASE("an old model lists its initializers as inputs") {
  TestModel model(8);
  model.input("x", {4}).input("w", {4}).floats("w", {4}, {1, 2, 3, 4}).output("y");
  model.node("Add", {"x", "w"}, {"y"});
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("@main(%arg0: tensor<4xf32> {om.name = \"x\"}) ->"));
}

TEST_CASE("outputs may be inputs and initializers") {
  TestModel model;
  model.input("x", {2}).floats("w", {2}, {1, 2}).output("x").output("w");
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("return %arg0, %0"));
}

TEST_CASE("every number but 0 is true") {
  for (int32_t number : {1, 2, 256, -1}) {
    TestModel model;
    model.initializer("w", {}, onnx::TensorProto::BOOL).add_int32_data(number);
    Imported result = import(model.output("w"));
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("dense<true>"));
  }
}

TEST_CASE("a tensor may be several outputs, each with its own name") {
  TestModel model;
  model.input("x", {2}).output("y").output("y_2").output("y").output("x").output("y");
  model.node("Relu", {"x"}, {"y"});
  model.node("Sigmoid", {"x"}, {"y_2"});
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("return %0, %1, %0, %arg0, %0"));
  CHECK_THAT(result.text(),
             Contains("\"y\"}, ") && Contains("{om.name = \"y_2\"}, tensor<2xf32> {om.name = "
                                              "\"y_3\"}, tensor<2xf32> {om.name = \"x\"}, "
                                              "tensor<2xf32> {om.name = \"y_4\"}"));
}

TEST_CASE("--out_nodes cuts the graph") {
  TestModel model;
  model.input("x", {1, 6}).output("z");
  attr(model.node("Split", {"x"}, {"a", "b"}, "split"), "axis", int64_t(1));
  model.node("TopK", {"b"}, {"z"}, "top");
  SECTION("by node and index") {
    Imported result = import(model, {.outputs = {"split:1", "split:0"}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("{om.name = \"b\"}, tensor<1x3xf32> {om.name = \"a\"}"));
  }
  SECTION("by tensor") {
    Imported result = import(model, {.outputs = {"a"}});
    CHECK(result);
  }
  SECTION("all errors are named") {
    Imported result = import(model, {.outputs = {"none:0", "split:2", "split", "a", "a"}});
    CHECK_FALSE(result);
    CHECK_THAT(result.messages(), Contains("E10016: 'none:0'") && Contains("E10016: 'split:2'") &&
                                      Contains("E10016: 'split'") &&
                                      Contains("E10001: --out_nodes names tensor 'a' twice"));
  }
}

TEST_CASE("nodes without a name have a type and a number") {
  TestModel model;
  model.input("x", {4}).output("z");
  model.node("Relu", {"x"}, {"a"}, "");
  model.node("Neg", {"a"}, {"b"}, "named");
  model.node("Relu", {"b"}, {"c"}, "");
  model.node("Abs", {"c"}, {"z"}, "Relu_0");
  Imported result = import(model, {.outputs = {"Relu_1:0", "Relu_0:0"}});
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("{om.name = \"c\"}, tensor<4xf32> {om.name = \"z\"}"));
  CHECK_FALSE(import(model, {.outputs = {"Neg_1:0"}}));
}

TEST_CASE("--input_shape") {
  TestModel model;
  model.symbolicInput("a", {"batch", "3"}).symbolicInput("b", {"batch", "len"}).output("y");
  model.graph().add_input()->set_name("c");
  model.graph().mutable_input(2)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  model.node("Relu", {"a"}, {"y"});
  SECTION("open shapes are listed with an example") {
    Imported result = import(model);
    REQUIRE(result);
    CHECK(result.messages() ==
          "W11001: the shape of these inputs is dynamic: 'a' [batch, 3], 'b' [batch, len], 'c' of "
          "unknown rank; code for a fixed shape can be faster: give it with "
          "--input_shape=\"a:1,3;b:1,1;c:1,3,224,224\"\n");
    CHECK_THAT(result.text(),
               Contains("%arg0: tensor<?x3xf32>") && Contains("%arg1: tensor<?x?xf32>") &&
                   Contains("%arg2: tensor<*xf32>") && Contains("graph.host_call \"Relu\"(%arg0)"));
  }
  SECTION("of many inputs four are named") {
    for (const char *name : {"d", "e", "f"})
      model.symbolicInput(name, {"batch", "3"});
    Imported result = import(model);
    REQUIRE(result);
    CHECK_THAT(result.messages(), Contains("'d' [batch, 3] and 2 more; code for a fixed shape can "
                                           "be faster: give it with --input_shape\n"));
  }
  SECTION("-1 leaves a dim open") {
    Imported result = import(model, {.inputShapes = {{"a", {-1, 3}}, {"b", {2, -1}}, {"c", {-1}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("%arg0: tensor<?x3xf32>") &&
                                  Contains("%arg1: tensor<2x?xf32>") &&
                                  Contains("%arg2: tensor<?xf32>"));
  }
  SECTION("a symbol that is given once holds everywhere") {
    model.symbolicInput("d", {"batch"});
    Imported result = import(model, {.inputShapes = {{"b", {2, 7}}, {"c", {}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(),
               Contains("%arg0: tensor<2x3xf32>") && Contains("%arg1: tensor<2x7xf32>") &&
                   Contains("%arg2: tensor<f32>") && Contains("%arg3: tensor<2xf32>"));
  }
  SECTION("errors") {
    Imported result = import(
        model, {.inputShapes = {
                    {"a", {1}}, {"b", {1, -2}}, {"y", {1}}, {"q", {1}}, {"c", {1}}, {"c", {1}}}});
    CHECK_FALSE(result);
    CHECK_THAT(result.messages(),
               Contains("E10049: --input_shape=\"a:1\" has 1 dims, the model's input [batch, 3] "
                        "has 2") &&
                   Contains("E10011: --input_shape=\"b:1,-2\": dim -2 is neither positive nor -1 "
                            "(dynamic)") &&
                   Contains("E10017: 'y' given with --input_shape is not an input of the model; "
                            "its inputs are 'a', 'b', 'c'") &&
                   Contains("E10016: 'q' given with --input_shape is not in the model") &&
                   Contains("E10002: --input_shape gives input 'c' twice"));
  }
}

TEST_CASE("dims that the model states as 0") {
  TestModel model;
  model.input("x", {0, 4}).output("y").node("Relu", {"x"}, {"y"});
  SECTION("are unknown where the target serves all sizes") {
    Imported result = import(model);
    REQUIRE(result);
    CHECK_THAT(result.messages(), Contains("the shape of these inputs is dynamic: 'x' [?, 4]"));
    CHECK_THAT(result.text(), Contains("%arg0: tensor<?x4xf32>"));
  }
  SECTION("are 0 for a target that needs every dim") {
    Imported result = import(model, {.keepsEmptyDims = true});
    REQUIRE(result);
    CHECK(result.messages() ==
          "W11001: the model states inputs without elements: 'x' [0,4]; they are compiled for "
          "these dims: give others with --input_shape\n");
    CHECK_THAT(result.text(), Contains("%arg0: tensor<0x4xf32>"));
  }
  SECTION("are what --input_shape gives") {
    Imported result = import(model, {.inputShapes = {{"x", {2, 4}}}, .keepsEmptyDims = true});
    REQUIRE(result);
    CHECK(result.messages().empty());
    CHECK_THAT(result.text(), Contains("%arg0: tensor<2x4xf32>"));
  }
}

TEST_CASE("constants of the model follow a batch that --input_shape changes") {
  TestModel model;
  model.input("x", {1, 3, 4}).output("y").ints("list", {1, 12}).ints("fixed", {2, 12});
  SECTION("shapes, and what stands before each image") {
    model.floats("token", {1, 1, 4}, {1, 2, 3, 4}).ints("all", {1, 16});
    attr(model.node("Concat", {"token", "x"}, {"c"}, "c"), "axis", int64_t(1));
    model.node("Reshape", {"c", "all"}, {"y"}, "r");
    Imported result = import(model, {.inputShapes = {{"x", {2, 3, 4}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("-> tensor<2x4x4xf32>") && Contains("-> tensor<2x16xf32>"));
  }
  SECTION("shapes whose -1 would take up the batch") {
    model.ints("rest", {1, 3, -1}).ints("flat", {1, -1}).floats("table", {2, 2}, {1, 2, 3, 4});
    model.node("Reshape", {"x", "rest"}, {"r"}, "r");
    model.node("Reshape", {"r", "flat"}, {"f"}, "f");
    // No images: what is computed of constants keeps its shape.
    model.node("Relu", {"table"}, {"t"});
    model.node("Reshape", {"t", "flat"}, {"row"}, "row");
    attr(model.node("Concat", {"f", "f"}, {"y"}, "c"), "axis", int64_t(1));
    model.output("row");
    Imported result = import(model, {.inputShapes = {{"x", {2, 3, 4}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("-> tensor<2x12xf32>") && Contains("-> tensor<2x24xf32>") &&
                                  Contains("tensor<1x4xf32> {om.name = \"row\"}"));
  }
  SECTION("a computed shape has the batch already") {
    // The rows of both images, of which there are as many as twice the batch.
    TestModel rows;
    rows.input("x", {1, 2, 3}).output("y").ints("flat", {-1, 3}).ints("zero", {0});
    rows.ints("rest", {-1});
    rows.node("Reshape", {"x", "flat"}, {"f"}, "f");
    rows.node("Relu", {"f"}, {"r"});
    rows.node("Shape", {"x"}, {"shape"});
    rows.node("Gather", {"shape", "zero"}, {"batch"});
    attr(rows.node("Concat", {"batch", "rest"}, {"target"}), "axis", int64_t(0));
    rows.node("Reshape", {"r", "target"}, {"y"}, "y");
    Imported result = import(rows, {.inputShapes = {{"x", {2, 2, 3}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("tensor<2x6xf32> {om.name = \"y\"}"));
  }
  SECTION("steps of a sequence are no batch") {
    TestModel steps;
    steps.input("x", {1, 4, 3}).output("y").ints("flat", {1, -1});
    attr(steps.node("Transpose", {"x"}, {"t"}), "perm", Ints{1, 0, 2});
    steps.node("Reshape", {"t", "flat"}, {"y"});
    Imported result = import(steps, {.inputShapes = {{"x", {4, 4, 3}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("tensor<1x48xf32> {om.name = \"y\"}"));
  }
  SECTION("the batch is in front again behind the steps of a sequence") {
    TestModel steps;
    steps.input("x", {1, 3, 2}).output("y").ints("flat", {1, -1});
    attr(steps.node("Transpose", {"x"}, {"t"}), "perm", Ints{1, 0, 2});
    steps.node("Relu", {"t"}, {"r"});
    attr(steps.node("Transpose", {"r"}, {"b"}), "perm", Ints{1, 0, 2});
    steps.node("Reshape", {"b", "flat"}, {"y"});
    Imported result = import(steps, {.inputShapes = {{"x", {2, 3, 2}}}});
    INFO(result.messages());
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("tensor<2x6xf32> {om.name = \"y\"}"));
  }
  SECTION("the shapes of a long chain are found in one walk") {
    TestModel chain;
    chain.input("x", {1, 4}).output("y").ints("flat", {1, -1});
    std::string last = "x";
    for (int i = 0; i < 40000; ++i) {
      const std::string name = "t" + std::to_string(i);
      chain.node(i % 2 ? "Relu" : "Neg", {last}, {name});
      chain.node("Reshape", {name, "flat"}, {last = name + "r"});
    }
    chain.node("Neg", {last}, {"y"});
    const std::clock_t before = std::clock();
    Imported result = import(chain, {.inputShapes = {{"x", {2, 4}}}});
    REQUIRE(result);
    // Time of the processor, less than a second; walks from each of them to the input are
    // quadratic.
    CHECK(std::clock() - before < 8 * CLOCKS_PER_SEC);
    CHECK_THAT(result.text(), Contains("tensor<2x4xf32> {om.name = \"y\"}"));
  }
  SECTION("a shape that fits stays") {
    model.node("Reshape", {"x", "fixed"}, {"y"});
    Imported result = import(model, {.inputShapes = {{"x", {2, 3, 4}}}});
    REQUIRE(result);
    CHECK_THAT(result.text(), Contains("-> tensor<2x12xf32>"));
  }
  SECTION("other dims are no batch") {
    model.node("Reshape", {"x", "list"}, {"y"});
    Imported result = import(model, {.inputShapes = {{"x", {1, 6, 4}}}});
    CHECK_FALSE(result);
    CHECK_THAT(result.messages(), Contains("[1, 12] has 12 elements, expected 24"));
  }
}

TEST_CASE("the text of --input_shape and --out_nodes") {
  Diagnostics diagnostics;
  const InputShapes shapes = parseInputShapes("a:1,3;b:0:2, 4;s:", diagnostics);
  CHECK_FALSE(diagnostics.hasErrors());
  REQUIRE(shapes.size() == 3);
  CHECK(shapes[0] == std::pair<std::string, Ints>{"a", {1, 3}});
  CHECK(shapes[1] == std::pair<std::string, Ints>{"b:0", {2, 4}});
  CHECK(shapes[2] == std::pair<std::string, Ints>{"s", {}});
  CHECK(parseInputShapes("a;b:x,1", diagnostics).empty());
  CHECK(diagnostics.numErrors() == 2);
  CHECK_THAT(diagnostics.all()[0].text,
             Contains("\"a\" of --input_shape is invalid: there is no name"));
  CHECK_THAT(diagnostics.all()[1].text, Contains("\"x\" is not a number"));
  CHECK(splitNames("n:0; t ;") == Names{"n:0", "t"});
}

TEST_CASE("shape arithmetic is resolved while importing") {
  TestModel model;
  model.symbolicInput("x", {"n", "3", "h", "w"}).output("y");
  model.ints("zero", {0}).ints("rest", {-1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"batch"});
  attr(model.node("Concat", {"batch", "rest"}, {"target"}), "axis", int64_t(0));
  model.node("Reshape", {"x", "target"}, {"y"});
  Imported result = import(model, {.inputShapes = {{"x", {2, 3, 4, 5}}}});
  INFO(result.messages());
  REQUIRE(result);
  CHECK_THAT(result.text(), Contains("-> (tensor<2x60xf32>"));
  CHECK_THAT(result.text(), !Contains("graph.gather") && !Contains("graph.constant"));
}

TEST_CASE("a newer opset is read with a warning") {
  TestModel model(99);
  model.input("x", {1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  Imported result = import(model);
  CHECK(result);
  CHECK_THAT(result.messages(), Contains("W11001: the model has opset 99"));
}
