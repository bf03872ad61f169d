//===-- VectorOps.cpp - names and operands of the vector operations -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "npu/isa/Isa.h"

namespace atc::npu {

namespace {
struct Row {
  const char *name;
  VectorOperands operands;
};
constexpr Row rows[] = {
#define NPU_VECTOR_OP(Name, mnemonic, a, b, mask, meaning) {mnemonic, {a != 0, b != 0, mask != 0}},
#include "npu/isa/VectorOps.def"
};
} // namespace

const char *nameOf(VectorOp op) {
  return unsigned(op) < kVectorOps ? rows[unsigned(op)].name : "?";
}

VectorOperands operandsOf(VectorOp op) { return rows[unsigned(op)].operands; }

std::optional<VectorOp> findVectorOp(std::string_view name) {
  for (unsigned i = 0; i < kVectorOps; ++i)
    if (name == rows[i].name)
      return VectorOp(i);
  return std::nullopt;
}

} // namespace atc::npu
