//===-- HostKernel.h - how kernels on values of any shape are called ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where shapes are only known at run time, or a tensor holds strings, the host
// program of an .om file calls host kernels. Such a kernel gets whole values,
// finds out the shapes of its results, asks the host for their memory and
// computes. It lives in the file's code image or in the process of the compiler,
// which infers shapes and folds constants with the same code.
//
// This header is the whole interface. It is read by code without a C++ library.

#ifndef OPENATC_ABI_HOSTKERNEL_H
#define OPENATC_ABI_HOSTKERNEL_H

#include <stdint.h>

namespace atc::host {

inline constexpr uint32_t kMaxRank = 16;

enum class Kind : uint8_t {
  None, ///< an optional without a value
  Tensor,
  Sequence, ///< dims[0] items
  Map       ///< two items: a tensor of keys and one of values
};

/// Characters, not terminated. They live until the run ends (the compiler: as long
/// as the result of the call), so that a kernel may copy the reference.
struct String {
  const char *data;
  uint64_t size;
};

/// A value. To a kernel its inputs are constant.
struct Value {
  Kind kind;
  uint8_t dtype; ///< om_dtype, the numbers of ONNX; of a sequence that of its items
  uint16_t rank;
  uint32_t reserved;
  int64_t dims[kMaxRank];
  /// Row-major elements (bool: one byte; 4-bit: two in a byte, the first in the
  /// low half; complex: real, imaginary; string: `String`), or for sequences and
  /// maps `const Value *`. 64-byte aligned. Null where only the shape is known:
  /// the compiler calls so to infer shapes.
  void *data;
};

enum class AttributeKind : uint8_t { Ints, Floats, Strings, Tensors };

/// An attribute: a list of `count` numbers; single ones are lists of one.
struct Attribute {
  const char *name;
  AttributeKind kind;
  uint64_t count;
  const void *data; ///< int64_t, double, String or Value
};

struct Call;

/// What the host does for a kernel. Whatever a kernel asks for is checked: an output
/// that the call does not have, a size beyond the host's ceiling, or a value that
/// cannot be (HostValueRules.h) fails the call.
struct Host {
  /// Makes output `index` a tensor; returns where its elements go, or null: then
  /// the kernel returns at once. Elements are not initialized, but strings are empty: what a
  /// kernel does not write must not be a pointer. A kernel asks for
  /// all its outputs before it computes where it knows their shapes by then.
  void *(*makeTensor)(Call *, uint32_t index, uint8_t dtype, uint32_t rank, const int64_t *dims);
  /// Makes output `index` share the elements of `source` (an input or an item of
  /// one, a tensor) under other dims, which do not cover more bytes than it has.
  void (*share)(Call *, uint32_t index, const Value *source, uint32_t rank, const int64_t *dims);
  /// Makes output `index` the value `source` itself.
  void (*forward)(Call *, uint32_t index, const Value *source);
  /// Makes output `index` a sequence (or map) of values that are inputs, items of
  /// inputs, or were made by makeItem. HostValueRules.h says what they must be.
  void (*makeSequence)(Call *, uint32_t index, Kind kind, uint8_t dtype, uint64_t count,
                       const Value *const *items);
  /// A new tensor for an item of a sequence. Null like makeTensor.
  const Value *(*makeItem)(Call *, uint8_t dtype, uint32_t rank, const int64_t *dims);
  void (*makeNone)(Call *, uint32_t index);
  /// Memory for the characters of strings. Null when there is none.
  char *(*makeText)(Call *, uint64_t bytes);
  /// 64-byte aligned memory that is given back when the call ends. Null when there
  /// is none; the kernel returns at once.
  void *(*scratch)(Call *, uint64_t bytes);
  /// Runs task(arg, begin, end) over parts of [0, tasks) on all threads. Does not
  /// return where a task failed, or the run is cancelled or out of time: the call
  /// ends here then. So a kernel holds nothing that it would have to give back.
  void (*parallel)(Call *, int64_t tasks, void (*task)(void *arg, int64_t begin, int64_t end),
                   void *arg);
  /// The call failed. Each '%' in `text` stands for the next of `numbers`.
  void (*fail)(Call *, const char *text, const int64_t *numbers, uint32_t count);
  /// A number that differs from call to call, to seed a generator with.
  uint64_t (*entropy)(Call *);
  /// A new map for an item of a sequence, of tensors of rank 1 and equal length. Null
  /// like makeTensor.
  const Value *(*makeMapItem)(Call *, const Value *keys, const Value *values);
};

/// One call of a kernel.
struct Call {
  const Host *host;
  uint32_t inputCount, outputCount, attributeCount;
  uint32_t wanted;            ///< bit i: output i is used
  const Value *const *inputs; ///< null where an optional input is left out
  const Attribute *attributes;
  /// Code that the compiler made for this call (kernel "Map"), or null.
  const void *body;
};

using Kernel = void (*)(Call *);

/// Code of a kernel "Map": result[i] = f(operand0[i * stride0], ...) for i < n.
/// Strides count elements. The result's is 1.
using MapBody = void (*)(const void *const *operands, void *result, const int64_t *strides,
                         int64_t n);

} // namespace atc::host

#endif // OPENATC_ABI_HOSTKERNEL_H
