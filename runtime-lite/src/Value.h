//===-- Value.h - tensors of any shape, sequences, maps -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and the memory of their elements have reference counts. Both are blocks from malloc; a
// session keeps some free ones in a Memory, so that a loop does not call malloc per tensor. The
// Memory also counts the bytes in use and refuses those above the session's ceiling.
//
// Invariants of every value: a tensor has nonnegative dims, elements for all of them and a known
// element type; abi/HostValueRules.h has those of sequences and maps. makeTensor and makeList
// enforce them.

#ifndef OPENATC_RUNTIME_VALUE_H
#define OPENATC_RUNTIME_VALUE_H

#include "runtime-lite/abi/HostValueRules.h"
#include "runtime-lite/src/Support.h"

namespace atc::rt {

/// The header of a block; the elements follow at the next multiple of 64 bytes.
struct Buffer {
  static constexpr size_t headBytes = 64;

  uint32_t refs;
  uint16_t sizeClass;
  bool counted;    ///< among the bytes in use of a session's Memory
  uint64_t bytes;  ///< without the header
  Buffer *next;    ///< in a list of a Memory or of a machine
  uint64_t filled; ///< of a tensor with room: the indices of the axis that some value uses

  /// Returns the first byte behind the header.
  char *data() { return reinterpret_cast<char *>(this) + headBytes; }
};

/// The address that tensors without elements point to.
extern char noElements[OM_ALIGNMENT];

} // namespace atc::rt

/// A value with its reference count; the implementation behind om_value.
struct om_value : atc::host::Value {
  uint32_t refs;
  uint16_t depth;          ///< a tensor has 1, a sequence one more than its items
  bool counted;            ///< as in Buffer
  atc::rt::Buffer *buffer; ///< null: the elements are owned by someone else
  om_value *next;          ///< in a list of a Memory or of a machine
  /// The number of indices along `roomAxis` for which the buffer has room, which is the distance of
  /// its blocks. 0: the tensor is dense, as are all tensors that leave the session or reach a
  /// kernel which does not ask for the room.
  int64_t room;
  uint32_t roomAxis;

  /// Returns item `index` of a sequence or map.
  const om_value *item(uint64_t index) const {
    return static_cast<const om_value *>(static_cast<const Value *const *>(data)[index]);
  }
};

namespace atc::rt {

/// Marks every om_value in Value.reserved: kernels also pass on values that are not om_values, the
/// tensors of attributes.
constexpr uint32_t managedMark = 0x4C56414F;
/// The maximum depth of nested sequences.
constexpr uint32_t maxDepth = 8;

/// Returns whether a value is an om_value.
inline bool isManaged(const host::Value &value) { return value.reserved == managedMark; }

/// The values and buffers of a session, and the free ones it keeps. Functions that take a null
/// Memory use malloc and free directly. One thread at a time.
class Memory {
public:
  /// Blocks have four sizes per power of two.
  static constexpr uint32_t sizeClasses = 4 * 40;

  Memory() = default;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { clear(); }

  /// Sets the ceiling in bytes and how many bytes are in use by others than values.
  void limit(uint64_t newCeiling, uint64_t others) {
    ceiling = newCeiling;
    used = others;
  }
  /// Returns the bytes in use: values, buffers with their headers, and the `others` of limit().
  uint64_t bytesUsed() const { return used; }
  /// Returns the bytes of the last request that the ceiling refused; 0 where the system had none.
  /// To be read after a function returned null.
  uint64_t bytesRefused() const { return refused; }

  /// Return a new block with one reference, or null where the ceiling or the system does not allow
  /// it. `bytes` excludes the header.
  static Buffer *makeBuffer(Memory *memory, uint64_t bytes);
  static om_value *makeValue(Memory *memory);
  /// Drop one reference and free or keep the block with the last one; null is allowed.
  static void release(Memory *memory, Buffer *buffer);
  static void release(Memory *memory, const om_value *value);
  /// Transfers a value and all that it refers to out of this Memory, which no longer counts them.
  void handOver(const om_value *value);
  /// Adds bytes of others than values to those in use, or takes them away.
  void hold(int64_t bytes) { used += static_cast<uint64_t>(bytes); }
  /// Ends the use of blocks that are larger than what is asked for, until the run ends: what is
  /// made from now on is the caller's.
  void stopSharing() { shares = false; }
  /// Ends a run: keeps the free blocks that such a run needs, so that the next one allocates
  /// nothing. What a larger run needed is kept for some runs more.
  void endRun();
  /// Frees all blocks that are kept.
  void clear();

private:
  static constexpr uint64_t minKept = uint64_t(128) << 20;

