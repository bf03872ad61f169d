//===-- ConvsAsRows.cpp - convolutions become products of patches ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/RowKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTCONVSASROWS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// A convolution with a constant filter.
struct RowConv {
  Value image, bias;
  ElementsAttr filter; ///< [outputs, channels / groups, window...]
  SmallVector<int64_t> window, strides, dilations, begins, ends;
  int64_t outputs = 0, channels = 0, groups = 1;

  size_t numDims() const { return window.size(); }
  int64_t taps() const { return computeProduct(window); }
  /// Elements of the filter as a matrix, which has zeros between the channels of different groups.
  int64_t matrixElements() const { return taps() * channels * outputs; }
  /// Whether an image of one pixel is as large as the window in this dim, with its pads.
  bool fitsOnePixel(size_t d) const {
    return begins[d] + ends[d] >= (window[d] - 1) * dilations[d];
  }
  bool fitsOnePixel() const {
    return llvm::all_of(llvm::seq(numDims()), [&](size_t d) { return fitsOnePixel(d); });
  }
  bool isPadded() const {
    return llvm::any_of(begins, [](int64_t n) { return n != 0; }) ||
           llvm::any_of(ends, [](int64_t n) { return n != 0; });
  }
  /// Whether every pixel of the image is a patch.
  bool readsAll() const {
    return taps() == 1 && llvm::all_of(strides, [](int64_t n) { return n == 1; });
  }
};

/// Beyond what a convolution has; products of sizes below it do not wrap.
constexpr int64_t kLimit = 1 << 20;

/// Matrices of grouped convolutions may have as many elements: with their zeros they take the room
/// and the time of the convolution without groups.
constexpr int64_t kMaxGroupedWeights = 1 << 20;

/// Returns a list of a convolution's attributes, or ones; nothing where its length is wrong, and
/// for sizes that no convolution has.
std::optional<SmallVector<int64_t>> listOf(HostCallOp call, StringRef name, size_t size) {
  const ArrayRef<int64_t> list = integersOf(call, name);
  if (!list.empty() &&
      (list.size() != size || llvm::any_of(list, [](int64_t n) { return n < 1 || n >= kLimit; })))
    return std::nullopt;
  return list.empty() ? SmallVector<int64_t>(size, 1) : SmallVector<int64_t>(list);
}

/// Sets the pads of a convolution. Returns false where they depend on the size of the image.
bool readPads(HostCallOp call, RowConv &conv) {
  const size_t numDims = conv.numDims();
  conv.begins.assign(numDims, 0);
  conv.ends.assign(numDims, 0);
  auto given = dyn_cast_or_null<StringAttr>(call.getParameters().get("auto_pad"));
  const StringRef mode = given ? given.getValue() : "NOTSET";
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (size_t d = 0; d < numDims; ++d) {
      if (conv.strides[d] != 1)
        return false;
      const int64_t all = (conv.window[d] - 1) * conv.dilations[d], less = all / 2;
      conv.begins[d] = mode == "SAME_UPPER" ? less : all - less;
      conv.ends[d] = all - conv.begins[d];
    }
    return true;
  }
  const ArrayRef<int64_t> pads = integersOf(call, "pads");
  if (mode == "VALID" || (mode == "NOTSET" && pads.empty()))
    return true;
  if (mode != "NOTSET" || pads.size() != 2 * numDims ||
      llvm::any_of(pads, [](int64_t n) { return n < 0 || n >= kLimit; }))
    return false;
  conv.begins.assign(pads.begin(), pads.begin() + numDims);
  conv.ends.assign(pads.begin() + numDims, pads.end());
  return true;
}

