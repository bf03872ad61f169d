//===-- VectorCode.cpp - scalar code as vector instructions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/VectorCode.h"

#include "passes/npu/vector/VectorPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::npu {

namespace {

int64_t bytesOfType(Type type) { return type.getIntOrFloatBitWidth() / 8; }

class Emitter {
public:
  Emitter(ProgramWriter &writer, const VectorPlan &plan, ArrayRef<VectorOperand> inputs,
          const VectorOperand &output, const VectorShape &shape)
      : w(writer), plan(plan), inputs(inputs), output(output), shape(shape) {
    // Temporaries are dense but for whole blocks of 32 bytes.
    int64_t bytes = bytesOfType(plan.computeType());
    dense.inner = llvm::alignTo(shape.lanes.length, 16) * bytes;
    dense.outer = dense.inner * shape.inner.length;
    total = dense.outer * shape.outer.length;
  }

  void emit() {
    if (plan.isCast())
      return emitCast();
    for (unsigned i = 0; i < plan.slots(); ++i)
      slots.push_back(w.alloc(ir::MemoryKind::UB, total));
    for (auto [index, step] : llvm::enumerate(plan.steps()))
      if (step.used && step.kind == VectorPlan::Kind::Op)
        emitStep(index, step);
    if (plan.computeType() != plan.resultType())
      instruction(plan.storeScale() == 1 ? VectorOp::Cast : VectorOp::CastScaled, output.source(),
                  sourceOf(plan.result()), {}, {}, plan.computeType(), plan.resultType(),
                  plan.storeScale());
  }

private:
  void instruction(VectorOp op, const VectorSource &dst, std::optional<VectorSource> a,
                   std::optional<VectorSource> b, std::optional<VectorSource> mask, Type type,
                   Type dstType, double scalar = 0) {
    w.vector(op, dst.address, dst.steps, a, b, mask, shape.outer, shape.inner, shape.lanes, type,
             dstType, scalar, dst.block);
  }

  void emitCast() {
    const VectorPlan::Step &step = plan.steps()[plan.result()];
    Type from = typeInUb(step.input);
    Type to = plan.resultType();
    // Elements of 64 bits can only be cast.
    instruction(from == to && !to.isInteger(64) ? VectorOp::Copy : VectorOp::Cast, output.source(),
                inputs[step.input].source(), {}, {}, from, to);
  }

  /// Returns the type in which an input lies in ub: that of the model, or f16 for repeated bools.
  Type typeInUb(unsigned input) const {
    return inputs[input].type.isF16() ? inputs[input].type : plan.inputType(input);
  }

  VectorSource sourceOf(int index) {
    const VectorPlan::Step &step = plan.steps()[index];
    switch (step.kind) {
    case VectorPlan::Kind::Input:
      return inputs[step.input].source();
    case VectorPlan::Kind::Constant:
      return {constantBlock(step.scalar), {}, 0};
    case VectorPlan::Kind::Op:
      break;
    }
    int slot = plan.slotOf(index);
    return slot < 0 ? output.source() : VectorSource{slots[slot], dense, 32};
  }

  /// Returns a block filled with a constant, for instructions without a scalar operand.
  Value constantBlock(double value) {
    for (auto [known, buffer] : constants)
      if (known == value)
        return buffer;
    Type type = plan.computeType();
    Value buffer = w.alloc(ir::MemoryKind::UB, 32);
    w.vector(VectorOp::Fill, buffer, {}, {}, {}, {}, {}, {}, Span{32 / bytesOfType(type), {}}, type,
             type, value);
    constants.push_back({value, buffer});
    return buffer;
  }

  void emitStep(int index, const VectorPlan::Step &step) {
    auto operand = [&](int from) -> std::optional<VectorSource> {
      return from < 0 ? std::nullopt : std::optional(sourceOf(from));
    };
    Type type = plan.computeType();
    if (isCast(step.op))
      type = typeInUb(plan.steps()[step.a].input);
    instruction(step.op, sourceOf(index), operand(step.a), operand(step.b), operand(step.mask),
                type, plan.computeType(), step.scalar);
  }

  ProgramWriter &w;
  const VectorPlan &plan;
  ArrayRef<VectorOperand> inputs;
  const VectorOperand &output;
  const VectorShape &shape;
  Steps dense;
  int64_t total;
  SmallVector<Value> slots;
  SmallVector<std::pair<double, Value>> constants;
};

} // namespace

std::string whyUnsupportedScalarCode(Block &body) {
  std::string errorText = VectorPlan(body).errorText();
  return errorText.empty() ? errorText : "the vector unit has nothing for " + errorText;
}

SmallVector<bool> readInputs(Block &body) {
  SmallVector<bool> read(body.getNumArguments(), false);
  const VectorPlan plan(body);
  for (const VectorPlan::Step &step : plan.steps())
    if (step.used && step.kind == VectorPlan::Kind::Input)
      read[step.input] = true;
  return read;
}

int64_t scratchBytes(Block &body, int64_t elements) {
  VectorPlan plan(body);
  if (plan.isCast())
    return 0;
  int64_t constants = 0;
  for (const VectorPlan::Step &step : plan.steps())
    constants += step.used && step.kind == VectorPlan::Kind::Constant;
  return plan.slots() * elements * bytesOfType(plan.computeType()) + 32 * constants;
}

double vectorCyclesPerElement(Block &body) {
  VectorPlan plan(body);
  double cycles = 0;
  for (const VectorPlan::Step &step : plan.steps()) {
    if (!step.used || step.kind != VectorPlan::Kind::Op)
      continue;
    bool isSlow = step.op == VectorOp::Exp || step.op == VectorOp::Ln ||
                  step.op == VectorOp::Sqrt || step.op == VectorOp::Div;
    cycles += isSlow ? 2 : 1;
  }
  return (cycles + 1) * double(bytesOfType(plan.computeType())) / 256;
}

void emitScalarCode(ProgramWriter &writer, Block &body, ArrayRef<VectorOperand> inputs,
                    const VectorOperand &output, const VectorShape &shape) {
  Emitter(writer, VectorPlan(body), inputs, output, shape).emit();
}

} // namespace atc::npu
