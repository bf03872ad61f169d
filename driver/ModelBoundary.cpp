//===-- ModelBoundary.cpp - element types of inputs and outputs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/ModelBoundary.h"

#include "dialects/graph/HostCalls.h"
#include "dialects/graph/ops/HostOps.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "dialects/graph/ops/UnaryOps.h"
#include "frontends/MainFunction.h"
#include "passes/om/Schedule.h"
#include "support/NearestName.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace atc::driver {

namespace {

struct TypeName {
  StringLiteral name;
  om_dtype type;
};
constexpr TypeName types[] = {
    {"FP32", OM_F32},   {"FP16", OM_F16},    {"BF16", OM_BF16},    {"FP64", OM_F64},
    {"DOUBLE", OM_F64}, {"INT8", OM_I8},     {"UINT8", OM_U8},     {"INT16", OM_I16},
    {"UINT16", OM_U16}, {"INT32", OM_I32},   {"UINT32", OM_U32},   {"INT64", OM_I64},
    {"UINT64", OM_U64}, {"BOOL", OM_BOOL},   {"FLOAT", OM_F32},    {"FLOAT32", OM_F32},
    {"HALF", OM_F16},   {"FLOAT16", OM_F16}, {"BFLOAT16", OM_BF16}};

constexpr int64_t kBlock = 16; ///< channels of f16 in a block of NC1HWC0

/// Edits the boundary of one @main.
class BoundaryEditor {
public:
  BoundaryEditor(func::FuncOp main, const std::vector<std::string> &outNodes, const Target &target,
                 Diagnostics &diagnostics)
      : main(main), outNodes(outNodes), target(target), diagnostics(diagnostics),
        builder(main.getContext()) {}

  bool run(const ModelBoundary &boundary) {
    const unsigned before = diagnostics.numErrors();
    for (auto [i, name] : llvm::enumerate(boundary.halfInputs))
      changeInput(name, i < boundary.blockedInputs.size() && boundary.blockedInputs[i]);
    changeOutputs(boundary);
    if (diagnostics.numErrors() != before)
      return false;
    main.setFunctionType(builder.getFunctionType(main.getBody().front().getArgumentTypes(),
                                                 returnOp().getOperandTypes()));
    return true;
  }

private:
  func::ReturnOp returnOp() { return cast<func::ReturnOp>(main.getBody().front().getTerminator()); }

  static std::string nameOf(DictionaryAttr attributes) {
    auto name = attributes ? attributes.getAs<StringAttr>("om.name") : StringAttr();
    return name ? name.str() : "";
  }
  std::string inputName(unsigned i) { return nameOf(main.getArgAttrDict(i)); }
  std::string outputName(unsigned i) { return nameOf(main.getResultAttrDict(i)); }

  /// Returns the name of the node that makes a value, as importers leave it in its location.
  static std::string nodeOf(Value value) {
    if (auto name = dyn_cast<NameLoc>(value.getLoc()))
      if (auto node = dyn_cast<NameLoc>(name.getChildLoc()))
        return node.getName().str();
    return "";
  }

  Type withElement(Type type, Type element) {
    if (auto ranked = dyn_cast<RankedTensorType>(type))
      return RankedTensorType::get(ranked.getShape(), element);
    return UnrankedTensorType::get(element);
  }

  /// Returns `value` with another element type.
  Value convert(Value value, Type element) {
    if (cast<ShapedType>(value.getType()).getElementType() == element)
      return value;
    Type type = withElement(value.getType(), element);
    if (graph::isPlainTensor(value)) {
      auto made = graph::CastOp::create(builder, value.getLoc(), type, value);
      if (target.canGenerate(made))
        return made;
      made->erase();
    }
    auto parameters = builder.getDictionaryAttr(
        builder.getNamedAttr("to", builder.getDenseI64ArrayAttr({graph::dtypeOf(element)})));
    auto call = graph::HostCallOp::create(builder, value.getLoc(), TypeRange{type},
                                          builder.getStringAttr("Cast"), ValueRange{value},
                                          DenseI32ArrayAttr(), parameters);
    return call.getResult(0);
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    return graph::ReshapeOp::create(builder, value.getLoc(), RankedTensorType::get(shape, element),
                                    value);
  }
  Value transpose(Value value, ArrayRef<int64_t> permutation) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape;
    for (int64_t dim : permutation)
      shape.push_back(type.getDimSize(dim));
    return graph::TransposeOp::create(builder, value.getLoc(),
                                      RankedTensorType::get(shape, type.getElementType()), value,
                                      builder.getDenseI64ArrayAttr(permutation));
  }

