//===-- BatchLikeDims.cpp - dims along which nothing is mixed -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/BatchLikeDims.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scatter/Scatter.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

using namespace mlir;

namespace atc::graph {

/// Returns the name of the model's node that an op comes from, with the kind of the op.
static std::string nodeOf(Operation *op) {
  std::string name;
  Location location = op->getLoc();
  while (auto named = dyn_cast<NameLoc>(location)) {
    if (!named.getName().empty())
      name = named.getName().str();
    location = named.getChildLoc();
  }
  return "node '" + name + "' (" + op->getName().getStringRef().str() + ")";
}

static ArrayRef<int64_t> dimsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Returns whether all elements along `dim` of a value are equal, as broadcasting makes them.
static bool isUniformAlong(Value value, int64_t dim) {
  ArrayRef<int64_t> dims = dimsOf(value);
  if (dims[dim] == 1)
    return true;
  if (auto expand = value.getDefiningOp<ExpandOp>()) {
    ArrayRef<int64_t> from = dimsOf(expand.getInput());
    const int64_t own = dim - (int64_t(dims.size()) - int64_t(from.size()));
    return own < 0 || from[own] == 1;
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  FailureOr<ConstantBytes> bytes = ConstantBytes::get(constant.getValue());
  if (failed(bytes))
    return false;
  if (bytes->isSplat())
    return true;
  const int64_t outer = llvm::product_of(dims.take_front(dim));
  const size_t inner = llvm::product_of(dims.drop_front(dim + 1)) *
                       getElementBytes(bytes->getType().getElementType());
  const char *row = bytes->bytes().data();
  for (int64_t o = 0; o < outer; ++o, row += dims[dim] * inner)
    for (int64_t i = 1; i < dims[dim]; ++i)
      if (std::memcmp(row, row + i * inner, inner) != 0)
        return false;
  return true;
}

namespace {

using Result = std::optional<FollowedDim>;

class Follower {
public:
  Follower(int64_t size, FollowedDims &followed, std::string &reason)
      : size(size), followed(followed), reason(reason) {}

  bool run(func::FuncOp main);

private:
  bool visit(Operation *op);
  bool visitReturn(func::ReturnOp op);

  /// Each returns where the result has the dim; nothing after fail().
  Result elementwise(Operation *op);
  Result onlyBatch(Operation *op);
  Result batchNorm(BatchNormOp op);
  Result matmul(MatMulOp op);
  Result fullyConnected(FullyConnectedOp op);
  Result reduced(Operation *op, Value input, ArrayRef<int64_t> axes, bool keepDims);
  Result along(Operation *op, Value input, int64_t axis);
  Result reshape(ReshapeOp op);
  Result expand(ExpandOp op);
  Result concat(ConcatOp op);
  Result slice(SliceOp op);
  Result pad(PadOp op);
  Result tile(TileOp op);
  Result gather(GatherOp op);
  Result resize(ResizeOp op);
  Result quantized(Operation *op);

  Result of(Value value) const {
    auto found = followed.find(value);
    return found == followed.end() ? Result() : Result(found->second);
  }
  /// The dim of the only operand that has it, the first one.
  Result onlyFirst(Operation *op);
  Result fail(Operation *op, const Twine &text) {
    if (reason.empty())
      reason = (nodeOf(op) + " " + text).str();
    return std::nullopt;
  }
  Result mixes(Operation *op) { return fail(op, "mixes elements along the dim"); }

  const int64_t size;
  FollowedDims &followed;
  std::string &reason;
};

Result Follower::onlyFirst(Operation *op) {
  for (Value operand : op->getOperands().drop_front())
    if (of(operand))
      return mixes(op);
  return of(op->getOperand(0));
}

/// Operands broadcast to the result, their dims aligned at the end.
Result Follower::elementwise(Operation *op) {
  const int64_t rank = dimsOf(op->getResult(0)).size();
  Result found;
  for (Value operand : op->getOperands())
    if (Result own = of(operand)) {
      own->dim += rank - int64_t(dimsOf(operand).size());
      if (found && *found != *own)
        return mixes(op);
      found = own;
    }
  for (Value operand : op->getOperands()) {
    const int64_t dim = found->dim - (rank - int64_t(dimsOf(operand).size()));
    if (!of(operand) && dim >= 0 && !isUniformAlong(operand, dim))
      return fail(op, "combines the dim with a tensor that has other values for each position");
  }
  return found;
}

/// Sliding windows and blocks of pixels: only the outermost dim is left alone.
Result Follower::onlyBatch(Operation *op) {
  Result found = onlyFirst(op);
  return !found || found->dim == 0 ? found : mixes(op);
}

Result Follower::batchNorm(BatchNormOp op) {
  Result found = onlyFirst(op);
  return !found || found->dim != 1 ? found : mixes(op);
}

Result Follower::matmul(MatMulOp op) {
  const int64_t rank = dimsOf(op.getResult()).size();
  const int64_t ranks[] = {int64_t(dimsOf(op.getLhs()).size()),
                           int64_t(dimsOf(op.getRhs()).size())};
  if (ranks[0] < 2 || ranks[1] < 2)
    return fail(op, "is a product with a vector");
  Result found;
  for (unsigned i = 0; i < 2; ++i)
    if (Result own = of(op->getOperand(i))) {
      const bool contracted = own->dim == ranks[i] - (i == 0 ? 1 : 2);
      own->dim += rank - ranks[i];
      if (contracted || (found && (*found != *own || own->dim >= rank - 2)))
        return mixes(op);
      found = own;
    }
  // A batch of matrices meets a batch that is not followed.
  for (unsigned i = 0; i < 2 && found->dim < rank - 2; ++i) {
    const int64_t dim = found->dim - (rank - ranks[i]);
    if (!of(op->getOperand(i)) && dim >= 0 && !isUniformAlong(op->getOperand(i), dim))
      return fail(op, "combines the dim with a tensor that has other values for each position");
  }
  return found;
}

Result Follower::fullyConnected(FullyConnectedOp op) {
  Result found = onlyFirst(op);
  return !found || found->dim + 1 < int64_t(dimsOf(op.getInput()).size()) ? found : mixes(op);
}

Result Follower::reduced(Operation *op, Value input, ArrayRef<int64_t> axes, bool keepDims) {
  Result found = of(input);
  if (llvm::is_contained(axes, found->dim))
    return mixes(op);
  if (!keepDims)
    found->dim -= llvm::count_if(axes, [&](int64_t axis) { return axis < found->dim; });
  return found;
}

Result Follower::along(Operation *op, Value input, int64_t axis) {
  Result found = of(input);
  return found->dim != axis ? found : mixes(op);
}

/// The position of an element is (its number / elements behind) % size: a dim of the result
/// has it that begins where the followed one does and is a multiple of the size.
Result Follower::reshape(ReshapeOp op) {
  const FollowedDim from = *of(op.getInput());
  const int64_t before = llvm::product_of(dimsOf(op.getInput()).take_front(from.dim));
  ArrayRef<int64_t> dims = dimsOf(op.getResult());
  int64_t product = 1;
  for (auto [dim, count] : llvm::enumerate(dims)) {
    if (product == before && count % size == 0 && count != 0)
      return FollowedDim{int64_t(dim), count / size};
    product *= count;
  }
  return mixes(op);
}

Result Follower::expand(ExpandOp op) {
  Result found = of(op.getInput());
  found->dim += int64_t(dimsOf(op.getResult()).size()) - int64_t(dimsOf(op.getInput()).size());
  return found;
}

Result Follower::concat(ConcatOp op) {
  Result found;
  for (Value operand : op.getInputs())
    if (Result own = of(operand)) {
      if (found && *found != *own)
        return mixes(op);
      found = own;
    }
  if (found->dim == int64_t(op.getAxis()))
    return mixes(op);
  for (Value operand : op.getInputs())
    if (!of(operand) && !isUniformAlong(operand, found->dim))
      return fail(op, "combines the dim with a tensor that has other values for each position");
  return found;
}

Result Follower::slice(SliceOp op) {
  Result found = of(op.getInput());
  const bool whole = op.getStarts()[found->dim] == 0 && op.getSteps()[found->dim] == 1 &&
                     dimsOf(op.getResult())[found->dim] == dimsOf(op.getInput())[found->dim];
  return whole ? found : fail(op, "takes some positions of the dim");
}

Result Follower::pad(PadOp op) {
  Result found = of(op.getInput());
  return op.getLow()[found->dim] == 0 && op.getHigh()[found->dim] == 0 ? found : mixes(op);
}

Result Follower::tile(TileOp op) {
  Result found = of(op.getInput());
  return op.getRepeats()[found->dim] == 1 ? found : mixes(op);
}

Result Follower::gather(GatherOp op) {
  const int64_t axis = op.getAxis(), indexRank = dimsOf(op.getIndices()).size();
  Result data = of(op.getInput()), indices = of(op.getIndices());
  if (data && indices)
    return mixes(op);
  if (indices) {
    indices->dim += axis;
    return indices;
  }
  if (data->dim == axis)
    return fail(op, "takes some positions of the dim");
  if (data->dim > axis)
    data->dim += indexRank - 1;
  return data;
}

/// The outermost dim is a batch of images as long as it keeps its size.
Result Follower::resize(ResizeOp op) {
  Result found = of(op.getInput());
  return found->dim == 0 && dimsOf(op.getResult())[0] == dimsOf(op.getInput())[0] ? found
                                                                                  : mixes(op);
}

Result Follower::quantized(Operation *op) {
  Result found = of(op->getOperand(0));
  for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()}) {
    auto element = dyn_cast<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(type));
    if (element && element.getQuantizedDimension() == found->dim)
      return fail(op, "has other scales for each position");
  }
  return found;
}