  /// Returns the bytes of the blocks of a run. As not every free block suits a tensor, they are
  /// more than are in use at once.
  uint64_t neededBytes() const { return peak + peak / 2; }
  /// Returns a free block for a class, or null.
  Buffer *takeFree(uint32_t sizeClass);
  /// Adds bytes to those in use.
  void count(uint64_t bytes);
  /// Adds `bytes` to those in use, or returns false where that exceeds the ceiling.
  bool claim(uint64_t bytes);
  /// Subtracts a block from the bytes in use where it was counted.
  void disown(bool &counted, uint64_t bytes) {
    used -= counted ? bytes : 0;
    counted = false;
  }

  Buffer *buffers[sizeClasses] = {};
  om_value *values = nullptr;
  uint64_t kept = 0;          ///< bytes of blocks that are free
  uint64_t maxKept = minKept; ///< of them; at least as many as this run needs
  uint64_t peak = 0;          ///< the maximum number of bytes in use in this run
  bool shares = true;         ///< whether tensors may have blocks that are much larger
  uint64_t ceiling = UINT64_MAX, used = 0, refused = 0;
};

/// Adds a reference; null is allowed. Safe to call from any thread.
inline void retain(const om_value *value) {
  if (value)
    __atomic_fetch_add(&const_cast<om_value *>(value)->refs, 1, __ATOMIC_RELAXED);
}
inline void retain(Buffer *buffer) {
  if (buffer)
    __atomic_fetch_add(&buffer->refs, 1, __ATOMIC_RELAXED);
}

/// Computes the number of elements and bytes of a dense tensor. Returns false for negative or too
/// large dims, a rank above the maximum, or an unknown type.
bool tensorSize(uint8_t dtype, uint32_t rank, const int64_t *dims, uint64_t &elements,
                uint64_t &bytes);
/// Returns the number of elements of a value that is a tensor.
uint64_t elementsOf(const host::Value &tensor);

/// The elements of a new tensor: uninitialized, zeroed, or owned by someone else.
enum class Elements { Fresh, Zeroed, Elsewhere };
/// Makes a tensor with new elements, or with those at `data` (Elsewhere), which must outlive it.
/// Returns null and sets `status` on failure: OM_ERROR_ARGUMENT (invalid dims or type) or
/// OM_ERROR_MEMORY (also where the ceiling refuses it, see Memory::bytesRefused).
om_value *makeTensor(Memory *memory, uint8_t dtype, uint32_t rank, const int64_t *dims,
                     Elements elements, void *data, om_status &status);
/// Makes a sequence or map that adds a reference to each item. Returns null and sets `status` on
/// failure: OM_ERROR_ARGUMENT (`wrong` says which item and why) or OM_ERROR_MEMORY.
om_value *makeList(Memory *memory, host::Kind kind, uint8_t dtype, uint64_t count,
                   const om_value *const *items, om_status &status, host::ListError &wrong);
/// Makes the tensor `past` with `added` more indices along `axis`, whose elements are not
/// initialized. It shares the elements of `past` where these are the last of a buffer with room;
/// else they are copied, once, to a new buffer: with room for half as many again where `withRoom`,
/// else dense. `past` does not change. Returns null and sets `status` as makeTensor does.
om_value *growTensor(Memory *memory, const om_value &past, uint32_t axis, int64_t added,
                     bool withRoom, om_status &status);
/// Returns a dense copy of a tensor with room, or null with OM_ERROR_MEMORY in `status`.
om_value *copyDense(Memory *memory, const om_value &value, om_status &status);
/// Returns the bytes of the buffer of a value, without its items; 0 where others own it.
inline uint64_t bufferBytes(const om_value &value) {
  return value.buffer ? Buffer::headBytes + value.buffer->bytes : 0;
}
/// Returns the value in a form that outlives the run: a copy with its own elements and characters,
/// or another reference where it owns them. With a `memory`, lists that the session made and that
/// have one reference are changed in place: pointers to their items do not outlive the call.
/// Returns null and sets `status` on failure.
om_value *detach(Memory *memory, const om_value &value, om_status &status);

} // namespace atc::rt

#endif