  /// Returns the type that a tensor in NCHW has as NC1HWC0, or null where it has none.
  RankedTensorType blockedType(Type type) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked || ranked.getRank() != 4 || !ranked.hasStaticShape())
      return {};
    ArrayRef<int64_t> dims = ranked.getShape();
    return RankedTensorType::get(
        {dims[0], (dims[1] + kBlock - 1) / kBlock, dims[2], dims[3], kBlock}, builder.getF16Type());
  }

  void changeInput(const std::string &name, bool isBlocked) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      names.push_back(inputName(i));
    // TensorFlow calls output 0 of a node by the node's name.
    auto found =
        llvm::find(names, StringRef(name).ends_with(":0") && !llvm::is_contained(names, name)
                              ? name.substr(0, name.size() - 2)
                              : name);
    if (found == names.end()) {
      diagnostics.error("E10017", "'" + name +
                                      "' given with --input_fp16_nodes is not an input of the "
                                      "model; its inputs are '" +
                                      llvm::join(names, "', '") + "'" + didYouMean(name, names));
      return;
    }
    BlockArgument argument = main.getArgument(found - names.begin());
    auto type = dyn_cast<ShapedType>(argument.getType());
    const bool isMask = type && !isBlocked && type.getElementType().isIntOrIndex();
    if (!type || (!isMask && !isa<Float16Type, Float32Type>(type.getElementType()))) {
      diagnostics.error("E10001", "'" + name +
                                      "' given with --input_fp16_nodes is not an input of f32, f16 "
                                      "or integers");
      return;
    }
    builder.setInsertionPointToStart(&main.getBody().front());
    if (!isBlocked) {
      if (type.getElementType().isF16())
        return;
      argument.setType(withElement(type, builder.getF16Type()));
      replaceInput(argument, convert(argument, type.getElementType()));
      return;
    }
    RankedTensorType blocked = blockedType(type);
    if (!blocked) {
      diagnostics.error("E10055", "--is_input_adjust_hw_layout: input '" + name +
                                      "' has no layout NC1HWC0: that needs 4 fixed dims");
      return;
    }
    argument.setType(blocked);
    ArrayRef<int64_t> dims = blocked.getShape();
    const auto plain = cast<RankedTensorType>(type);
    Value value = transpose(argument, {0, 1, 4, 2, 3});
    value = reshape(value, {dims[0], dims[1] * kBlock, dims[2], dims[3]});
    if (plain.getDimSize(1) % kBlock != 0)
      value = graph::SliceOp::create(builder, value.getLoc(),
                                     RankedTensorType::get(plain.getShape(), builder.getF16Type()),
                                     value, builder.getDenseI64ArrayAttr({0, 0, 0, 0}),
                                     builder.getDenseI64ArrayAttr(plain.getShape()),
                                     builder.getDenseI64ArrayAttr({1, 1, 1, 1}));
    replaceInput(argument, convert(value, plain.getElementType()));
  }

  /// Lets all readers of an input read `value`, except for the ops that compute it.
  void replaceInput(BlockArgument argument, Value value) {
    SmallPtrSet<Operation *, 4> front;
    for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp())
      front.insert(op);
    argument.replaceAllUsesExcept(value, front);
  }

  /// Returns the output that a user calls `node`:`index`, or nothing.
  std::optional<unsigned> findOutput(const OutputType &asked) {
    const std::string indexed = asked.node + ":" + std::to_string(asked.index);
    for (auto [i, text] : llvm::enumerate(outNodes))
      if (text == indexed || (asked.index == 0 && text == asked.node))
        return i;
    unsigned ofNode = 0;
    for (auto [i, value] : llvm::enumerate(returnOp().getOperands())) {
      const std::string name = outputName(i);
      if (name == indexed || (asked.index == 0 && name == asked.node))
        return i;
      if (outNodes.empty() && nodeOf(value) == asked.node && ofNode++ == asked.index)
        return i;
    }
    return std::nullopt;
  }

  void changeOutputs(const ModelBoundary &boundary) {
    const unsigned count = returnOp().getNumOperands();
    std::vector<std::optional<om_dtype>> wanted(count, boundary.outputType);
    // The next value of a state, which the user has not named, has the type of the state.
    if (auto states = main->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(kStatesAttr))
      for (auto pair : states.getAsRange<ArrayAttr>())
        for (unsigned i = 0; i < count; ++i)
          if (outputName(i) == cast<StringAttr>(pair[1]).getValue())
            wanted[i] = std::nullopt;
    for (const OutputType &asked : boundary.outputTypes) {
      std::optional<unsigned> output = findOutput(asked);
      if (auto other = boundary.aliases.find(asked.node);
          !output && other != boundary.aliases.end())
        output = findOutput({other->second, asked.index, asked.type});
      if (output) {
        wanted[*output] = asked.type;
        continue;
      }
      std::vector<std::string> names;
      for (unsigned i = 0; i < count; ++i)
        names.push_back(i < outNodes.size() ? outNodes[i] : outputName(i));
      const std::string name = asked.node + ":" + std::to_string(asked.index);
      diagnostics.error("E10016", "'" + name +
                                      "' given with --output_type is not an output of the model; "
                                      "its outputs are '" +
                                      llvm::join(names, "', '") + "'" + didYouMean(name, names));
    }
    builder.setInsertionPoint(returnOp());
    for (unsigned i = 0; i < count; ++i) {
      if (wanted[i])
        changeOutput(i, *wanted[i]);
      if (i < boundary.blockedOutputs.size() && boundary.blockedOutputs[i])
        blockOutput(i);
    }
  }

  void changeOutput(unsigned i, om_dtype type) {
    Value value = returnOp().getOperand(i);
    auto shaped = dyn_cast<ShapedType>(value.getType());
    if (!shaped || !shaped.getElementType().isIntOrFloat()) {
      diagnostics.error("E10001", "--output_type: output '" + outputName(i) +
                                      "' has no numbers: it cannot be converted");
      return;
    }
    returnOp().setOperand(i, convert(value, graph::elementTypeOf(type, main.getContext())));
  }

  void blockOutput(unsigned i) {
    Value value = returnOp().getOperand(i);
    RankedTensorType blocked = blockedType(value.getType());
    if (!blocked) {
      diagnostics.error("E10055", "--is_output_adjust_hw_layout: output '" + outputName(i) +
                                      "' has no layout NC1HWC0: that needs 4 fixed dims");
      return;
    }
    value = convert(value, builder.getF16Type());
    ArrayRef<int64_t> dims = blocked.getShape();
    const auto plain = cast<RankedTensorType>(value.getType());
    const int64_t missing = dims[1] * kBlock - plain.getDimSize(1);
    if (missing != 0)
      value =
          graph::PadOp::create(builder, value.getLoc(),
                               RankedTensorType::get({dims[0], dims[1] * kBlock, dims[2], dims[3]},
                                                     builder.getF16Type()),
                               value, builder.getDenseI64ArrayAttr({0, 0, 0, 0}),
                               builder.getDenseI64ArrayAttr({0, missing, 0, 0}),
                               graph::PadModeAttr::get(main.getContext(), graph::PadMode::Constant),
                               builder.getF64FloatAttr(0.0));
    value = reshape(value, {dims[0], dims[1], kBlock, dims[2], dims[3]});
    returnOp().setOperand(i, transpose(value, {0, 1, 3, 4, 2}));
  }

  func::FuncOp main;
  const std::vector<std::string> &outNodes;
  const Target &target;
  Diagnostics &diagnostics;
  OpBuilder builder;
};

} // namespace

std::optional<om_dtype> parseTypeName(StringRef name) {
  for (const TypeName &type : types)
    if (name.equals_insensitive(type.name))
      return type.type;
  return std::nullopt;
}

StringRef typeNames() {
  return "FP32, FP16, BF16, FP64, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, BOOL";
}

bool applyBoundary(ModuleOp module, const ModelBoundary &boundary,
                   const std::vector<std::string> &outNodes, const Target &target,
                   Diagnostics &diagnostics) {
  func::FuncOp main = om::findMain(module);
  if (boundary.empty() || !main || main.isExternal())
    return true;
  return BoundaryEditor(main, outNodes, target, diagnostics).run(boundary);
}

} // namespace atc::driver
