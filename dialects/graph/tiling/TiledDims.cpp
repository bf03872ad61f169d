//===-- TiledDims.cpp - which dims of graph ops can be computed in tiles --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/tiling/TiledDims.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/scatter/Scatter.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"

using namespace mlir;

#include "dialects/graph/tiling/TiledDims.cpp.inc"

namespace atc::graph {

namespace {

using Dims = ArrayRef<int64_t>;

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t rankOf(Value value) { return shapeOf(value).size(); }

FailureOr<int64_t> fail(std::string &reason, StringRef why) {
  reason = why.str();
  return failure();
}

/// Reports whether an operand behind the first `count` ones is tiled.
bool anyBehind(Dims dims, size_t count) {
  return llvm::any_of(dims.drop_front(count), [](int64_t dim) { return dim >= 0; });
}

/// The rule of ops that broadcast: dims count from the last one.
FailureOr<int64_t> inferBroadcast(Operation *op, Dims dims, std::string &reason) {
  const int64_t rank = rankOf(op->getResult(0));
  int64_t result = -1;
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), dims)) {
    if (dim < 0)
      continue;
    const int64_t at = dim + rank - rankOf(operand);
    if (result >= 0 && at != result)
      return fail(reason, "has it at different dims of two operands");
    result = at;
  }
  return result;
}

/// Ops whose result has the dims of the first operand, where only the first operand can be
/// tiled: along its outermost dim.
template <typename Op>
struct OutermostOnly : TiledDimOpInterface::ExternalModel<OutermostOnly<Op>, Op> {
  FailureOr<int64_t> inferTiledDim(Operation *, Dims dims, int64_t, std::string &reason) const {
    if (anyBehind(dims, 1))
      return fail(reason, "has it in its parameters");
    if (dims[0] != 0)
      return fail(reason, "combines elements along it");
    return 0;
  }
};

template <typename Op> struct Broadcast : TiledDimOpInterface::ExternalModel<Broadcast<Op>, Op> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    return inferBroadcast(op, dims, reason);
  }
};

/// Quantization: parameters may differ for each index of one dim.
template <typename Op>
struct Quantization : TiledDimOpInterface::ExternalModel<Quantization<Op>, Op> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()}) {
      auto perAxis = dyn_cast<mlir::quant::UniformQuantizedPerAxisType>(
          cast<RankedTensorType>(type).getElementType());
      if (perAxis && perAxis.getQuantizedDimension() == dims[0])
        return fail(reason, "has parameters of its own for each index of it");
    }
    return dims[0];
  }
};

struct MatMulModel : TiledDimOpInterface::ExternalModel<MatMulModel, MatMulOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    const int64_t lhs = rankOf(op->getOperand(0)), rhs = rankOf(op->getOperand(1));
    const int64_t rank = rankOf(op->getResult(0));
    // Vectors have no batch dims, and leave no row or column in the result.
    const int64_t batch = std::max<int64_t>({lhs - 2, rhs - 2, 0});
    const int64_t left = dims[0], right = dims[1];
    const bool isRow = left >= 0 && left == lhs - 2, isColumn = rhs > 1 && right == rhs - 1;
    if ((left >= 0 && left == lhs - 1) || (right >= 0 && !isColumn && right >= rhs - 2))
      return fail(reason, "sums over it");
    if (left >= 0 && right >= 0 && (isRow || isColumn))
      return fail(reason, "combines each of its indices with each");
    if (isRow)
      return rank - (rhs > 1 ? 2 : 1);
    if (isColumn)
      return rank - 1;
    const int64_t fromLeft = left < 0 ? -1 : left + batch - (lhs - 2),
                  fromRight = right < 0 ? -1 : right + batch - (rhs - 2);
    if (left >= 0 && right >= 0 && fromLeft != fromRight)
      return fail(reason, "has it at different dims of two operands");
    return std::max(fromLeft, fromRight);
  }
};

template <typename Op>
struct FullyConnectedModel : TiledDimOpInterface::ExternalModel<FullyConnectedModel<Op>, Op> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    if (anyBehind(dims, 1))
      return fail(reason, "has it in its parameters");
    if (dims[0] == rankOf(op->getOperand(0)) - 1)
      return fail(reason, "sums over it");
    return dims[0];
  }
};

