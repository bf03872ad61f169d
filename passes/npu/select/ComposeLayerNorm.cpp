//===-- ComposeLayerNorm.cpp - recognizes decomposed layer norms -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops are already fused into maps, in various ways. So the formula is matched across
// them: a value in a map's body that is read from a buffer is the value that the map writing this
// buffer yields.

#include "dialects/npu/Npu.h"
#include "passes/Remarks.h"
#include "passes/graph/Float32Nodes.h"
#include "passes/kernel/LowerGraph.h"
#include "passes/npu/Passes.h"
#include "passes/npu/contraction/PackNpuWeights.h"
#include "passes/npu/program/ProgramWriter.h"
#include "passes/npu/select/BufferViews.h"
#include "passes/npu/select/Partition.h"
#include "passes/om/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace atc::npu {
#define GEN_PASS_DEF_NPUCOMPOSELAYERNORM
#include "passes/npu/Passes.h.inc"

namespace {

MemRefType typeOf(Value buffer) { return cast<MemRefType>(buffer.getType()); }
Value rootOf(Value buffer) { return om::resolveViews(buffer).root; }

/// The buffer that a value of a map's body is an element of, or null.
Value bufferOfElement(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto map = argument ? dyn_cast<kernel::MapOp>(argument.getOwner()->getParentOp()) : nullptr;
  return map ? Value(map.getInputs()[argument.getArgNumber()]) : Value();
}

class Formula {
public:
  explicit Formula(kernel::MapOp map) : map(map) {}

  /// x, gamma, beta and epsilon such that the map writes the layer norm of x.
  bool match() {
    Value result = unconverted(map.getBody().front().getTerminator()->getOperand(0));
    if (auto add = result.getDefiningOp<arith::AddFOp>())
      for (auto [product, other] :
           {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())})
        if (std::optional<Value> vector = vectorOf(other); vector && matchProduct(product)) {
          beta = *vector;
          return true;
        }
    return matchProduct(result);
  }

  Value x, gamma, beta;
  double epsilon = 0;

private:
  /// Returns the value that an element was computed from, looking through conversions and maps.
  static Value unconverted(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }
  static Operation *writerOf(Value buffer) {
    Operation *writer = nullptr;
    for (OpOperand *use : usesOf(rootOf(buffer))) {
      Operation *op = use->getOwner();
      if (use->getOperandNumber() + 1 != op->getNumOperands())
        continue;
      if (writer)
        return nullptr;
      writer = op;
    }
    return writer;
  }
  static Value computed(Value value) {
    for (value = unconverted(value); Value buffer = bufferOfElement(value);) {
      auto writer = dyn_cast_or_null<kernel::MapOp>(writerOf(buffer));
      if (!writer || !isWhole(storageOf(buffer)) || !isWhole(storageOf(writer.getOutput())))
        break;
      value = unconverted(writer.getBody().front().getTerminator()->getOperand(0));
    }
    return value;
  }

  static std::optional<double> numberOf(Value value) {
    auto constant = unconverted(value).getDefiningOp<arith::ConstantOp>();
    auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : nullptr;
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  }

  int64_t columns() { return typeOf(map.getOutput()).getShape().back(); }

  /// Returns a weight with one value per column.
  std::optional<Value> vectorOf(Value value) {
    Value buffer = bufferOfElement(unconverted(value));
    if (!buffer || !rootOf(buffer).getDefiningOp<om::WeightOp>() || !isWhole(storageOf(buffer)))
      return std::nullopt;
    MemRefType type = typeOf(buffer);
    if (type.getShape().back() != columns() || type.getNumElements() != columns())
      return std::nullopt;
    return rootOf(buffer);
  }

  /// (x - mean(x)) * gamma / sqrt(variance + epsilon), in any order.
  bool matchProduct(Value value) {
    centered = deviation = Value();
    gamma = Value();
    return collect(value, /*inverse=*/false) && centered && deviation;
  }

