//===-- ExpandRoundingTest.cpp - rounding without instructions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of constants: what folds their arithmetic is the reference of LLVM's own.

#include "backends/cpu/ExpandRounding.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace llvm;

namespace {

/// Returns what `id` of `x` is after the expansion, for vectors in each lane.
template <typename Float> Float expanded(Intrinsic::ID id, Float x, unsigned lanes) {
  LLVMContext context;
  Module module("test", context);
  IRBuilder<> builder(context);
  Type *type = sizeof(Float) == 4 ? builder.getFloatTy() : builder.getDoubleTy();
  if (lanes > 1)
    type = FixedVectorType::get(type, lanes);
  auto *function = Function::Create(FunctionType::get(type, {type}, false),
                                    Function::ExternalLinkage, "round", module);
  builder.SetInsertPoint(BasicBlock::Create(context, "", function));
  builder.CreateRet(builder.CreateUnaryIntrinsic(id, function->getArg(0)));
  atc::cpu::expandRounding(module);
  REQUIRE_FALSE(verifyModule(module));
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
      REQUIRE((call->getIntrinsicID() == Intrinsic::fabs ||
               call->getIntrinsicID() == Intrinsic::copysign));

  function->getArg(0)->replaceAllUsesWith(ConstantFP::get(type, double(x)));
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (!instruction.isTerminator()) {
      Constant *folded = ConstantFoldInstruction(&instruction, module.getDataLayout());
      REQUIRE(folded);
      instruction.replaceAllUsesWith(folded);
    }
  auto *result =
      cast<Constant>(cast<ReturnInst>(function->getEntryBlock().getTerminator())->getReturnValue());
  if (lanes > 1) {
    result = result->getSplatValue();
    REQUIRE(result);
  }
  const APFloat &value = cast<ConstantFP>(result)->getValueAPF();
  return sizeof(Float) == 4 ? Float(value.convertToFloat()) : Float(value.convertToDouble());
}

template <typename Float> void check(unsigned lanes) {
  const struct {
    Intrinsic::ID id;
    Float (*round)(Float);
  } rows[] = {{Intrinsic::floor, std::floor},        {Intrinsic::ceil, std::ceil},
              {Intrinsic::trunc, std::trunc},        {Intrinsic::round, std::round},
              {Intrinsic::rint, std::nearbyint},     {Intrinsic::nearbyint, std::nearbyint},
              {Intrinsic::roundeven, std::nearbyint}};
  const Float limit = std::ldexp(Float(1), sizeof(Float) == 4 ? 23 : 52);
  const Float half = std::nextafter(Float(0.5), Float(0));
  for (const auto &row : rows)
    for (Float size : {Float(0), half, Float(0.5), Float(0.75), Float(1), Float(1.5), Float(2.5),
                       Float(1e-30), Float(3.4999998), limit - Float(0.5), limit - 1, limit,
                       limit + 1, 2 * limit + 2, Float(1e30), Float(INFINITY)})
      for (Float x : {size, -size}) {
        const Float wanted = row.round(x), found = expanded(row.id, x, lanes);
        INFO(Intrinsic::getBaseName(row.id).str() << " of " << x);
        CHECK(found == wanted);
        CHECK(std::signbit(found) == std::signbit(wanted));
      }
  for (const auto &row : rows)
    CHECK(std::isnan(expanded(row.id, Float(NAN), lanes)));
}

} // namespace

TEST_CASE("roundings of f32 and f64 become arithmetic with the same results") {
  const unsigned lanes = GENERATE(1u, 4u);
  check<float>(lanes);
  check<double>(lanes);
}