/// Softmax and the like, along the attribute `axis`.
template <typename Op> struct AlongAxis : TiledDimOpInterface::ExternalModel<AlongAxis<Op>, Op> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    if (static_cast<int64_t>(cast<Op>(op).getAxis()) == dims[0])
      return fail(reason, "normalizes along it");
    return dims[0];
  }
};

struct CumulativeSumModel
    : TiledDimOpInterface::ExternalModel<CumulativeSumModel, CumulativeSumOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    if (static_cast<int64_t>(cast<CumulativeSumOp>(op).getAxis()) == dims[0])
      return fail(reason, "sums along it");
    return dims[0];
  }
};

struct ReduceModel : TiledDimOpInterface::ExternalModel<ReduceModel, ReduceOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    auto reduce = cast<ReduceOp>(op);
    if (llvm::is_contained(reduce.getAxes(), dims[0]))
      return fail(reason, "reduces it");
    if (reduce.getKeepdims())
      return dims[0];
    return dims[0] - llvm::count_if(reduce.getAxes(), [&](int64_t axis) { return axis < dims[0]; });
  }
};

template <typename Op> struct ArgModel : TiledDimOpInterface::ExternalModel<ArgModel<Op>, Op> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    auto arg = cast<Op>(op);
    const int64_t axis = arg.getAxis();
    if (axis == dims[0])
      return fail(reason, "reduces it");
    return dims[0] - (!arg.getKeepdims() && axis < dims[0]);
  }
};

struct ReshapeModel : TiledDimOpInterface::ExternalModel<ReshapeModel, ReshapeOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t count,
                                   std::string &reason) const {
    // The dim stays one where as many elements stand before it as before.
    int64_t before = 1, passed = 1;
    for (int64_t size : shapeOf(op->getOperand(0)).take_front(dims[0]))
      before *= size;
    for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(0)))) {
      if (before > 0 && passed == before && size % count == 0 && size > 0)
        return dim;
      passed *= size;
    }
    return fail(reason, "mixes it with the dims before it");
  }
};

struct TransposeModel : TiledDimOpInterface::ExternalModel<TransposeModel, TransposeOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &) const {
    Dims permutation = cast<TransposeOp>(op).getPermutation();
    return llvm::find(permutation, dims[0]) - permutation.begin();
  }
};

struct ExpandModel : TiledDimOpInterface::ExternalModel<ExpandModel, ExpandOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t count,
                                   std::string &reason) const {
    if (dims[0] >= 0)
      return inferBroadcast(op, dims, reason);
    // A single share is repeated once per tile.
    ArrayRef<int64_t> result = shapeOf(op->getResult(0));
    auto isTiled = [&](int64_t size) { return size > 0 && size % count == 0; };
    return llvm::find_if(result, isTiled) - result.begin();
  }
};

struct TileModel : TiledDimOpInterface::ExternalModel<TileModel, TileOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t count,
                                   std::string &reason) const {
    Dims repeats = cast<TileOp>(op).getRepeats();
    if (dims[0] >= 0) {
      if (repeats[dims[0]] != 1)
        return fail(reason, "repeats it");
      return dims[0];
    }
    // What is the same for all indices is repeated for those of a tile.
    for (auto [dim, times] : llvm::enumerate(repeats))
      if (times > 0 && times % count == 0 && shapeOf(op->getOperand(0))[dim] % count != 0)
        return dim;
    return fail(reason, "repeats it");
  }
  void setTiledSize(Operation *op, int64_t dim, int64_t size) const {
    auto tile = cast<TileOp>(op);
    SmallVector<int64_t> repeats(tile.getRepeats());
    repeats[dim] = size / shapeOf(tile.getInput())[dim];
    tile.setRepeats(repeats);
  }
};

struct ConcatModel : TiledDimOpInterface::ExternalModel<ConcatModel, ConcatOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    if (!llvm::all_equal(dims))
      return fail(reason, "has it at different dims of two operands");
    if (static_cast<int64_t>(cast<ConcatOp>(op).getAxis()) == dims[0])
      return fail(reason, "concatenates along it");
    return dims[0];
  }
};

struct SliceModel : TiledDimOpInterface::ExternalModel<SliceModel, SliceOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    auto slice = cast<SliceOp>(op);
    const int64_t size = slice.getSizes()[dims[0]];
    if (slice.getStarts()[dims[0]] != 0 || slice.getSteps()[dims[0]] != 1 ||
        (size != -1 && size != shapeOf(slice.getInput())[dims[0]]))
      return fail(reason, "takes some of its elements");
    return dims[0];
  }
  void setTiledSize(Operation *op, int64_t dim, int64_t size) const {
    auto slice = cast<SliceOp>(op);
    SmallVector<int64_t> sizes(slice.getSizes());
    sizes[dim] = size;
    slice.setSizes(sizes);
  }
};

