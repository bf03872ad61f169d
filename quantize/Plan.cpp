//===-- Plan.cpp - which tensors of a network become integers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/Plan.h"

#include "dialects/graph/Graph.h"
#include "passes/om/Schedule.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace atc::quantize {

namespace {

/// The type by which users name an operator: that of ONNX.
StringRef typeOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().stripDialect())
      .Case("conv", "Conv")
      .Case("conv_transpose", "ConvTranspose")
      .Case("fully_connected", "Gemm")
      .Case("matmul", "MatMul")
      .Case("add", "Add")
      .Case("sub", "Sub")
      .Case("mul", "Mul")
      .Case("relu", "Relu")
      .Case("clip", "Clip")
      .Case("leaky_relu", "LeakyRelu")
      .Case("prelu", "PRelu")
      .Case("sigmoid", "Sigmoid")
      .Case("hard_sigmoid", "HardSigmoid")
      .Case("hard_swish", "HardSwish")
      .Case("silu", "Silu")
      .Case("max_pool", "MaxPool")
      .Case("average_pool", "AveragePool")
      .Case("reduce", "GlobalAveragePool")
      .Case("concat", "Concat")
      .Case("resize", "Resize")
      .Case("reshape", "Reshape")
      .Case("transpose", "Transpose")
      .Case("slice", "Slice")
      .Case("depth_to_space", "DepthToSpace")
      .Case("space_to_depth", "SpaceToDepth")
      .Default("");
}

/// Other names of the same, as configurations have them.
bool isType(StringRef type, const std::set<std::string> &wanted) {
  for (const std::string &name : wanted) {
    const StringRef meant = llvm::StringSwitch<StringRef>(name)
                                .Cases({"Convolution", "Conv2D"}, "Conv")
                                .Cases({"Deconvolution", "Conv2DBackpropInput"}, "ConvTranspose")
                                .Cases({"InnerProduct", "FullyConnected", "Dense"}, "Gemm")
                                .Cases({"Pooling", "AvgPool"}, "AveragePool")
                                .Default(name);
    if (meant == type)
      return true;
  }
  return false;
}

bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32() && type.getNumElements();
}

bool isConstant(Value value) { return value.getDefiningOp<graph::ConstantOp>() != nullptr; }

/// Returns whether the result consists of elements of the operand.
bool keepsNumbers(Operation *op) {
  if (auto resize = dyn_cast<graph::ResizeOp>(op))
    return resize.getMode() == graph::ResizeMode::Nearest;
  return isa<graph::MaxPoolOp, graph::ReshapeOp, graph::TransposeOp, graph::SliceOp,
             graph::DepthToSpaceOp, graph::SpaceToDepthOp>(op);
}

bool isGlobalPool(Operation *op) {
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  if (!reduce || reduce.getKind() != graph::ReduceKind::Mean)
    return false;
  const int64_t rank = cast<RankedTensorType>(reduce.getInput().getType()).getRank();
  return rank >= 3 && llvm::all_of(reduce.getAxes(), [](int64_t axis) { return axis >= 2; });
}

class Planner {
public:
  Planner(func::FuncOp main, const QuantConfig &config, llvm::function_ref<bool(StringRef)> isKnown)
      : body(main.getBody().front()), config(config), isKnown(isKnown) {}

  Plan run() {
    for (Operation &op : body)
      if (couldBeLayer(&op))
        (isSkipped(&op) ? skipped : layers).insert(&op);
    findNeeded();
    findStored();
    return write();
  }

private:
  bool isNamed(Value value) { return isFloat(value) && isKnown(tensorNameOf(value)); }
  bool isSkipped(Operation *op) {
    return config.skips(nodeNameOf(op), typeOf(op).str()) || isType(typeOf(op), config.skipTypes);
  }

