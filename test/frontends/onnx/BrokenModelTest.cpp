//===-- BrokenModelTest.cpp - every error is one clear error --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include <fstream>

#include "test/frontends/onnx/TestModel.h"
#include "llvm/Support/FileSystem.h"

using namespace atc;
using namespace atc::test;
using Catch::Contains;
using Catch::StartsWith;
using onnx::TensorProto;

/// x -> Relu -> y, to be broken.
static TestModel smallModel() {
  TestModel model;
  model.input("x", {1, 3, 8, 8}).output("y");
  model.node("Relu", {"x"}, {"y"}, "relu");
  return model;
}

TEST_CASE("files that cannot be read") {
  CHECK(importFile("no-such-file.onnx").messages() ==
        "E10410: file 'no-such-file.onnx' does not exist\n");
  CHECK_THAT(importFile("/").messages(), StartsWith("E13000: path '/' is not a regular file"));

  llvm::SmallString<128> path;
  REQUIRE_FALSE(llvm::sys::fs::createTemporaryFile("model", "onnx", path));
  CHECK_THAT(importFile(path.c_str()).messages(), Contains("E13003: ") && Contains("is empty"));
  std::ofstream(path.c_str()) << "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
  CHECK_THAT(importFile(path.c_str()).messages(),
             StartsWith("E13005: ") && Contains("is a Git LFS pointer"));
  CHECK_FALSE(llvm::sys::fs::remove(path));
}

TEST_CASE("a model cut short at any byte") {
  std::string bytes = smallModel().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut at " << size);
    Imported result = importBytes(bytes.substr(0, size));
    CHECK_FALSE(result);
    CHECK(result.diagnostics.hasErrors());
  }
}

TEST_CASE("any byte changed never crashes") {
  std::string bytes = smallModel().bytes();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (char value : {'\0', '\x7f', '\xff', char(bytes[at] ^ 1), char(bytes[at] ^ 8)}) {
      std::string changed = bytes;
      changed[at] = value;
      Imported result = importBytes(changed);
      CHECK(static_cast<bool>(result) != result.diagnostics.hasErrors());
    }
}

TEST_CASE("what is not a model") {
  CHECK_THAT(importBytes("hello").messages(), StartsWith("E13005: 'test.onnx' cannot be parsed"));
  TestModel model = smallModel();
  model.model.clear_graph();
  CHECK_THAT(errorOf(model), StartsWith("E16004: 'test.onnx' holds no graph"));
}

TEST_CASE("opsets") {
  TestModel model = smallModel();
  SECTION("none") {
    model.model.clear_opset_import();
    CHECK_THAT(errorOf(model), StartsWith("E16005: the model imports no opset"));
  }
  SECTION("too old") {
    model.model.mutable_opset_import(0)->set_version(0);
    CHECK_THAT(errorOf(model), StartsWith("E16005: the model has opset 0; supported are 1 to 28"));
  }
  SECTION("two") {
    onnx::OperatorSetIdProto *second = model.model.add_opset_import();
    second->set_domain("ai.onnx");
    second->set_version(14);
    CHECK_THAT(errorOf(model), StartsWith("E16005: the model imports opset 13 and opset 14"));
  }
}

TEST_CASE("an attribute that a node gives twice, wherever the node stands") {
  TestModel model = smallModel();
  auto giveTwice = [](onnx::NodeProto &node) {
    node.set_op_type("Softmax");
    for (int64_t axis : {1, 2})
      attr(node, "axis", axis);
  };
  SECTION("of an operator with code of its own") {
    giveTwice(*model.model.mutable_graph()->mutable_node(0));
  }
  SECTION("in a function") {
    onnx::FunctionProto &function = *model.model.add_functions();
    function.set_name("F");
    function.set_domain("own");
    *function.add_node() = model.model.graph().node(0);
    giveTwice(*function.mutable_node(0));
  }
  SECTION("in a branch whose result nobody reads") {
    onnx::NodeProto &node = model.node("If", {"x"}, {"unused"}, "if");
    onnx::AttributeProto &branch = *node.add_attribute();
    branch.set_name("then_branch");
    branch.set_type(onnx::AttributeProto::GRAPH);
    *branch.mutable_g() = model.model.graph();
    branch.mutable_g()->mutable_node()->DeleteSubrange(1, 1);
    giveTwice(*branch.mutable_g()->mutable_node(0));
  }
  CHECK(errorOf(model) == "E14001: node 'relu' (Softmax): attribute 'axis' is given twice\n");
}

