//===-- NativeRows.h - the rows of single host kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that needs a few kernels names their rows and links no others; find() links all.

#ifndef OPENATC_KERNELS_NATIVE_NATIVEROWS_H
#define OPENATC_KERNELS_NATIVE_NATIVEROWS_H

#include "kernels/core/Contracts.h"
#include "kernels/native/NativeHost.h"

#define KERNEL(Name, Attributes, Results, Inputs)                                                  \
  extern "C" void atc_kernel_##Name(atc::host::Call *);
#include "kernels/Kernels.def"

namespace atc::kernels::native::rows {

/// Returns the row of each kernel of Kernels.def, by a function of its name.
#define KERNEL(Name, Attributes, Results, Inputs)                                                  \
  inline Row Name() {                                                                              \
    return {#Name,                                                                                 \
            Attributes,                                                                            \
            Results,                                                                               \
            Inputs,                                                                                \
            &ContractOf<Name##Signature, Name##Entries>::value,                                    \
            atc_kernel_##Name};                                                                    \
  }
#include "kernels/Kernels.def"

} // namespace atc::kernels::native::rows

#endif // OPENATC_KERNELS_NATIVE_NATIVEROWS_H
