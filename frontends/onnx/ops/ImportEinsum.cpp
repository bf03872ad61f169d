//===-- ImportEinsum.cpp - sums of products by index labels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Einsum.h"
#include "frontends/onnx/NodeContext.h"
#include "frontends/onnx/OpTable.h"

using namespace mlir;

namespace atc::onnx_import {
namespace {

void importEinsum(NodeContext &n) {
  SmallVector<Value> inputs = n.inputs();
  onnx::AttributeProto *attribute = n.findAttr("equation");
  if (!n.failed() && (!attribute || attribute->type() != onnx::AttributeProto::STRING))
    n.failAttribute("equation", "is missing; the operator needs it");
  if (!n.failed())
    n.setOutput(makeEinsum(n, attribute->s(), inputs));
}

} // namespace

ArrayRef<OpRow> einsumRows() {
  static const OpRow rows[] = {
      {"Einsum", 12, latestOpset, importEinsum, "no diagonals; an ellipsis does not broadcast"},
  };
  return rows;
}

} // namespace atc::onnx_import
