//===-- DeepHash.cpp - hashes of ops with their bodies --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/graph/DeepHash.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace atc::graph {

llvm::hash_code deepHash(Operation *op, llvm::function_ref<llvm::hash_code(Value)> hashOutside) {
  auto hashOp = [](Operation *op, llvm::function_ref<llvm::hash_code(Value)> hashOperand) {
    return OperationEquivalence::computeHash(op, hashOperand, OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  };
  if (op->getNumRegions() == 0)
    return hashOp(op, hashOutside);
  // Values defined inside are hashed by their index.
  DenseMap<Value, unsigned> numbers;
  auto number = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  auto hashOperand = [&](Value value) {
    auto known = numbers.find(value);
    return known == numbers.end() ? hashOutside(value) : llvm::hash_value(known->second);
  };
  llvm::hash_code hash(0);
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    hash = llvm::hash_combine(hash, hashOp(inner, hashOperand));
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        number(block.getArguments());
    if (inner != op)
      number(inner->getResults());
  });
  return hash;
}

} // namespace atc::graph
