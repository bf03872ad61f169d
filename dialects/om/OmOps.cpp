//===-- OmOps.cpp - the schedule's ops ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/om/Om.h"

#include "dialects/npu/Npu.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace atc::om;

#include "dialects/om/OmDialect.cpp.inc"

void OmDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/om/OmOps.cpp.inc"
      >();
}

void atc::om::registerOmDialect(DialectRegistry &registry) { registry.insert<OmDialect>(); }

int64_t atc::om::spanInBytes(MemRefType type) {
  // The stride of a dim in front of an empty one is not known, though the buffer is static.
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    last += (size - 1) * stride;
  return (last + 1) * bytes;
}

LogicalResult WeightOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  auto type = cast<MemRefType>(getResult().getType());
  if (value.getShape() != type.getShape() || value.getElementType() != type.getElementType())
    return emitOpError() << "value " << value << " does not fit " << type;
  return success();
}

LogicalResult AllocOp::verify() {
  auto type = cast<MemRefType>(getResult().getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return emitOpError() << "needs a static, contiguous buffer, but has " << type;
  if (getOffset() && (*getOffset() < 0 || *getOffset() % 64 != 0))
    return emitOpError() << "offset " << *getOffset() << " must be a multiple of 64";
  return success();
}

LogicalResult ViewOp::verify() {
  auto source = cast<MemRefType>(getSource().getType());
  auto type = cast<MemRefType>(getResult().getType());
  int64_t offset = getOffset();
  if (offset < 0 || offset + spanInBytes(type) > spanInBytes(source))
    return emitOpError() << "of " << spanInBytes(type) << " bytes at offset " << offset
                         << " leaves its source of " << spanInBytes(source) << " bytes";
  return success();
}

/// Checks the buffers of a launch: they may be larger than the range that the program accesses,
/// never smaller.
static LogicalResult verifyProgram(LaunchOp launch, atc::npu::ir::ProgramOp program) {
  auto sizes = program.getBuffers();
  if (sizes.size() != launch.getOperands_().size())
    return launch.emitOpError() << "passes " << launch.getOperands_().size() << " buffers to "
                                << launch.getKernelAttr() << ", which takes " << sizes.size();
  for (auto [index, buffer] : llvm::enumerate(launch.getOperands_())) {
    int64_t needed = cast<atc::npu::ir::BufferType>(sizes[index].getType()).getBytes();
    int64_t given = spanInBytes(cast<MemRefType>(buffer.getType()));
    if (given < needed)
      return launch.emitOpError() << "buffer " << index << " has " << given << " bytes, but "
                                  << launch.getKernelAttr() << " needs " << needed;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (auto program = dyn_cast_or_null<atc::npu::ir::ProgramOp>(symbol))
    return verifyProgram(*this, program);
  auto kernel = dyn_cast_or_null<func::FuncOp>(symbol);
  if (!kernel)
    return emitOpError() << "there is no kernel " << getKernelAttr();
  OperandRange buffers = getOperands_();
  unsigned count = buffers.size();
  if (kernel.getNumArguments() < count)
    return emitOpError() << "passes " << count << " buffers to " << getKernelAttr()
                         << ", which takes " << kernel.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (kernel.getArgumentTypes()[i] != buffers[i].getType())
      return emitOpError() << "buffer " << i << " is " << buffers[i].getType() << ", but "
                           << getKernelAttr() << " takes " << kernel.getArgumentTypes()[i];
  return success();
}

LogicalResult RunRegionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto region =
      dyn_cast_or_null<func::FuncOp>(symbols.lookupNearestSymbolFrom(*this, getRegionAttr()));
  if (!region)
    return emitOpError() << "there is no region " << getRegionAttr();
  ArrayRef<Type> buffers = region.getArgumentTypes();
  const size_t values = getInputs().size() + getOutputs().size();
  if (buffers.size() != values || region.getNumResults() != 0)
    return emitOpError() << "has " << values << " inputs and outputs, but " << getRegionAttr()
                         << " takes " << buffers.size() << " buffers and returns "
                         << region.getNumResults() << " values";
  auto check = [&](unsigned index, Type value) -> LogicalResult {
    auto tensor = cast<RankedTensorType>(value);
    auto buffer = dyn_cast<MemRefType>(buffers[index]);
    if (buffer && tensor.hasStaticShape() && buffer.hasStaticShape() &&
        buffer.getNumElements() == tensor.getNumElements())
      return success();
    return emitOpError() << "value " << index << " is " << tensor << ", but " << getRegionAttr()
                         << " takes " << buffers[index];
  };
  unsigned index = 0;
  for (Type type : getInputs().getTypes())
    if (failed(check(index++, type)))
      return failure();
  for (Type type : getOutputs().getTypes())
    if (failed(check(index++, type)))
      return failure();
  return success();
}

#define GET_OP_CLASSES
#include "dialects/om/OmOps.cpp.inc"