TEST_CASE("the axis of a concat that its inputs do not have") {
  TestModel model;
  model.output("y");
  SECTION("of scalars") {
    model.input("x", {}).input("z", {4});
    attr(model.node("Concat", {"x", "z"}, {"y"}, "c"), "axis", int64_t(0));
    CHECK_THAT(errorOf(model),
               StartsWith("E14001: attribute 'axis' of node 'c' (Concat): 0 is out"));
  }
  SECTION("of a list and a scalar") {
    model.input("x", {4}).input("z", {});
    attr(model.node("Concat", {"x", "z"}, {"y"}, "c"), "axis", int64_t(0));
    CHECK_THAT(errorOf(model), StartsWith("E1") && Contains("node 'c' (Concat)"));
  }
  SECTION("of tensors of two ranks") {
    model.input("x", {2, 4}).input("z", {2});
    attr(model.node("Concat", {"x", "z"}, {"y"}, "c"), "axis", int64_t(1));
    CHECK_THAT(errorOf(model), StartsWith("E1") && Contains("node 'c' (Concat)"));
  }
}

TEST_CASE("an optional of an optional") {
  TestModel model = smallModel();
  onnx::TypeProto &type = *model.model.mutable_graph()->mutable_input(0)->mutable_type();
  for (int i = 0; i < 2; ++i) {
    const onnx::TypeProto before = type;
    *type.mutable_optional_type()->mutable_elem_type() = before;
  }
  CHECK_THAT(errorOf(model), StartsWith("E1") && Contains("'x'"));
}

TEST_CASE("unsupported operators are listed in one error") {
  TestModel model = smallModel();
  model.output("z");
  model.node("Adagrads", {"y"}, {"a"}, "grad").set_domain("ai.onnx.preview.training");
  model.node("Nothing", {"a"}, {"b"}, "");
  model.node("NonZero", {"b"}, {"c"}, "known");
  model.node("Nothing", {"c"}, {"d"}, "none");
  model.node("Upsample", {"d"}, {"z"}, "up").set_domain("com.example");
  CHECK(errorOf(model) ==
        "E16002: no importer for these operators of opset 13: Nothing x2 (output b, none); "
        "ai.onnx.preview.training.Adagrads x1 [domain ai.onnx.preview.training] (grad); "
        "com.example.Upsample x1 [domain com.example] (up). The supported ones are listed in "
        "docs/onnx-support.md; --out_nodes can cut off a part of the graph\n");
}

TEST_CASE("files that ONNX Runtime optimized for one machine say what to do") {
  TestModel model = smallModel();
  model.output("z");
  model.node("ReorderOutput", {"y"}, {"z"}, "back").set_domain("com.microsoft.nchwc");
  CHECK(errorOf(model) ==
        "E16002: no importer for these operators of opset 13: com.microsoft.nchwc.ReorderOutput "
        "x1 [domain com.microsoft.nchwc] (back). The supported ones are listed in "
        "docs/onnx-support.md; --out_nodes can cut off a part of the graph; ONNX Runtime optimized "
        "this file for one machine: compile the file it was made of, or save it with "
        "ORT_ENABLE_EXTENDED or less\n");
}

TEST_CASE("graphs that do not hang together") {
  TestModel model = smallModel();
  SECTION("undefined tensors") {
    model.output("z");
    model.node("Add", {"y", "missing"}, {"t"}, "add");
    model.node("Mul", {"t", "gone"}, {"z"}, "mul");
    CHECK_THAT(errorOf(model),
               Contains("E16001: tensor 'missing', read by node 'add' (Add), is not defined") &&
                   Contains("E16001: tensor 'gone', read by node 'mul' (Mul), is not defined"));
  }
  SECTION("an output that nothing makes") {
    model.output("z");
    CHECK_THAT(errorOf(model), StartsWith("E16001: output 'z' of the graph is not produced"));
  }
  SECTION("no outputs") {
    model.graph().clear_output();
    CHECK_THAT(errorOf(model), StartsWith("E16004: graph 'test' has no outputs"));
  }
  SECTION("a cycle") {
    model.output("c");
    model.node("Add", {"y", "c"}, {"a"}, "first");
    model.node("Relu", {"a"}, {"b"}, "second");
    model.node("Relu", {"b"}, {"c"}, "third");
    CHECK_THAT(errorOf(model),
               StartsWith("E16004: graph 'test' has a cycle: ") &&
                   Contains("node 'first' (Add) -> node 'second' (Relu) -> node 'third' (Relu)"));
  }
  SECTION("a node that reads itself") {
    model.output("a");
    model.node("Add", {"a", "x"}, {"a"}, "loop");
    CHECK_THAT(errorOf(model), Contains("has a cycle: node 'loop' (Add) -> node 'loop' (Add)"));
  }
  SECTION("names defined twice") {
    model.node("Relu", {"x"}, {"y"}, "again");
    model.node("Relu", {"x"}, {"x"}, "input");
    model.floats("w", {1}, {1}).floats("w", {1}, {1});
    CHECK_THAT(errorOf(model),
               Contains("E13009: tensor 'y' is defined twice, by node 'relu' (Relu) and by node "
                        "'again' (Relu)") &&
                   Contains("E13009: tensor 'x' is defined twice, as an input or initializer") &&
                   Contains("E13009: initializer 'w' is defined twice"));
  }
}