bool Follower::visit(Operation *op) {
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return of(operand).has_value(); }))
    return true;
  Result found =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](ElementwiseOpInterface) { return elementwise(op); })
          .Case<ConvOp, ConvTransposeOp, MaxPoolOp, AveragePoolOp, DepthToSpaceOp, SpaceToDepthOp>(
              [&](auto) { return onlyBatch(op); })
          .Case([&](BatchNormOp own) { return batchNorm(own); })
          .Case([&](MatMulOp own) { return matmul(own); })
          .Case([&](FullyConnectedOp own) { return fullyConnected(own); })
          .Case([&](ReduceOp own) {
            return reduced(own, own.getInput(), own.getAxes(), own.getKeepdims());
          })
          .Case<ArgMaxOp, ArgMinOp>([&](auto own) {
            return reduced(own, own.getInput(), {int64_t(own.getAxis())}, own.getKeepdims());
          })
          .Case<SoftmaxOp, LogSoftmaxOp, CumulativeSumOp>(
              [&](auto own) { return along(own, own.getInput(), own.getAxis()); })
          .Case([&](ReshapeOp own) { return reshape(own); })
          .Case([&](TransposeOp own) {
            Result dim = of(own.getInput());
            dim->dim = llvm::find(own.getPermutation(), dim->dim) - own.getPermutation().begin();
            return dim;
          })
          .Case([&](ExpandOp own) { return expand(own); })
          .Case([&](ConcatOp own) { return concat(own); })
          .Case([&](SliceOp own) { return slice(own); })
          .Case([&](PadOp own) { return pad(own); })
          .Case([&](TileOp own) { return tile(own); })
          .Case([&](GatherOp own) { return gather(own); })
          .Case([&](ResizeOp own) { return resize(own); })
          .Default([&](Operation *) {
            return op->hasTrait<ConvertsQuantized>()
                       ? quantized(op)
                       : fail(op, "is not known to leave the positions of the dim apart");
          });
  if (!found)
    return false;
  followed[op->getResult(0)] = *found;
  return true;
}