/// Returns what a call convolves; nothing for other calls, and where its patches are not known or
/// the product would stay a call.
std::optional<RowConv> rowConvOf(HostCallOp call) {
  if (call.getKernel() != "Conv" || !hasInputs(call, 2) || call->getNumResults() != 1 ||
      !isF32(call.getInputs()[0]) || !isF32(call.getResult(0)))
    return std::nullopt;
  const SmallVector<Value> inputs = inputsOf(call, 3);
  RowConv conv;
  conv.image = inputs[0];
  conv.bias = inputs[2];
  conv.filter = graph::getConstant(inputs[1]);
  if (!conv.filter || !conv.filter.getElementType().isF32())
    return std::nullopt;
  const ArrayRef<int64_t> shape = conv.filter.getShapedType().getShape();
  conv.groups = integerOf(call, "group", 1);
  if (shape.size() < 3 || conv.groups < 1 || conv.groups >= kLimit || shape[1] >= kLimit ||
      shape[0] % conv.groups != 0)
    return std::nullopt;
  conv.outputs = shape[0];
  conv.channels = shape[1] * conv.groups;
  conv.window.assign(shape.begin() + 2, shape.end());
  // The filter is there, so that its elements are no more than fit; the matrix has `groups` times
  // as many.
  const int64_t elements = conv.filter.getNumElements();
  if (elements == 0 || (conv.groups > 1 && elements > kMaxGroupedWeights / conv.groups) ||
      conv.matrixElements() < kMinRowWeights)
    return std::nullopt;
  auto strides = listOf(call, "strides", conv.numDims()),
       dilations = listOf(call, "dilations", conv.numDims()),
       window = listOf(call, "kernel_shape", conv.numDims());
  if (!strides || !dilations || !window)
    return std::nullopt;
  conv.strides = *strides;
  conv.dilations = *dilations;
  if (!readPads(call, conv) ||
      (!integersOf(call, "kernel_shape").empty() && *window != conv.window))
    return std::nullopt;
  if (conv.bias) {
    ElementsAttr bias = graph::getConstant(conv.bias);
    if (!bias || !bias.getElementType().isF32() ||
        bias.getShapedType().getShape() != ArrayRef<int64_t>(conv.outputs))
      return std::nullopt;
  }
  // An image of another rank or with other channels is an error of the call.
  const auto type = dyn_cast<RankedTensorType>(conv.image.getType());
  if (type && (type.getRank() != int64_t(shape.size()) ||
               (!type.isDynamicDim(1) && type.getDimSize(1) != conv.channels)))
    return std::nullopt;
  return conv;
}

/// Returns whether a call computes element i of its result from element i of its operands and from
/// numbers.
bool isElementwise(HostCallOp call) {
  return llvm::is_contained({"Add", "Sub", "Mul", "Div", "Relu", "LeakyRelu", "Clip", "Sigmoid",
                             "HardSigmoid", "HardSwish", "Tanh", "Elu", "Gelu", "Erf", "Softplus",
                             "Mish"},
                            call.getKernel());
}

class ConvWriter {
public:
  explicit ConvWriter(Block &block) : block(block), builder(block.getParentOp()->getContext()) {}

  unsigned run() {
    unsigned count = 0;
    for (HostCallOp call : llvm::make_early_inc_range(block.getOps<HostCallOp>())) {
      builder.setInsertionPoint(call);
      if (std::optional<RowConv> conv = rowConvOf(call)) {
        replace(call, multiply(call, *conv));
        ++count;
      } else if (Value rows = moveElementwise(call)) {
        replace(call, rows);
      }
    }
    for (HostCallOp back : llvm::reverse(backs))
      if (back.use_empty())
        back.erase();
    return count;
  }

private:
  /// Returns the type of an image whose last dim is the channels; only these are known.
  RankedTensorType rowsType(size_t rank, int64_t channels) {
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
    shape.back() = channels;
    return RankedTensorType::get(shape, builder.getF32Type());
  }

  Value vector(Location loc, ArrayRef<int64_t> elements) {
    return graph::ConstantOp::create(
        builder, loc,
        graph::makeConstant(RankedTensorType::get(elements.size(), builder.getI64Type()),
                            elements));
  }

  Value transpose(Location loc, Value value, Type type, ArrayRef<int64_t> permutation) {
    NamedAttrList parameters;
    parameters.append("perm", builder.getDenseI64ArrayAttr(permutation));
    return makeCall(builder, loc, "Transpose", value, type,
                    parameters.getDictionary(builder.getContext()))
        .getResult(0);
  }

  /// Returns the image with the channels last.
  Value rowsOf(Location loc, const RowConv &conv) {
    if (Value known = rows.lookup(conv.image))
      return known;
    SmallVector<int64_t> permutation{0};
    for (size_t d = 0; d < conv.numDims(); ++d)
      permutation.push_back(d + 2);
    permutation.push_back(1);
    return transpose(loc, conv.image, rowsType(conv.numDims() + 2, conv.channels), permutation);
  }

