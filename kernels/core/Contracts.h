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

/// Is not an operator of its own but a step of others, and so has no signature.
struct StackSignature {
  static constexpr char types[] = "*";
  static constexpr uint32_t required = 1, maxInputs = 1;
};

/// Holds the table of a kernel; only the tables that are used are instantiated.
template <typename Signature, typename Entries> struct ContractOf {
  static constexpr Contract value = ContractParser::parse(
      Entries::text, Signature::types, Signature::required, Signature::maxInputs);
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_CONTRACTS_H