bool Follower::visitReturn(func::ReturnOp op) {
  for (OpOperand &result : op->getOpOperands())
    if (Result found = of(result.get()); found && found->inner != 1) {
      reason = "output " + std::to_string(result.getOperandNumber()) +
               " has the dim together with another one";
      return false;
    }
  return true;
}

bool Follower::run(func::FuncOp main) {
  for (Operation &op : main.getBody().front()) {
    if (auto end = dyn_cast<func::ReturnOp>(op))
      return visitReturn(end);
    if (!visit(&op))
      return false;
  }
  return true;
}

} // namespace

std::optional<FollowedDims> followDim(func::FuncOp main,
                                      ArrayRef<std::pair<unsigned, int64_t>> arguments,
                                      int64_t size, std::string &reason) {
  assert(size > 1 && "a dim of one position is a part of any other");
  FollowedDims followed;
  for (auto [argument, dim] : arguments) {
    assert(dimsOf(main.getArgument(argument))[dim] == size);
    if (!followed.try_emplace(main.getArgument(argument), FollowedDim{dim, 1}).second) {
      reason = "two dims of one input have the same size by their names";
      return std::nullopt;
    }
  }
  if (!Follower(size, followed, reason).run(main))
    return std::nullopt;
  return followed;
}

//===----------------------------------------------------------------------===//
// Two graphs
//===----------------------------------------------------------------------===//

/// Returns whether a value's dims differ only where they were followed.
static bool haveEqualShapes(Value left, ArrayRef<FollowedDims> leftDims, Value right,
                            ArrayRef<FollowedDims> rightDims) {
  auto leftType = dyn_cast<RankedTensorType>(left.getType());
  auto rightType = dyn_cast<RankedTensorType>(right.getType());
  if (!leftType || !rightType || leftType.getElementType() != rightType.getElementType() ||
      leftType.getRank() != rightType.getRank())
    return false;
  for (int64_t dim = 0; dim < leftType.getRank(); ++dim) {
    bool isFollowed = false;
    for (auto [ours, theirs] : llvm::zip_equal(leftDims, rightDims)) {
      auto own = ours.find(left), other = theirs.find(right);
      if ((own == ours.end()) != (other == theirs.end()) ||
          (own != ours.end() && own->second != other->second))
        return false;
      isFollowed |= own != ours.end() && own->second.dim == dim;
    }
    if (!isFollowed && leftType.getDimSize(dim) != rightType.getDimSize(dim))
      return false;
  }
  return true;
}

