//===-- BlockChannels.cpp - images of host calls in blocks of channels ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTBLOCKCHANNELS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// The channels per block; kBlock of kernels/conv/ChannelBlocks.h.
constexpr int64_t blockSize = 16;
/// A convolution with fewer output channels would compute more padding than results.
constexpr int64_t minChannels = 8;

int64_t blocksOf(int64_t channels) { return llvm::divideCeil(channels, blockSize); }

/// Returns f32 weights [outputs, inputs, ...taps] as [output blocks, input blocks, taps, lanes,
/// 16], where `lanes` input channels are a block; zeros for channels that do not exist. Null where
/// the data cannot be read.
ElementsAttr packWeights(ElementsAttr weights, int64_t lanes) {
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data))
    return {};
  ArrayRef<float> from = data->expandedAs<float>();
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  const int64_t outputs = shape[0], inputs = shape[1], taps = shape[2] * shape[3];
  const int64_t inBlocks = llvm::divideCeil(inputs, lanes);
  const SmallVector<int64_t> dims = {blocksOf(outputs), inBlocks, taps, lanes, blockSize};
  std::vector<char> bytes(ShapedType::getNumElements(dims) * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.data());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        to[(((o / blockSize * inBlocks + i / lanes) * taps + tap) * lanes + i % lanes) * blockSize +
           o % blockSize] = from[(o * inputs + i) * taps + tap];
  return graph::makeConstant(RankedTensorType::get(dims, weights.getShapedType().getElementType()),
                             std::move(bytes), "blocked");
}

/// Returns f32 weights [channels, 1, ...taps] of a depthwise convolution as [blocks, taps, 16];
/// null where the data cannot be read.
ElementsAttr packDepthwise(ElementsAttr weights) {
  auto data = graph::ConstantBytes::get(weights);
  if (failed(data))
    return {};
  ArrayRef<float> from = data->expandedAs<float>();
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  const int64_t channels = shape[0], taps = shape[2] * shape[3];
  const SmallVector<int64_t> dims = {blocksOf(channels), taps, blockSize};
  std::vector<char> bytes(ShapedType::getNumElements(dims) * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.data());
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap)
      to[(c / blockSize * taps + tap) * blockSize + c % blockSize] = from[c * taps + tap];
  return graph::makeConstant(RankedTensorType::get(dims, weights.getShapedType().getElementType()),
                             std::move(bytes), "blocked");
}

/// Returns whether a call computes each element from one element of its first input, and a finite
/// value for 0.
bool isElementwise(StringRef kernel) {
  return llvm::is_contained({"Clip", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",
                             "Relu", "Sigmoid", "Softplus", "Swish", "Tanh"},
                            kernel);
}

/// A list of integers among the parameters of a call; empty where there is none.
ArrayRef<int64_t> integersOf(HostCallOp call, StringRef name) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(call.getParameters().get(name));
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

/// A value whose blocked form has been computed.
struct Blocked {
  Value value;
  int64_t channels = 0;
};

/// Converts the calls of one block of ops.
class ChannelBlocker {
public:
  explicit ChannelBlocker(Block &block) : block(block), builder(block.getParentOp()) {}

  /// Returns the number of convolutions that work on blocks.
  unsigned run() {
    SmallVector<HostCallOp> calls(block.getOps<HostCallOp>());
    SmallVector<HostCallOp> converted;
    for (HostCallOp call : calls) {
      builder.setInsertionPoint(call);
      if (Blocked result = convert(call); result.value) {
        blocked[call.getResult(0)] = result;
        converted.push_back(call);
      }
    }
    for (HostCallOp call : llvm::reverse(converted))
      replace(call);
    return convolutions;
  }

private:
  /// Creates the blocked form of a call, if it has one.
  Blocked convert(HostCallOp call) {
    const StringRef kernel = call.getKernel();
    if (call->getNumResults() == 0 || !hasInputs(call, 1) || !isF32(call.getResult(0)))
      return {};
    if (kernel == "Conv" || kernel == "FusedConv")
      return convertConv(call);
    if (kernel == "Add" || kernel == "Mul" || kernel == "Sub")
      return convertBinary(call);
    if (kernel == "Concat")
      return convertConcat(call);
    const Blocked x = blocked.lookup(call.getInputs()[0]);
    if (!x.value)
      return {};
    if (isElementwise(kernel)) {
      SmallVector<Value> inputs = call.inputsByPosition();
      inputs[0] = x.value;
      return make(call, kernel, inputs, x.channels, call.getParameters());
    }
    if (kernel == "MaxPool" || kernel == "AveragePool")
      return convertPool(call, x);
    if (kernel == "GlobalAveragePool") {
      auto type = RankedTensorType::get({2}, builder.getI64Type());
      Value axes = graph::ConstantOp::create(
          builder, call.getLoc(), DenseIntElementsAttr::get(type, ArrayRef<int64_t>{2, 3}));
      return make(call, "ReduceMean", {x.value, axes}, x.channels, builder.getDictionaryAttr({}));
    }
    return kernel == "Resize" ? convertResize(call, x) : Blocked();
  }

