//===-- KernelBuilder.cpp - what all expand passes share ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/KernelBuilder.h"

#include "dialects/om/Om.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

LevelAttr levelOf(Operation *op) {
  if (auto module = op->getParentOfType<ModuleOp>())
    if (auto level = module->getAttrOfType<LevelAttr>(kLevelAttr))
      return level;
  return LevelAttr::get(op->getContext(), "x86-64-v3", /*lanes=*/8, /*registers=*/16, /*fma=*/true,
                        /*l1=*/32 << 10, /*l2=*/512 << 10, /*dot=*/"maddubs", /*matrix=*/"",
                        /*permute=*/"pshufb");
}

KernelBuilder::KernelBuilder(Operation *op)
    : ImplicitLocOpBuilder(op->getLoc(), op), kernel(op->getParentOfType<func::FuncOp>()),
      levelAttr(levelOf(op)) {}

SmallVector<Value> KernelBuilder::beginTasks(ArrayRef<int64_t> sizes) {
  int64_t tasks = 1;
  for (int64_t size : sizes)
    tasks *= size;
  kernel->setAttr(kTasksAttr, getI64IntegerAttr(tasks));

  unsigned last = kernel.getNumArguments();
  auto tasksLoop = scf::ForOp::create(*this, kernel.getArgument(last - 2),
                                      kernel.getArgument(last - 1), index(1));
  setInsertionPointToStart(tasksLoop.getBody());

  SmallVector<Value> indices(sizes.size());
  Value rest = tasksLoop.getInductionVar();
  for (size_t i = sizes.size(); i-- > 0;) {
    bool outermost = llvm::all_of(sizes.take_front(i), [](int64_t size) { return size == 1; });
    if (sizes[i] == 1) {
      indices[i] = index(0);
    } else if (outermost) {
      indices[i] = rest;
    } else {
      Value size = index(sizes[i]);
      indices[i] = arith::RemUIOp::create(*this, rest, size);
      rest = arith::DivUIOp::create(*this, rest, size);
    }
  }
  return indices;
}

Value KernelBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

Value KernelBuilder::add(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }

Value KernelBuilder::add(Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }

Value KernelBuilder::mul(Value a, int64_t b) {
  return b == 1 ? a : createOrFold<arith::MulIOp>(a, index(b));
}

Value KernelBuilder::unknownZero() {
  Value zero = arith::ConstantOp::create(*this, getI64IntegerAttr(0));
  // Side effects, so that two of them stay two.
  Value hidden =
      LLVM::InlineAsmOp::create(*this, getI64Type(), zero, /*asm_string=*/"",
                                /*constraints=*/"=r,0", /*has_side_effects=*/true,
                                /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  return arith::IndexCastOp::create(*this, getIndexType(), hidden);
}

Value KernelBuilder::mulAdd(Value a, int64_t factor, Value b) { return add(mul(a, factor), b); }

SmallVector<Value> KernelBuilder::loop(int64_t trip, ValueRange carried,
                                       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (trip == 1)
    return body(index(0), carried);
  return loop(index(0), index(trip), 1, carried, body);
}

SmallVector<Value> KernelBuilder::loop(Value begin, Value end, int64_t step, ValueRange carried,
                                       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto forOp = scf::ForOp::create(*this, begin, end, index(step), carried);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> next = body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(*this, next);
  return forOp.getResults();
}

void KernelBuilder::loop(int64_t trip, function_ref<void(Value)> body) {
  loop(trip, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelBuilder::loop(Value begin, Value end, int64_t step, function_ref<void(Value)> body) {
  loop(begin, end, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

Value KernelBuilder::flat(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  int64_t span = om::spanInBytes(type) / bytes;
  auto flatType = MemRefType::get({span}, type.getElementType());
  return memref::ReinterpretCastOp::create(*this, flatType, buffer, /*offset=*/0,
                                           ArrayRef<int64_t>{span}, ArrayRef<int64_t>{1});
}

Value KernelBuilder::madd(Value a, Value b, Value c) {
  if (levelAttr.getFma() && isa<VectorType>(a.getType()))
    return vector::FMAOp::create(*this, a, b, c);
  return arith::AddFOp::create(*this, arith::MulFOp::create(*this, a, b), c);
}

SmallVector<int64_t> stridesOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getStridesAndOffset().first;
}

ArrayRef<int64_t> shapeOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getShape(); }

Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

} // namespace atc::cpu
