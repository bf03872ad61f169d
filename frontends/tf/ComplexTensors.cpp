//===-- ComplexTensors.cpp - nodes that read complex tensors --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The real part of a complex tensor is kept as its value, the imaginary part beside it. No builder
// meets a complex tensor without knowing: a node that reads one is imported here.

#include "frontends/tf/GraphImporter.h"
#include "frontends/tf/NodeContext.h"
#include "frontends/tf/OpTable.h"

using namespace mlir;

namespace atc::tf_import {

void GraphImporter::define(TensorName tensor, Value value) {
  Scope &scope = scopes.back();
  (isImaginary ? scope.imaginary : scope.values)[tensor.str()] = value;
}

void GraphImporter::defineImaginary(TensorName tensor, Value value) {
  scopes.back().imaginary[tensor.str()] = value;
}

Value GraphImporter::imaginaryOf(TensorName tensor) const {
  const std::string name = tensor.str();
  for (const Scope &scope : llvm::reverse(scopes)) {
    if (auto found = scope.imaginary.find(name); found != scope.imaginary.end())
      return found->second;
    if (scope.values.contains(name))
      return {};
  }
  return {};
}

bool GraphImporter::readsComplex(const pb::NodeDef &node) const {
  return llvm::any_of(node.input(), [&](StringRef input) {
    TensorName tensor = TensorName::parse(input);
    return !tensor.isControl && imaginaryOf(tensor);
  });
}

void GraphImporter::makeComplexOutputs(pb::NodeDef &node) {
  if (const OpRow *row = findComplexOp(node.op())) {
    NodeContext n(*this, node);
    row->build(n);
    return n.finishOutputs();
  }
  const bool byParts = actsOnParts(node.op());
  if (!byParts && !readsOnlyShape(node.op())) {
    diags->error("E13010", describeNode(node) +
                               ": reads a complex tensor, which this operator does not take");
    return;
  }
  makeByRows(node);
  if (!byParts)
    return;
  isImaginary = true;
  makeByRows(node);
  isImaginary = false;
}

} // namespace atc::tf_import