  Blocked make(HostCallOp call, StringRef kernel, ArrayRef<Value> inputs, int64_t channels,
               DictionaryAttr parameters) {
    constexpr int64_t any = ShapedType::kDynamic;
    auto type =
        RankedTensorType::get({any, blocksOf(channels), any, any, blockSize}, builder.getF32Type());
    HostCallOp made = makeCall(builder, call.getLoc(), kernel, inputs, type, parameters);
    return {made.getResult(0), channels};
  }

  Value constant(Location loc, ElementsAttr elements) {
    return elements ? Value(graph::ConstantOp::create(builder, graph::derivedLoc(loc, "blocked"),
                                                      elements))
                    : Value();
  }

  /// Returns the biases of whole blocks; null where they are not constant. `ok` becomes false where
  /// there are some that cannot be converted.
  Value biasOf(Value bias, int64_t channels, bool &ok) {
    if (!bias)
      return {};
    auto elements = isF32(bias) ? graph::getVectorConstant(bias) : std::nullopt;
    ok = elements && int64_t(elements->size()) == channels;
    if (!ok)
      return {};
    elements->resize(blocksOf(channels) * blockSize);
    auto type = RankedTensorType::get({int64_t(elements->size())}, builder.getF32Type());
    return graph::createConstant(builder, graph::derivedLoc(bias.getLoc(), "blocked"), type,
                                 *elements);
  }

  /// Returns the groups of a convolution whose weights are for `depth` channels per group; 0 where
  /// they follow from channels that are not known.
  int64_t groupsOf(HostCallOp call, int64_t depth) const {
    if (!integerOf(call, "groups_by_channels", 0))
      return integerOf(call, "group", 1);
    Value image = call.getOperand(0);
    const Blocked x = blocked.lookup(image);
    auto type = dyn_cast<RankedTensorType>(image.getType());
    const int64_t channels = x.value                       ? x.channels
                             : type && type.getRank() == 4 ? type.getDimSize(1)
                                                           : ShapedType::kDynamic;
    return channels > 0 && channels % depth == 0 ? channels / depth : 0;
  }

  Blocked convertConv(HostCallOp call) {
    const SmallVector<Value> inputs = inputsOf(call, 4);
    ElementsAttr weights = inputs[1] ? graph::getConstant(inputs[1]) : ElementsAttr();
    if (!isF32(inputs[0]) || !weights || !weights.getElementType().isF32() ||
        weights.getShapedType().getRank() != 4 || weights.getNumElements() == 0)
      return {};
    ArrayRef<int64_t> shape = weights.getShapedType().getShape();
    const int64_t group = groupsOf(call, shape[1]), outputs = shape[0];
    if (group < 1)
      return {};
    const int64_t channels = shape[1] * group;
    const bool isDepthwise = group > 1 && shape[1] == 1 && outputs == group;
    ArrayRef<int64_t> kernelShape = integersOf(call, "kernel_shape");
    if ((group != 1 && !isDepthwise) || outputs < minChannels ||
        (!kernelShape.empty() && kernelShape != shape.drop_front(2)))
      return {};
    Value sum;
    if (inputs[3]) {
      const Blocked addend = blocked.lookup(inputs[3]);
      if (!addend.value || addend.channels != outputs)
        return {};
      sum = addend.value;
    }
    bool ok = true;
    Value bias = biasOf(inputs[2], outputs, ok);
    if (!ok)
      return {};
    // Few channels are read from their planes.
    const Blocked x = blocked.lookup(inputs[0]);
    const bool inPlanes = !x.value && !isDepthwise && channels < blockSize;
    auto type = dyn_cast<RankedTensorType>(inputs[0].getType());
    if (x.value ? x.channels != channels : type && type.getRank() != 4)
      return {};
    Value packed = constant(inputs[1].getLoc(),
                            isDepthwise ? packDepthwise(weights)
                                        : packWeights(weights, inPlanes ? channels : blockSize));
    if (!packed)
      return {};
    Value image = x.value ? x.value : inputs[0];
    if (!x.value && !inPlanes) {
      NamedAttrList parameters;
      parameters.append("channels", builder.getDenseI64ArrayAttr(channels));
      image = make(call, "BlockChannels", {image}, channels,
                   parameters.getDictionary(builder.getContext()))
                  .value;
      blocked[inputs[0]] = {image, channels};
    }
    NamedAttrList parameters(call.getParameters());
    parameters.erase("group");
    parameters.erase("groups_by_channels");
    parameters.set("kernel_shape", builder.getDenseI64ArrayAttr(shape.drop_front(2)));
    // A depthwise convolution multiplies the zeros of unused lanes by zeros.
    if (!isDepthwise && outputs % blockSize)
      parameters.set("channels", builder.getDenseI64ArrayAttr(outputs));
    ++convolutions;
    return make(call, isDepthwise ? "BlockedDepthwiseConv" : "BlockedConv",
                {image, packed, bias, sum}, outputs,
                parameters.getDictionary(builder.getContext()));
  }

