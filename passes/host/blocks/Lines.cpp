//===-- Lines.cpp - convolutions over one dim as those of images ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/host/blocks/Lines.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/graph/ConstantUtils.h"
#include "passes/host/QuantizedCalls.h"
#include "passes/host/blocks/BlockedFilters.h"

using namespace mlir;

namespace atc::host {
namespace {

using graph::HostCallOp;

/// Rewrites the calls of one block of ops.
class LineLifter {
public:
  explicit LineLifter(Block &block) : block(block), builder(block.getParentOp()) {}

  void run() {
    SmallVector<HostCallOp> calls(block.getOps<HostCallOp>()), converted;
    for (HostCallOp call : calls) {
      if (call->getNumResults() == 0 || !hasInputs(call, 1) || !isF32(call.getResult(0)))
        continue;
      builder.setInsertionPoint(call);
      if (HostCallOp image = convert(call)) {
        lifted[call.getResult(0)] = image.getResult(0);
        converted.push_back(call);
      }
    }
    for (HostCallOp call : llvm::reverse(converted)) {
      Value line = call.getResult(0);
      if (!line.use_empty()) {
        builder.setInsertionPoint(call);
        line.replaceAllUsesWith(makeCall(builder, call.getLoc(), "Squeeze",
                                         {lifted[line], rowAxis(call.getLoc())}, line.getType())
                                    .getResult(0));
      }
      call.erase();
    }
  }

private:
  /// Creates the form of a call that computes an image of one row; null where there is none.
  HostCallOp convert(HostCallOp call) {
    const StringRef kernel = call.getKernel();
    if (kernel == "Conv" || kernel == "FusedConv")
      return convertConv(call);
    if (kernel == "Add" || kernel == "Mul" || kernel == "Sub")
      return convertBinary(call);
    Value image = lifted.lookup(call.getInputs()[0]);
    const bool isPool = kernel == "MaxPool" || kernel == "AveragePool";
    if (!image || (!isPool && kernel != "GlobalAveragePool" && !isElementwise(kernel)))
      return {};
    SmallVector<Value> inputs = call.inputsByPosition();
    inputs[0] = image;
    if (!isPool)
      return make(call, inputs, call.getParameters());
    if (call->getNumResults() > 1 && !call.getResult(1).use_empty())
      return {};
    auto parameters = withRow(call, {});
    return parameters ? make(call, inputs, parameters) : HostCallOp();
  }

  HostCallOp convertConv(HostCallOp call) {
    SmallVector<Value> inputs = inputsOf(call, 4);
    ElementsAttr weights = inputs[1] ? graph::getConstant(inputs[1]) : ElementsAttr();
    if (!isF32(inputs[0]) || !weights || !weights.getElementType().isF32() ||
        weights.getShapedType().getRank() != 3 || weights.getNumElements() == 0 ||
        weights.getShapedType().getDimSize(0) < minChannels ||
        integerOf(call, "groups_by_channels", 0))
      return {};
    ArrayRef<int64_t> shape = weights.getShapedType().getShape();
    const int64_t groups = integerOf(call, "group", 1);
    const bool isDepthwise = groups > 1 && shape[1] == 1 && shape[0] == groups;
    if (groups < 1 || shape[0] % groups ||
        (!isDepthwise && !groupsPerBlock(shape[0], shape[1], groups, maxJoinedFloats)))
      return {};
    if (inputs[3] && !(inputs[3] = lifted.lookup(inputs[3])))
      return {};
    int64_t pads[2] = {0, 0};
    Value line = foldPad(call, inputs[0], pads), image = lifted.lookup(line);
    if (!image && (isDepthwise || shape[2] == 1))
      return {};
    auto parameters = withRow(call, pads);
    auto bytes = graph::ConstantBytes::get(weights);
    if (!parameters || failed(bytes))
      return {};
    if (!image)
      image = lifted[line] = makeCall(builder, call.getLoc(), "Unsqueeze",
                                      {line, rowAxis(call.getLoc())}, imageType(line.getType()))
                                 .getResult(0);
    inputs[0] = image;
    ArrayRef<float> elements = bytes->expandedAs<float>();
    auto type = RankedTensorType::get({shape[0], shape[1], 1, shape[2]}, builder.getF32Type());
    inputs[1] = graph::ConstantOp::create(builder, graph::derivedLoc(inputs[1].getLoc(), "row"),
                                          graph::makeConstant(type, elements, "row"));
    return make(call, inputs, parameters);
  }

