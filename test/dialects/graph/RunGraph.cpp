//===-- RunGraph.cpp - evaluates graph ops written as text ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/dialects/graph/RunGraph.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace atc::graph::test {

Graph::Graph() {
  mlir::DialectRegistry registry;
  registerGraphDialect(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    lastMessage = diagnostic.str();
    return mlir::success();
  });
}

mlir::OwningOpRef<mlir::ModuleOp> Graph::parse(const std::string &text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
}

static std::string functionText(const std::string &type, const std::string &operators) {
  return "func.func @main() -> " + type + " {\n" + operators + "\nreturn %r : " + type + "\n}";
}

Numbers Graph::run(const std::string &type, const std::string &operators) {
  auto module = parse(functionText(type, operators));
  INFO(operators);
  INFO(lastMessage);
  REQUIRE(module);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  auto outputs = evaluateFunction(function, {});
  INFO(lastMessage);
  REQUIRE(mlir::succeeded(outputs));
  return outputs->front().toDoubles();
}

std::string Graph::runToError(const std::string &type, const std::string &operators) {
  auto module = parse(functionText(type, operators));
  INFO(lastMessage);
  REQUIRE(module);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  REQUIRE(mlir::failed(evaluateFunction(function, {})));
  return lastMessage;
}

Numbers run(const std::string &type, const std::string &operators) {
  return Graph().run(type, operators);
}

void checkClose(const Numbers &actual, const Numbers &expected, double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    INFO("element " << i << ": " << actual[i] << ", expected " << expected[i]);
    bool isSame = actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
    double scale = std::max(1.0, std::abs(expected[i]));
    CHECK((isSame || std::abs(actual[i] - expected[i]) <= tolerance * scale));
  }
}

std::string constant(const std::string &name, const std::string &values, const std::string &type) {
  return "%" + name + " = graph.constant dense<" + values + "> : " + type + "\n";
}

} // namespace atc::graph::test
