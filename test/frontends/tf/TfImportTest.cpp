//===-- TfImportTest.cpp - importing GraphDefs and refusing bad ones ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <catch2/catch.hpp>

#include <fstream>
#include <google/protobuf/text_format.h>
#include <sstream>

#include "dialects/graph/ops/BinaryOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/TfImport.h"
#include "frontends/tf/schema/tensorflow.pb.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace {

const char *placeholder = R"(node { name: "x" op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 1 } dim { size: 4 } dim { size: 4 }
                                      dim { size: 2 } } } } })";

std::string node(const std::string &name, const std::string &op, const std::string &inputs,
                 const std::string &rest = "") {
  std::string text = "node { name: \"" + name + "\" op: \"" + op + "\"";
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(inputs).split(names, ' ', -1, false);
  for (llvm::StringRef input : names)
    text += " input: \"" + input.str() + "\"";
  return text + " " + rest + " }\n";
}

struct Import {
  Import(const std::string &text, const atc::TfImportOptions &options = {}) {
    atc::tf::pb::GraphDef graph;
    REQUIRE(google::protobuf::TextFormat::ParseFromString(text, &graph));
    auto result = atc::importTfGraph(graph, "test", {}, options, context, diagnostics);
    if (succeeded(result))
      module = std::move(*result);
    llvm::raw_string_ostream os(messages);
    diagnostics.print(os);
    CHECK(static_cast<bool>(module) != diagnostics.hasErrors());
  }
  bool says(llvm::StringRef part) const { return llvm::StringRef(messages).contains(part); }
  func::FuncOp main() { return *module->getOps<func::FuncOp>().begin(); }

  MLIRContext context;
  atc::Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

} // namespace

TEST_CASE("A tile of a tensor of unknown rank has as many dims as repeats") {
  Import import(R"(node { name: "x" op: "Placeholder"
      attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: -1 } dim { size: -1 } } } } }
    node { name: "s" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "shape" value { shape { dim { size: -1 } } } } }
    node { name: "n" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32
      tensor_shape { dim { size: 2 } } int_val: 2 int_val: 3 } } } })" +
                node("r", "Reshape", "x s") + node("y", "Tile", "r n"));
  INFO(import.messages);
  REQUIRE(import.module);
  auto type = dyn_cast<RankedTensorType>(import.main().getFunctionType().getResult(0));
  REQUIRE(type);
  CHECK(type.getRank() == 2);
  CHECK(type.getNumDynamicDims() == 2);
}

TEST_CASE("A graph is imported with the names of its nodes") {
  Import result(placeholder + node("y", "Relu", "x") + node("z", "Neg", "y ^x"));
  REQUIRE(result.module);
  auto main = result.main();
  CHECK(main.getArgAttrOfType<StringAttr>(0, "om.name") == "x");
  REQUIRE(main.getNumResults() == 1);
  CHECK(main.getResultAttrOfType<StringAttr>(0, "om.name") == "z");
  auto neg = main.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  auto location = dyn_cast<NameLoc>(neg->getLoc());
  REQUIRE(location);
  CHECK(location.getName() == "z");
  CHECK(cast<NameLoc>(location.getChildLoc()).getName() == "z");
}

TEST_CASE("Edges of order between constants may form a cycle, and any number of paths") {
  auto constant = [](const std::string &name, const std::string &inputs) {
    return node(name, "Const", inputs, R"(attr { key: "value" value { tensor { dtype: DT_FLOAT
      tensor_shape { } float_val: 1 } } })");
  };
  Import cycle(placeholder + constant("a", "^b") + constant("b", "^a ^b") +
               node("y", "Add", "x a ^b"));
  CHECK(cycle.module);
  // 2^200 paths.
  std::string text = placeholder;
  for (int i = 0; i < 200; ++i)
    text += constant("c" + std::to_string(i),
                     "^c" + std::to_string(i + 1) + " ^d" + std::to_string(i)) +
            constant("d" + std::to_string(i), "^c" + std::to_string(i + 1));
  Import ladder(text + constant("c200", "") + node("y", "Add", "x c0"));
  CHECK(ladder.module);
}

