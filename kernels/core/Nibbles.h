//===-- Nibbles.h - moves elements of any size, including 2 and 4 bits ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of 2 and 4 bits are not addressable. Kernels that only move elements work on one byte
// per element: they are unpacked before and packed again afterwards.

#ifndef OPENATC_KERNELS_CORE_NIBBLES_H
#define OPENATC_KERNELS_CORE_NIBBLES_H

#include "kernels/core/Numbers.h"

namespace atc::kernels {

/// Returns whether a byte holds several elements of the type.
constexpr bool isPacked(uint8_t dtype) { return bitsOf(dtype) == 2 || bitsOf(dtype) == 4; }

/// Unpack and pack `count` fields of `bits` bits: packed with the first in the low bits, unpacked
/// one per byte.
inline void unpackFields(uint8_t *to, const uint8_t *from, int64_t count, int bits) {
  const int perByte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i)
    to[i] = uint8_t(from[i / perByte] >> (i % perByte * bits) & mask);
}

/// Packs `count` values of `bits` bits, one per byte of `from`, into bytes; the first value is in
/// the lowest bits.
inline void packFields(uint8_t *to, const uint8_t *from, int64_t count, int bits) {
  const int perByte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; i += perByte) {
    int byte = 0;
    for (int64_t k = 0; k < perByte && i + k < count; ++k)
      byte |= (from[i + k] & mask) << (k * bits);
    to[i / perByte] = uint8_t(byte);
  }
}

/// Returns the unpacked fields of a packed tensor in scratch memory. Null where memory could not be
/// allocated.
inline const uint8_t *unpacked(Context &c, Tensor tensor) {
  const int64_t count = tensor.count();
  uint8_t *fields = c.scratch<uint8_t>(maximum(count, int64_t(1)));
  if (fields)
    unpackFields(fields, tensor.as<uint8_t>(), count, int(bitsOf(tensor.dtype())));
  return fields;
}

/// Calls `fn(to, read)` to move elements into a result of `count` elements. `to` points to an
/// unsigned type of the element's size, and `read(tensor)` returns the elements of an input in that
/// type, or null: then `fn` must return. Fails the call for an unknown type.
template <typename Fn>
void moveElements(Context &c, uint8_t dtype, void *out, int64_t count, Fn &&fn) {
  if (isPacked(dtype)) {
    uint8_t *fields = c.scratch<uint8_t>(maximum(count, int64_t(1)));
    if (!fields)
      return;
    fn(fields, [&](Tensor tensor) { return unpacked(c, tensor); });
    packFields(static_cast<uint8_t *>(out), fields, count, int(bitsOf(dtype)));
    return;
  }
  bool done = dispatchSizes(dtype, [&](auto type) {
    using T = typename decltype(type)::Type;
    fn(static_cast<T *>(out), [](Tensor tensor) { return tensor.as<T>(); });
  });
  if (!done)
    c.failType(dtype);
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_NIBBLES_H
