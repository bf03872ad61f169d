//===-- HostForms.cpp - ONNX nodes as calls of host kernels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/onnx/HostForms.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/IndexBound.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "frontends/onnx/GraphImporter.h"
#include "frontends/onnx/HostSignatures.h"
#include "frontends/onnx/TensorData.h"
#include "kernels/core/ResizeMode.h"
#include "kernels/native/NativeHost.h"
#include "llvm/ADT/StringSet.h"
#include <array>

using namespace mlir;
using llvm::createStringError;
using llvm::Error;
using onnx::AttributeProto;

namespace atc::onnx_import {

std::string hostKernelOf(StringRef domain, StringRef op) {
  auto exists = [](const std::string &name) { return kernels::native::find(name) != nullptr; };
  // Operators that share a name with one of the standard domain have a prefix.
  std::string prefix = domain == "com.microsoft" ? "Ms" : domain == "ai.onnx.ml" ? "Ml" : "";
  if (prefix.empty() && !domain.empty() && domain != "ai.onnx")
    return "";
  for (const std::string &name : {prefix + op.str(), op.str()})
    if (exists(name))
      return name;
  // The older name of the operator.
  if (op == "Scatter")
    return "ScatterElements";
  return "";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {

llvm::Expected<Attribute> convertAttribute(AttributeProto &attribute, GraphImporter &importer) {
  Builder &builder = importer.builder();
  switch (attribute.type()) {
  case AttributeProto::INT:
    return builder.getDenseI64ArrayAttr({attribute.i()});
  case AttributeProto::INTS:
    return builder.getDenseI64ArrayAttr(
        SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  case AttributeProto::FLOAT:
    return DenseF64ArrayAttr::get(builder.getContext(), {attribute.f()});
  case AttributeProto::FLOATS:
    return DenseF64ArrayAttr::get(
        builder.getContext(),
        SmallVector<double>(attribute.floats().begin(), attribute.floats().end()));
  case AttributeProto::STRING:
    return builder.getStringAttr(attribute.s());
  case AttributeProto::STRINGS: {
    SmallVector<Attribute> texts;
    for (const std::string &text : attribute.strings())
      texts.push_back(builder.getStringAttr(text));
    return builder.getArrayAttr(texts);
  }
  case AttributeProto::TENSOR: {
    auto value = takeTensor(*attribute.mutable_t(), importer.files(), builder.getContext());
    if (!value)
      return value.takeError();
    return *value;
  }
  default:
    return createStringError("attribute '" + attribute.name() + "' has type " +
                             AttributeProto::AttributeType_Name(attribute.type()) +
                             ", which is not supported here");
  }
}

/// Inputs that older opsets had as attributes, in the order of those inputs; operators of an opset
/// below `before` have them.
struct OlderForm {
  StringLiteral op;
  int64_t before;
  unsigned firstInput;
  std::array<StringLiteral, 3> attributes;
};
constexpr StringLiteral none = "";
constexpr OlderForm olderForms[] = {
    {"Clip", 11, 1, {"min", "max", none}},         {"Pad", 11, 1, {"pads", "value", none}},
    {"ReduceL1", 18, 1, {"axes", none, none}},     {"ReduceL2", 18, 1, {"axes", none, none}},
    {"ReduceLogSum", 18, 1, {"axes", none, none}}, {"ReduceLogSumExp", 18, 1, {"axes", none, none}},
    {"ReduceMax", 18, 1, {"axes", none, none}},    {"ReduceMean", 18, 1, {"axes", none, none}},
    {"ReduceMin", 18, 1, {"axes", none, none}},    {"ReduceProd", 18, 1, {"axes", none, none}},
    {"ReduceSum", 13, 1, {"axes", none, none}},    {"ReduceSumSquare", 18, 1, {"axes", none, none}},
    {"Slice", 10, 1, {"starts", "ends", "axes"}},  {"Split", 13, 1, {"split", none, none}},
    {"Squeeze", 13, 1, {"axes", none, none}},      {"TopK", 10, 1, {"k", none, none}},
    {"Unsqueeze", 13, 1, {"axes", none, none}},    {"Upsample", 9, 1, {"scales", none, none}},
};

class HostNode {
public:
  HostNode(GraphImporter &importer, onnx::NodeProto &node, int64_t opset)
      : importer(importer), node(node), opset(opset),
        location(importer.tensorLocation(node.output_size() ? node.output(0) : "", node.name())),
        calls(importer.builder(), location) {
    calls.setDeferral(
        [this](const std::string &reason) { return this->importer.defer(this->node, reason); });
  }

  Error run() {
    call.kernel = kernel = hostKernelOf(node.domain(), node.op_type());
    if (kernel.empty())
      return createStringError("has no host kernel");
    for (const std::string &input : node.input())
      call.inputs.push_back(input.empty() ? Value() : importer.lookup(input));
    call.results = node.output_size();
    call.wanted = 0;
    for (int i = 0; i < node.output_size() && i < 32; ++i)
      call.wanted |= uint32_t(!node.output(i).empty()) << i;
    if (Error error = readAttributes())
      return error;
    if (Error error = modernize())
      return error;
    if (Error error = checkComplete())
      return error;
    if (dropsNothing())
      return passThroughDropout();
    castToKnownType();
    call.parameters = importer.builder().getDictionaryAttr(parameters);
    std::string error;
    SmallVector<Value> results = isEmptyOptional() ? emptyOptional() : calls.call(call, error);
    if (results.empty() && call.results)
      return createStringError(error);
    if (flattened)
      results[0] = calls.call("Reshape", {results[0], calls.call("Shape", {flattened})},
                              {calls.ints("allowzero", {1})});
    requirePositions();
    for (auto [i, result] : llvm::enumerate(results))
      if (result && !node.output(i).empty())
        define(i, result);
    return Error::success();
  }

private:
  /// Requires of stated positions that the tables of angles have them: targets gather the rows.
  /// Those of several new rows may belong to padding, which the kernel rotates by none of them.
  void requirePositions() {
    const unsigned table = 7, positions = 9, numbers = 16;
    Block *block = importer.builder().getInsertionBlock();
    if (kernel != "GroupQueryAttention" || call.inputs.size() <= positions || !call.inputs[table] ||
        !call.inputs[positions] || !isa_and_nonnull<func::FuncOp>(block->getParentOp()))
      return;
    auto rotates = call.parameters.getAs<DenseI64ArrayAttr>("do_rotary");
    auto query = dyn_cast<RankedTensorType>(call.inputs[0].getType());
    if (!rotates || rotates.empty() || !rotates[0] || !query || query.getRank() != 3 ||
        query.getDimSize(1) != 1 || (call.inputs.size() > numbers && call.inputs[numbers]))
      return;
    auto type = dyn_cast<RankedTensorType>(call.inputs[table].getType());
    if (type && type.getRank() == 2 && !type.isDynamicDim(0))
      graph::IndexRange{/*wraps=*/false, {type.getDimSize(0)}}.require(call.inputs[positions]);
  }
  /// Returns whether this is an Optional without input, whose attribute states its type.
  bool isEmptyOptional() const { return statedType && call.inputs.empty(); }
  SmallVector<Value> emptyOptional() {
    OpBuilder &builder = importer.builder();
    Type type = graph::OptionalType::get(builder.getContext(), statedType);
    auto op = graph::HostCallOp::create(builder, location, type, builder.getStringAttr(kernel),
                                        ValueRange(), DenseI32ArrayAttr(), call.parameters);
    return {op.getResult(0)};
  }

  Error readAttributes() {
    const auto *row = kernels::native::find(kernel);
    SmallVector<StringRef> known;
    StringRef(row->attributes).split(known, ' ', -1, /*KeepEmpty=*/false);
    for (AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.type() == AttributeProto::TYPE_PROTO) {
        statedType = importer.convertType(attribute.tp());
        continue;
      }
      if (Error error = checkHostAttribute(kernel, attribute))
        return error;
      auto value = convertAttribute(attribute, importer);
      if (!value)
        return value.takeError();
      if (std::optional<unsigned> input = olderInput(attribute.name())) {
        if (Error error = toInput(*input, attribute.name(), *value))
          return error;
        continue;
      }
      const bool aligns = opset < 7 && !llvm::is_contained(known, "axis") &&
                          (attribute.name() == "axis" || attribute.name() == "broadcast");
      if (aligns && attribute.type() != AttributeProto::INT)
        return createStringError("attribute '" + attribute.name() + "' has type " +
                                 AttributeProto::AttributeType_Name(attribute.type()) +
                                 ", expected INT");
      if (aligns && attribute.name() == "axis")
        alignedAxis = attribute.i();
      else if (llvm::is_contained(known, StringRef(attribute.name())))
        parameters.emplace_back(importer.builder().getStringAttr(attribute.name()), *value);
      else if (!saysNothing(attribute.name()))
        return createStringError("attribute '" + attribute.name() +
                                 "' is not known for this operator of opset " + Twine(opset));
    }
    return Error::success();
  }

  /// Kernels take what must be there for granted.
  Error checkComplete() {
    const HostSignature *signature = findHostSignature(kernel);
    if (!signature)
      return Error::success();
    for (unsigned i = 0; i < 32; ++i)
      if ((signature->required >> i & 1) && (i >= call.inputs.size() || !call.inputs[i]))
        return createStringError("input " + Twine(i) + " is missing; the operator needs it");
    // Operators with any number of inputs have no optional ones.
    constexpr unsigned anyNumber = 4096;
    if (signature->max == anyNumber && llvm::is_contained(call.inputs, Value()))
      return createStringError("one of its inputs has no name; give each");
    if (call.inputs.size() > signature->max)
      return createStringError("has " + Twine(call.inputs.size()) + " inputs, expected at most " +
                               Twine(signature->max));
    if (Error error = checkHostInputs(*signature, call.inputs))
      return error;
    static constexpr StringLiteral ofSequences[] = {"ConcatFromSequence", "SequenceAt",
                                                    "SequenceErase", "SequenceInsert"};
    if (llvm::is_contained(ofSequences, StringRef(kernel)) &&
        !isa<graph::SequenceType, graph::OptionalType>(call.inputs[0].getType()))
      return createStringError("input 0 is not a sequence");
    StringRef missing =
        missingHostAttribute(*signature, [&](StringRef name) { return bool(parameter(name)); });
    if (!missing.empty())
      return createStringError("attribute '" + missing + "' is missing; the operator needs it");
    return Error::success();
  }

  /// Returns whether an attribute may be ignored: attributes of older operators that have lost
  /// their meaning, those that repeat what the shapes of the inputs state, and the ones about the
  /// precision of the computation, where kernels always use the widest type.
  static bool saysNothing(StringRef name) {
    static constexpr StringLiteral names[] = {
        "consumed_inputs",   "is_test",     "spatial",      "output_sequence", "axis_w",
        "broadcast",         "hidden_size", "kernel_shape", "ratio",           "stash_type",
        "softmax_precision", "chunk_size",  "locale"};
    return llvm::is_contained(names, name);
  }

  bool isStandard() const { return node.domain().empty() || node.domain() == "ai.onnx"; }

  std::optional<unsigned> olderInput(StringRef attribute) {
    if (!isStandard())
      return std::nullopt;
    for (const OlderForm &form : olderForms)
      if (node.op_type() == form.op && opset < form.before)
        for (auto [i, name] : llvm::enumerate(form.attributes))
          if (!name.empty() && name == attribute)
            return form.firstInput + unsigned(i);
    return std::nullopt;
  }

  Error toInput(unsigned index, StringRef name, Attribute value) {
    if (call.inputs.size() <= index)
      call.inputs.resize(index + 1);
    OpBuilder &builder = importer.builder();
    if (auto ints = dyn_cast<DenseI64ArrayAttr>(value)) {
      call.inputs[index] = calls.constant(ints.asArrayRef());
      return Error::success();
    }
    auto list = dyn_cast<DenseF64ArrayAttr>(value);
    // A bound or a fill value has the type of its input and rank 0.
    bool single = node.op_type() == "Clip" || node.op_type() == "Pad";
    if (!list || (single && list.size() != 1))
      return createStringError("attribute '" + name.str() + "' is not " +
                               (single ? "one number" : "a list of numbers"));
    ArrayRef<double> floats = list.asArrayRef();
    Type element = builder.getF32Type();
    if (single && call.inputs[0])
      if (auto tensor = dyn_cast<TensorType>(call.inputs[0].getType());
          tensor && isa<FloatType>(tensor.getElementType()))
        element = tensor.getElementType();
    SmallVector<int64_t> shape;
    if (!single)
      shape.push_back(floats.size());
    SmallVector<Attribute> numbers;
    for (double number : floats)
      numbers.push_back(builder.getFloatAttr(element, number));
    auto type = RankedTensorType::get(shape, element);
    call.inputs[index] =
        graph::ConstantOp::create(builder, location, DenseElementsAttr::get(type, numbers));
    return Error::success();
  }

  void setParameter(StringRef name, Attribute value) {
    llvm::erase_if(parameters, [&](NamedAttribute named) { return named.getName() == name; });
    parameters.emplace_back(importer.builder().getStringAttr(name), value);
  }
  Attribute parameter(StringRef name) {
    for (NamedAttribute named : parameters)
      if (named.getName() == name)
        return named.getValue();
    return {};
  }

  /// Converts other changes between opsets.
  Error modernize() {
    Builder &builder = importer.builder();
    if (!isStandard())
      return Error::success();
    StringRef op = node.op_type();
    if ((op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") && opset < 13 &&
        !call.inputs.empty() && call.inputs[0]) {
      // The operator treated the input as a matrix, flattened at the axis.
      auto axis = dyn_cast_or_null<DenseI64ArrayAttr>(parameter("axis"));
      flattened = call.inputs[0];
      call.inputs[0] =
          calls.call("Flatten", {flattened}, {calls.ints("axis", {axis ? axis[0] : 1})});
      setParameter("axis", builder.getDenseI64ArrayAttr({-1}));
      if (!call.inputs[0])
        return createStringError("its input does not fit attribute 'axis'");
    }
    if (op == "PRelu" && opset < 7)
      alignedAxis = 1;
    if (alignedAxis)
      if (Error error = alignSecondInput(*alignedAxis))
        return error;
    if (op == "Resize" && opset < 11 && !call.inputs.empty())
      return modernizeResize();
    auto isConstant = [&](size_t i) {
      return i < call.inputs.size() && call.inputs[i] &&
             call.inputs[i].getDefiningOp<graph::ConstantOp>();
    };
    const bool hasSizes = call.inputs.size() > 3 && call.inputs[3];
    if (op == "Resize" && isConstant(hasSizes ? 3 : 2))
      if (auto mode = dyn_cast_or_null<StringAttr>(parameter("coordinate_transformation_mode"));
          mode && mode == "align_corners")
        setParameter("coordinate_transformation_mode",
                     builder.getStringAttr(kernels::ResizeMode::kWholeCorners));
    if (op == "Dropout" && opset < 12 && !call.inputs.empty())
      call.inputs.resize(1);
    // Corners of boxes were corners of pixels, too; the attribute that says so came later.
    if (op == "RoiAlign" && opset < 16)
      setParameter("coordinate_transformation_mode",
                   importer.builder().getStringAttr("output_half_pixel"));
    if (op == "GroupNormalization" && opset < 21)
      return repeatFactorsOfGroups();
    if (op == "BatchNormalization" && opset < 14)
      call.results = std::min(call.results, 1u);
    return Error::success();
  }

  /// Up to opset 20 scale and bias of GroupNormalization had one value per group: repeats each for
  /// the channels of its group.
  Error repeatFactorsOfGroups() {
    auto groups = dyn_cast_or_null<DenseI64ArrayAttr>(parameter("num_groups"));
    if (!groups || groups.size() != 1 || groups[0] < 1 || call.inputs.size() < 3)
      return Error::success();
    const Value channels =
        calls.call("Shape", {call.inputs[0]}, {calls.ints("start", {1}), calls.ints("end", {2})});
    const Value count = calls.constant({groups[0]});
    const Value width = calls.call("Div", {channels, count});
    const Value shape = calls.call("Concat", {count, width}, {calls.ints("axis", {0})});
    for (Value &factors : llvm::MutableArrayRef(call.inputs).slice(1, 2)) {
      const Value column = calls.call("Reshape", {factors, calls.constant({-1, 1})});
      factors =
          calls.call("Reshape", {calls.call("Expand", {column, shape}), calls.constant({-1})});
      if (!factors)
        return createStringError("its scale or bias does not have one value per group");
    }
    return Error::success();
  }

  /// Gives a Resize of opset 10 the inputs and attributes of opset 11. Its positions were
  /// x / scale, and nearest rounded them down along axes that grow and up along those that shrink.
  /// One call rounds all axes alike, so that two calls do where both kinds are possible.
  Error modernizeResize() {
    Builder &builder = importer.builder();
    call.inputs.insert(call.inputs.begin() + 1, Value());
    setParameter("coordinate_transformation_mode", builder.getStringAttr("asymmetric"));
    setParameter("nearest_mode", builder.getStringAttr("floor"));
    auto mode = dyn_cast_or_null<StringAttr>(parameter("mode"));
    if ((mode && mode != "nearest") || call.inputs.size() < 3 || !call.inputs[2])
      return Error::success();
    Value scales = call.inputs[2];
    auto stored = scales.getDefiningOp<graph::ConstantOp>();
    auto known = stored ? dyn_cast<DenseFPElementsAttr>(stored.getValue()) : nullptr;
    auto isKnown = [&](auto holds) {
      return known && llvm::all_of(known.getValues<APFloat>(), [&](const APFloat &scale) {
               return holds(scale.convertToDouble());
             });
    };
    if (isKnown([](double scale) { return scale >= 1; }))
      return Error::success();
    NamedAttribute ceil = builder.getNamedAttr("nearest_mode", builder.getStringAttr("ceil"));
    if (isKnown([](double scale) { return scale <= 1; })) {
      setParameter("nearest_mode", ceil.getValue());
      return Error::success();
    }
    Value one = calls.constantOf(DenseElementsAttr::get(
        RankedTensorType::get({}, builder.getF32Type()), builder.getF32FloatAttr(1).getValue()));
    Value less = calls.call("Min", {scales, one}), rest = calls.call("Max", {scales, one});
    graph::HostCall shrink{
        "Resize",
        {call.inputs[0], Value(), less},
        builder.getDictionaryAttr({builder.getNamedAttr("coordinate_transformation_mode",
                                                        builder.getStringAttr("asymmetric")),
                                   ceil})};
    std::string error;
    SmallVector<Value> results = less && rest ? calls.call(shrink, error) : SmallVector<Value>();
    if (results.empty())
      return createStringError(error.empty() ? calls.message() : error);
    call.inputs[0] = results.front();
    call.inputs[2] = rest;
    return Error::success();
  }

  /// Returns whether this is a Dropout of a model for inference.
  bool dropsNothing() const {
    if (kernel != "Dropout" || !isa<TensorType>(call.inputs[0].getType()))
      return false;
    if (call.inputs.size() < 3 || !call.inputs[2])
      return true;
    auto training = call.inputs[2].getDefiningOp<graph::ConstantOp>();
    auto flags = training ? dyn_cast<DenseIntElementsAttr>(training.getValue()) : nullptr;
    return flags &&
           llvm::all_of(flags.getValues<APInt>(), [](const APInt &flag) { return flag.isZero(); });
  }

  /// Defines the results of a Dropout that drops nothing: its input, and a mask of ones. Before
  /// opset 12 the mask had no meaning then, and is zeros as in ONNX Runtime.
  Error passThroughDropout() {
    Value input = call.inputs[0];
    define(0, input);
    if (node.output_size() < 2 || node.output(1).empty())
      return Error::success();
    // Before opset 10 the mask had the type of the input.
    OpBuilder &builder = importer.builder();
    Type element =
        opset >= 10 ? builder.getI1Type() : cast<TensorType>(input.getType()).getElementType();
    auto type = RankedTensorType::get({}, element);
    TypedAttr flag = opset >= 12 ? builder.getOneAttr(element) : builder.getZeroAttr(element);
    Value flags = calls.constantOf(DenseElementsAttr::get(type, flag));
    Value mask = calls.call("Expand", {flags, calls.call("Shape", {input})});
    if (!mask)
      return createStringError(calls.message());
    define(1, mask);
    return Error::success();
  }

  /// Makes CastLike a Cast: only the element type of its second input counts, which is known here.
  void castToKnownType() {
    if (kernel != "CastLike")
      return;
    auto like = dyn_cast<TensorType>(call.inputs[1].getType());
    const int64_t to = like ? graph::dtypeOf(like.getElementType()) : 0;
    if (to == 0)
      return;
    call.kernel = "Cast";
    call.inputs.pop_back();
    setParameter("to", importer.builder().getDenseI64ArrayAttr({to}));
  }

  /// Before opset 7 the dims of the second input began at a dim of the first one.
  Error alignSecondInput(int64_t axis) {
    if (call.inputs.size() < 2 || !call.inputs[0] || !call.inputs[1])
      return Error::success();
    auto first = dyn_cast<RankedTensorType>(call.inputs[0].getType()),
         second = dyn_cast<RankedTensorType>(call.inputs[1].getType());
    // A single value for all channels broadcasts unchanged.
    if (second && second.hasStaticShape() && second.getNumElements() == 1)
      return Error::success();
    if (!first || !second) {
      alignByRanksOfTheRun(axis);
      return Error::success();
    }
    axis = axis < 0 ? axis + first.getRank() : axis;
    if (axis < 0 || axis + second.getRank() > first.getRank())
      return createStringError("attribute 'axis' leaves too few dims for input 1");
    SmallVector<int64_t> behind;
    for (int64_t dim = second.getRank(); dim < first.getRank() - axis; ++dim)
      behind.push_back(dim);
    if (!behind.empty())
      call.inputs[1] = calls.call("Unsqueeze", {call.inputs[1], calls.constant(behind)});
    return Error::success();
  }

  /// Appends as many dims of 1 to the second input as there are dims of the first one behind
  /// it, where only the run knows the ranks.
  void alignByRanksOfTheRun(int64_t axis) {
    auto rankOf = [&](Value shape) { return calls.call("Shape", {shape}); };
    Value second = call.inputs[1], shape = calls.call("Shape", {second}), rank = rankOf(shape);
    Value behind = calls.constant({-axis});
    if (axis >= 0)
      behind = calls.call("Sub",
                          {rankOf(calls.call("Shape", {call.inputs[0]})), calls.constant({axis})});
    Value ones = calls.call("Expand", {calls.constant({1}), calls.call("Sub", {behind, rank})});
    call.inputs[1] = calls.call(
        "Reshape", {second, calls.call("Concat", {shape, ones}, {calls.ints("axis", {0})})});
  }

  void define(unsigned index, Value value) {
    const std::string &name = node.output(index);
    importer.define(name, value);
    if (Operation *op = value.getDefiningOp(); op && op->getLoc() == location && index == 0)
      op->setLoc(importer.tensorLocation(name, node.name()));
  }

  GraphImporter &importer;
  onnx::NodeProto &node;
  int64_t opset;
  Location location;
  HostCallBuilder calls;
  std::string kernel;
  graph::HostCall call;
  SmallVector<NamedAttribute> parameters;
  Value flattened;
  Type statedType;
  std::optional<int64_t> alignedAxis;
};

} // namespace

Error importAsHostCall(GraphImporter &importer, onnx::NodeProto &node, int64_t opset) {
  return HostNode(importer, node, opset).run();
}

} // namespace atc::onnx_import
