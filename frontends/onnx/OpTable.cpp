//===-- OpTable.cpp - which operators can be imported, and by what --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/OpTable.h"

#include <map>

#include "frontends/onnx/OnnxImport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::onnx_import {
namespace {

struct Family {
  StringLiteral title;
  ArrayRef<OpRow> rows;
};

const std::vector<Family> &families() {
  static const std::vector<Family> all = {
      {"Elementwise", elementwiseRows()},
      {"Activations", activationRows()},
      {"Convolution and matrix product", convRows()},
      {"Pooling", poolRows()},
      {"Reductions and softmax", reduceRows()},
      {"Normalization", normRows()},
      {"Einsum", einsumRows()},
      {"Losses", lossRows()},
      {"Shape", shapeRows()},
      {"Data movement", moveRows()},
      {"Indices", indexRows()},
      {"Quantization", quantRows()},
      {"Resize", resizeRows()},
      {"Constants", constantRows()},
  };
  return all;
}

using RowMap = std::map<StringRef, std::vector<const OpRow *>>;

RowMap groupByOp(ArrayRef<OpRow> rows, RowMap map = {}) {
  for (const OpRow &row : rows)
    map[row.op].push_back(&row);
  for (auto &[op, ranges] : map)
    llvm::sort(ranges, [](auto *a, auto *b) { return a->first < b->first; });
  return map;
}

const RowMap &allRows() {
  static const RowMap map = [] {
    RowMap all;
    for (const Family &family : families())
      all = groupByOp(family.rows, std::move(all));
    return all;
  }();
  return map;
}

} // namespace

std::vector<const OpRow *> findRows(StringRef op) {
  auto found = allRows().find(op);
  return found == allRows().end() ? std::vector<const OpRow *>() : found->second;
}

const OpRow *findOp(StringRef op, int64_t opset) {
  // The operators of an opset newer than we know are taken as they last were.
  opset = std::clamp(opset, firstTableOpset, latestOpset);
  for (const OpRow *row : findRows(op))
    if (row->first <= opset && opset <= row->last)
      return row;
  return nullptr;
}

std::string printOpsets(ArrayRef<const OpRow *> rows) {
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    int first = rows[i]->first, last = rows[i]->last;
    while (i + 1 < rows.size() && rows[i + 1]->first <= last + 1)
      last = rows[++i]->last;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last == latestOpset)
      text += "+";
    else if (last != first)
      text += "-" + std::to_string(last);
  }
  return text;
}

} // namespace atc::onnx_import

void atc::printOnnxSupport(raw_ostream &os) {
  using namespace atc::onnx_import;
  os << "# ONNX operators\n\n"
     << "The operators of the ONNX standard domain (`ai.onnx`, opset " << oldestOpset << " to "
     << latestOpset << ") that the\nimporter accepts. This page is printed by "
     << "`atc-translate --onnx-support`.\n\n"
     << "- Element types: float, float16, bfloat16, double, int8 to int64, uint8 to uint64, "
        "bool.\n"
     << "- Shapes are static. Symbolic dims are fixed with `--input_shape`; arithmetic on shapes\n"
     << "  is then resolved while importing.\n"
     << "- \"7+\" holds for opsets 1 to 6 too where the operator had the same form.\n"
     << "- What decides a shape and is not known at compile time is taken from the shapes that\n"
     << "  the model declares for its tensors, where these leave no choice (Reshape, Expand,\n"
     << "  Squeeze, Unsqueeze, Tile, ConstantOfShape, Split, ReduceSum, OneHot, Range, Slice,\n"
     << "  Resize by sizes), with a warning.\n"
     << "- A model with other operators is refused with one list of them all. Only the nodes\n"
     << "  that the outputs need count: `--out_nodes` can cut off what is not supported.\n"
     << "- A model of a newer opset is read by the rules of opset " << latestOpset
     << ", with a warning.\n";
  for (const Family &family : families()) {
    os << "\n## " << family.title << "\n\n| operator | opsets | limits |\n|---|---|---|\n";
    for (const auto &[op, rows] : groupByOp(family.rows)) {
      os << "| " << op << " | " << printOpsets(rows) << " | ";
      StringRef limits;
      for (const OpRow *row : rows)
        if (!row->limits.empty())
          limits = row->limits;
      os << (limits.empty() ? "" : limits) << (limits.empty() ? "|\n" : " |\n");
    }
  }
}