TEST_CASE("All operators without an importer are listed at once") {
  Import result(placeholder + node("a", "IsotonicRegression", "x") + node("b", "Neg", "a") +
                    node("c", "IsotonicRegression", "b") + node("unused", "DecodeWav", "x") +
                    node("d", "Identity", "c"),
                {{}, {"d"}, {}});
  CHECK(result.diagnostics.numErrors() == 1);
  CHECK(result.says("E13010: no importer for these operators: IsotonicRegression x2 (a, c)"));
  CHECK_FALSE(result.says("DecodeWav"));
}

TEST_CASE("The front of a graph is cut off, its types are inferred") {
  std::string graph = placeholder + node("y", "Relu", "x") + node("z", "Neg", "y");
  Import inferred(graph, {{}, {}, {"y"}});
  REQUIRE(inferred.module);
  auto type = cast<RankedTensorType>(inferred.main().getArgumentTypes()[0]);
  CHECK(type.getShape() == ArrayRef<int64_t>{1, 4, 4, 2});
  CHECK(inferred.main().getArgAttrOfType<StringAttr>(0, "om.name") == "y");

  std::string unknown = placeholder + node("y", "IsotonicRegression", "x") + node("z", "Neg", "y");
  Import asks(unknown, {{}, {}, {"y"}});
  CHECK(asks.says("E10001: the shape of these inputs is not fixed: 'y'"));
  Import given(unknown, {{{"y", {3, 5}}}, {}, {"y"}});
  REQUIRE(given.module);
  CHECK(cast<RankedTensorType>(given.main().getResultTypes()[0]).getShape() ==
        ArrayRef<int64_t>{3, 5});
}

TEST_CASE("Inputs that shapes name stay, also where the outputs do not need them") {
  std::string graph =
      placeholder +
      node("size", "Placeholder", "", R"(attr { key: "dtype" value { type: DT_INT32 } })") +
      node("y", "Relu", "x") + node("z", "Cast", "size", R"(
    attr { key: "SrcT" value { type: DT_INT32 } } attr { key: "DstT" value { type: DT_FLOAT } })");
  Import named(graph, {{{"x", {1, 4, 4, 2}}, {"size", {3}}}, {"y:0"}, {}});
  REQUIRE(named.module);
  CHECK(named.main().getNumArguments() == 2);
  CHECK(named.main().getArgument(1).use_empty());
  Import other(graph, {{}, {"y:0"}, {}});
  REQUIRE(other.module);
  CHECK(other.main().getNumArguments() == 1);
}

TEST_CASE("Names that are not in the graph are refused") {
  std::string graph = placeholder + node("y", "Relu", "x");
  CHECK(Import(graph, {{}, {"none:0"}, {}}).says("E10016: there is no node 'none'"));
  CHECK(Import(graph, {{}, {}, {"none"}}).says("E10016: there is no node 'none'"));
  CHECK(Import(graph, {{{"none", {1}}}, {}, {}}).says("E12009: 'none' given with --input_shape"));
  CHECK(Import(graph, {{{"y", {1}}}, {}, {}}).says("E10017: 'y' given with --input_shape"));
  CHECK(Import(graph, {{}, {"y:3"}, {}}).says("E10016: output 'y:3'"));
}

TEST_CASE("Broken graphs are refused") {
  CHECK(Import(placeholder + node("y", "Relu", "gone")).says("there is no such node"));
  CHECK(Import(placeholder + node("x", "Relu", "x")).says("E13009"));
  CHECK(Import(placeholder + node("y", "Add", "x z") + node("z", "Neg", "y") +
               node("out", "Neg", "z"))
            .says("stands in a cycle"));
  CHECK(Import(placeholder + node("a", "Identity", "b") + node("b", "Identity", "a") +
               node("out", "Dequantize", "x a b", "attr { key: \"T\" value { type: DT_QUINT8 } }"))
            .says("cycle"));
  CHECK(Import(placeholder + node("y", "Relu", "")).says("input 0 of node 'y' (Relu): is missing"));
  CHECK(
      Import(placeholder + node("y", "Conv2D", "x x",
                                "attr { key: \"strides\" value { list { i: 1 i: 0 i: 0 i: 1 } } }"))
          .says("E14001"));
  CHECK(Import(placeholder + node("c", "Const", "") + node("y", "Add", "x c"))
            .says("attribute 'value' of node 'c' (Const)"));
  std::string large = "attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape { "
                      "dim { size: 4 } } float_val: [1, 2, 3, 4, 5] } } }";
  CHECK(Import(placeholder + node("c", "Const", "", large) + node("y", "Add", "x c"))
            .says("has 5 elements, expected at most 4"));
}

