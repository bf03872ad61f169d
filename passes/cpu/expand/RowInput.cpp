//===-- RowInput.cpp - what tasks prepare of their input ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/expand/RowInput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace atc::cpu {

void emitRowInput(KernelBuilder &b, ArrayRef<Value> task, int64_t groups, Value begin,
                  function_ref<void()> prepare) {
  if (groups == 1)
    return prepare();
  auto taskLoop = cast<scf::ForOp>(b.getInsertionBlock()->getParentOp());
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, taskLoop.getInductionVar(), begin);
  Value isNew = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, task[2], b.index(0));
  auto ifOp =
      scf::IfOp::create(b, arith::OrIOp::create(b, isFirst, isNew), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  prepare();
}

} // namespace atc::cpu
