//===-- WinogradOutputs.h - from products to rows of outputs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What integers and floats share of the way back from the products of a tile to its outputs.

#ifndef OPENATC_PASSES_CPU_EXPAND_WINOGRADOUTPUTS_H
#define OPENATC_PASSES_CPU_EXPAND_WINOGRADOUTPUTS_H

#include "dialects/cpu/Winograd.h"
#include "passes/cpu/tiles/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace atc::cpu {

/// Holds a value per position or output of a row of a tile.
using Row = mlir::SmallVector<mlir::Value, 6>;

/// Transforms the columns of a tile's products. `load(v, position)` returns vector `v` of the
/// product at a position, row by row. Returns [vector][row of outputs][position in a row].
template <typename Transforms, typename Load>
mlir::SmallVector<mlir::SmallVector<Row>> transformColumns(Transforms &transforms, Winograd form,
                                                           int64_t vectors, Load &&load) {
  const int64_t side = form.side();
  mlir::SmallVector<mlir::SmallVector<Row>> half(vectors,
                                                 mlir::SmallVector<Row>(form.outputs, Row(side)));
  for (int64_t v = 0; v < vectors; ++v)
    for (int64_t j = 0; j < side; ++j) {
      Row column;
      for (int64_t i = 0; i < side; ++i)
        column.push_back(load(v, i * side + j));
      for (auto [i, value] : llvm::enumerate(transforms.output(column)))
        half[v][i][j] = value;
    }
  return half;
}

/// Calls `finish(i, y)` for the rows of outputs of a tile that begins at row `firstY` of a plane of
/// `height` rows, under a condition for rows that may not exist: tiles cover `coveredRows` rows.
template <typename Finish>
void finishRows(KernelBuilder &b, Winograd form, mlir::Value firstY, int64_t height,
                int64_t coveredRows, Finish &&finish) {
  for (int64_t i = 0; i < form.outputs; ++i) {
    mlir::Value y = b.add(firstY, i);
    if (i < form.outputs - (coveredRows - height)) {
      finish(i, y);
      continue;
    }
    mlir::Value exists =
        mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::ult, y, b.index(height));
    auto ifOp = mlir::scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    finish(i, y);
  }
}

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_EXPAND_WINOGRADOUTPUTS_H