/// Returns the dims of a constant with those that it is uniform along made 1.
static SmallVector<int64_t> distinctDims(Value value) {
  SmallVector<int64_t> dims(dimsOf(value));
  for (int64_t dim = 0; dim < int64_t(dims.size()); ++dim)
    if (isUniformAlong(value, dim))
      dims[dim] = 1;
  return dims;
}

/// Returns whether two constants have equal elements: of those that are the same along a dim
/// it does not matter how many there are.
static bool haveEqualElements(ConstantOp left, ConstantOp right) {
  if (left.getValue() == right.getValue())
    return true;
  FailureOr<ConstantBytes> ours = ConstantBytes::get(left.getValue());
  FailureOr<ConstantBytes> theirs = ConstantBytes::get(right.getValue());
  if (failed(ours) || failed(theirs) ||
      ours->getType().getElementType() != theirs->getType().getElementType())
    return false;
  if (ours->getType() == theirs->getType())
    return ours->expanded() == theirs->expanded();
  SmallVector<int64_t> dims = distinctDims(left);
  if (dims != distinctDims(right))
    return false;
  const int64_t width = getElementBytes(ours->getType().getElementType());
  auto stridesOf = [](Value value) {
    ArrayRef<int64_t> all = dimsOf(value);
    SmallVector<int64_t> strides(all.size(), 1);
    for (int64_t i = int64_t(all.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * all[i + 1];
    return strides;
  };
  const SmallVector<int64_t> ourStrides = stridesOf(left), theirStrides = stridesOf(right);
  ArrayRef<char> a = ours->expanded(), b = theirs->expanded();
  for (int64_t element = 0, count = llvm::product_of(dims); element < count; ++element) {
    int64_t rest = element, atA = 0, atB = 0;
    for (int64_t dim = int64_t(dims.size()) - 1; dim >= 0; --dim) {
      atA += rest % dims[dim] * ourStrides[dim];
      atB += rest % dims[dim] * theirStrides[dim];
      rest /= dims[dim];
    }
    if (a.slice(atA * width, width) != b.slice(atB * width, width))
      return false;
  }
  return true;
}

/// Returns whether attributes are equal but for the sizes of a slice, which types state too.
static bool haveEqualAttributes(Operation *left, Operation *right) {
  NamedAttrList ours(left->getAttrDictionary()), theirs(right->getAttrDictionary());
  if (isa<SliceOp>(left))
    for (NamedAttrList *list : {&ours, &theirs})
      list->erase("sizes");
  return ours.getDictionary(left->getContext()) == theirs.getDictionary(left->getContext());
}

bool haveEqualMeaning(func::FuncOp leftMain, ArrayRef<FollowedDims> left, func::FuncOp rightMain,
                      ArrayRef<FollowedDims> right, std::string &reason) {
  Block &ours = leftMain.getBody().front(), &theirs = rightMain.getBody().front();
  if (ours.getOperations().size() != theirs.getOperations().size()) {
    reason = "the network has other nodes for other sizes";
    return false;
  }
  IRMapping mapping;
  for (auto [a, b] : llvm::zip_equal(ours.getArguments(), theirs.getArguments()))
    mapping.map(a, b);
  for (auto [a, b] : llvm::zip_equal(ours, theirs)) {
    auto constant = dyn_cast<ConstantOp>(a);
    bool equal = a.getName() == b.getName() && a.getNumResults() == b.getNumResults() &&
                 a.getNumOperands() == b.getNumOperands() && a.getNumRegions() == 0 &&
                 b.getNumRegions() == 0;
    if (equal && constant)
      equal = haveEqualElements(constant, cast<ConstantOp>(b));
    else if (equal)
      equal = haveEqualAttributes(&a, &b);
    for (unsigned i = 0; equal && i < a.getNumOperands(); ++i)
      equal = mapping.lookup(a.getOperand(i)) == b.getOperand(i);
    // Where a constant has other dims, what reads it has found out that it may.
    for (unsigned i = 0; equal && !constant && i < a.getNumResults(); ++i)
      equal = isa<ExpandOp>(a) || haveEqualShapes(a.getResult(i), left, b.getResult(i), right);
    if (!equal) {
      reason = nodeOf(&a) + " depends on the size of the dim, or on its value in the model";
      return false;
    }
    mapping.map(a.getResults(), b.getResults());
  }
  return true;
}

} // namespace atc::graph
