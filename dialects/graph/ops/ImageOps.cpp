//===-- ImageOps.cpp - verification of the preprocessing of images --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ImageOps.h"
#include "dialects/graph/ops/RegisterOps.h"

using namespace mlir;
using namespace atc::graph;

#define GET_OP_CLASSES
#include "dialects/graph/ops/ImageOps.cpp.inc"

void atc::graph::registerImageOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/ImageOps.cpp.inc"
      >(dialect);
}

/// Checks the optional arrays of the colour conversion.
static LogicalResult verifyMatrix(PreprocessOp op) {
  std::optional<ArrayRef<int64_t>> matrix = op.getMatrix(), before = op.getBefore(),
                                   after = op.getAfter();
  if (!matrix && !before && !after)
    return success();
  if (!matrix || matrix->size() != 9 || !before || before->size() != 3 || !after ||
      after->size() != 3)
    return op.emitOpError("a colour conversion has a matrix of 9, and 3 numbers before and after");
  // Their products and sums fit into 64 bits.
  for (ArrayRef<int64_t> numbers : {*matrix, *before, *after})
    if (llvm::any_of(numbers,
                     [](int64_t number) { return number < -(1 << 24) || number > 1 << 24; }))
      return op.emitOpError("a colour conversion has numbers of at most 24 bits");
  if (op.getPlanes().size() < 3)
    return op.emitOpError() << "a colour conversion reads 3 planes, not " << op.getPlanes().size();
  return success();
}

LogicalResult PreprocessOp::verify() {
  auto image = getImage().getType(), result = getType();
  if (!image.getElementType().isUnsignedInteger(8) || image.getRank() != 4 ||
      !image.hasStaticShape())
    return emitOpError() << "image is " << image << ", it must be ui8 [N][H][W][planes]";
  ArrayRef<int64_t> crop = getCrop(), planes = getPlanes();
  if (crop.size() != 4)
    return emitOpError() << "crop has " << crop.size() << " numbers, it must have 4";
  int64_t height = image.getDimSize(1), stored = image.getDimSize(3);
  if (getSemiPlanar()) {
    if (stored != 1 || height % 3 != 0 || image.getDimSize(2) % 2 != 0 ||
        llvm::any_of(crop, [](int64_t number) { return number % 2 != 0; }))
      return emitOpError("a semi-planar image is [N][H * 3/2][W][1] with even sizes and crop");
    height = height / 3 * 2;
    stored = 3;
  }
  if (crop[0] < 0 || crop[1] < 0 || crop[2] < 1 || crop[3] < 1 || crop[2] > height - crop[0] ||
      crop[3] > image.getDimSize(2) - crop[1])
    return emitOpError() << "crop [" << crop << "] goes outside of an image of " << height << " x "
                         << image.getDimSize(2);
  for (int64_t plane : planes)
    if (plane < 0 || plane >= stored)
      return emitOpError() << "names plane " << plane << " of " << stored;
  if (failed(verifyMatrix(*this)))
    return failure();
  const bool isFloat = result.getElementType().isF32() || result.getElementType().isF16();
  if (!isFloat || result.getRank() != 4 || result.getDimSize(0) != image.getDimSize(0) ||
      result.getDimSize(1) < 1 || result.getDimSize(1) > int64_t(planes.size()) ||
      result.getDimSize(2) != crop[2] || result.getDimSize(3) != crop[3])
    return emitOpError() << "result is " << result << ", it must be f32 or f16 ["
                         << image.getDimSize(0) << "][at most " << planes.size() << "][" << crop[2]
                         << "][" << crop[3] << "]";
  for (ArrayRef<float> numbers : {getMeans(), getMins(), getFactors()})
    if (int64_t(numbers.size()) != result.getDimSize(1))
      return emitOpError() << "has " << numbers.size() << " means, mins or factors for "
                           << result.getDimSize(1) << " channels";
  return success();
}
