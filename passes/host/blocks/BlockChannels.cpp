//===-- BlockChannels.cpp - images of host calls in blocks of channels ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/graph/RewriteUtils.h"
#include "passes/host/Passes.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/blocks/BlockedFilters.h"
#include "passes/host/blocks/Lines.h"
#include "passes/host/blocks/Unblock.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace atc::host {
#define GEN_PASS_DEF_HOSTBLOCKCHANNELS
#include "passes/host/Passes.h.inc"

namespace {

using graph::HostCallOp;

/// Returns whether a ReduceMean of an image with channels computes one number
/// per plane.
bool averagesPlanes(HostCallOp call) {
  auto axes = hasInputs(call, 2)
                  ? dyn_cast_or_null<DenseIntElementsAttr>(graph::getConstant(call.getInputs()[1]))
                  : DenseIntElementsAttr();
  if (!axes || axes.getNumElements() != 2 || integerOf(call, "keepdims", 1) != 1)
    return false;
  SmallVector<int64_t> numbers =
      llvm::map_to_vector(axes.getValues<APInt>(), [](const APInt &axis) {
        return axis.getSExtValue() + (axis.isNegative() ? 4 : 0);
      });
  llvm::sort(numbers);
  return ArrayRef(numbers) == ArrayRef<int64_t>{2, 3};
}

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
      if (Blocked result = convert(call); result.value)
        blocked[call.getResult(0)] = result;
      else if (!join(call))
        continue;
      converted.push_back(call);
    }
    for (HostCallOp call : llvm::reverse(converted))
      replace(call);
    return convolutions;
  }

