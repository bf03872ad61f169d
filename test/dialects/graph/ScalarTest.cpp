//===-- ScalarTest.cpp - buildScalar against the interpreter's formulas ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every elementwise operator has two descriptions: the arith and math ops that
// buildScalar makes, and the formula of the interpreter. Here the first runs as
// the body of a map beside the second.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scalar/ScalarMath.h"
#include "test/dialects/graph/RunGraph.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::test;

namespace {

const std::string wide = "[-30.0, -4.0, -3.0, -1.5, -0.75, -0.5, 0.0, 0.25, 0.5, 2.5, 3.0, 20.0]";
const std::string inner =
    "[-0.99, -0.9, -0.75, -0.5, -0.25, -0.1, 0.0, 0.25, 0.5, 0.75, 0.9, 0.99]";
const std::string positive = "[0.001, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0, 10.0, 16.0, 100.0]";
const std::string aboveOne = "[1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 100.0]";
const std::string other = "[2.0, -3.0, 0.5, 1.5, 0.75, -2.0, 4.0, 1.0, -0.5, 2.5, 3.0, -1.0]";
const std::string small = "[-100, -9, -7, -4, -3, -1, 0, 1, 2, 5, 7, 100]";
const std::string smallOther = "[3, -2, 2, 7, -3, 1, 5, -4, 2, 5, -1, 9]";
const std::string bytes = "[0, 1, 2, 3, 7, 9, 100, 127, 128, 200, 254, 255]";
const std::string bytesOther = "[1, 1, 3, 2, 255, 4, 7, 128, 127, 200, 3, 1]";
const std::string bools = "[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]";
const std::string boolsOther = "[0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]";

/// Replaces an elementwise operator by a map whose body it builds.
void replaceByMap(Operation *op) {
  OpBuilder builder(op);
  auto map = MapOp::create(builder, op->getLoc(), op->getResult(0).getType(), op->getOperands());
  Block &body = map.getBody().emplaceBlock();
  for (Value operand : op->getOperands())
    body.addArgument(getScalarType(cast<RankedTensorType>(operand.getType()).getElementType()),
                     op->getLoc());
  builder.setInsertionPointToEnd(&body);
  Value result =
      cast<ElementwiseOpInterface>(op).buildScalar(builder, op->getLoc(), body.getArguments());
  YieldOp::create(builder, op->getLoc(), result);
  op->replaceAllUsesWith(map);
  op->erase();
}

/// `inputs` are the elements of %x0, %x1, ...; their element types are `from`.
void compareBoth(const std::string &op, const std::vector<std::string> &inputs,
                 const std::vector<std::string> &from, const std::string &to,
                 const std::string &attributes, double tolerance) {
  std::string text, operands, types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = "x" + std::to_string(i), type = "tensor<12x" + from[i] + ">";
    text += constant(name, inputs[i], type);
    operands += (i ? ", %" : "%") + name;
    types += (i ? ", " : "") + type;
  }
  std::string type = "tensor<12x" + to + ">";
  text = "func.func @main() -> " + type + " {\n" + text + "%r = graph." + op + " " + operands +
         " {" + attributes + "} : (" + types + ") -> " + type + "\nreturn %r : " + type + "\n}";
  INFO(text);
  Graph graph;
  auto module = graph.parse(text);
  INFO(graph.lastMessage);
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto expected = evaluateFunction(function, {});
  REQUIRE(succeeded(expected));

  SmallVector<Operation *> elementwise;
  function.walk([&](ElementwiseOpInterface inner) { elementwise.push_back(inner); });
  REQUIRE(elementwise.size() == 1);
  replaceByMap(elementwise[0]);
  REQUIRE(succeeded(verify(*module)));
  auto actual = evaluateFunction(function, {});
  INFO(graph.lastMessage);
  REQUIRE(succeeded(actual));
  checkClose(actual->front().toDoubles(), expected->front().toDoubles(), tolerance);
}

struct FloatType {
  const char *name;
  double tolerance;
};
// Every step of the scalar code rounds, the formula once.
const FloatType floatTypes[] = {{"f64", 1e-13}, {"f32", 2e-6}, {"f16", 1e-2}, {"bf16", 8e-2}};

void compareFloats(const std::string &op, const std::vector<std::string> &inputs,
                   const std::string &attributes = "", const std::string &to = "") {
  for (FloatType type : floatTypes)
    compareBoth(op, inputs, std::vector<std::string>(inputs.size(), type.name),
                to.empty() ? type.name : to, attributes, type.tolerance);
}

} // namespace

TEST_CASE("buildScalar: functions of one float", "[scalar]") {
  for (std::string op : {"abs",  "neg",      "sign",     "exp",  "floor", "ceil",       "round",
                         "sin",  "cos",      "atan",     "tanh", "asinh", "erf",        "sigmoid",
                         "relu", "softplus", "softsign", "silu", "mish",  "hard_swish", "gelu"})
    compareFloats(op, {wide});
  for (std::string op : {"asin", "acos", "atanh", "tan", "sinh", "cosh"})
    compareFloats(op, {inner});
  for (std::string op : {"log", "sqrt", "rsqrt", "reciprocal"})
    compareFloats(op, {positive});
  compareFloats("acosh", {aboveOne});
  compareFloats("is_nan", {wide}, "", "i1");
}