  /// Returns the patches of all windows, the elements of one in a row.
  Value patchesOf(Location loc, const RowConv &conv) {
    const size_t numDims = conv.numDims(), rank = numDims + 2;
    Value image = rowsOf(loc, conv);
    const Type type = image.getType();
    if (conv.isPadded()) {
      SmallVector<int64_t> pads{0};
      pads.append(conv.begins);
      pads.append({0, 0});
      pads.append(conv.ends);
      pads.push_back(0);
      image = makeCall(builder, loc, "Pad", {image, vector(loc, pads)}, type).getResult(0);
    }
    if (conv.readsAll())
      return image;
    SmallVector<int64_t> axes;
    for (size_t d = 0; d < numDims; ++d)
      axes.push_back(d + 1);
    const Value axesValue = vector(loc, axes), steps = vector(loc, conv.strides);
    SmallVector<Value> taps;
    SmallVector<int64_t> tap(numDims, 0);
    for (int64_t i = 0; i < conv.taps(); ++i) {
      SmallVector<int64_t> starts, ends;
      for (size_t d = 0; d < numDims; ++d) {
        // The last window leaves as many pixels behind this tap as there are to the last one.
        const int64_t behind = (conv.window[d] - 1 - tap[d]) * conv.dilations[d];
        starts.push_back(tap[d] * conv.dilations[d]);
        ends.push_back(behind ? -behind : INT64_MAX);
      }
      taps.push_back(makeCall(builder, loc, "Slice",
                              {image, vector(loc, starts), vector(loc, ends), axesValue, steps},
                              type)
                         .getResult(0));
      for (size_t d = numDims; d-- > 0 && ++tap[d] == conv.window[d];)
        tap[d] = 0;
    }
    if (taps.size() == 1)
      return taps.front();
    return concat(loc, taps, rank - 1, rowsType(rank, conv.channels * conv.taps()));
  }

  Value concat(Location loc, ArrayRef<Value> values, int64_t axis, Type type) {
    NamedAttrList parameters;
    parameters.append("axis", builder.getDenseI64ArrayAttr(axis));
    return makeCall(builder, loc, "Concat", values, type,
                    parameters.getDictionary(builder.getContext()))
        .getResult(0);
  }

  Value slice(Location loc, Value value, int64_t begin, int64_t end, int64_t axis, Type type) {
    return makeCall(builder, loc, "Slice",
                    {value, vector(loc, begin), vector(loc, end), vector(loc, axis)}, type)
        .getResult(0);
  }

  /// Reshapes patches to the dims that windows have on one channel of the image, which are their
  /// own dims: slices of an image that is smaller than the window are empty, but a pool of it fails
  /// and states the sizes. `call` is the convolution, whose name the error has.
  Value checkFit(HostCallOp call, const RowConv &conv, Value patches) {
    const Location loc = graph::derivedLoc(call.getLoc(), "window");
    const size_t rank = conv.numDims() + 2;
    SmallVector<int64_t> dims(rank, ShapedType::kDynamic);
    dims[1] = 1;
    const Type type = RankedTensorType::get(dims, builder.getF32Type());
    const Value channel = slice(loc, conv.image, 0, 1, 1, type);
    // Where a window always fits, pads may be larger than those of a pool.
    RowConv pool = conv;
    for (size_t d = 0; d < conv.numDims(); ++d)
      if (conv.fitsOnePixel(d)) {
        pool.window[d] = pool.strides[d] = pool.dilations[d] = 1;
        pool.begins[d] = pool.ends[d] = 0;
      }
    SmallVector<int64_t> pads(pool.begins);
    pads.append(pool.ends);
    NamedAttrList parameters;
    parameters.append("kernel_shape", builder.getDenseI64ArrayAttr(pool.window));
    parameters.append("strides", builder.getDenseI64ArrayAttr(pool.strides));
    parameters.append("dilations", builder.getDenseI64ArrayAttr(pool.dilations));
    parameters.append("pads", builder.getDenseI64ArrayAttr(pads));
    const Value pooled = makeCall(builder, call.getLoc(), "MaxPool", channel, type,
                                  parameters.getDictionary(builder.getContext()))
                             .getResult(0);
    auto shapeOf = [&](Value value) {
      const Type type = RankedTensorType::get(rank, builder.getI64Type());
      return makeCall(builder, loc, "Shape", value, type).getResult(0);
    };
    const Type one = RankedTensorType::get(1, builder.getI64Type());
    const Value shape = shapeOf(pooled), own = shapeOf(patches);
    SmallVector<Value> sizes{slice(loc, shape, 0, 1, 0, one)};
    for (size_t d = 0; d < conv.numDims(); ++d)
      sizes.push_back(conv.fitsOnePixel(d) ? slice(loc, own, d + 1, d + 2, 0, one)
                                           : slice(loc, shape, d + 2, d + 3, 0, one));
    sizes.push_back(vector(loc, conv.channels * conv.taps()));
    const Value whole = concat(loc, sizes, 0, RankedTensorType::get(rank, builder.getI64Type()));
    return makeCall(builder, loc, "Reshape", {patches, whole}, patches.getType()).getResult(0);
  }