  bool collect(Value value, bool inverse) {
    if (!inverse)
      if (std::optional<Value> vector = vectorOf(value)) {
        if (gamma)
          return false;
        gamma = *vector;
        return true;
      }
    value = computed(value);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp>(op))
      return collect(op->getOperand(0), inverse) && collect(op->getOperand(1), inverse);
    if (isa_and_nonnull<arith::DivFOp>(op))
      return collect(op->getOperand(0), inverse) && collect(op->getOperand(1), !inverse);
    if (numberOf(value) == 1.0)
      return true;
    if (isa_and_nonnull<math::SqrtOp>(op) ? inverse
                                          : isa_and_nonnull<math::RsqrtOp>(op) && !inverse)
      return !deviation && matchVariance(op->getOperand(0)) && (deviation = value);
    return !inverse && !centered && matchCentered(value) && (centered = value);
  }

  /// x - mean(x); all of them must be of the same x.
  bool matchCentered(Value value) {
    auto sub = computed(value).getDefiningOp<arith::SubFOp>();
    Value source = sub ? meanOf(sub.getRhs()) : Value();
    if (!source || (x && rootOf(x) != rootOf(source)) || !isElementOf(sub.getLhs(), source))
      return false;
    x = source;
    return true;
  }

  bool matchVariance(Value value) {
    auto add = computed(value).getDefiningOp<arith::AddFOp>();
    if (!add)
      return false;
    for (auto [variance, number] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      std::optional<double> small = numberOf(number);
      Value squares = small ? meanOf(variance) : Value();
      auto square = squares ? dyn_cast_or_null<kernel::MapOp>(writerOf(squares)) : nullptr;
      if (!square)
        continue;
      auto product = unconverted(square.getBody().front().getTerminator()->getOperand(0))
                         .getDefiningOp<arith::MulFOp>();
      if (product && matchCentered(product.getLhs()) && matchCentered(product.getRhs())) {
        epsilon = *small;
        return true;
      }
    }
    return false;
  }

  /// The buffer whose rows' means the value is one of.
  Value meanOf(Value value) {
    Value buffer = bufferOfElement(computed(value));
    auto reduce = buffer ? dyn_cast_or_null<kernel::ReduceOp>(writerOf(buffer)) : nullptr;
    if (!reduce || reduce.getKind() != graph::ReduceKind::Mean)
      return {};
    MemRefType type = typeOf(reduce.getInput());
    bool rows = reduce.getAxes() == ArrayRef<int64_t>{type.getRank() - 1} &&
                type.getShape() == typeOf(map.getOutput()).getShape();
    return rows && isWhole(storageOf(reduce.getInput())) ? reduce.getInput() : Value();
  }

  /// Returns whether the value is the element of `buffer` at the same position.
  static bool isElementOf(Value value, Value buffer) {
    for (value = unconverted(value); Value from = bufferOfElement(value);) {
      if (rootOf(from) == rootOf(buffer))
        return typeOf(from).getNumElements() == typeOf(buffer).getNumElements();
      auto writer = dyn_cast_or_null<kernel::MapOp>(writerOf(from));
      if (!writer)
        return false;
      value = unconverted(writer.getBody().front().getTerminator()->getOperand(0));
    }
    return false;
  }

  kernel::MapOp map;
  Value centered, deviation;
};

struct ComposeLayerNormPass : impl::NpuComposeLayerNormBase<ComposeLayerNormPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SocTable soc = socOf(main);
    SmallVector<kernel::MapOp> maps(main.getOps<kernel::MapOp>());
    const graph::HostNodes hostNodes(main);
    bool any = false;
    for (kernel::MapOp map : maps)
      any |= !hostNodes.contains(map) && compose(map, soc);
    if (any)
      eraseUnread(main);
  }

private:
  bool compose(kernel::MapOp map, const SocTable &soc) {
    Formula formula(map);
    MemRefType type = typeOf(map.getOutput());
    if (type.getRank() < 1 || !formula.match())
      return false;
    SmallVector<int64_t> shape{type.getNumElements() / type.getShape().back(),
                               type.getShape().back()};
    std::optional<kernel::Storage> input = storageOf(formula.x).reshaped(shape),
                                   output = storageOf(map.getOutput()).reshaped(shape);
    if (!input || !output)
      return false;
    OpBuilder builder(map);
    Location location = map.getLoc();
    auto parameter = [&](Value weight) -> FailureOr<Value> {
      if (!weight)
        return Value();
      FailureOr<ElementsAttr> wide = padChannels(weight.getDefiningOp<om::WeightOp>().getValue(),
                                                 shape[1], builder.getF32Type());
      if (failed(wide))
        return failure();
      auto buffer = MemRefType::get(shape[1], builder.getF32Type());
      return om::WeightOp::create(builder, location, buffer, *wide).getResult();
    };
    FailureOr<Value> gamma = parameter(formula.gamma), beta = parameter(formula.beta);
    if (failed(gamma) || failed(beta))
      return false;
    auto norm = ir::LayerNormOp::create(builder, location, bufferOf(builder, location, *input),
                                        *gamma, *beta, bufferOf(builder, location, *output),
                                        APFloat(formula.epsilon));
    if (std::string reason = whyNotOnNpu(norm, soc); !reason.empty()) {
      remarkMissed(getArgument(), location, "NotComposed")
          << remark::add("the layer norm stays several kernels: {0}", reason);
      norm.erase();
      return false;
    }
    if (Attribute tensor = map->getAttr(kernel::kTensorAttr))
      norm->setAttr(kernel::kTensorAttr, tensor);
    map.erase();
    remarkPassed(getArgument(), location, "Composed") << "means and maps become one layer norm";
    ++numComposed;
    return true;
  }

  /// Means and variances that nothing reads any more.
  static void eraseUnread(func::FuncOp main) {
    SmallVector<Operation *> ops;
    for (Operation &op : main.getOps())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops)) {
      if (isa<om::ViewOp, om::AllocOp, om::WeightOp>(op) && op->use_empty()) {
        op->erase();
        continue;
      }
      auto kernelOp = dyn_cast<kernel::KernelOpInterface>(op);
      if (!kernelOp)
        continue;
      Value root = rootOf(kernelOp.output());
      auto isWrite = [](OpOperand *use) {
        return use->getOperandNumber() + 1 == use->getOwner()->getNumOperands();
      };
      if (root.getDefiningOp<om::AllocOp>() && llvm::all_of(usesOf(root), isWrite))
        op->erase();
    }
  }
};
} // namespace
} // namespace atc::npu