  HostCallOp convertBinary(HostCallOp call) {
    SmallVector<Value> inputs(call.getInputs());
    bool isLifted = false;
    for (Value &input : inputs) {
      if (Value image = lifted.lookup(input)) {
        input = image;
        isLifted = true;
      } else if (!numberIn(input)) {
        return {};
      }
    }
    return isLifted ? make(call, inputs, call.getParameters()) : HostCallOp();
  }

  /// Returns what a Pad of zeros along the line pads, and adds these to `pads`, if `line` is such
  /// a Pad and a convolution has no other rule for pads; otherwise `line`.
  Value foldPad(HostCallOp conv, Value line, int64_t (&pads)[2]) {
    HostCallOp pad = callOf(line, "Pad");
    auto mode = pad ? dyn_cast_or_null<StringAttr>(pad.getParameters().get("mode")) : StringAttr();
    auto rule = dyn_cast_or_null<StringAttr>(conv.getParameters().get("auto_pad"));
    if (!pad || (mode && mode.getValue() != "constant") ||
        (rule && rule.getValue() != "NOTSET" && !rule.getValue().empty()))
      return line;
    const SmallVector<Value> inputs = inputsOf(pad, 4);
    auto sizes = inputs[1] ? dyn_cast_or_null<DenseIntElementsAttr>(graph::getConstant(inputs[1]))
                           : DenseIntElementsAttr();
    if (!sizes || sizes.getNumElements() != 6 || inputs[3] || !isF32(inputs[0]) ||
        (inputs[2] && numberIn(inputs[2]) != 0.0))
      return line;
    const SmallVector<int64_t> numbers = llvm::map_to_vector(
        sizes.getValues<APInt>(), [](const APInt &number) { return number.getSExtValue(); });
    for (auto [i, number] : llvm::enumerate(numbers))
      if (i % 3 == 2 ? number < 0 || number > maxPad : number != 0)
        return line;
    pads[0] += numbers[2];
    pads[1] += numbers[5];
    return inputs[0];
  }

  /// Returns the attributes of a window over a line for one over an image of one row, with more
  /// pads; null where a list has another length.
  DictionaryAttr withRow(HostCallOp call, ArrayRef<int64_t> morePads) {
    NamedAttrList parameters(call.getParameters());
    for (StringRef name : {"kernel_shape", "strides", "dilations"}) {
      ArrayRef<int64_t> list = integersOf(call, name);
      if (list.size() == 1)
        parameters.set(name, builder.getDenseI64ArrayAttr({1, list[0]}));
      else if (!list.empty())
        return {};
    }
    SmallVector<int64_t> pads(integersOf(call, "pads"));
    const bool isPadded = llvm::any_of(morePads, [](int64_t pad) { return pad != 0; });
    if (pads.empty() && !isPadded)
      return parameters.getDictionary(builder.getContext());
    pads.resize(pads.empty() ? 2 : pads.size());
    if (pads.size() != 2)
      return {};
    for (auto [pad, more] : llvm::zip(pads, morePads))
      pad += more;
    parameters.set("pads", builder.getDenseI64ArrayAttr({0, pads[0], 0, pads[1]}));
    return parameters.getDictionary(builder.getContext());
  }

  HostCallOp make(HostCallOp call, ArrayRef<Value> inputs, DictionaryAttr parameters) {
    return makeCall(builder, call.getLoc(), call.getKernel(), inputs,
                    imageType(call.getResult(0).getType()), parameters);
  }

  /// Returns the type of an image of one row for that of a line.
  static Type imageType(Type line) {
    auto type = dyn_cast<RankedTensorType>(line);
    SmallVector<int64_t> shape = {ShapedType::kDynamic, ShapedType::kDynamic, 1,
                                  ShapedType::kDynamic};
    if (type && type.getRank() == 3) {
      shape.assign(type.getShape().begin(), type.getShape().end());
      shape.insert(shape.begin() + 2, 1);
    }
    return RankedTensorType::get(shape, getElementTypeOrSelf(line));
  }

  Value rowAxis(Location loc) {
    auto type = RankedTensorType::get({1}, builder.getI64Type());
    return graph::ConstantOp::create(builder, loc,
                                     DenseIntElementsAttr::get(type, ArrayRef<int64_t>{2}));
  }

  /// Beyond what a convolution has; sums of two do not wrap.
  static constexpr int64_t maxPad = 1 << 20;

  Block &block;
  OpBuilder builder;
  DenseMap<Value, Value> lifted; ///< images of one row, by line
};

} // namespace

void liftLines(Block &block) { LineLifter(block).run(); }

} // namespace atc::host
