//===-- Mutators.h - changes models so that they stay models ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each changes the `size` bytes at `data` in place and returns their new number, of at most
// `maxSize`, as LLVMFuzzerCustomMutator does. Bytes that are no such model are changed as bytes.

#ifndef OPENATC_TEST_FUZZ_MUTATORS_MUTATORS_H
#define OPENATC_TEST_FUZZ_MUTATORS_MUTATORS_H

#include <cstddef>
#include <cstdint>

namespace atc::fuzz {

size_t mutateOnnx(uint8_t *data, size_t size, size_t maxSize, unsigned seed);
/// Changes a GraphDef or a SavedModel.
size_t mutateGraphDef(uint8_t *data, size_t size, size_t maxSize, unsigned seed);
size_t mutateTfLite(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_MUTATORS_MUTATORS_H