TEST_CASE("A node has what its operator takes") {
  auto says = [](const std::string &nodes, const std::string &text) {
    return Import(placeholder + nodes).says(text);
  };
  CHECK(says(node("y", "Abs", "x x"),
             "input 1 ('x') of node 'y' (Abs): is one too many; the operator takes 1"));
  CHECK(says(node("y", "Add", "x"), "input 1 of node 'y' (Add): is missing; the operator needs 2"));
  auto sum = [](const std::string &count) {
    return node("y", "AddN", "x x", R"(attr { key: "N" value { i: )" + count + " } }");
  };
  CHECK(Import(placeholder + sum("2")).module);
  CHECK(says(sum("3"), "input 2 of node 'y' (AddN): is missing; the operator needs 3"));
  CHECK(says(sum("1"), "input 1 ('x') of node 'y' (AddN): is one too many"));
  CHECK(says(sum("9223372036854775807"), "is missing; the operator needs 4294967296"));
  CHECK(says(sum("-9223372036854775808"), "is one too many; the operator takes 0"));
  // Types that attributes and operators state for inputs.
  auto typed = [&](const std::string &op, const std::string &type) {
    return node("y", op, "x", R"(attr { key: "T" value { type: )" + type + " } }");
  };
  CHECK(Import(placeholder + typed("Abs", "DT_FLOAT")).module);
  CHECK(says(typed("Abs", "DT_INT32"), "input 'x' of node 'y' (Abs): holds DT_FLOAT, and the node "
                                       "states DT_INT32"));
  CHECK(says(node("y", "LogicalNot", "x"),
             "input 'x' of node 'y' (LogicalNot): holds DT_FLOAT, and the node states DT_BOOL"));
  CHECK(says(node("y", "AddN", "x x", R"(attr { key: "N" value { i: 2 } }
                                         attr { key: "T" value { type: DT_HALF } })"),
             "holds DT_FLOAT, and the node states DT_HALF"));
  // Also attributes that a builder does not read.
  auto attribute = [](const std::string &op, const std::string &name, const std::string &value) {
    return node("y", op, "x", R"(attr { key: ")" + name + "\" value { " + value + " } }");
  };
  const std::string kind = ": has a value of another type than the operator's, expected ";
  CHECK(says(attribute("Abs", "T", "s: 'float'"),
             "attribute 'T' of node 'y' (Abs)" + kind + "an element type"));
  CHECK(says(attribute("Abs", "T", "placeholder: 'T'"), "expected an element type"));
  CHECK(says(attribute("Abs", "T", ""), "expected an element type"));
  CHECK(says(attribute("MaxPool", "ksize", "i: 2"), "expected a list, of which each element is an "
                                                    "integer"));
  CHECK(says(attribute("MaxPool", "ksize", "list { f: 2 }"), "each element is an integer"));
  CHECK(Import(placeholder + attribute("Abs", "_output_shapes", "s: 'any'")).module);
}

TEST_CASE("A short list of values repeats the last one") {
  std::string value = "attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { "
                      "dim { size: 4 } } int_val: [7, 9] } } }";
  Import result(placeholder + node("c", "Const", "", value));
  CHECK(result.says("E16004")); // a constant alone is no output
  Import asked(placeholder + node("c", "Const", "", value), {{}, {"c"}, {}});
  REQUIRE(asked.module);
  auto constant = asked.main().getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  auto elements = cast<DenseElementsAttr>(cast<atc::graph::ConstantOp>(constant).getValue());
  CHECK(llvm::to_vector(elements.getValues<int32_t>()) == SmallVector<int32_t>{7, 9, 9, 9});
}

