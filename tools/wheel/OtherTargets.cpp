//===-- OtherTargets.cpp - leaves LLVM's other targets out ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLD registers every target of its LLVM. These functions take the place of those of targets for
// which the compiler generates no code, so that the linker leaves their code generators out of the
// wheel: half of its size.

#include "llvm/Plugins/PassPlugin.h"

/// Stands for Polly, which LLVM's pass pipelines of link-time optimization ask for.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}, nullptr};
}

extern "C" {
#define TARGET(name)                                                                               \
  void LLVMInitialize##name##Target() {}                                                           \
  void LLVMInitialize##name##TargetInfo() {}                                                       \
  void LLVMInitialize##name##TargetMC() {}                                                         \
  void LLVMInitialize##name##AsmPrinter() {}                                                       \
  void LLVMInitialize##name##AsmParser() {}                                                        \
  void LLVMInitialize##name##Disassembler() {}
#include "tools/wheel/OtherTargets.def"
#undef TARGET
}
