//===-- RunGraph.h - evaluates graph ops written as text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_DIALECTS_GRAPH_RUNGRAPH_H
#define OPENATC_TEST_DIALECTS_GRAPH_RUNGRAPH_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/interpreter/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace atc::graph::test {

using Numbers = std::vector<double>;

/// A context with the graph dialect that keeps the last diagnostic.
class Graph {
public:
  Graph();

  /// Parses a module; null when the text is not valid.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);

  /// Evaluates operators that define %r of `type` and returns its elements;
  /// fails the test when they cannot be evaluated.
  Numbers run(const std::string &type, const std::string &operators);

  /// The message of the error that evaluating the operators gives.
  std::string runToError(const std::string &type, const std::string &operators);

  mlir::MLIRContext context;
  std::string lastMessage;
};

/// Evaluates with a context of its own.
Numbers run(const std::string &type, const std::string &operators);

/// Checks equal sizes and elements that differ by at most `tolerance`, relative
/// to those of at least 1. NaN equals NaN.
void checkClose(const Numbers &actual, const Numbers &expected, double tolerance = 1e-6);

/// "%<name> = graph.constant dense<<values>> : <type>"
std::string constant(const std::string &name, const std::string &values, const std::string &type);

} // namespace atc::graph::test

#endif // OPENATC_TEST_DIALECTS_GRAPH_RUNGRAPH_H