TEST_CASE("Dims that the model leaves open are dynamic") {
  std::string graph = R"(node { name: "x" op: "Placeholder"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } } } } })" +
                      node("y", "Relu", "x") + node("z", "Neg", "y");
  Import dynamic(graph);
  REQUIRE(dynamic.module);
  CHECK(dynamic.says("W11001: the shape of these inputs is dynamic: 'x' [?,4]"));
  auto type = dyn_cast<RankedTensorType>(dynamic.main().getResultTypes()[0]);
  REQUIRE(type);
  CHECK(type.getShape() == ArrayRef<int64_t>{ShapedType::kDynamic, 4});
  Import fixed(graph, {{{"x", {3, 4}}}, {}, {}});
  REQUIRE(fixed.module);
  CHECK(fixed.main().getOps<atc::graph::HostCallOp>().empty());
  Import opened(placeholder + node("y", "Relu", "x"), {{{"x", {1, -1, -1, 2}}}, {}, {}});
  REQUIRE(opened.module);
  CHECK_FALSE(opened.main().getOps<atc::graph::HostCallOp>().empty());
  CHECK(Import(graph, {{{"x", {0, 4}}}, {}, {}}).says("E10011"));
}

TEST_CASE("Any of no element is false, whatever the dims are") {
  // The largest of no element is the least number, which as a bool would be true.
  const std::string graph = R"(node { name: "x" op: "Placeholder"
    attr { key: "dtype" value { type: DT_BOOL } }
    attr { key: "shape" value { shape { dim { size: -1 } } } } }
    node { name: "along" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32
      tensor_shape { dim { size: 1 } } int_val: 0 } } } })" +
                            node("y", "Any", "x along");
  Import result(graph);
  REQUIRE(result.module);
  Operation *last = result.main().getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  auto compare = dyn_cast<atc::graph::CompareOp>(last);
  REQUIRE(compare);
  CHECK(compare.getPredicate() == atc::graph::ComparePredicate::Gt);
}

TEST_CASE("A dim of 0 that is not known has no elements") {
  // In ONNX it would be the input's.
  const std::string x = R"(node { name: "x" op: "Placeholder"
    attr { key: "dtype" value { type: DT_FLOAT } }
    attr { key: "shape" value { shape { dim { size: -1 } } } } })";
  auto allowsZero = [](const std::string &graph) {
    Import result(graph);
    REQUIRE(result.module);
    int64_t allows = -1;
    for (atc::graph::HostCallOp call : result.main().getOps<atc::graph::HostCallOp>())
      if (call.getKernel() == "Reshape")
        allows = cast<DenseI64ArrayAttr>(call.getParameters().get("allowzero"))[0];
    return allows;
  };
  CHECK(allowsZero(x + R"(node { name: "to" op: "Placeholder"
    attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "shape" value { shape { dim { size: 1 } } } } })" +
                   node("y", "Reshape", "x to")) == 1);
  CHECK(allowsZero(x + R"(node { name: "to" op: "Const" attr { key: "value" value { tensor {
    dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [-1, 4] } } } })" +
                   node("y", "Reshape", "x to")) == 0);
}

TEST_CASE("What the target cannot generate becomes a host call") {
  std::string graph = placeholder + node("y", "Tanh", "x") + node("z", "Neg", "y");
  atc::TfImportOptions options;
  options.canGenerate = [](Operation *op) { return !isa<atc::graph::TanhOp>(op); };
  Import result(graph, options);
  REQUIRE(result.module);
  auto calls = llvm::to_vector(result.main().getOps<atc::graph::HostCallOp>());
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].getKernel() == "Tanh");
  CHECK(isa<RankedTensorType>(calls[0].getResult(0).getType()));
}

namespace {

std::string integer(const std::string &name, int value, const std::string &control = "") {
  return node(name, "Const", control,
              "attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: " +
                  std::to_string(value) + " } } }");
}

std::string enter(const std::string &name, const std::string &input,
                  const std::string &frame = "loop") {
  return node(name, "Enter", input, "attr { key: \"frame_name\" value { s: \"" + frame + "\" } }");
}

/// i = 0; while (i < 3) { i = i + 1; v = -v; }
const std::string loop =
    placeholder + integer("zero", 0) + integer("one", 1) + integer("three", 3) +
    enter("i0", "zero") + enter("v0", "x") + enter("limit", "three") + node("i", "Merge", "i0 i1") +
    node("v", "Merge", "v0 v1") + node("less", "Less", "i limit") +
    node("again", "LoopCond", "less") + node("is", "Switch", "i again") +
    node("vs", "Switch", "v again") + node("add", "Add", "is:1 one") + node("neg", "Neg", "vs:1") +
    node("i1", "NextIteration", "add") + node("v1", "NextIteration", "neg");

} // namespace