  /// Converts an operator of two images of as many channels, or of an image and a number.
  Blocked convertBinary(HostCallOp call) {
    if (call.getInputs().size() != 2)
      return {};
    SmallVector<Value> inputs(call.getInputs());
    int64_t channels = 0;
    for (Value &input : inputs) {
      const Blocked operand = blocked.lookup(input);
      if (!operand.value) {
        // Unused lanes stay finite only where the number is.
        if (const std::optional<double> number = numberIn(input);
            !number || !std::isfinite(*number))
          return {};
        continue;
      }
      if (channels && operand.channels != channels)
        return {};
      channels = operand.channels;
      input = operand.value;
    }
    return channels ? make(call, call.getKernel(), inputs, channels, call.getParameters())
                    : Blocked();
  }

  Blocked convertConcat(HostCallOp call) {
    const int64_t axis = integerOf(call, "axis", 0);
    SmallVector<Value> inputs(call.getInputs());
    int64_t channels = 0;
    for (Value &input : inputs) {
      const Blocked operand = blocked.lookup(input);
      if (!operand.value || operand.channels % blockSize)
        return {};
      input = operand.value;
      channels += operand.channels;
    }
    if (axis != 1 && axis != -3)
      return {};
    NamedAttrList parameters(call.getParameters());
    parameters.set("axis", builder.getDenseI64ArrayAttr(1));
    return make(call, "Concat", inputs, channels, parameters.getDictionary(builder.getContext()));
  }

  /// Converts a pool of two dims to one of three, the last of which is a block of channels.
  Blocked convertPool(HostCallOp call, const Blocked &x) {
    if (call->getNumResults() > 1 && !call.getResult(1).use_empty())
      return {};
    NamedAttrList parameters(call.getParameters());
    for (auto [name, size, number] : {std::tuple("kernel_shape", 2, 1), std::tuple("strides", 2, 1),
                                      std::tuple("dilations", 2, 1), std::tuple("pads", 4, 0)}) {
      SmallVector<int64_t> list(integersOf(call, name));
      if (list.empty() && name != StringRef("kernel_shape"))
        continue;
      if (list.size() != size_t(size))
        return {};
      list.push_back(number);
      if (size == 4)
        list.insert(list.begin() + 2, number);
      parameters.set(name, builder.getDenseI64ArrayAttr(list));
    }
    return make(call, call.getKernel(), {x.value}, x.channels,
                parameters.getDictionary(builder.getContext()));
  }

  /// Converts a Resize by constant factors.
  Blocked convertResize(HostCallOp call, const Blocked &x) {
    const SmallVector<Value> inputs = inputsOf(call, 4);
    auto mode =
        dyn_cast_or_null<StringAttr>(call.getParameters().get("coordinate_transformation_mode"));
    auto scales = inputs[2] && !inputs[3] ? graph::getVectorConstant(inputs[2]) : std::nullopt;
    if (!scales || scales->size() != 4 || (*scales)[0] != 1 || (*scales)[1] != 1 ||
        call.getParameters().contains("axes") || (mode && mode.getValue() == "tf_crop_and_resize"))
      return {};
    scales->push_back(1);
    auto type = RankedTensorType::get({5}, builder.getF32Type());
    Value factors = graph::createConstant(builder, graph::derivedLoc(inputs[2].getLoc(), "blocked"),
                                          type, *scales);
    return make(call, "Resize", {x.value, Value(), factors}, x.channels, call.getParameters());
  }

  /// Removes a converted call; what still reads its result gets it from the blocked form.
  void replace(HostCallOp call) {
    Value result = call.getResult(0);
    if (!result.use_empty()) {
      const Blocked source = blocked.lookup(result);
      builder.setInsertionPoint(call);
      NamedAttrList parameters;
      parameters.append("channels", builder.getDenseI64ArrayAttr(source.channels));
      HostCallOp made = makeCall(builder, call.getLoc(), "UnblockChannels", {source.value},
                                 result.getType(), parameters.getDictionary(builder.getContext()));
      result.replaceAllUsesWith(made.getResult(0));
    }
    call.erase();
  }

  Block &block;
  OpBuilder builder;
  DenseMap<Value, Blocked> blocked;
  unsigned convolutions = 0;
};

struct HostBlockChannels : impl::HostBlockChannelsBase<HostBlockChannels> {
  void runOnOperation() override {
    SmallVector<Block *> found;
    getOperation().walk([&](Block *block) { found.push_back(block); });
    for (Block *block : found)
      numBlocked += ChannelBlocker(*block).run();
  }
};

} // namespace
} // namespace atc::host
