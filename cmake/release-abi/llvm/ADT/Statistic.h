//===-- Statistic.h - counters as LLVM's libraries have them --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In front of LLVM's header of this name in builds with assertions. There llvm::Statistic, the base
// of mlir::Pass::Statistic, would be a counter, but an empty class in Debian's libMLIR, whose
// constructor leaves a counter's members as they are: undefined behaviour at the first count.

#ifndef OPENATC_CMAKE_RELEASEABI_STATISTIC_H
#define OPENATC_CMAKE_RELEASEABI_STATISTIC_H

#define NDEBUG
#include_next "llvm/ADT/Statistic.h" // IWYU pragma: export
#undef NDEBUG
#include <cassert> // assert() was off for the header above

#endif // OPENATC_CMAKE_RELEASEABI_STATISTIC_H
