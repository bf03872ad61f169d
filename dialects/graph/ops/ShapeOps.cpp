//===-- ShapeOps.cpp - inference of data movement ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/RegisterOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace atc::graph;
using namespace atc::graph::detail;

#define GET_OP_CLASSES
#include "dialects/graph/ops/ShapeOps.cpp.inc"

void atc::graph::registerShapeOps(GraphDialect &dialect) {
  registerOps<
#define GET_OP_LIST
#include "dialects/graph/ops/ShapeOps.cpp.inc"
      >(dialect);
}

LogicalResult ReshapeOp::verify() {
  auto input = getInput().getType(), result = getType();
  if (input.getElementType() != result.getElementType())
    return emitOpError() << "keeps the element type, but input is " << input << " and result is "
                         << result;
  if (input.hasStaticShape() && result.hasStaticShape() &&
      input.getNumElements() != result.getNumElements())
    return emitOpError() << "input " << input << " has " << input.getNumElements()
                         << " elements, but result " << result << " has "
                         << result.getNumElements();
  return success();
}

FailureOr<RankedTensorType> TransposeOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (failed(checkCount("permutation", permutation, input.getRank(), "dims", emitError)))
    return failure();
  if (!isPermutationVector(permutation))
    return emitError() << "permutation [" << permutation << "] must name every dim of " << input
                       << " once";
  return RankedTensorType::get(applyPermutation(input.getShape(), permutation),
                               input.getElementType());
}

LogicalResult ExpandOp::verify() {
  auto input = getInput().getType(), result = getType();
  auto shape = broadcastShapes(input.getShape(), result.getShape());
  if (input.getElementType() != result.getElementType() || !shape ||
      failed(verifyCompatibleShape(*shape, result.getShape())))
    return emitOpError() << "input " << input << " does not broadcast to result " << result;
  return success();
}

FailureOr<RankedTensorType> TileOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  ArrayRef<int64_t> repeats = adaptor.getRepeats();
  if (failed(checkCount("repeats", repeats, input.getRank(), "dims", emitError)))
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  for (auto [size, repeat] : llvm::zip_equal(shape, repeats)) {
    if (repeat < 0)
      return emitError() << "repeats must be at least 0, but are [" << repeats << "]";
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(size, repeat, size))
      return emitError() << "repeats [" << repeats << "] make " << input << " too large";
  }
  return RankedTensorType::get(shape, input.getElementType());
}

FailureOr<RankedTensorType> ConcatOp::inferType(Adaptor adaptor, EmitError emitError) {
  if (adaptor.getInputs().empty())
    return emitError() << "needs at least one input";
  auto first = rankedType(adaptor.getInputs().front());
  int64_t axis = adaptor.getAxis(), sum = 0;
  if (failed(checkAxis(axis, first.getRank(), emitError)))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (auto [index, value] : llvm::enumerate(adaptor.getInputs())) {
    auto input = rankedType(value);
    if (input.getElementType() != first.getElementType() || input.getRank() != first.getRank())
      return emitError() << "input " << index << " is " << input
                         << ", but must have element type and rank of input 0, " << first;
    for (int64_t dim = 0; dim < input.getRank(); ++dim) {
      int64_t size = input.getDimSize(dim);
      if (dim == axis) {
        bool known = !ShapedType::isDynamic(sum) && !ShapedType::isDynamic(size);
        sum = known ? sum + size : ShapedType::kDynamic;
      } else if (!dimsAgree(shape[dim], size)) {
        return emitError() << "input " << index << " has " << size << " elements in dim " << dim
                           << ", but the inputs before have " << shape[dim];
      } else if (ShapedType::isDynamic(shape[dim])) {
        shape[dim] = size;
      }
    }
  }
  shape[axis] = sum;
  return RankedTensorType::get(shape, first.getElementType());
}

FailureOr<RankedTensorType> SliceOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  ArrayRef<int64_t> starts = adaptor.getStarts(), sizes = adaptor.getSizes(),
                    steps = adaptor.getSteps();
  int64_t rank = input.getRank();
  if (failed(checkCount("starts", starts, rank, "dims", emitError)) ||
      failed(checkCount("sizes", sizes, rank, "dims", emitError)) ||
      failed(checkCount("steps", steps, rank, "dims", emitError)))
    return failure();
  SmallVector<int64_t> shape(sizes);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t start = starts[dim], size = sizes[dim], step = steps[dim],
            extent = input.getDimSize(dim);
    if (size == -1 && start == 0 && step == 1) {
      shape[dim] = extent;
      continue;
    }
    if (size < 0 || step == 0)
      return emitError() << "dim " << dim << " has size " << size << " and step " << step
                         << "; sizes must be at least 0 (or -1 for a whole dim, from 0 in steps "
                            "of 1), steps must not be 0";
    if (size == 0)
      continue;
    int64_t reach, last;
    bool overflow =
        llvm::MulOverflow(size - 1, step, reach) || llvm::AddOverflow(start, reach, last);
    if (overflow || start < 0 || last < 0 ||
        (!ShapedType::isDynamic(extent) && std::max(start, last) >= extent))
      return emitError() << "dim " << dim << " of " << input << " has " << extent << " elements; "
                         << size << " elements from " << start << " in steps of " << step
                         << " leave it";
  }
  return RankedTensorType::get(shape, input.getElementType());
}

