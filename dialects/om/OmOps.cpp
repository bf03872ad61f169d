//===-- OmOps.cpp - the schedule's ops ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/om/Om.h"

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
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
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

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "there is no kernel " << getKernelAttr();
  unsigned count = getNumOperands();
  if (kernel.getNumArguments() < count)
    return emitOpError() << "passes " << count << " buffers to " << getKernelAttr()
                         << ", which takes " << kernel.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (kernel.getArgumentTypes()[i] != getOperand(i).getType())
      return emitOpError() << "buffer " << i << " is " << getOperand(i).getType() << ", but "
                           << getKernelAttr() << " takes " << kernel.getArgumentTypes()[i];
  return success();
}

#define GET_OP_CLASSES
#include "dialects/om/OmOps.cpp.inc"
