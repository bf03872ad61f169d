//===-- StorageAssignment.cpp - which tensors share memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/StorageAssignment.h"

#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/ReduceOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "dialects/graph/scatter/Scatter.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/kernel/LayoutRules.h"
#include <numeric>

using namespace mlir;
using namespace atc::graph;

namespace atc::kernel {

bool isKnown(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, RelayoutOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ConstantOp>(op);
}

/// Returns whether only matrix products of the NPU read `value`: they accept the strides of a
/// transposition.
static bool isReadStrided(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<ReshapeOp, SliceOp, TransposeOp>(user))
      return isReadStrided(user->getResult(0));
    return isa<MatMulOp>(user) && isCubeContraction(user);
  });
}

/// Returns whether `value` is f32 and only the left operand of matrix products of the CPU, which
/// read its elements one by one with any strides.
static bool isLeftFactor(Value value) {
  return tensorType(value).getElementType().isF32() && !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           return isa<MatMulOp>(use.getOwner()) && !isCubeContraction(use.getOwner()) &&
                  use.getOperandNumber() == 0;
         });
}

/// Returns whether `value` is a tensor of bytes in several blocks that a dense convolution reads,
/// and no convolution by channels, which would read a little of each of many pixels.
static bool isReadAcrossChannels(Value value) {
  RankedTensorType type = tensorType(value);
  const Type element = getScalarType(type.getElementType());
  if (!element.isInteger(8) || blockOf(type) == 0 || storedShape(type)[1] == 1)
    return false;
  bool isRead = false;
  for (OpOperand &use : value.getUses()) {
    auto conv = dyn_cast<IntegerConvOp>(use.getOwner());
    if (!conv || use.getOperandNumber() != 0)
      continue;
    if (conv.getGroups() != 1)
      return false;
    isRead = true;
  }
  return isRead;
}

bool canBeView(Operation *op) { return isa<ReshapeOp, RelayoutOp, SliceOp, TransposeOp>(op); }

/// Returns whether a matrix product of the NPU can write to `target`: rows are dense, in two dims
/// of products.
static bool canWriteProducts(Operation *op, const Storage &target) {
  if (target.rank() == 0 || (target.shape.back() != 1 && target.strides.back() != 1))
    return false;
  if (auto product = dyn_cast<MatMulOp>(op)) {
    // A vector is a row or a column of a matrix, which the result does not have as a dim.
    ArrayRef<int64_t> right = tensorType(product.getRhs()).getShape();
    if (tensorType(product.getLhs()).getRank() == 1 || right.size() == 1)
      return target.isContiguous();
    // All rows are one matrix where they are multiplied by a packed one.
    const bool isPacked =
        isKnown(product.getRhs()) && ShapedType::getNumElements(right.drop_back(2)) == 1;
    if (target.rank() <= 4 && !isPacked)
      return true;
  }
  int64_t columns = target.shape.back();
  int64_t rows = ShapedType::getNumElements(target.shape) / columns;
  return target.reshaped({rows, columns}).has_value();
}

/// Returns whether the op behind `value` is elementwise, whose kernel writes rows of any distance
/// as fast as dense ones.
static bool makesElements(Value value) {
  return value.getDefiningOp() && isElementwise(value.getDefiningOp());
}

/// Kernels write any strides, but some need dims of the result to be one.
static bool canWrite(Operation *op, const Storage &target) {
  if (isa<IntegerFullyConnectedOp, ScatterAddOp>(op))
    return target.isContiguous();
  if (isa<MatMulOp, FullyConnectedOp>(op))
    return isCubeContraction(op) ? canWriteProducts(op, target) : target.isContiguous();
  if (auto gather = dyn_cast<GatherOp>(op)) {
    ArrayRef<int64_t> in = tensorType(gather.getInput()).getShape();
    int64_t axis = gather.getAxis();
    auto count = [](ArrayRef<int64_t> sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<int64_t>());
    };
    int64_t indices = tensorType(gather.getIndices()).getNumElements();
    return target.reshaped({count(in.take_front(axis)), indices, count(in.drop_front(axis + 1))})
        .has_value();
  }
  return true;
}