  /// Returns the filter as a matrix with the elements of a patch as rows.
  ElementsAttr matrixOf(const RowConv &conv, graph::ConstantBytes &bytes) {
    const ArrayRef<float> filter = bytes.expandedAs<float>();
    const int64_t taps = conv.taps(), own = conv.channels / conv.groups;
    std::vector<float> matrix(conv.matrixElements());
    for (int64_t o = 0; o < conv.outputs; ++o) {
      const int64_t first = o / (conv.outputs / conv.groups) * own;
      for (int64_t c = 0; c < own; ++c)
        for (int64_t t = 0; t < taps; ++t)
          matrix[(t * conv.channels + first + c) * conv.outputs + o] =
              filter[(o * own + c) * taps + t];
    }
    return graph::makeConstant(
        RankedTensorType::get({taps * conv.channels, conv.outputs}, builder.getF32Type()),
        ArrayRef<float>(matrix), "filter");
  }

  /// Returns the result of a convolution with the channels last; null where the filter cannot be
  /// read.
  Value multiply(HostCallOp call, const RowConv &conv) {
    FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(conv.filter);
    if (failed(bytes))
      return {};
    const Location loc = call.getLoc();
    Value matrix = graph::ConstantOp::create(
        builder, graph::derivedLoc(call.getInputs()[1].getLoc(), "matrix"), matrixOf(conv, *bytes));
    Value patches = patchesOf(graph::derivedLoc(loc, "patches"), conv);
    if (!conv.fitsOnePixel())
      patches = checkFit(call, conv, patches);
    const Type type = rowsType(conv.numDims() + 2, conv.outputs);
    Value result = makeCall(builder, loc, "MatMul", {patches, matrix}, type).getResult(0);
    if (conv.bias)
      result = makeCall(builder, loc, "Add", {result, conv.bias}, type).getResult(0);
    return result;
  }

  /// Returns the result of a call with the channels last, where its operands have them there; null
  /// for other calls.
  Value moveElementwise(HostCallOp call) {
    if (!isElementwise(call) || call->getNumResults() != 1 || !isF32(call.getResult(0)))
      return {};
    SmallVector<Value> inputs = call.inputsByPosition();
    Type type;
    for (Value &input : inputs) {
      if (!input || numberIn(input))
        continue;
      input = rows.lookup(input);
      // Operands of different types may broadcast, or fail to.
      if (!input || (type && input.getType() != type))
        return {};
      type = input.getType();
    }
    if (!type)
      return {};
    return makeCall(builder, call.getLoc(), call.getKernel(), inputs, type, call.getParameters())
        .getResult(0);
  }

  void replace(HostCallOp call, Value channelsLast) {
    if (!channelsLast)
      return;
    const int64_t rank = cast<RankedTensorType>(channelsLast.getType()).getRank();
    SmallVector<int64_t> permutation{0, rank - 1};
    for (int64_t d = 1; d < rank - 1; ++d)
      permutation.push_back(d);
    Value back = transpose(graph::derivedLoc(call.getLoc(), "channels_first"), channelsLast,
                           call.getResult(0).getType(), permutation);
    backs.push_back(back.getDefiningOp<HostCallOp>());
    rows[back] = channelsLast;
    call.getResult(0).replaceAllUsesWith(back);
    call.erase();
  }

  Block &block;
  OpBuilder builder;
  DenseMap<Value, Value> rows;   ///< images whose channels are also there as the last dim
  SmallVector<HostCallOp> backs; ///< that make these images
};

struct HostConvsAsRows : impl::HostConvsAsRowsBase<HostConvsAsRows> {
  void runOnOperation() override {
    // Loops over rows are made of what @main computes in every run.
    if (func::FuncOp main = getOperation(); main.getSymName() == "main" && !main.isExternal())
      numConvs += ConvWriter(main.front()).run();
  }
};

} // namespace
} // namespace atc::host
