//===-- RunModel.h - runs a model on hostile inputs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_FUZZ_OM_RUNMODEL_H
#define OPENATC_TEST_FUZZ_OM_RUNMODEL_H

#include "openatc/om.hpp"

#include <cstdint>

namespace atc::fuzz {

/// Runs `model` on inputs of any values, with dynamic dims of any sizes: the seed decides. Pages
/// that may not be touched stand before and behind each input, and each output of fixed size. Runs
/// may fail on these inputs, within the limits of a session; other errors abort. Returns how many
/// runs succeeded.
unsigned runModel(const ::om::Model &model, uint32_t seed);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_OM_RUNMODEL_H
