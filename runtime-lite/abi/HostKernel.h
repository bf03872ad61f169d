//===-- HostKernel.h - how kernels on values of any shape are called ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where shapes are only known at run time, or a tensor holds strings, the dynamic schedule of an
// .om file calls host kernels. Such a kernel receives whole values, infers the shapes of its
// results, asks the host for their memory and computes. It lives in the file's code image or in the
// process of the compiler, which infers shapes and folds constants with the same code.
//
// This header is the whole interface. It is read by code without a C++ library.

#ifndef OPENATC_ABI_HOSTKERNEL_H
#define OPENATC_ABI_HOSTKERNEL_H

#include <stdint.h>

namespace atc::host {

/// The maximum number of dims of a value; equal to OM_MAX_RANK.
inline constexpr uint32_t kMaxRank = 16;

/// The kinds of a value, numbered as om_kind and the file's HostKind.
enum class Kind : uint8_t {
  None, ///< an optional without a value
  Tensor,
  Sequence, ///< dims[0] items
  Map       ///< two items: a tensor of keys and one of values
};

/// The bytes of a string, not terminated. They live until the run ends (in the
/// compiler: as long as the result of the call), so that a kernel may copy the reference.
struct String {
  const char *data;
  uint64_t size;
};

/// A value. A kernel must not write to its inputs. The host owns the values and their elements.
struct Value {
  Kind kind;
  uint8_t dtype; ///< om_dtype, with the values of ONNX; for a sequence: that of its items
  uint16_t rank;
  uint32_t reserved;
  int64_t dims[kMaxRank];
  /// The row-major, dense elements (bool: one byte each; 4-bit: two per byte, the first in the low
  /// half; complex: real, imaginary; string: `String`), or for sequences and maps an array of
  /// `const Value *` with dims[0] items. The address is 64-byte aligned. It is null where only the
  /// shape is known: the compiler calls kernels so to infer shapes.
  void *data;
};

/// The element type of an attribute's list.
enum class AttributeKind : uint8_t { Ints, Floats, Strings, Tensors };

/// An attribute: a list of `count` items; a scalar is a list of one item. `name` is terminated.
struct Attribute {
  const char *name;
  AttributeKind kind;
  uint64_t count;
  const void *data; ///< int64_t, double, String or Value
};

struct Call;

/// The services of the host. Every request of a kernel is checked: an output that the call does not
/// have, a size beyond the host's limit, or a value that breaks the rules of HostValueRules.h fails
/// the call.
struct Host {
  /// Makes output `index` a dense tensor and returns the address of its elements (64-byte aligned),
  /// or null on failure: then the kernel must return at once. Elements are not initialized, except
  /// that strings are empty: an element that the kernel does not write must not be a stray pointer.
  /// A kernel that knows all its output shapes asks for all outputs before it computes.
  void *(*makeTensor)(Call *, uint32_t index, uint8_t dtype, uint32_t rank, const int64_t *dims);
  /// Makes output `index` share the elements of `source` (an input or an item of one, a tensor)
  /// under other dims, which must not cover more bytes than `source` has.
  void (*share)(Call *, uint32_t index, const Value *source, uint32_t rank, const int64_t *dims);
  /// Makes output `index` the value `source` itself.
  void (*forward)(Call *, uint32_t index, const Value *source);
  /// Makes output `index` a sequence or map of `count` values, each an input, an item of an input,
  /// or a result of makeItem. HostValueRules.h says which items are valid.
  void (*makeSequence)(Call *, uint32_t index, Kind kind, uint8_t dtype, uint64_t count,
                       const Value *const *items);
  /// Returns a new tensor for an item of a sequence, or null as makeTensor does.
  const Value *(*makeItem)(Call *, uint8_t dtype, uint32_t rank, const int64_t *dims);
  /// Makes output `index` an optional without a value.
  void (*makeNone)(Call *, uint32_t index);
  /// Returns memory for `bytes` characters of strings, which lives until the run ends, or null
  /// where it cannot be allocated.
  char *(*makeText)(Call *, uint64_t bytes);
  /// Returns `bytes` bytes of 64-byte aligned memory that is released when the call ends. Null
  /// where it cannot be allocated: then the kernel must return at once.
  void *(*scratch)(Call *, uint64_t bytes);
  /// Runs task(arg, begin, end) over ranges that together cover [0, tasks), on all threads. Does
  /// not return where a task failed or the run is cancelled or out of time: the call ends here
  /// then. So a kernel must not hold anything that it would have to release.
  void (*parallel)(Call *, int64_t tasks, void (*task)(void *arg, int64_t begin, int64_t end),
                   void *arg);
  /// Makes the call fail. Each '%' in `text` stands for the next of the `count` values in
  /// `numbers`.
  void (*fail)(Call *, const char *text, const int64_t *numbers, uint32_t count);
  /// Returns a value that differs from call to call, to seed a generator with.
  uint64_t (*entropy)(Call *);
  /// Returns a new map for an item of a sequence, made of tensors of rank 1 and equal length, or
  /// null as makeTensor does.
  const Value *(*makeMapItem)(Call *, const Value *keys, const Value *values);
  /// Makes output `index` the tensor `past`, an input, with `added` more indices along `axis`, and
  /// returns the address of its elements, or null as makeTensor does. The elements of `past` are
  /// there; those added are not initialized. `room` receives the distance of the blocks along
  /// `axis`, counted in indices of it, which is at least the new dim. [since schema 1.5]
  void *(*append)(Call *, uint32_t index, const Value *past, uint32_t axis, int64_t added,
                  int64_t *room);
  /// Returns the distance of the blocks of an input along `axis`, as append does; for a dense
  /// tensor that is its dim. [since schema 1.5]
  int64_t (*roomOf)(Call *, const Value *, uint32_t axis);
};

/// The kernels whose inputs may have room (Host::roomOf). All others receive dense copies.
inline constexpr const char *kRoomKernels[] = {"GroupQueryAttention", "KvAttention", "Shape"};

/// A call of a kernel. All arrays belong to the host and live until the call returns.
struct Call {
  const Host *host;
  uint32_t inputCount, outputCount, attributeCount;
  uint32_t wanted;            ///< bit i: output i is used
  const Value *const *inputs; ///< null where an optional input is left out
  const Attribute *attributes;
  /// Code that the compiler generated for this call (a GeneratedCode), or null.
  const void *body;
};

/// A host kernel. It reports failure through Host::fail.
using Kernel = void (*)(Call *);

/// Generated code of a call: computes the tasks [begin, end). The kernel that calls it states what
/// a task and the buffers are (kernels/core/GeneratedCode.h). `scratch` is not used.
using GeneratedCode = void (*)(void *const *buffers, void *scratch, int64_t begin, int64_t end);

} // namespace atc::host

#endif // OPENATC_ABI_HOSTKERNEL_H