TEST_CASE("buildScalar: functions with parameters", "[scalar]") {
  compareFloats("gelu", {wide}, "approximate = true");
  compareFloats("leaky_relu", {wide}, "alpha = 0.1");
  compareFloats("elu", {wide}, "alpha = 1.5");
  compareFloats("selu", {wide}, "alpha = 1.5, gamma = 1.25");
  compareFloats("hard_sigmoid", {wide}, "alpha = 0.2, beta = 0.5");
  compareFloats("thresholded_relu", {wide}, "alpha = 0.5");
  compareFloats("clip", {wide}, "min = -1.0, max = 6.0");
  compareFloats("clip", {wide}, "min = 0xFFF0000000000000 : f64, max = 0x7FF0000000000000 : f64");
}

TEST_CASE("buildScalar: functions of two floats", "[scalar]") {
  for (std::string op : {"add", "sub", "mul", "div", "max", "min", "prelu"})
    compareFloats(op, {wide, other});
  compareFloats("pow", {positive, other});
  compareFloats("mod", {wide, other});
  compareFloats("mod", {wide, other}, "fmod = true");
  for (std::string predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    compareFloats("compare", {wide, other},
                  "predicate = #graph<compare_predicate " + predicate + ">", "i1");
}

TEST_CASE("buildScalar: integers", "[scalar]") {
  struct Case {
    std::string type, a, b;
  };
  for (Case c : {Case{"i8", small, smallOther}, Case{"i32", small, smallOther},
                 Case{"i64", small, smallOther}, Case{"ui8", bytes, bytesOther}}) {
    auto compare = [&](const std::string &op, bool isBinary, const std::string &attributes = "",
                       const std::string &to = "") {
      std::vector<std::string> inputs =
          isBinary ? std::vector<std::string>{c.a, c.b} : std::vector<std::string>{c.a};
      compareBoth(op, inputs, std::vector<std::string>(inputs.size(), c.type),
                  to.empty() ? c.type : to, attributes, 0);
    };
    for (std::string op : {"abs", "neg", "sign", "relu"})
      compare(op, false);
    compare("clip", false, "min = -3.5, max = 6.5");
    for (std::string op :
         {"add", "sub", "mul", "div", "pow", "max", "min", "and", "or", "xor", "prelu", "mod"})
      compare(op, true);
    compare("mod", true, "fmod = true");
    for (std::string predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
      compare("compare", true, "predicate = #graph<compare_predicate " + predicate + ">", "i1");
  }
}

TEST_CASE("buildScalar: bools and selection", "[scalar]") {
  for (std::string op : {"and", "or", "xor"})
    compareBoth(op, {bools, boolsOther}, {"i1", "i1"}, "i1", "", 0);
  compareBoth("not", {bools}, {"i1"}, "i1", "", 0);
  compareBoth("compare", {bools, boolsOther}, {"i1", "i1"}, "i1",
              "predicate = #graph<compare_predicate eq>", 0);
  compareBoth("where", {bools, wide, other}, {"i1", "f32", "f32"}, "f32", "", 0);
  compareBoth("where", {bools, bytes, bytesOther}, {"i1", "ui8", "ui8"}, "ui8", "", 0);
}

TEST_CASE("buildScalar: casts between all types", "[scalar]") {
  std::string numbers = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100]";
  std::string floats = "[0.0, 1.0, 2.0, 3.5, 4.0, 5.0, 6.5, 7.0, 8.0, 9.0, 10.0, 100.0]";
  std::vector<std::string> types = {"f64", "f32", "f16", "bf16", "i8",
                                    "i32", "i64", "ui8", "ui16", "i1"};
  for (const std::string &from : types)
    for (const std::string &to : types) {
      bool isFloat = from.find('f') != std::string::npos;
      compareBoth("cast", {from == "i1" ? bools : isFloat ? floats : numbers}, {from}, to, "", 0);
    }
  compareBoth("cast", {small}, {"i8"}, "i64", "", 0);
  compareBoth("cast", {small}, {"i32"}, "f32", "", 0);
  compareBoth("cast", {bytes}, {"ui8"}, "i32", "", 0);
  compareBoth("cast", {bytes}, {"ui8"}, "i8", "", 0);
}

TEST_CASE("buildActivation and buildScalar take vectors", "[scalar]") {
  Graph graph;
  graph.context.loadDialect<vector::VectorDialect>();
  OpBuilder builder(&graph.context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, loc);
  auto type = VectorType::get({16}, builder.getF32Type());
  auto function = func::FuncOp::create(loc, "f", builder.getFunctionType({type, type}, {}));
  module->push_back(function);
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  for (uint32_t kind = 0; kind <= static_cast<uint32_t>(ActivationKind::Gelu); ++kind) {
    auto activation =
        ActivationAttr::get(&graph.context, static_cast<ActivationKind>(kind), 0.5, 1);
    Value result =
        buildActivation(builder, loc, activation, block->getArgument(0), block->getArgument(1));
    CHECK(result.getType() == type);
  }
  func::ReturnOp::create(builder, loc);
  CHECK(succeeded(verify(*module)));
}