private:
  /// Returns the blocked form of a value, which is made of its images where it
  /// joins some; null where it has none.
  Blocked blockedOf(Value value) {
    auto images = joined.find(value);
    if (images == joined.end() || blocked.contains(value))
      return blocked.lookup(value);
    SmallVector<Value> inputs;
    int64_t channels = 0;
    for (const Blocked &image : images->second) {
      // The next image would begin inside of a block.
      if (image.channels % blockSize)
        return {};
      inputs.push_back(image.value);
      channels += image.channels;
    }
    OpBuilder::InsertionGuard guard(builder);
    auto call = value.getDefiningOp<HostCallOp>();
    builder.setInsertionPoint(call);
    NamedAttrList parameters(call.getParameters());
    parameters.set("axis", builder.getDenseI64ArrayAttr(1));
    return blocked[value] = make(call, "Concat", inputs, channels,
                                 parameters.getDictionary(builder.getContext()));
  }

  /// Remembers the images that a call joins along their channels, so that
  /// convolutions read them in place. Returns whether it does so.
  bool join(HostCallOp call) {
    const int64_t axis = integerOf(call, "axis", 0);
    if (call.getKernel() != "Concat" || (axis != 1 && axis != -3))
      return false;
    SmallVector<Blocked> images;
    for (Value input : call.getInputs()) {
      if (auto inner = joined.find(input); inner != joined.end() && !blocked.contains(input))
        images.append(inner->second);
      else
        images.push_back(blocked.lookup(input));
    }
    if (images.empty() || llvm::any_of(images, [](const Blocked &image) { return !image.value; }))
      return false;
    joined[call.getResult(0)] = std::move(images);
    return true;
  }

  /// Returns the images in blocks of which `value` consists, as many as a
  /// convolution reads; none where it is not in blocks.
  SmallVector<Blocked> imagesOf(Value value) {
    if (auto images = joined.find(value);
        images != joined.end() && images->second.size() <= maxImages && !blocked.contains(value))
      return images->second;
    const Blocked image = blockedOf(value);
    return image.value ? SmallVector<Blocked>{image} : SmallVector<Blocked>();
  }

  /// Creates the blocked form of a call, if it has one.
  Blocked convert(HostCallOp call) {
    const StringRef kernel = call.getKernel();
    if (call->getNumResults() == 0 || !hasInputs(call, 1))
      return {};
    if (isByte(call.getResult(0)))
      return convertBytes(call);
    if (!isF32(call.getResult(0)))
      return {};
    if (kernel == "DequantizeLinear")
      return convertBytes(call);
    if (kernel == "Conv" || kernel == "FusedConv")
      return convertConv(call);
    if (kernel == "Add" || kernel == "Mul" || kernel == "Sub")
      return convertBinary(call);
    if (!llvm::is_contained({"MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean", "Resize"},
                            kernel) &&
        !isElementwise(kernel))
      return {};
    const Blocked x = blockedOf(call.getInputs()[0]);
    if (!x.value)
      return {};
    if (isElementwise(kernel)) {
      SmallVector<Value> inputs = call.inputsByPosition();
      inputs[0] = x.value;
      return make(call, kernel, inputs, x.channels, call.getParameters());
    }
    if (kernel == "MaxPool" || kernel == "AveragePool")
      return convertPool(call, x);
    if (kernel == "ReduceMean" && !averagesPlanes(call))
      return {};
    if (kernel == "GlobalAveragePool" || kernel == "ReduceMean") {
      auto type = RankedTensorType::get({2}, builder.getI64Type());
      Value axes = graph::ConstantOp::create(
          builder, call.getLoc(), DenseIntElementsAttr::get(type, ArrayRef<int64_t>{2, 3}));
      return make(call, "ReduceMean", {x.value, axes}, x.channels, builder.getDictionaryAttr({}));
    }
    return kernel == "Resize" ? convertResize(call, x) : Blocked();
  }

  /// Creates a call whose result has the elements of that of `call`, or others.
  Blocked make(HostCallOp call, StringRef kernel, ArrayRef<Value> inputs, int64_t channels,
               DictionaryAttr parameters, Type element = {}) {
    constexpr int64_t any = ShapedType::kDynamic;
    auto type = RankedTensorType::get({any, blocksOf(channels), any, any, blockSize},
                                      element ? element
                                              : getElementTypeOrSelf(call.getResult(0).getType()));
    HostCallOp made = makeCall(builder, call.getLoc(), kernel, inputs, type, parameters);
    return {made.getResult(0), channels};
  }

  Value constant(Location loc, ElementsAttr elements) {
    return elements ? Value(graph::ConstantOp::create(builder, graph::derivedLoc(loc, "blocked"),
                                                      elements))
                    : Value();
  }

  /// Returns the biases of whole blocks; null where they are not constant. `ok`
  /// becomes false where there are some that cannot be converted.
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

  /// Returns the groups of a convolution whose weights are for `depth` channels
  /// per group; 0 where they follow from channels that are not known.
  int64_t groupsOf(HostCallOp call, int64_t depth) {
    if (!integerOf(call, "groups_by_channels", 0))
      return integerOf(call, "group", 1);
    Value image = call.getOperand(0);
    auto type = dyn_cast<RankedTensorType>(image.getType());
    int64_t channels = type && type.getRank() == 4 ? type.getDimSize(1) : ShapedType::kDynamic;
    if (const SmallVector<Blocked> images = imagesOf(image); !images.empty())
      channels = channelsOf(images);
    return channels > 0 && channels % depth == 0 ? channels / depth : 0;
  }

  static int64_t channelsOf(ArrayRef<Blocked> images) {
    int64_t channels = 0;
    for (const Blocked &image : images)
      channels += image.channels;
    return channels;
  }

  /// Stores an image in blocks.
  Blocked blockImage(HostCallOp call, Value image, int64_t channels) {
    NamedAttrList parameters;
    parameters.append("channels", builder.getDenseI64ArrayAttr(channels));
    return blocked[image] =
               make(call, "BlockChannels", {image}, channels,
                    parameters.getDictionary(builder.getContext()), getElementTypeOrSelf(image));
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
    const int64_t joined =
        isDepthwise ? 1 : groupsPerBlock(outputs, shape[1], group, maxJoinedFloats);
    if (!joined || outputs < minChannels ||
        (!kernelShape.empty() && kernelShape != shape.drop_front(2)))
      return {};
    Value sum;
    if (inputs[3]) {
      const Blocked addend = blockedOf(inputs[3]);
      if (!addend.value || addend.channels != outputs)
        return {};
      sum = addend.value;
    }
    bool ok = true;
    Value bias = biasOf(inputs[2], outputs, ok);
    if (!ok)
      return {};
    SmallVector<Blocked> images = imagesOf(inputs[0]);
    // Groups count the channels of one image.
    if (group > 1 && images.size() > 1) {
      images.assign(1, blockedOf(inputs[0]));
      if (!images.front().value)
        images.clear();
    }
    // Few channels are read from their planes.
    const bool inPlanes = images.empty() && !isDepthwise && channels < blockSize;
    auto type = dyn_cast<RankedTensorType>(inputs[0].getType());
    if (images.empty() ? type && type.getRank() != 4 : channelsOf(images) != channels)
      return {};
    SmallVector<int64_t> parts =
        llvm::map_to_vector(images, [](const Blocked &image) { return image.channels; });
    if (parts.empty() || group > 1)
      parts.assign(1, shape[1] * joined);
    if (!isDepthwise && !(weights = joinGroups(weights, group, joined)))
      return {};
    Value packed =
        constant(inputs[1].getLoc(),
                 isDepthwise ? packDepthwise(weights)
                             : packWeights(weights, inPlanes ? channels : blockSize, parts));
    if (!packed)
      return {};
    if (inPlanes)
      images.push_back({inputs[0], channels});
    if (images.empty())
      images.push_back(blockImage(call, inputs[0], channels));
    SmallVector<Value> operands = {images.front().value, packed, bias, sum};
    for (const Blocked &image : llvm::drop_begin(images))
      operands.push_back(image.value);
    NamedAttrList parameters(call.getParameters());
    parameters.erase("group");
    parameters.erase("groups_by_channels");
    parameters.set("kernel_shape", builder.getDenseI64ArrayAttr(shape.drop_front(2)));
    // A depthwise convolution multiplies the zeros of unused lanes by zeros.
    if (!isDepthwise && outputs % blockSize)
      parameters.set("channels", builder.getDenseI64ArrayAttr(outputs));
    ++convolutions;
    return make(call, isDepthwise ? "BlockedDepthwiseConv" : "BlockedConv", operands, outputs,
                parameters.getDictionary(builder.getContext()));
  }

  /// Converts an operator of two images of as many channels, or of an image and
  /// a number.
  Blocked convertBinary(HostCallOp call) {
    if (call.getInputs().size() != 2)
      return {};
    SmallVector<Value> inputs(call.getInputs());
    int64_t channels = 0;
    for (Value &input : inputs) {
      const Blocked operand = blockedOf(input);
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

  /// Creates the blocked form of a call with a result of bytes, and of one that
  /// makes floats of them, if it has one.
  Blocked convertBytes(HostCallOp call) {
    const StringRef kernel = call.getKernel();
    if (kernel == "QLinearConv")
      return convertByteConv(call);
    if (kernel == "QLinearAdd" || kernel == "QLinearMul")
      return convertEach(call, {0, 3});
    if (kernel == "QLinearConcat")
      return convertByteConcat(call);
    if (Blocked mean = convertMean(call); mean.value)
      return mean;
    const Blocked x = blockedOf(call.getInputs()[0]);
    if (!x.value)
      return {};
    if (kernel == "MaxPool" || kernel == "QLinearAveragePool")
      return integerOf(call, "channels_last", 0) ? Blocked() : convertPool(call, x);
    if (kernel == "Resize")
      return convertResize(call, x);
    if (kernel == "QLinearGlobalAveragePool" && !integerOf(call, "channels_last", 0)) {
      SmallVector<Value> inputs = call.inputsByPosition();
      inputs[0] = x.value;
      return makeMean(call, inputs, x.channels);
    }
    // A scale per channel would need blocks of its own.
    const bool converts = kernel == "QuantizeLinear" || kernel == "DequantizeLinear";
    if (converts && (!hasInputs(call, 2) || !numberIn(call.getInputs()[1])))
      return {};
    if (!converts &&
        !llvm::is_contained({"ByteTable", "Clip", "Relu", "QLinearLeakyRelu", "QLinearSigmoid"},
                            kernel))
      return {};
    return convertEach(call, {0});
  }

  /// Converts a QuantizeLinear of the means of planes that are dequantized
  /// before.
  Blocked convertMean(HostCallOp call) {
    HostCallOp mean = call.getKernel() == "QuantizeLinear" && hasInputs(call, 3)
                          ? callOf(call.getInputs()[0], "ReduceMean")
                          : HostCallOp();
    HostCallOp real = mean && averagesPlanes(mean) ? callOf(mean.getInputs()[0], "DequantizeLinear")
                                                   : HostCallOp();
    if (!real || !hasInputs(real, 3))
      return {};
    const Blocked x = blockedOf(real.getInputs()[0]);
    if (!x.value || getElementTypeOrSelf(x.value) != getElementTypeOrSelf(call.getResult(0)))
      return {};
    SmallVector<Value> inputs = {x.value};
    for (HostCallOp each : {real, call})
      for (unsigned i : {1, 2}) {
        inputs.push_back(each.getInputs()[i]);
        ElementsAttr number = graph::getConstant(inputs.back());
        if (!number || number.getNumElements() != 1)
          return {};
      }
    return makeMean(call, inputs, x.channels);
  }

  /// Creates a QLinearGlobalAveragePool of an image in blocks.
  Blocked makeMean(HostCallOp call, ArrayRef<Value> inputs, int64_t channels) {
    NamedAttrList parameters;
    parameters.append("blocks", builder.getDenseI64ArrayAttr(int64_t(1)));
    return make(call, "QLinearGlobalAveragePool", inputs, channels,
                parameters.getDictionary(builder.getContext()));
  }

  /// Converts a call that works on each element of the operands at these
  /// positions.
  Blocked convertEach(HostCallOp call, ArrayRef<unsigned> positions) {
    SmallVector<Value> inputs = inputsOf(call, positions.back() + 1);
    int64_t channels = 0;
    for (unsigned position : positions) {
      const Blocked operand = inputs[position] ? blockedOf(inputs[position]) : Blocked();
      if (!operand.value || (channels && operand.channels != channels))
        return {};
      channels = operand.channels;
      inputs[position] = operand.value;
    }
    return make(call, call.getKernel(), inputs, channels, call.getParameters());
  }

  Blocked convertByteConcat(HostCallOp call) {
    const int64_t axis = integerOf(call, "axis", 0);
    SmallVector<Value> inputs = inputsOf(call, 2);
    int64_t channels = 0;
    for (size_t i = 2; i < inputs.size(); i += 3) {
      const Blocked part = inputs[i] ? blockedOf(inputs[i]) : Blocked();
      // The next image would begin inside of a block.
      if (!part.value || part.channels % blockSize || (axis != 1 && axis != -3))
        return {};
      channels += part.channels;
      inputs[i] = part.value;
    }
    NamedAttrList parameters(call.getParameters());
    parameters.set("axis", builder.getDenseI64ArrayAttr(1));
    return make(call, call.getKernel(), inputs, channels,
                parameters.getDictionary(builder.getContext()));
  }

  Blocked convertByteConv(HostCallOp call) {
    const SmallVector<Value> inputs = inputsOf(call, 9);
    auto weights = inputs[3] ? dyn_cast<RankedTensorType>(inputs[3].getType()) : RankedTensorType();
    if (!inputs[0] || !isByte(inputs[0]) || !weights || weights.getRank() != 4 ||
        weights.getDimSize(0) < minChannels)
      return {};
    ArrayRef<int64_t> shape = weights.getShape(), kernelShape = integersOf(call, "kernel_shape");
    const int64_t group = groupsOf(call, shape[1]), channels = shape[1] * group;
    if (group < 1 || (!kernelShape.empty() && kernelShape != shape.drop_front(2)))
      return {};
    const ByteFilters filters = packByteFilters(call, group);
    if (!filters)
      return {};
    Blocked image = blockedOf(inputs[0]);
    auto type = dyn_cast<RankedTensorType>(inputs[0].getType());
    if (image.value ? image.channels != channels : type && type.getRank() != 4)
      return {};
    // Few channels are read from their planes.
    if (!image.value && (filters.isDepthwise || channels >= blockSize))
      image = blockImage(call, inputs[0], channels);
    SmallVector<Value> operands = {image.value ? image.value : inputs[0]};
    for (ElementsAttr constants : {filters.weights, filters.bias, filters.factors})
      operands.push_back(constant(inputs[3].getLoc(), constants));
    operands.append({inputs[2], inputs[7]});
    NamedAttrList parameters(call.getParameters());
    parameters.erase("groups_by_channels");
    parameters.erase("group");
    parameters.set("kernel_shape", builder.getDenseI64ArrayAttr(shape.drop_front(2)));
    if (!image.value) // planes, of which a block has no number
      parameters.set("channels", builder.getDenseI64ArrayAttr(channels));
    if (filters.groups > 1)
      parameters.set("group", builder.getDenseI64ArrayAttr(filters.groups));
    ++convolutions;
    return make(call, filters.isDepthwise ? "BlockedQLinearDepthwiseConv" : "BlockedQLinearConv",
                operands, shape[0], parameters.getDictionary(builder.getContext()));
  }

  /// Converts a pool of two dims to one of three, the last of which is a block
  /// of channels.
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
    SmallVector<Value> inputs = call.inputsByPosition();
    inputs[0] = x.value;
    return make(call, call.getKernel(), inputs, x.channels,
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

  /// Removes a converted call; what still reads its result gets it from the
  /// blocked form. A call that joins images which do not fill blocks stays
  /// where it is still read.
  void replace(HostCallOp call) {
    Value result = call.getResult(0);
    if (!result.use_empty()) {
      const Blocked source = blockedOf(result);
      if (!source.value)
        return;
      const llvm::SmallSetVector<Operation *, 4> users(result.user_begin(), result.user_end());
      for (Operation *user : users)
        if (isF32(result))
          unblockLast(builder, source, user);
    }
    if (!result.use_empty()) {
      builder.setInsertionPoint(call);
      result.replaceAllUsesWith(unblock(builder, blockedOf(result), call.getLoc(), result.getType(),
                                        /*shape=*/{}, /*isLast=*/false));
    }
    call.erase();
  }

  Block &block;
  OpBuilder builder;
  DenseMap<Value, Blocked> blocked;
  DenseMap<Value, SmallVector<Blocked>> joined; ///< the images of calls that join them
  unsigned convolutions = 0;
};

struct HostBlockChannels : impl::HostBlockChannelsBase<HostBlockChannels> {
  void runOnOperation() override {
    SmallVector<Block *> found;
    getOperation().walk([&](Block *block) { found.push_back(block); });
    for (Block *block : found) {
      liftLines(*block);
      numBlocked += ChannelBlocker(*block).run();
    }
  }
};

} // namespace
} // namespace atc::host