TEST_CASE("A frame of v1 control flow becomes a loop") {
  Import result(loop + node("end", "Exit", "vs") + node("y", "Relu", "end"));
  INFO(result.messages);
  REQUIRE(result.module);
  auto loops = llvm::to_vector(result.main().getOps<atc::graph::LoopOp>());
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].getNumResults() == 2);
  CHECK(llvm::range_size(loops[0].getBody().front().getOps<atc::graph::NegOp>()) == 1);
}

TEST_CASE("A condition in a loop may decide between constants only") {
  // As `continue` does: nothing but the Merge reads the condition, over edges of control.
  std::string graph = loop;
  const std::string add = node("add", "Add", "is:1 one");
  graph.replace(graph.find(add), add.size(),
                node("first", "Less", "is:1 one") + node("pick", "Switch", "first first") +
                    node("on", "Identity", "pick:1") + node("off", "Identity", "pick") +
                    integer("two", 2, "^on") + integer("four", 4, "^off") +
                    node("step", "Merge", "four two") + node("add", "Add", "is:1 step"));
  Import result(graph + node("end", "Exit", "vs") + node("y", "Relu", "end"));
  INFO(result.messages);
  REQUIRE(result.module);
  auto loops = llvm::to_vector(result.main().getOps<atc::graph::LoopOp>());
  REQUIRE(loops.size() == 1);
  // For the value and for the number of the side.
  CHECK(llvm::range_size(loops[0].getBody().front().getOps<atc::graph::WhereOp>()) == 2);
}

TEST_CASE("A NoOp stands for the condition that it is under") {
  // As in functions that were inlined: their constants are ordered behind a NoOp.
  std::string graph = loop;
  const std::string add = node("add", "Add", "is:1 one");
  graph.replace(graph.find(add), add.size(),
                node("first", "Less", "is:1 one") + node("pick", "Switch", "first first") +
                    node("on", "Identity", "pick:1") + node("off", "Identity", "pick") +
                    node("then", "NoOp", "^on ^again") + node("else", "NoOp", "^off") +
                    integer("two", 2, "^then") + integer("four", 4, "^else") +
                    node("taken", "Identity", "two") + node("left", "Identity", "four") +
                    node("step", "Merge", "left taken") + node("add", "Add", "is:1 step"));
  Import result(graph + node("end", "Exit", "vs") + node("y", "Relu", "end"));
  INFO(result.messages);
  REQUIRE(result.module);
  auto loops = llvm::to_vector(result.main().getOps<atc::graph::LoopOp>());
  REQUIRE(loops.size() == 1);
  CHECK(llvm::range_size(loops[0].getBody().front().getOps<atc::graph::WhereOp>()) == 2);
}

TEST_CASE("A value that the body hands on stays outside of the loop") {
  std::string graph = loop + enter("k0", "x") + node("k", "Merge", "k0 k1") +
                      node("ks", "Switch", "k again") + node("same", "Identity", "ks:1") +
                      node("k1", "NextIteration", "same") + node("end", "Exit", "vs") +
                      node("kept", "Exit", "ks") + node("y", "Add", "end kept");
  Import result(graph);
  INFO(result.messages);
  REQUIRE(result.module);
  auto loops = llvm::to_vector(result.main().getOps<atc::graph::LoopOp>());
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].getNumResults() == 2);
}

TEST_CASE("The condition of a loop is one bool") {
  std::string graph = loop;
  const std::string less = node("less", "Less", "i limit");
  graph.replace(graph.find(less), less.size(), node("less", "Less", "v v"));
  CHECK(Import(graph + node("end", "Exit", "vs") + node("y", "Relu", "end"))
            .says("the condition of its loop is not one bool"));
}

TEST_CASE("Loops of another form are refused by name") {
  CHECK(Import(loop + node("end", "Exit", "neg"))
            .says("E13010: node 'end' (Exit): leaves a loop with a value that the loop does not "
                  "carry"));
  CHECK(Import(loop + node("end", "Exit", "vs") + enter("w0", "x", "other") +
               node("w", "Merge", "w0 w1") + node("ws", "Switch", "w again2") +
               node("again2", "LoopCond", "yes") + node("yes", "Less", "i one") +
               node("w1", "NextIteration", "mixed") + node("mixed", "Add", "ws:1 neg") +
               node("left", "Exit", "ws") + node("y", "Add", "end left"))
            .says("reads values of two loops"));
  CHECK(Import(placeholder + node("m", "Merge", "x n") + node("n", "NextIteration", "m") +
               node("y", "Relu", "m"))
            .says("E13010: node 'm' (Merge): joins a value of an iteration"));
}

