//===-- Value.h - tensors of any shape, sequences, maps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and the memory of their elements are counted by references. Both are
// plain blocks of malloc; a session keeps some it no longer needs in a Memory, so
// that a loop does not ask the system for each tensor. The Memory also knows how
// many bytes are in use, and refuses what is over the session's ceiling.
//
// What holds for every value: a tensor has dims that are not negative, elements for
// all of them and a known element type; for sequences and maps see
// abi/HostValueRules.h. makeTensor and makeList make no others.

#ifndef OPENATC_RUNTIME_VALUE_H
#define OPENATC_RUNTIME_VALUE_H

#include "runtime-lite/abi/HostValueRules.h"
#include "runtime-lite/src/Support.h"

namespace atc::rt {

/// The head of a block; the elements follow at the next multiple of 64.
struct Buffer {
  static constexpr size_t headBytes = 64;

  uint32_t refs;
  uint16_t sizeClass;
  bool counted;   ///< among the bytes that a session's Memory has in use
  uint64_t bytes; ///< without the head
  Buffer *next;   ///< in a list of a Memory or of a machine

  char *data() { return reinterpret_cast<char *>(this) + headBytes; }
};

/// The element that tensors without elements point at.
extern char noElements[OM_ALIGNMENT];

} // namespace atc::rt

struct om_value : atc::host::Value {
  uint32_t refs;
  uint16_t depth;          ///< of a tensor 1, of a sequence one more than its items
  bool counted;            ///< as in Buffer
  atc::rt::Buffer *buffer; ///< null: the elements belong to someone else
  om_value *next;          ///< in a list of a Memory or of a machine

  const om_value *item(uint64_t index) const {
    return static_cast<const om_value *>(static_cast<const Value *const *>(data)[index]);
  }
};

namespace atc::rt {

/// In Value.reserved of every om_value: kernels also pass on values that are none,
/// the tensors of attributes.
constexpr uint32_t managedMark = 0x4C56414F;
/// Sequences of sequences are no deeper.
constexpr uint32_t maxDepth = 8;

inline bool isManaged(const host::Value &value) { return value.reserved == managedMark; }

/// The values and buffers of a session, and those it keeps for later ones. Without a
/// Memory (null) blocks come from malloc and go there. One thread at a time.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { clear(); }

  /// Sets the ceiling in bytes and how many of them are in use by others than values.
  void limit(uint64_t newCeiling, uint64_t others) {
    ceiling = newCeiling;
    used = others;
  }
  /// Bytes in use: values, buffers with their heads, and what limit() was told.
  uint64_t bytesUsed() const { return used; }
  /// Bytes that were asked for last and refused because of the ceiling; 0: the
  /// system had none. To be read after a null.
  uint64_t bytesRefused() const { return refused; }

  /// With one reference; null when the ceiling or the system does not allow it.
  static Buffer *makeBuffer(Memory *memory, uint64_t bytes);
  static om_value *makeValue(Memory *memory);
  static void release(Memory *memory, Buffer *buffer);
  static void release(Memory *memory, const om_value *value);
  /// Makes a value and all it refers to someone else's: this Memory counts them no
  /// longer.
  void handOver(const om_value *value);
  void clear();

private:
  static constexpr uint64_t maxKept = uint64_t(128) << 20;
  static constexpr uint32_t sizeClasses = 4 * 40;

  bool claim(uint64_t bytes);
  void disown(bool &counted, uint64_t bytes) {
    used -= counted ? bytes : 0;
    counted = false;
  }

  Buffer *buffers[sizeClasses] = {};
  om_value *values = nullptr;
  uint64_t kept = 0; ///< bytes of blocks that are free
  uint64_t ceiling = UINT64_MAX, used = 0, refused = 0;
};

inline void retain(const om_value *value) {
  if (value)
    __atomic_fetch_add(&const_cast<om_value *>(value)->refs, 1, __ATOMIC_RELAXED);
}
inline void retain(Buffer *buffer) {
  if (buffer)
    __atomic_fetch_add(&buffer->refs, 1, __ATOMIC_RELAXED);
}

/// Computes how many elements and bytes a dense tensor has. False for dims that are
/// negative or too large, too many, or an unknown type.
bool tensorSize(uint8_t dtype, uint32_t rank, const int64_t *dims, uint64_t &elements,
                uint64_t &bytes);
/// Returns the number of elements of a value that is a tensor.
uint64_t elementsOf(const host::Value &tensor);

enum class Elements { Fresh, Zeroed, Elsewhere };
/// Makes a tensor with new elements, or with `data` where they are elsewhere. Null
/// with `status` set: OM_ERROR_ARGUMENT (the size cannot be) or OM_ERROR_MEMORY (also
/// where the ceiling refuses it, see Memory::bytesRefused).
om_value *makeTensor(Memory *memory, uint8_t dtype, uint32_t rank, const int64_t *dims,
                     Elements elements, void *data, om_status &status);
/// Makes a sequence or map that takes one reference to each item more. Null with
/// `status` set: OM_ERROR_ARGUMENT (`wrong` says what of the items) or OM_ERROR_MEMORY.
om_value *makeList(Memory *memory, host::Kind kind, uint8_t dtype, uint64_t count,
                   const om_value *const *items, om_status &status, host::ListError &wrong);
/// Makes the value one for someone who outlives the run: with elements and
/// characters of its own, or one more reference where it has. Null with `status` set.
om_value *detach(Memory *memory, const om_value &value, om_status &status);

} // namespace atc::rt

#endif
