//===-- ExpandRounding.cpp - rounding to integers by arithmetic -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "backends/cpu/ExpandRounding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace atc::cpu {

namespace {

/// Builds the roundings of one value.
class Rounding {
public:
  Rounding(IRBuilder<> &builder, Value *x)
      : b(builder), x(x), type(x->getType()), size(b.CreateUnaryIntrinsic(Intrinsic::fabs, x)) {}

  /// Returns null for an intrinsic that does not round.
  Value *build(Intrinsic::ID id) {
    switch (id) {
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::roundeven:
      return withSign(nearest());
    case Intrinsic::floor:
      return withSign(below(withSign(nearest()), x));
    case Intrinsic::ceil: {
      Value *near = withSign(nearest());
      Value *more = b.CreateFAdd(near, number(1));
      return withSign(b.CreateSelect(b.CreateFCmpOLT(near, x), more, near));
    }
    case Intrinsic::trunc:
      return withSign(below(nearest(), size));
    case Intrinsic::round: {
      // The distance from the truncated value is exact.
      Value *whole = below(nearest(), size);
      Value *isUp = b.CreateFCmpOGE(b.CreateFSub(size, whole), number(0.5));
      return withSign(b.CreateSelect(isUp, b.CreateFAdd(whole, number(1)), whole));
    }
    default:
      return nullptr;
    }
  }

private:
  Value *number(double value) { return ConstantFP::get(type, value); }
  /// Returns the magnitude of x rounded half to even: a sum with 2^23 (2^52) has no place for a
  /// fraction. What is not smaller has none, and NaN stays.
  Value *nearest() {
    Value *limit = number(type->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52);
    Value *rounded = b.CreateFSub(b.CreateFAdd(size, limit), limit);
    return b.CreateSelect(b.CreateFCmpOLT(size, limit), rounded, size);
  }
  /// Returns `rounded`, or where it is more than `value` the next lower integer.
  Value *below(Value *rounded, Value *value) {
    return b.CreateSelect(b.CreateFCmpOGT(rounded, value), b.CreateFSub(rounded, number(1)),
                          rounded);
  }
  Value *withSign(Value *value) { return b.CreateBinaryIntrinsic(Intrinsic::copysign, value, x); }

  IRBuilder<> &b;
  Value *x;
  Type *type;
  Value *size;
};

} // namespace

void expandRounding(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call ||
          !is_contained({Intrinsic::rint, Intrinsic::nearbyint, Intrinsic::roundeven,
                         Intrinsic::floor, Intrinsic::ceil, Intrinsic::trunc, Intrinsic::round},
                        call->getIntrinsicID()))
        continue;
      Type *scalar = call->getType()->getScalarType();
      if (!scalar->isFloatTy() && !scalar->isDoubleTy())
        continue;
      IRBuilder<> builder(call);
      call->replaceAllUsesWith(
          Rounding(builder, call->getArgOperand(0)).build(call->getIntrinsicID()));
      call->eraseFromParent();
    }
}

} // namespace atc::cpu
