//===-- TileRegisters.cpp - products of matrices in tile registers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/TileRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

/// Returns the operand of ldtilecfg: palette 1, then the bytes per row of each register in 16 bits
/// from byte 16 on, then their rows from byte 48 on.
static std::array<int8_t, 64> shapesOf(int64_t rows, int64_t steps) {
  std::array<int8_t, 64> shapes{};
  shapes[0] = 1;
  auto set = [&](int64_t tile, int64_t tileRows, int64_t bytes) {
    shapes[16 + 2 * tile] = static_cast<int8_t>(bytes);
    shapes[48 + tile] = static_cast<int8_t>(tileRows);
  };
  for (int64_t tile = 0; tile < 4; ++tile)
    set(tile, rows, TileRegisters::kRowBytes);
  for (int64_t tile = 4; tile < 6; ++tile)
    set(tile, rows, 4 * steps);
  for (int64_t tile = 6; tile < 8; ++tile)
    set(tile, steps, TileRegisters::kRowBytes);
  return shapes;
}

TileRegisters::TileRegisters(KernelBuilder &builder, int64_t rows, int64_t steps) : b(builder) {
  assert(rows >= 1 && rows <= kMaxRows && steps >= 1 && steps <= kMaxSteps);
  const std::array<int8_t, 64> shapes = shapesOf(rows, steps);
  const auto size = static_cast<int64_t>(shapes.size());
  Value memory = memref::AllocaOp::create(b, MemRefType::get({size}, b.getI8Type()),
                                          b.getI64IntegerAttr(size));
  auto type = VectorType::get({size}, b.getI8Type());
  Value values =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int8_t>(shapes)));
  vector::StoreOp::create(b, values, memory, b.index(0));
  emit("llvm.x86.ldtilecfg", {}, addressOf(memory));
  OpBuilder::InsertionGuard guard(b);
  auto kernel = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  b.setInsertionPoint(kernel.getBody().back().getTerminator());
  emit("llvm.x86.tilerelease", {});
}

Value TileRegisters::addressOf(Value flat) {
  return memref::ExtractAlignedPointerAsIndexOp::create(b, flat);
}

void TileRegisters::zero(int64_t row, int64_t column) {
  emit("llvm.x86.tilezero", sumOf(row, column));
}

void TileRegisters::loadRows(int64_t row, Value address, int64_t stride) {
  emit("llvm.x86.tileloadd64", rowsOf(row), address, stride);
}

void TileRegisters::loadWeights(int64_t column, Value address) {
  emit("llvm.x86.tileloadd64", weightsOf(column), address, kRowBytes);
}

void TileRegisters::addProducts(int64_t row, int64_t column, bool isSigned) {
  emit(isSigned ? "llvm.x86.tdpbssd" : "llvm.x86.tdpbusd",
       {sumOf(row, column), rowsOf(row), weightsOf(column)});
}

void TileRegisters::store(int64_t row, int64_t column, Value address, int64_t stride) {
  emit("llvm.x86.tilestored64", sumOf(row, column), address, stride);
}

void TileRegisters::emit(StringRef name, ArrayRef<int64_t> registers, Value address,
                         int64_t stride) {
  SmallVector<Value> operands;
  for (int64_t tile : registers)
    operands.push_back(LLVM::ConstantOp::create(b, b.getI8Type(), b.getI8IntegerAttr(tile)));
  if (address) {
    Value number = arith::IndexCastOp::create(b, b.getI64Type(), address);
    operands.push_back(
        LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), number));
  }
  if (stride)
    operands.push_back(LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(stride)));
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), operands);
}

} // namespace atc::cpu
