//===-- Pieces.h - the memory of a model in the bare runtime --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler computes it too, for the C header of a model.

#ifndef OPENATC_RUNTIME_BARE_PIECES_H
#define OPENATC_RUNTIME_BARE_PIECES_H

#include "openatc/om.h"
#include "runtime-lite/schema/om_generated.h"

namespace atc::rt {

/// The pieces of the caller's memory, one behind the other: the model's own state, the arguments of
/// a launch, the arena and the scratch memory of the kernels. Sizes are in bytes, multiples of
/// OM_ALIGNMENT.
struct BarePieces {
  uint64_t state, arguments, arena, scratch;
  /// Returns the bytes of all pieces.
  uint64_t all() const { return state + arguments + arena + scratch; }
};

/// Room for the state of a model.
constexpr uint64_t bareStateBytes = 128;

/// Computes the pieces for a verified model of launches on the CPU. Pointers have at most 8 bytes;
/// the scratch memory is that of the code that needs the most.
inline BarePieces barePiecesOf(const om::fb::Model &header) {
  auto roundUp = [](uint64_t bytes) {
    return (bytes + OM_ALIGNMENT - 1) / OM_ALIGNMENT * OM_ALIGNMENT;
  };
  uint64_t arguments = 0, scratch = 0;
  for (const om::fb::Step *step : *header.schedule())
    if (const om::fb::Launch *launch = step->what_as_Launch())
      if (launch->args()->size() > arguments)
        arguments = launch->args()->size();
  for (const om::fb::CodeImage *image : *header.images())
    if (image->scratch_bytes() > scratch)
      scratch = image->scratch_bytes();
  return {bareStateBytes, roundUp(arguments * 8), roundUp(header.arena_size()), roundUp(scratch)};
}

} // namespace atc::rt

#endif
