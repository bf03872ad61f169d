//===-- HostContracts.cpp - what kernels require of the types of inputs --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/HostContracts.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace atc::graph {

namespace {

/// Returns a mask of the host::Kinds that values of the type can have.
uint8_t kindsOf(Type type) {
  auto bit = [](host::Kind kind) { return uint8_t(1 << uint8_t(kind)); };
  if (isa<SequenceType>(type))
    return bit(host::Kind::Sequence);
  if (isa<MapType>(type))
    return bit(host::Kind::Map);
  if (auto optional = dyn_cast<OptionalType>(type))
    return bit(host::Kind::None) | kindsOf(optional.getItem());
  return bit(host::Kind::Tensor);
}

/// Returns whether a tensor of this rank can have one of the operand's forms.
bool canHaveRank(const kernels::Contract &contract, const kernels::Contract::Operand &operand,
                 int64_t rank) {
  for (unsigned i = 0; i < operand.forms; ++i) {
    const kernels::Contract::Form &form = contract.forms[operand.firstForm + i];
    const bool isOpen = form.rest != kernels::Contract::kNone;
    if (form.isCount || (isOpen ? rank >= form.dims : rank == form.dims))
      return true;
  }
  return operand.forms == 0;
}

} // namespace

bool hasTakenKinds(const HostCall &call, const kernels::native::Row &row, std::string &error) {
  const kernels::Contract &contract = *row.contract;
  for (auto [i, input] : llvm::enumerate(call.inputs)) {
    const kernels::Contract::Operand *operand = contract.operandOf(i);
    const uint8_t taken = operand ? operand->kinds : kernels::Contract::kTensor;
    if (!input || (taken & kindsOf(input.getType())))
      continue;
    std::string given;
    llvm::raw_string_ostream(given) << input.getType();
    error = "has a value of type " + given + " as input " + std::to_string(i) + ", expected " +
            (taken & kernels::Contract::kTensor ? "a tensor" : "a sequence or map");
    return false;
  }
  return true;
}

bool hasTakenRanks(const HostCall &call, const kernels::native::Row &row, std::string &error) {
  for (auto [i, input] : llvm::enumerate(call.inputs)) {
    auto type = input ? dyn_cast<RankedTensorType>(input.getType()) : RankedTensorType();
    const kernels::Contract::Operand *operand = row.contract->operandOf(i);
    if (!type || !operand || canHaveRank(*row.contract, *operand, type.getRank()))
      continue;
    error = ("has rank " + Twine(type.getRank()) + " in input " + Twine(i) + ", expected " +
             StringRef(row.inputs).slice(operand->textBegin, operand->textEnd))
                .str();
    return false;
  }
  return true;
}

} // namespace atc::graph