TEST_CASE("Sides of a condition with different shapes become branches") {
  std::string condition = R"(node { name: "p" op: "Placeholder"
    attr { key: "dtype" value { type: DT_BOOL } } attr { key: "shape" value { shape { } } } })";
  std::string shape = R"(attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {
    dim { size: 1 } } int_val: -1 } } })";
  std::string graph = placeholder + condition + node("s", "Switch", "x p") +
                      node("flat", "Const", "", shape) + node("a", "Reshape", "s:1 flat") +
                      node("b", "Neg", "s") + node("m", "Merge", "b a") + node("y", "Relu", "m");
  Import result(graph);
  INFO(result.messages);
  REQUIRE(result.module);
  auto branches = llvm::to_vector(result.main().getOps<atc::graph::IfOp>());
  REQUIRE(branches.size() == 1);
  // What only one side needs is computed only there.
  CHECK(result.main().getOps<atc::graph::NegOp>().empty());
  CHECK_FALSE(branches[0].getElseRegion().front().getOps<atc::graph::NegOp>().empty());
}

static std::string importFile(llvm::StringRef path) {
  MLIRContext context;
  atc::Diagnostics diagnostics;
  auto result = atc::importTf(path, {}, context, diagnostics);
  CHECK(succeeded(result) != diagnostics.hasErrors());
  std::string messages;
  llvm::raw_string_ostream os(messages);
  diagnostics.print(os);
  return messages;
}

TEST_CASE("Files that are not a graph are refused") {
  CHECK(importFile("no-such-file.pb") == "E10410: file 'no-such-file.pb' does not exist\n");

  llvm::SmallString<128> path;
  REQUIRE_FALSE(llvm::sys::fs::createTemporaryFile("model", "pb", path));
  std::string name = path.str().str();
  auto errorOf = [&](const std::string &bytes) {
    std::ofstream(name, std::ios::binary) << bytes;
    return importFile(name);
  };
  CHECK(errorOf("") == "E13003: file '" + name + "' is empty\n");
  CHECK(errorOf("version https://git-lfs.github.com/spec/v1\noid sha256:0\n") ==
        "E13005: '" + name +
            "' is a Git LFS pointer, not the model: fetch it with 'git lfs pull'\n");
  CHECK(errorOf("hello") ==
        "E13005: '" + name +
            "' cannot be parsed as a frozen GraphDef: the file is damaged, "
            "cut short or of another format, or more than 100 messages stand inside each other\n");

  atc::tf::pb::GraphDef graph;
  graph.mutable_versions()->set_producer(1);
  CHECK_THAT(errorOf(graph.SerializeAsString()), Catch::StartsWith("E16004: '" + name));
  REQUIRE(
      google::protobuf::TextFormat::ParseFromString(placeholder + node("y", "Relu", "x"), &graph));
  std::string bytes = graph.SerializeAsString();
  CHECK(errorOf(bytes).empty());
  CHECK_THAT(errorOf(bytes.substr(0, bytes.size() - 1)), Catch::StartsWith("E13005: "));
  (void)llvm::sys::fs::remove(path);
}

TEST_CASE("docs/tf-support.md is up to date") {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  atc::printTfSupport(stream);
  std::ifstream file(OPENATC_SOURCE_DIR "/docs/tf-support.md");
  std::stringstream stored;
  stored << file.rdbuf();
  // To renew it: atc-translate --tf-support > docs/tf-support.md
  CHECK(stored.str() == printed);
}

TEST_CASE("No operator has two importers") {
  using namespace atc::tf_import;
  for (auto rows :
       {elementwiseRows(), convRows(), poolRows(), reduceRows(), shapeRows(), moveRows(),
        scatterRows(), orderRows(), controlRows(), listRows(), quantRows(), rnnRows()})
    for (const OpRow &row : rows)
      CHECK(findOp(row.op) == &row);
}