/// Returns whether all ops that read `value` copy it.
static bool isOnlyMoved(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<ReshapeOp>(user))
      return isOnlyMoved(user->getResult(0));
    return isa<TransposeOp, DepthToSpaceOp, SpaceToDepthOp, ExpandOp, TileOp>(user);
  });
}

StorageAssignment::StorageAssignment(func::FuncOp function,
                                     function_ref<bool(Operation *)> padsRows, bool joinsBytes) {
  Block &body = function.getBody().front();
  if (joinsBytes)
    for (Operation &op : body)
      for (Value result : op.getResults())
        if (!isKnown(result) && isa<RankedTensorType>(result.getType()) &&
            isReadAcrossChannels(result))
          joined.insert(result);
  for (auto transpose : body.getOps<TransposeOp>())
    skipUnpacking(transpose);
  // Backwards, so that the storage of a user is known when its operands are placed in it.
  for (Operation &op : llvm::reverse(body)) {
    placeInUsers(&op);
    padRows(&op, padsRows);
  }
  // The remaining views depend on their operand, whose storage is now known.
  for (Operation &op : body) {
    if (!canBeView(&op) || homes.contains(op.getResult(0)) || isSkipped(&op) ||
        isPlaced(op.getOpOperand(0)))
      continue;
    std::optional<Storage> view = ofOperand(&op);
    if (view && hasHaloFor(*view, tensorType(op.getResult(0))))
      homes[op.getResult(0)] = {Home::OfOperand};
  }
}

/// Pads the rows of a result that matrix products read, directly or through elementwise ops whose
/// result is padded like their operand: so these still run in place.
void StorageAssignment::padRows(Operation *op, function_ref<bool(Operation *)> padsRows) {
  constexpr int64_t kHalfPage = 2048;
  if (op->getNumResults() != 1 || !(isElementwise(op) || isa<FullyConnectedOp>(op)) ||
      !padsRows(op))
    return;
  Value result = op->getResult(0);
  RankedTensorType type = tensorType(result);
  if (!type.getElementType().isF32() || blockOf(type) || type.getRank() < 2 ||
      type.getShape().back() * 4 % kHalfPage != 0 || result.use_empty())
    return;
  for (OpOperand &use : result.getUses()) {
    Operation *user = use.getOwner();
    const bool isFactor = isa<FullyConnectedOp>(user) && use.getOperandNumber() == 0;
    const bool isChanged = isElementwise(user) && padded.contains(user->getResult(0)) &&
                           user->getResult(0).getType() == type;
    if (!(isFactor || isChanged) || !padsRows(user))
      return;
  }
  padded.insert(result);
}

void StorageAssignment::placeInUsers(Operation *op) {
  if (isa<func::ReturnOp>(op)) {
    for (auto [index, value] : llvm::enumerate(op->getOperands())) {
      Storage result =
          Storage::whole(value, tensorType(value).getElementType(), tensorType(value).getShape());
      if (canBePlaced(value, result))
        homes[value] = {Home::Result, unsigned(index)};
    }
    return;
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (unsigned i = 0; i < concat.getInputs().size(); ++i)
      placeInUser(op, i);
    placePatched(concat);
    return;
  }
  // A product whose result is transposed is written transposed.
  if (isa<TransposeOp>(op)) {
    Operation *product = op->getOperand(0).getDefiningOp();
    if (isa_and_nonnull<MatMulOp>(product) && isCubeContraction(product) && product->hasOneUse() &&
        blockOf(op->getResult(0)) == 0)
      placeInUser(op, 0);
    return;
  }
  // The operand of a pad is stored inside the padded tensor if all of its readers accept any
  // strides.
  if (auto pad = dyn_cast<PadOp>(op)) {
    auto takesStrides = [&](Operation *user) {
      return user == op || isElementwise(user) || isa<ReduceOp>(user);
    };
    if (tensorType(pad.getInput()).getElementType().isF32() &&
        llvm::all_of(pad.getInput().getUsers(), takesStrides) && makesElements(pad.getInput()))
      placeInUser(op, 0);
    return;
  }
  // A view that was placed in its user moves its operand along.
  if (isa<ReshapeOp, RelayoutOp>(op) && homes.contains(op->getResult(0)))
    placeInUser(op, 0);
}

void StorageAssignment::placeInUser(Operation *user, unsigned operand) {
  Value value = user->getOperand(operand);
  std::optional<Storage> target = inUser(user, operand);
  if (target && hasHaloFor(*target, tensorType(value)) && canBePlaced(value, *target))
    homes[value] = {Home::InUser, operand, user};
}