  /// Returns whether the operator has the form of a layer, also where the settings skip it.
  bool couldBeLayer(Operation *op) {
    if (!op->hasTrait<graph::IsContraction>() || !isNamed(op->getOperand(0)) ||
        !isNamed(op->getResult(0)) || isConstant(op->getOperand(0)) ||
        !isConstant(op->getOperand(1)) || !isFloat(op->getOperand(1)))
      return false;
    if (isa<graph::MatMulOp>(op) &&
        cast<RankedTensorType>(op->getOperand(1).getType()).getRank() != 2)
      return false;
    // Its bias becomes integers of the same scale.
    return llvm::all_of(op->getOperands().drop_front(2), isConstant);
  }

  /// It can work on integers.
  bool isLight(Operation *op) {
    if (op->getNumResults() != 1 || !isNamed(op->getResult(0)) || isSkipped(op))
      return false;
    const bool kind = keepsNumbers(op) || isGlobalPool(op) ||
                      isa<graph::AddOp, graph::SubOp, graph::MulOp, graph::ReluOp, graph::ClipOp,
                          graph::LeakyReluOp, graph::PReluOp, graph::SigmoidOp,
                          graph::HardSigmoidOp, graph::HardSwishOp, graph::SiluOp,
                          graph::AveragePoolOp, graph::ConcatOp, graph::ResizeOp>(op);
    return kind && llvm::all_of(op->getOperands(), [&](Value operand) {
             return isConstant(operand) || isNamed(operand);
           });
  }

  /// Finds what the layers read, looking through all light operators in front of them.
  void findNeeded() {
    for (Operation &op : llvm::reverse(body)) {
      if (layers.contains(&op)) {
        needed.insert(op.getOperand(0));
      } else if (op.getNumResults() == 1 && needed.contains(op.getResult(0)) && isLight(&op)) {
        light.insert(&op);
        for (Value operand : op.getOperands())
          if (!isConstant(operand))
            needed.insert(operand);
      }
    }
  }

