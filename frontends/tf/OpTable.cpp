//===-- OpTable.cpp - which TensorFlow ops can be imported, and by what ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tf/OpTable.h"

#include <map>

#include "frontends/tf/TfImport.h"
#include "llvm/ADT/StringMap.h"

namespace atc::tf_import {
namespace {

struct Family {
  llvm::StringLiteral title;
  llvm::ArrayRef<OpRow> rows;
};

const std::vector<Family> &families() {
  static const std::vector<Family> all = {
      {"Elementwise", elementwiseRows()},
      {"Convolution and matrix product", convRows()},
      {"Pooling and images", poolRows()},
      {"Reductions and softmax", reduceRows()},
      {"Shape", shapeRows()},
      {"Data movement", moveRows()},
      {"Scatter, segments and counting", scatterRows()},
      {"Order, diagonals and sequences", orderRows()},
      {"Control flow", controlRows()},
      {"Recurrent cells", rnnRows()},
  };
  return all;
}

} // namespace

const OpRow *findOp(llvm::StringRef op) {
  static const llvm::StringMap<const OpRow *> table = [] {
    llvm::StringMap<const OpRow *> all;
    for (const Family &family : families())
      for (const OpRow &row : family.rows)
        all[row.op] = &row;
    return all;
  }();
  return table.lookup(op);
}

} // namespace atc::tf_import

void atc::printTfSupport(llvm::raw_ostream &os) {
  using namespace atc::tf_import;
  os << "# TensorFlow operators\n\n"
     << "The operators that the importer of frozen graphs and SavedModels accepts. This page is\n"
     << "printed by `atc-translate --tf-support`.\n\n"
     << "- Element types: float, half, bfloat16, double, int8 to int64, uint8 to uint64, bool.\n"
     << "- Shapes are static. Unknown dims are fixed with `--input_shape`; arithmetic on shapes "
        "is\n"
     << "  then resolved while importing. Inputs that say what an operator does (shapes, axes, "
        "pads,\n"
     << "  sizes, begins) must be known at compile time.\n"
     << "- Images are NHWC, NCHW, NDHWC or NCDHW; strides and dilations of batch and channels are "
        "1.\n"
     << "- `Placeholder` is an input and `Const` a constant. Of a SavedModel, function calls\n"
     << "  (`PartitionedCall`, `StatefulPartitionedCall`) are inlined, and variables "
        "(`VarHandleOp`,\n"
     << "  `VariableV2`, `Variable`; read by `ReadVariableOp`, `ResourceGather`) become "
        "constants.\n"
     << "- Edges that only order the execution are ignored.\n"
     << "- A model with other operators is refused with one list of them all. Only the nodes that\n"
     << "  the outputs need count: `--out_nodes` and `--input_nodes` can cut off what is not\n"
     << "  supported.\n";
  for (const Family &family : families()) {
    os << "\n## " << family.title << "\n\n| operator | limits |\n|---|---|\n";
    std::map<llvm::StringRef, llvm::StringRef> sorted;
    for (const OpRow &row : family.rows)
      sorted[row.op] = row.limits;
    for (const auto &[op, limits] : sorted)
      os << "| " << op << " | " << limits << (limits.empty() ? "|\n" : " |\n");
  }
}
