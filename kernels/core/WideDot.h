//===-- WideDot.h - functions for processors with vpdpbusd ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_WIDEDOT_H
#define OPENATC_KERNELS_CORE_WIDEDOT_H

#include "kernels/core/Lanes.h"

#if defined(__x86_64__)
#include <immintrin.h>

/// Compiles a function for the levels of hasWideDot().
#define ATC_WIDE_DOT __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
/// Compiles one that functions of these levels contain.
#define ATC_WIDE_DOT_PART ATC_WIDE_DOT __attribute__((always_inline)) inline

/// Compiles a function for the levels of hasTileRegisters().
#define ATC_TILE_REGISTERS                                                                         \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8")))
#endif

#endif // OPENATC_KERNELS_CORE_WIDEDOT_H