struct PadModel : TiledDimOpInterface::ExternalModel<PadModel, PadOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    auto pad = cast<PadOp>(op);
    if (pad.getLow()[dims[0]] != 0 || pad.getHigh()[dims[0]] != 0)
      return fail(reason, "pads it");
    return dims[0];
  }
};

struct GatherModel : TiledDimOpInterface::ExternalModel<GatherModel, GatherOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    auto gather = cast<GatherOp>(op);
    const int64_t axis = gather.getAxis(), input = dims[0], indices = dims[1];
    if (input >= 0 && indices >= 0)
      return fail(reason, "has it in the indices and in what they choose from");
    if (input == axis)
      return fail(reason, "chooses elements along it");
    if (indices >= 0)
      return axis + indices;
    return input < axis ? input : input + rankOf(gather.getIndices()) - 1;
  }
};

struct ResizeModel : TiledDimOpInterface::ExternalModel<ResizeModel, ResizeOp> {
  FailureOr<int64_t> inferTiledDim(Operation *op, Dims dims, int64_t, std::string &reason) const {
    auto resize = cast<ResizeOp>(op);
    if (shapeOf(resize.getInput())[dims[0]] != shapeOf(resize.getResult())[dims[0]] ||
        resize.getScales()[dims[0]] != 1.0)
      return fail(reason, "resamples it");
    return dims[0];
  }
};

/// Adds the rule of broadcasting to the elementwise ops `Ops`.
template <typename... Ops> void attachElementwise(MLIRContext &context) {
  (Ops::template attachInterface<Broadcast<Ops>>(context), ...);
}

template <template <typename> typename Model, typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

bool hasEqualShares(ElementsAttr value, int64_t dim, int64_t count) {
  auto bytes = ConstantBytes::get(value);
  if (failed(bytes))
    return false;
  if (bytes->isSplat() || bytes->bytes().empty())
    return true;
  ArrayRef<char> all = bytes->expanded();
  int64_t blocks = 1;
  for (int64_t size : value.getShapedType().getShape().take_front(dim))
    blocks *= size;
  const size_t block = all.size() / blocks, share = block / count;
  for (int64_t i = 0; i < blocks; ++i) {
    ArrayRef<char> here = all.slice(i * block, block);
    if (here.drop_front(share) != here.drop_back(share))
      return false;
  }
  return true;
}

void attachTiledDims(MLIRContext &context) {
  attachElementwise<
#define GET_OP_LIST
#include "dialects/graph/ops/UnaryOps.cpp.inc"
      >(context);
  attachElementwise<
#define GET_OP_LIST
#include "dialects/graph/ops/BinaryOps.cpp.inc"
      >(context);
  attach<OutermostOnly, ConvOp, ConvTransposeOp, IntegerConvOp, MaxPoolOp, AveragePoolOp,
         BatchNormOp, DepthToSpaceOp, SpaceToDepthOp>(context);
  attach<Quantization, QuantizeOp, DequantizeOp, StorageCastOp>(context);
  attach<AlongAxis, SoftmaxOp, LogSoftmaxOp>(context);
  attach<ArgModel, ArgMaxOp, ArgMinOp>(context);
  CumulativeSumOp::attachInterface<CumulativeSumModel>(context);
  MatMulOp::attachInterface<MatMulModel>(context);
  attach<FullyConnectedModel, FullyConnectedOp, IntegerFullyConnectedOp>(context);
  ReduceOp::attachInterface<ReduceModel>(context);
  ReshapeOp::attachInterface<ReshapeModel>(context);
  TransposeOp::attachInterface<TransposeModel>(context);
  ExpandOp::attachInterface<ExpandModel>(context);
  TileOp::attachInterface<TileModel>(context);
  ConcatOp::attachInterface<ConcatModel>(context);
  SliceOp::attachInterface<SliceModel>(context);
  PadOp::attachInterface<PadModel>(context);
  GatherOp::attachInterface<GatherModel>(context);
  ResizeOp::attachInterface<ResizeModel>(context);
}

} // namespace atc::graph
