//===-- OpTable.cpp - the operators that have importers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

namespace atc::tflite {

using Family = llvm::ArrayRef<OpRow> (*)();

static constexpr Family families[] = {cellOps,        complexOps,  controlOps, detectionOps,
                                      elementwiseOps, gatherOps,   moveOps,    normOps,
                                      recurrentOps,   reduceOps,   scatterOps, sliceOps,
                                      stableHloOps,   variableOps, windowOps};

const OpRow *findOp(fb::BuiltinOperator code, llvm::StringRef name) {
  for (Family family : families)
    for (const OpRow &row : family())
      if (code == row.code && (!row.customName || name == row.customName))
        return &row;
  return nullptr;
}

bool takesComplex(fb::BuiltinOperator code) {
  using enum fb::BuiltinOperator;
  return code == COMPLEX_ABS || code == EXPAND_DIMS || code == IMAG || code == REAL ||
         code == RESHAPE || code == SQUEEZE;
}

std::string whyNoImporter(fb::BuiltinOperator code, llvm::StringRef name) {
  using enum fb::BuiltinOperator;
  switch (code) {
  case CUSTOM:
    return name.starts_with("Flex") ? "an operator of TensorFlow: compile the model that the file "
                                      "was made of, with --framework=3"
                                    : "an operator of its own";
  case HASHTABLE:
  case HASHTABLE_FIND:
  case HASHTABLE_IMPORT:
  case HASHTABLE_SIZE:
    return "looks up words";
  case RANDOM_STANDARD_NORMAL:
  case RANDOM_UNIFORM:
  case MULTINOMIAL:
  case STABLEHLO_RNG_BIT_GENERATOR:
    return "draws random numbers";
  default:
    return name.starts_with("STABLEHLO_") ? "convert the model to operators of TensorFlow Lite"
                                          : "";
  }
}

} // namespace atc::tflite