/// Returns the slice from which `part` is computed elementwise with the same layout, or that it is.
static SliceOp sliceBehind(Value part) {
  Operation *op = part.getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(op))
    return slice;
  if (!op || !isElementwise(op))
    return nullptr;
  for (Value operand : op->getOperands())
    if (auto slice = operand.getDefiningOp<SliceOp>(); slice && operand.getType() == part.getType())
      return slice;
  return nullptr;
}

/// Places a concat that reassembles a tensor with some parts changed elementwise: it is that
/// tensor, changed in place.
void StorageAssignment::placePatched(ConcatOp concat) {
  Storage result = storageOf(concat.getResult());
  Value whole;
  const SmallVector<int64_t> starts = concatStarts(concat);
  for (auto [index, part] : llvm::enumerate(concat.getInputs())) {
    SliceOp slice = sliceBehind(part);
    if (!slice || !slice->hasOneUse() || (whole && slice.getInput() != whole))
      return;
    whole = slice.getInput();
    // A part that is not a slice itself must be written in place.
    bool isSlice = slice.getResult() == part;
    if (!isSlice && !isPlaced(concat->getOpOperand(index)))
      return;
    std::optional<Storage> from = sliceView(result, slice),
                           to = concatView(result, concat, index, starts[index]);
    if (!from || !to || !(*from == *to))
      return;
  }
  auto isPart = [](OpOperand &use) { return isa<SliceOp>(use.getOwner()); };
  bool allParts = std::distance(whole.use_begin(), whole.use_end()) ==
                  std::distance(concat.getInputs().begin(), concat.getInputs().end());
  if (whole.getType() == concat.getType() && allParts && llvm::all_of(whole.getUses(), isPart) &&
      canBePlaced(whole, result))
    homes[whole] = {Home::AsUser, 0, concat};
}

/// Channels that a reshape splits and a transposition moves are copied from
/// their lanes to where they go, without being unpacked between.
void StorageAssignment::skipUnpacking(TransposeOp transpose) {
  auto reshape = transpose.getInput().getDefiningOp<ReshapeOp>();
  auto relayout = reshape ? reshape.getInput().getDefiningOp<RelayoutOp>() : nullptr;
  if (!relayout || !reshape->hasOneUse() || !relayout->hasOneUse() ||
      blockOf(relayout.getResult()) != 0)
    return;
  int64_t block = blockOf(relayout.getInput());
  ArrayRef<int64_t> image = tensorType(reshape.getInput()).getShape(),
                    split = tensorType(reshape.getResult()).getShape();
  if (isKnown(relayout.getInput()) || block == 0 || image[1] <= block || split.size() != 5 ||
      split[0] != image[0] || split.drop_front(3) != image.drop_front(2) || split[1] > block ||
      isSameMemory(tensorType(relayout.getInput()), block))
    return;
  skipped.insert(relayout);
  skipped.insert(reshape);
}

bool StorageAssignment::canBePlaced(Value value, const Storage &target) const {
  Operation *op = value.getDefiningOp();
  if (!op || isKnown(value) || homes.contains(value))
    return false;
  // Placing a view would mean to copy what it shows; the user can do that.
  if (auto slice = dyn_cast<SliceOp>(op); slice && isSliceView(slice, blockOf(value)))
    return false;
  if (isa<ReshapeOp, RelayoutOp>(op) && !op->getOperand(0).getDefiningOp())
    return isa<RelayoutOp>(op) && !isSameMemory(tensorType(value), blockOf(value));
  return canWrite(op, target);
}

/// Returns the elements of a constant padding's result that are its operand; nothing where it crops
/// or channels are in blocks.
static std::optional<Storage> padView(const Storage &result, graph::PadOp pad) {
  auto isNegative = [](int64_t amount) { return amount < 0; };
  if (pad.getMode() != graph::PadMode::Constant || blockOf(pad.getResult()) ||
      blockOf(pad.getInput()) || llvm::any_of(pad.getLow(), isNegative) ||
      llvm::any_of(pad.getHigh(), isNegative))
    return std::nullopt;
  Storage view = result;
  for (auto [dim, size] : llvm::enumerate(tensorType(pad.getInput()).getShape()))
    view = view.slice(dim, pad.getLow()[dim], size);
  return view;
}

