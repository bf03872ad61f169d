//===-- Value.h - tensors of any shape, sequences, maps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and the memory of their elements are counted by references. Both are
// plain blocks of malloc; a session keeps some it no longer needs in a Memory, so
// that a loop does not ask the system for each tensor.

#ifndef OPENATC_RUNTIME_VALUE_H
#define OPENATC_RUNTIME_VALUE_H

#include "runtime-lite/abi/HostKernel.h"
#include "runtime-lite/src/Support.h"

namespace atc::rt {

/// The head of a block; the elements follow at the next multiple of 64.
struct Buffer {
  static constexpr size_t headBytes = 64;

  uint32_t refs;
  uint32_t sizeClass;
  uint64_t bytes; ///< without the head
  Buffer *next;   ///< in a list of a Memory or of a machine

  char *data() { return reinterpret_cast<char *>(this) + headBytes; }
};

/// The element that tensors without elements point at.
extern char noElements[OM_ALIGNMENT];

} // namespace atc::rt

struct om_value : atc::host::Value {
  uint32_t refs;
  uint32_t depth;          ///< of a tensor 1, of a sequence one more than its items
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
constexpr uint32_t mostDepth = 8;

inline bool isManaged(const host::Value &value) { return value.reserved == managedMark; }

/// Blocks that are free. Without one (null) blocks come from malloc and go there.
class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { clear(); }

  /// With one reference; null when there is no memory.
  static Buffer *makeBuffer(Memory *memory, uint64_t bytes);
  static om_value *makeValue(Memory *memory);
  static void release(Memory *memory, Buffer *buffer);
  static void release(Memory *memory, const om_value *value);
  void clear();

private:
  static constexpr uint64_t mostKept = uint64_t(128) << 20;
  static constexpr uint32_t sizeClasses = 4 * 40;

  Buffer *buffers[sizeClasses] = {};
  om_value *values = nullptr;
  uint64_t kept = 0;
};

inline void retain(const om_value *value) {
  if (value)
    __atomic_fetch_add(&const_cast<om_value *>(value)->refs, 1, __ATOMIC_RELAXED);
}
inline void retain(Buffer *buffer) {
  if (buffer)
    __atomic_fetch_add(&buffer->refs, 1, __ATOMIC_RELAXED);
}

/// Of the dense tensor. False for dims that are negative or too large, too many,
/// or an unknown type.
bool tensorSize(uint8_t dtype, uint32_t rank, const int64_t *dims, uint64_t &elements,
                uint64_t &bytes);
/// The elements of a value that is a tensor.
uint64_t elementsOf(const host::Value &tensor);

enum class Elements { Fresh, Zeroed, Elsewhere };
/// A tensor with new elements, or with `data` where they are elsewhere. Null with
/// `status` set: OM_ERROR_ARGUMENT (the size cannot be) or OM_ERROR_MEMORY.
om_value *makeTensor(Memory *memory, uint8_t dtype, uint32_t rank, const int64_t *dims,
                     Elements elements, void *data, om_status &status);
/// A sequence or map that takes one reference to each item more.
om_value *makeList(Memory *memory, host::Kind kind, uint8_t dtype, uint64_t count,
                   const om_value *const *items, om_status &status);
/// The value for someone who outlives the run: with elements and characters of its
/// own, or one more reference where it has.
om_value *detach(Memory *memory, const om_value &value, om_status &status);

} // namespace atc::rt

#endif