FailureOr<RankedTensorType> PadOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  if (failed(checkCount("low", low, input.getRank(), "dims", emitError)) ||
      failed(checkCount("high", high, input.getRank(), "dims", emitError)))
    return failure();
  PadMode mode = adaptor.getMode();
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    int64_t size = input.getDimSize(dim);
    if (ShapedType::isDynamic(size)) {
      shape.push_back(low[dim] == 0 && high[dim] == 0 ? size : ShapedType::kDynamic);
      continue;
    }
    int64_t cropped, padded;
    if (llvm::AddOverflow(size, std::min<int64_t>(low[dim], 0), cropped) ||
        llvm::AddOverflow(cropped, std::min<int64_t>(high[dim], 0), cropped) || cropped < 0 ||
        llvm::AddOverflow(cropped, std::max<int64_t>(low[dim], 0), padded) ||
        llvm::AddOverflow(padded, std::max<int64_t>(high[dim], 0), padded))
      return emitError() << "low " << low[dim] << " and high " << high[dim] << " do not fit dim "
                         << dim << " of " << input;
    // The repeated elements must exist.
    int64_t max = mode == PadMode::Constant  ? unlimited
                  : mode == PadMode::Edge    ? (cropped > 0 ? unlimited : 0)
                  : mode == PadMode::Reflect ? std::max<int64_t>(cropped - 1, 0)
                                             : cropped;
    if (low[dim] > max || high[dim] > max)
      return emitError() << "mode " << stringifyPadMode(mode) << " can add at most " << max
                         << " elements on a side of dim " << dim << " of " << input << ", not "
                         << std::max(low[dim], high[dim]);
    shape.push_back(padded);
  }
  return RankedTensorType::get(shape, input.getElementType());
}

FailureOr<RankedTensorType> GatherOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput()), indices = rankedType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(axis, input.getRank(), emitError)))
    return failure();
  if (!isa<IntegerType>(indices.getElementType()) || indices.getElementType().isInteger(1))
    return emitError() << "indices must be integers, but are " << indices;
  SmallVector<int64_t> shape(input.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, input.getShape().drop_front(axis + 1));
  return RankedTensorType::get(shape, input.getElementType());
}

static LogicalResult checkBlockInput(RankedTensorType input, int64_t block, EmitError emitError) {
  if (input.getRank() != 4)
    return emitError() << "input must have rank 4 (NCHW), but is " << input;
  if (block < 1 || block > std::numeric_limits<int16_t>::max())
    return emitError() << "block must be in [1, 32767], but is " << block;
  return success();
}

/// Returns `size` divided by `parts`, or an error that names the dim.
static FailureOr<int64_t> divideDim(RankedTensorType input, int64_t dim, int64_t parts,
                                    EmitError emitError) {
  int64_t size = input.getDimSize(dim);
  if (ShapedType::isDynamic(size))
    return size;
  if (size % parts != 0)
    return emitError() << "dim " << dim << " of " << input << " is not a multiple of " << parts;
  return size / parts;
}

static int64_t multiplyDim(int64_t size, int64_t factor) {
  return ShapedType::isDynamic(size) ? size : size * factor;
}

FailureOr<RankedTensorType> DepthToSpaceOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  int64_t block = adaptor.getBlock();
  if (failed(checkBlockInput(input, block, emitError)))
    return failure();
  auto channels = divideDim(input, 1, block * block, emitError);
  if (failed(channels))
    return failure();
  return RankedTensorType::get({input.getDimSize(0), *channels,
                                multiplyDim(input.getDimSize(2), block),
                                multiplyDim(input.getDimSize(3), block)},
                               input.getElementType());
}

FailureOr<RankedTensorType> SpaceToDepthOp::inferType(Adaptor adaptor, EmitError emitError) {
  auto input = rankedType(adaptor.getInput());
  int64_t block = adaptor.getBlock();
  if (failed(checkBlockInput(input, block, emitError)))
    return failure();
  auto rows = divideDim(input, 2, block, emitError);
  auto columns = failed(rows) ? rows : divideDim(input, 3, block, emitError);
  if (failed(columns))
    return failure();
  return RankedTensorType::get(
      {input.getDimSize(0), multiplyDim(input.getDimSize(1), block * block), *rows, *columns},
      input.getElementType());
}

LogicalResult ResizeOp::verify() {
  auto input = getInput().getType(), result = getType();
  if (input.getRank() != result.getRank() || input.getElementType() != result.getElementType())
    return emitOpError() << "keeps rank and element type, but input is " << input
                         << " and result is " << result;
  ArrayRef<double> scales = getScales();
  if (static_cast<int64_t>(scales.size()) != input.getRank())
    return emitOpError() << "scales has " << scales.size() << " values, expected "
                         << input.getRank() << ", one for each of the dims";
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    if (!(scales[dim] > 0) || !std::isfinite(scales[dim]))
      return emitOpError() << "scale " << scales[dim] << " of dim " << dim
                           << " must be greater than 0 and finite";
    if (input.getDimSize(dim) == 0 && result.getDimSize(dim) > 0)
      return emitOpError() << "dim " << dim << " of " << input
                           << " is empty: there is nothing to sample";
  }
  return success();
}