TEST_CASE("inputs of types that are not supported") {
  TestModel model = smallModel();
  auto *type = model.graph().mutable_input(0)->mutable_type();
  SECTION("an unknown type") {
    type->mutable_tensor_type()->set_elem_type(77);
    CHECK_THAT(errorOf(model), Contains("has element type data type 77, which is not supported"));
  }
  SECTION("a sequence of nothing") {
    type->mutable_sequence_type();
    CHECK_THAT(errorOf(model), StartsWith("E14001: input 'x' has a type, which is not supported"));
  }
  SECTION("absurd dims") {
    for (auto &dim : *type->mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.set_dim_value(2000000000);
    CHECK_THAT(errorOf(model), StartsWith("E14001: input 'x': has more than 2^40 elements"));
    type->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(INT64_MAX);
    CHECK_THAT(errorOf(model), Contains("more than the largest supported one"));
  }
}

TEST_CASE("initializers that are damaged") {
  TestModel model = smallModel();
  model.output("z");
  model.node("Add", {"y", "w"}, {"z"}, "add");
  TensorProto &tensor = model.initializer("w", {2, 3}, TensorProto::FLOAT);
  SECTION("too little raw data") {
    tensor.set_raw_data(std::string(20, '\0'));
    CHECK(errorOf(model) == "E14001: initializer 'w' has 20 bytes of data, expected 24 for shape "
                            "[2, 3] of FLOAT\n");
  }
  SECTION("too many elements") {
    tensor.mutable_float_data()->Resize(7, 0);
    CHECK_THAT(errorOf(model), Contains("initializer 'w' has 7 elements of data, expected 6"));
  }
  SECTION("no data") {
    CHECK_THAT(errorOf(model), Contains("initializer 'w' has 0 elements of data, expected 6"));
  }
  SECTION("a negative dim") {
    tensor.set_dims(0, -2);
    CHECK_THAT(errorOf(model), Contains("initializer 'w' has the negative dim -2"));
  }
  SECTION("dims whose product overflows") {
    for (int64_t dim : {2000000000, 2000000000, 2000000000, 2000000000})
      tensor.add_dims(dim);
    CHECK_THAT(errorOf(model), Contains("initializer 'w' has more than 2^40 elements"));
  }
  SECTION("an unknown element type") {
    tensor.set_data_type(99);
    CHECK_THAT(errorOf(model), Contains("initializer 'w' has element type data type 99"));
  }
  SECTION("numbers of more bits than an element has") {
    for (auto [type, number, bits] : {std::tuple(TensorProto::FLOAT16, 70000, 16),
                                      {TensorProto::BFLOAT16, -1, 16},
                                      {TensorProto::INT8, 300, 8},
                                      {TensorProto::UINT8, -129, 8},
                                      {TensorProto::UINT16, 65536, 16}}) {
      tensor.set_data_type(type);
      tensor.mutable_int32_data()->Resize(6, 0);
      tensor.set_int32_data(2, number);
      CHECK_THAT(errorOf(model),
                 Contains("initializer 'w' has the number " + std::to_string(number) +
                          " among its data, where " + TensorProto::DataType_Name(type) +
                          " has numbers of " + std::to_string(bits) + " bits"));
      tensor.clear_int32_data();
    }
    tensor.set_data_type(22); // INT4, two to a number
    tensor.mutable_int32_data()->Resize(3, 256);
    CHECK_THAT(errorOf(model), Contains("has the number 256 among its data"));
    tensor.clear_int32_data();
    tensor.set_data_type(TensorProto::UINT32);
    tensor.mutable_uint64_data()->Resize(6, uint64_t(1) << 32);
    CHECK_THAT(errorOf(model), Contains("has the number 4294967296 among its data"));
  }
  SECTION("segments") {
    tensor.mutable_segment()->set_begin(0);
    CHECK_THAT(errorOf(model), Contains("initializer 'w' is stored in segments"));
  }
}

TEST_CASE("attributes that are ignored, or became inputs, have the types of the others") {
  struct Case {
    const char *op, *attribute, *expected;
    int opset;
  };
  const auto check = [](const Case &wrong, auto value) {
    for (int64_t rows : {2, -1}) {
      TestModel model(wrong.opset);
      model.input("x", {rows, 3, 4}).output("y");
      std::vector<std::string> inputs = {"x"};
      if (wrong.op == std::string("GRU")) {
        model.floats("w", {1, 6, 4}, Floats(24, 1)).floats("r", {1, 6, 2}, Floats(12, 1));
        inputs = {"x", "w", "r"};
      } else if (wrong.op == std::string("ConvTranspose")) {
        model.floats("w", {3, 2, 2}, Floats(12, 1));
        inputs = {"x", "w"};
      }
      attr(model.node(wrong.op, inputs, {"y"}), wrong.attribute, value);
      INFO(wrong.op);
      CHECK_THAT(errorOf(model),
                 Contains("E14001") && Contains("'" + std::string(wrong.attribute) + "'") &&
                     Contains("has type") && Contains("expected " + std::string(wrong.expected)));
    }
  };
  check({"GRU", "hidden_size", "INT", 14}, 2.0f);
  check({"ConvTranspose", "kernel_shape", "INTS", 13}, int64_t(2));
  check({"Dropout", "ratio", "FLOAT", 10}, int64_t(1));
  check({"Dropout", "seed", "INT", 13}, 1.5f);
  for (const char *op : {"ReduceSum", "Squeeze", "Unsqueeze"})
    check({op, "axes", "INTS", 11}, int64_t(1));
  check({"ReduceMean", "axes", "INTS", 13}, int64_t(1));
  check({"TopK", "k", "INT", 9}, Ints{1});
  check({"Slice", "starts", "INTS", 9}, 1.0f);
  check({"Clip", "min", "FLOAT", 6}, int64_t(0));
}

TEST_CASE("attributes and shapes that do not fit are named with their node") {
  TestModel model;
  model.input("x", {1, 3, 8, 8}).floats("w", {4, 3, 3, 3}, Floats(108, 1)).output("y");
  onnx::NodeProto &conv = model.node("Conv", {"x", "w"}, {"y"}, "conv1");
  auto errorText = [&] { return errorOf(model); };
  SECTION("wrong type of attribute") {
    attr(conv, "strides", 2.0f);
    CHECK(errorText() == "E14001: attribute 'strides' of node 'conv1' (Conv): has type FLOAT, "
                         "expected INTS\n");
  }
  SECTION("wrong number of values") {
    attr(conv, "strides", Ints{1, 1, 1});
    CHECK_THAT(errorText(), Contains("attribute 'strides' of node 'conv1' (Conv): has 3 values, "
                                     "expected 2"));
  }
  SECTION("values out of range") {
    attr(conv, "strides", Ints{1, 0});
    CHECK_THAT(errorText(),
               Contains("attribute 'strides' of node 'conv1' (Conv): 0 is out of range"));
  }
  SECTION("huge pads") {
    attr(conv, "pads", Ints{INT64_MAX, 0, 0, 0});
    CHECK_THAT(errorText(), Contains("attribute 'pads' of node 'conv1' (Conv): "));
  }
  SECTION("an attribute that the operator does not have") {
    attr(conv, "activation", "relu");
    CHECK_THAT(errorText(),
               Contains("attribute 'activation' of node 'conv1' (Conv): is not known for "
                        "this operator of opset 13"));
  }
  SECTION("an unknown choice") {
    attr(conv, "auto_pad", "BOTH");
    CHECK_THAT(errorText(), Contains("is 'BOTH', expected one of NOTSET, SAME_UPPER, SAME_LOWER, "
                                     "VALID"));
  }
  SECTION("kernel_shape against the filter") {
    attr(conv, "kernel_shape", Ints{5, 5});
    CHECK_THAT(errorText(), Contains("attribute 'kernel_shape' of node 'conv1' (Conv): differs"));
  }
  SECTION("channels that do not match") {
    model.graph().mutable_initializer(0)->set_dims(0, 6);
    model.graph().mutable_initializer(0)->set_dims(1, 2);
    CHECK_THAT(errorText(), StartsWith("E14001: node 'conv1' (Conv): "));
  }
  SECTION("wrong rank") {
    model.graph()
        .mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim()
        ->RemoveLast();
    CHECK_THAT(errorText(), StartsWith("E14001: input 1 ('w') of node 'conv1' (Conv): has rank 4, "
                                       "expected 3"));
  }
  SECTION("a missing input") {
    conv.mutable_input()->RemoveLast();
    CHECK_THAT(errorText(), StartsWith("E14001: input 1 of node 'conv1' (Conv): is missing"));
  }
  SECTION("all faulty nodes are reported, those behind them are not") {
    attr(conv, "group", int64_t(0));
    model.output("z").output("t");
    model.node("Relu", {"y"}, {"z"}, "behind");
    attr(model.node("Flatten", {"x"}, {"t"}, "flat"), "axis", int64_t(9));
    std::string messages = errorText();
    CHECK_THAT(messages, Contains("node 'conv1'") && Contains("node 'flat'"));
    CHECK_THAT(messages, !Contains("behind"));
  }
}

TEST_CASE("types that do not match") {
  TestModel model;
  model.input("x", {4}).input("i", {4}, TensorProto::INT32).output("y");
  model.node("Add", {"x", "i"}, {"y"}, "add");
  CHECK_THAT(errorOf(model), StartsWith("E14001: node 'add' (Add): "));
}

TEST_CASE("shapes that depend on data are found at run time") {
  TestModel model;
  model.input("x", {4}).input("s", {2}, TensorProto::INT64).output("y");
  model.node("Reshape", {"x", "s"}, {"y"}, "reshape");
  Imported result = import(model);
  INFO(result.messages());
  REQUIRE(result);
  CHECK(result.messages().empty());
  CHECK_THAT(result.text(),
             Contains("graph.host_call \"Reshape\"(%arg0, %arg1)") && Contains("-> tensor<*xf32>"));
}

TEST_CASE("small files that ask for huge tensors") {
  TestModel model;
  model.input("x", {4}).output("y");
  SECTION("ConstantOfShape and a reduction") {
    model.ints("s", {1000000, 1000000});
    model.node("ConstantOfShape", {"s"}, {"c"}, "fill");
    attr(model.node("ReduceSum", {"c"}, {"r"}, "sum"), "keepdims", int64_t(0));
    model.node("Add", {"x", "r"}, {"y"}, "add");
    Imported result = import(model);
    INFO(result.messages());
    CHECK(result); // nothing is folded, so nothing is filled
  }
  SECTION("Tile beyond all bounds") {
    model.ints("r", {INT64_MAX});
    model.node("Tile", {"x", "r"}, {"y"}, "tile");
    CHECK_THAT(errorOf(model), Contains("node 'tile' (Tile): repeat 9223372036854775807"));
  }
  SECTION("a dim of 0 beside others beyond all bounds") {
    model.ints("s", {2000000000, 2000000000, 0, 4});
    model.node("Expand", {"x", "s"}, {"y"}, "expand");
    CHECK_THAT(errorOf(model), Contains("has no elements, but other dims whose product"));
  }
  SECTION("Expand beyond all bounds") {
    model.ints("s", {2000000000, 2000000000, 4});
    model.node("Expand", {"x", "s"}, {"y"}, "expand");
    CHECK_THAT(errorOf(model), Contains("node 'expand' (Expand): has more than 2^40 elements"));
  }
  SECTION("Range beyond all bounds") {
    for (auto [name, value] : {std::pair("a", 0), {"b", 2000000000}, {"c", 1}}) {
      TensorProto &tensor = model.initializer(name, {}, TensorProto::INT32);
      tensor.add_int32_data(value);
    }
    model.node("Range", {"a", "b", "c"}, {"y"}, "range");
    Imported result = import(model);
    INFO(result.messages());
    REQUIRE(result); // nothing is folded: a kernel makes it at run time
    CHECK_THAT(result.text(),
               Contains("graph.host_call \"Range\"") && Contains("-> tensor<2000000000xi32>"));
  }
}
