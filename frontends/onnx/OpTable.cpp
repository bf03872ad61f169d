//===-- OpTable.cpp - which operators can be imported, and by what --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/OpTable.h"

#include <map>

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace atc::onnx_import {
namespace {

const std::vector<OpFamily> &families() {
  static const std::vector<OpFamily> all = {
      {"Elementwise", elementwiseRows()},
      {"Activations", activationRows()},
      {"Convolution and matrix product", convRows()},
      {"Pooling", poolRows()},
      {"Reductions and softmax", reduceRows()},
      {"Normalization", normRows()},
      {"Einsum", einsumRows()},
      {"Losses", lossRows()},
      {"Optimizers", trainingRows()},
      {"Shape", shapeRows()},
      {"Data movement", moveRows()},
      {"Indices", indexRows()},
      {"Quantization", quantRows()},
      {"Quantized operators of com.microsoft", quantLinearRows()},
      {"Quantized models of the Ascend toolchain", ascendRows()},
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
    for (const OpFamily &family : families())
      all = groupByOp(family.rows, std::move(all));
    return all;
  }();
  return map;
}

} // namespace

ArrayRef<OpFamily> opFamilies() { return families(); }

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