  /// x * sigmoid(x), spelled out: the product. `value` has no other user.
  Operation *siluOf(Value value) {
    Operation *sigmoid = nullptr, *product = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *&slot = isa<graph::SigmoidOp, graph::HardSigmoidOp>(user) ? sigmoid : product;
      if (slot)
        return nullptr;
      slot = user;
    }
    const bool isSilu = sigmoid && isa_and_nonnull<graph::MulOp>(product) &&
                        sigmoid->getResult(0).hasOneUse() &&
                        llvm::is_contained(product->getOperands(), sigmoid->getResult(0));
    return isSilu ? product : nullptr;
  }

  /// Returns the activation that is computed together with the layer before it, so that the values
  /// between them are not stored.
  Operation *fusedActivation(Value value) {
    Operation *user = nullptr;
    if (value.hasOneUse())
      user = *value.user_begin();
    else if (config.fuseActivations)
      user = siluOf(value);
    if (!user)
      return nullptr;
    bool fuses = isa<graph::ReluOp, graph::ClipOp>(user);
    if (config.fuseActivations)
      fuses |= !value.hasOneUse() ||
               isa<graph::LeakyReluOp, graph::HardSwishOp, graph::SiluOp, graph::MishOp,
                   graph::GeluOp, graph::SigmoidOp, graph::HardSigmoidOp, graph::TanhOp>(user) ||
               (isa<graph::PReluOp>(user) && isConstant(user->getOperand(1)));
    return fuses && isNamed(user->getResult(0)) && !isSkipped(user) ? user : nullptr;
  }

  void findStored() {
    stored = needed;
    for (Operation &op : body) {
      // A layer that stays float is computed together with its activation, too.
      const bool makes = layers.contains(&op) || skipped.contains(&op) ||
                         (light.contains(&op) && isa<graph::AddOp>(op));
      if (!makes)
        continue;
      Value result = op.getResult(0);
      Operation *activation = fusedActivation(result);
      if (activation)
        for (Operation *user : result.getUsers()) {
          stored.erase(result);
          if (user != activation)
            stored.erase(user->getResult(0)); // the sigmoid of a silu
        }
      const Value last = activation ? activation->getResult(0) : result;
      if (needed.contains(last) || (config.quantizeOutputs && !skipped.contains(&op)))
        stored.insert(last);
    }
    // Nor is what is only multiplied by constants, such as those that balance channels.
    for (Operation *op : light)
      if (isa<graph::MulOp>(op) && (isConstant(op->getOperand(0)) || isConstant(op->getOperand(1))))
        for (Value operand : op->getOperands())
          if (operand.hasOneUse() && operand.getDefiningOp())
            stored.erase(operand);
  }

  void addTensor(Value value, Plan &plan) {
    if (!stored.contains(value))
      return;
    PlannedTensor tensor;
    tensor.value = value;
    tensor.name = tensorNameOf(value);
    tensor.group = plan.tensors.size();
    tensor.config = config.common;
    Operation *op = value.getDefiningOp();
    if (op && keepsNumbers(op))
      if (auto source = indices.find(op->getOperand(0)); source != indices.end())
        tensor.group = plan.tensors[source->second].group;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (layers.contains(user) && use.getOperandNumber() == 0)
        tensor.config = config.of(nodeNameOf(user), typeOf(user).str());
      else if (const LayerConfig *own = config.ofInput(nodeNameOf(user), use.getOperandNumber()))
        tensor.config = *own;
    }
    indices[value] = plan.tensors.size();
    plan.tensors.push_back(std::move(tensor));
  }

  Plan write() {
    Plan plan;
    for (BlockArgument argument : body.getArguments())
      addTensor(argument, plan);
    for (Operation &op : body) {
      for (Value result : op.getResults())
        addTensor(result, plan);
      if (!layers.contains(&op))
        continue;
      PlannedLayer layer;
      layer.op = &op;
      layer.node = nodeNameOf(&op);
      layer.type = typeOf(&op).str();
      layer.input = indices.lookup(op.getOperand(0));
      layer.config = config.of(layer.node, layer.type);
      layer.axis = isa<graph::MatMulOp, graph::ConvTransposeOp>(op) ? 1 : 0;
      if (auto conv = dyn_cast<graph::ConvOp>(op))
        layer.groups = conv.getGroups();
      else if (auto conv = dyn_cast<graph::ConvTransposeOp>(op))
        layer.groups = conv.getGroups();
      plan.layers.push_back(std::move(layer));
    }
    return plan;
  }

  Block &body;
  const QuantConfig &config;
  llvm::function_ref<bool(StringRef)> isKnown;
  llvm::DenseSet<Operation *> layers, skipped, light;
  llvm::DenseSet<Value> needed, stored;
  llvm::DenseMap<Value, size_t> indices;
};

NameLoc nameLocOf(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    return nameLocOf(fused.getLocations().back());
  return dyn_cast<NameLoc>(loc);
}

} // namespace

Value PlannedLayer::bias() const {
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    return conv.getBias();
  if (auto conv = dyn_cast<graph::ConvTransposeOp>(op))
    return conv.getBias();
  if (auto linear = dyn_cast<graph::FullyConnectedOp>(op))
    return linear.getBias();
  return {};
}

std::string tensorNameOf(Value value) {
  if (NameLoc name = nameLocOf(value.getLoc()))
    return name.getName().str();
  return "";
}

std::string nodeNameOf(Operation *op) {
  NameLoc name = nameLocOf(op->getLoc());
  if (!name)
    return "";
  auto node = dyn_cast<NameLoc>(name.getChildLoc());
  return (node && !node.getName().empty() ? node : name).getName().str();
}

Plan makePlan(ModuleOp module, const QuantConfig &config,
              llvm::function_ref<bool(StringRef)> isKnown) {
  func::FuncOp main = om::findMain(module);
  if (!main || !main.getBody().hasOneBlock())
    return {};
  return Planner(main, config, isKnown).run();
}

} // namespace atc::quantize
