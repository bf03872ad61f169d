//===-- Contracts.h - the contracts of all kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_CONTRACTS_H
#define OPENATC_KERNELS_CORE_CONTRACTS_H

#include "kernels/core/Contract.h"

namespace atc::kernels {

#define KERNEL(Name, Attributes, Results, Inputs)                                                  \
  struct Name##Entries {                                                                           \
    static constexpr char text[] = Inputs;                                                         \
  };
#include "kernels/Kernels.def"

#define SIGNATURE(Name, Domain, Since, Required, Max, Types, Attributes, Unread)                   \
  struct Name##Signature {                                                                         \
    static constexpr char types[] = Types;                                                         \
    static constexpr uint32_t required = Required, maxInputs = Max;                                \
  };
#include "kernels/Signatures.def"

/// Defines what Signatures.def defines for ONNX operators, for kernels that are none: steps of
/// operators or of preprocessing, and operators of TensorFlow.
#define OWN_SIGNATURE(Name, Types, Required, Max)                                                  \
  struct Name##Signature {                                                                         \
    static constexpr char types[] = Types;                                                         \
    static constexpr uint32_t required = Required, maxInputs = Max;                                \
  };
OWN_SIGNATURE(Aipp, "A=2 A", 0x3, 2)
OWN_SIGNATURE(Base64, "A=8", 0x1, 1)
OWN_SIGNATURE(BesselI, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(BesselJ, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(BesselK, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(BesselY, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(Betainc, "A=1,10,11,16 A A", 0x7, 3)
OWN_SIGNATURE(BlockChannels, "A=1,2,3", 0x1, 1)
OWN_SIGNATURE(BlockedConv, "A=1 A A A A A A A A A A", 0x3, 11)
OWN_SIGNATURE(BlockedDepthwiseConv, "A=1 A A A", 0x3, 4)
OWN_SIGNATURE(BlockedQLinearConv, "A=2,3 B=3 C=6 D=1 A E=2,3", 0x3f, 6)
OWN_SIGNATURE(BlockedQLinearDepthwiseConv, "A=2,3 B=3 C=6 D=1 A E=2,3", 0x3f, 6)
OWN_SIGNATURE(ByteTable, "A=2,3 B=2,3", 0x3, 2)
OWN_SIGNATURE(CharactersText, "A=6 B=7", 0x3, 2)
OWN_SIGNATURE(Cholesky, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(CrossHash, "A=7 A A B=7,8", 0xf, 4)
OWN_SIGNATURE(CsvFields, "A=8", 0x1, 1)
OWN_SIGNATURE(CsvValues, "A=8 B=1,6,7,8,11", 0x3, 2)
OWN_SIGNATURE(CtcBeams, "A=1,11 B=6", 0x3, 2)
OWN_SIGNATURE(CumLogSumExp, "A=1,10,11,16 B=6,7", 0x3, 2)
OWN_SIGNATURE(Dawsn, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(Digamma, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(EditDistance, "A=7 B=7,8 A B A", 0x1f, 5)
OWN_SIGNATURE(Erfinv, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(ExampleFeature, "A=8 B=1,7,8", 0x1, 2)
OWN_SIGNATURE(Expint, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(FormatNumber, "A=1,2,3,4,5,6,7,10,11,12,13,16", 0x1, 1)
OWN_SIGNATURE(Fresnel, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(Igamma, "A=1,10,11,16 A", 0x3, 2)
OWN_SIGNATURE(Igammac, "A=1,10,11,16 A", 0x3, 2)
OWN_SIGNATURE(KvAttention, "A=1 A A B=1,9 C=1,10,16 C", 0x7, 6)
OWN_SIGNATURE(Lgamma, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(Lu, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(Map, "*", 0x1, 8)
OWN_SIGNATURE(MatrixSquareRoot, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(MatrixSolve, "A=1,10,11,16 A", 0x3, 2)
OWN_SIGNATURE(MurmurHash, "A=1,6,7,8,11,12,13", 0x1, 1)
OWN_SIGNATURE(Ndtri, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(OverlapSuppression, "A=1 A B=7 A A", 0x1f, 5)
OWN_SIGNATURE(PackVectors, "", 0x0, 0)
OWN_SIGNATURE(PackedMatMul, "A=1,10,16 B=1,10,16 A", 0x3, 3)
OWN_SIGNATURE(PackTrees, "", 0x0, 0)
OWN_SIGNATURE(PhiloxKey, "A=6,7", 0x1, 1)
OWN_SIGNATURE(PhiloxRandom, "A=7 B=13 B C=6,7,12,13 C", 0x7, 5)
OWN_SIGNATURE(Polygamma, "A=1,10,11,16 A", 0x3, 2)
OWN_SIGNATURE(Qr, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(RaggedToDense, "A=1,2,3,4,5,6,7,8,9,10,11,12,13,16 A B=7 B B", 0x1f, 5)
OWN_SIGNATURE(RegexReplace, "A=8", 0x1, 1)
OWN_SIGNATURE(Require, "* A=9", 0x3, 2)
OWN_SIGNATURE(RotateHalf, "A=1 A A", 0x7, 3)
OWN_SIGNATURE(SegmentJoin, "A=8 B=7 B", 0x7, 3)
OWN_SIGNATURE(SequenceResize, "* A=6,7", 0x3, 2)
OWN_SIGNATURE(SequenceSet, "* * A=6,7", 0x7, 3)
OWN_SIGNATURE(SetOperation, "A=7 B=7,8 A B", 0xf, 4)
OWN_SIGNATURE(SoftSuppression, "A=1 A B=7 A A", 0x1f, 5)
OWN_SIGNATURE(Spence, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(Stack, "*", 0x1, 1)
OWN_SIGNATURE(StringCase, "A=8", 0x1, 1)
OWN_SIGNATURE(StringHash, "A=8", 0x1, 1)
OWN_SIGNATURE(StringLength, "A=8", 0x1, 1)
OWN_SIGNATURE(StringNGrams, "A=8 B=7", 0x3, 2)
OWN_SIGNATURE(StringReduce, "A=8 B=7", 0x3, 2)
OWN_SIGNATURE(StringStrip, "A=8", 0x1, 1)
OWN_SIGNATURE(Substring, "A=8 B=7 B", 0x7, 3)
OWN_SIGNATURE(Svd, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(SymmetricEigen, "A=1,10,11,16", 0x1, 1)
OWN_SIGNATURE(TextBytes, "A=8", 0x1, 1)
OWN_SIGNATURE(TextCharacters, "A=8", 0x1, 1)
OWN_SIGNATURE(TridiagonalSolve, "A=1,10,11,16 A", 0x3, 2)
OWN_SIGNATURE(TriangularSolve, "A=1,10,11,16 A", 0x3, 2)
OWN_SIGNATURE(UnblockChannels, "A=1,2,3 B=7 A A A A A A A A", 0x1, 10)
OWN_SIGNATURE(WavDecoder, "A=8", 0x1, 1)
OWN_SIGNATURE(WinogradConv, "A=1 A A A A A A A A A A", 0x3, 11)
OWN_SIGNATURE(Zeta, "A=1,10,11,16 A", 0x3, 2)
#undef OWN_SIGNATURE

/// Holds the table of a kernel; only the tables that are used are instantiated.
template <typename Signature, typename Entries> struct ContractOf {
  static constexpr Contract value = ContractParser::parse(
      Entries::text, Signature::types, Signature::required, Signature::maxInputs);
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_CONTRACTS_H