std::optional<Storage> StorageAssignment::inUser(Operation *user, unsigned operand) const {
  Storage result = storageOf(user->getResult(0));
  if (auto concat = dyn_cast<ConcatOp>(user)) {
    SmallVector<int64_t> &known = startsIn[user];
    if (known.empty())
      known = concatStarts(concat);
    return concatView(result, concat, operand, known[operand]);
  }
  if (auto pad = dyn_cast<PadOp>(user))
    return padView(result, pad);
  RankedTensorType type = tensorType(user->getOperand(operand));
  if (isa<ReshapeOp>(user))
    return result.reshaped(type.getShape());
  if (auto transpose = dyn_cast<TransposeOp>(user))
    return result.permuted(invertPermutationVector(transpose.getPermutation()));
  return relayoutView(result, tensorType(user->getResult(0)), type);
}

std::optional<Storage> StorageAssignment::ofOperand(Operation *op) const {
  // A constant in another layout is a separate constant.
  if (isa<RelayoutOp>(op) && isKnown(op->getOperand(0)))
    return std::nullopt;
  Storage source = storageOf(op->getOperand(0));
  RankedTensorType type = tensorType(op->getResult(0));
  if (auto slice = dyn_cast<SliceOp>(op))
    return sliceView(source, slice);
  if (isa<ReshapeOp>(op))
    return source.reshaped(type.getShape());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    bool blocked = blockOf(transpose.getInput()) || blockOf(transpose.getResult());
    if (blocked || !(isReadStrided(transpose.getResult()) || isLeftFactor(transpose.getResult())))
      return std::nullopt;
    return source.permuted(transpose.getPermutation());
  }
  RankedTensorType sourceType = tensorType(op->getOperand(0));
  if (auto view = relayoutView(source, sourceType, type))
    return view;
  // Copies read lanes as well as rows.
  if (blockOf(type) == 0 && type.getDimSize(1) <= blockOf(sourceType) &&
      isOnlyMoved(op->getResult(0)))
    return source.lanes(type.getDimSize(1));
  return std::nullopt;
}

Storage StorageAssignment::storageOf(Value value) const {
  auto home = homes.find(value);
  Home::Kind kind = home == homes.end() ? Home::Own : home->second.kind;
  // Homes are made only where the view exists.
  if (kind == Home::InUser)
    return *inUser(home->second.user, home->second.index);
  if (kind == Home::OfOperand)
    return *ofOperand(value.getDefiningOp());
  if (kind == Home::AsUser)
    return storageOf(home->second.user->getResult(0));

  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape = storedShape(type);
  Halo halo = haloOf(type);
  if (blockOf(type)) {
    shape[2] += halo[0] + halo[2];
    shape[3] += halo[1] + halo[3];
  }
  Type element = getScalarType(type.getElementType());
  if (int64_t padding = rowPaddingOf(value)) {
    shape.back() += padding;
    return Storage::whole(value, element, shape).slice(shape.size() - 1, 0, type.getShape().back());
  }
  Storage whole = joinsChannels(value)
                      ? Storage::joined(Storage::whole(value, element, Storage::joinedShape(shape)))
                      : Storage::whole(value, element, shape);
  if (!blockOf(type))
    return whole;
  Storage inside = whole.inside(halo);
  inside.haloFill = haloFillOf(type);
  return inside;
}

std::optional<unsigned> StorageAssignment::resultOf(Value value) const {
  auto home = homes.find(value);
  if (home == homes.end() || home->second.kind != Home::Result)
    return std::nullopt;
  return home->second.index;
}

bool StorageAssignment::isPlaced(OpOperand &operand) const {
  auto home = homes.find(operand.get());
  return home != homes.end() && home->second.kind == Home::InUser &&
         home->second.user == operand.getOwner() &&
         home->second.index == operand.getOperandNumber();
}

bool StorageAssignment::isView(Operation *op) const {
  if (!canBeView(op))
    return false;
  auto home = homes.find(op->getResult(0));
  if (home != homes.end() && home->second.kind == Home::OfOperand)
    return true;
  return isPlaced(op->getOpOperand(0));
}

} // namespace atc::kernel
