//===-- FoldLimits.cpp - what is too much work at compile time ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/FoldLimits.h"

using namespace mlir;

int64_t atc::graph::maxFoldedElements(StringRef kernel, int64_t max) {
  constexpr int64_t few = 1 << 13;
  static constexpr StringLiteral slow[] = {"Attention",
                                           "AveragePool",
                                           "Conv",
                                           "ConvInteger",
                                           "ConvTranspose",
                                           "DeformConv",
                                           "EditDistance",
                                           "Einsum",
                                           "FusedConv",
                                           "GroupQueryAttention",
                                           "LRN",
                                           "LinearAttention",
                                           "LpPool",
                                           "MaxPool",
                                           "MaxRoiPool",
                                           "MsAttention",
                                           "MultiHeadAttention",
                                           "NonMaxSuppression",
                                           "QAttention",
                                           "QLinearAveragePool",
                                           "QLinearConv",
                                           "RoiAlign",
                                           "STFT",
                                           "TfIdfVectorizer"};
  return llvm::is_contained(slow, kernel) ? std::min(max, few) : max;
}
