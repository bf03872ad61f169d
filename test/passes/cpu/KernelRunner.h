//===-- KernelRunner.h - runs one kernel on buffers of a test -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test writes the cpu op as text, makes a Buffer for each operand, computes
// what it expects with plain loops on copies of the buffers, and compares:
//
//   Buffer in = Buffer::random("f32", {1, 2, 5, 7, 16}), out("f32", {...}, {strides...});
//   Buffer expected = out;
//   ... expected.set(expected.at({n, c, y, x, k}), ...);
//   Kernel kernel("kernel.copy %0, %1 : $0, $1", {&in, &out}, levels().front());
//   kernel.run();
//   checkClose(out, expected);
//
// The way of the code is the compiler's own: compileKernels and its image.
//
//===----------------------------------------------------------------------===//

#ifndef OPENATC_TEST_PASSES_CPU_KERNELRUNNER_H
#define OPENATC_TEST_PASSES_CPU_KERNELRUNNER_H

#include "backends/cpu/CpuLevels.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace atc::cpu::test {

using Numbers = std::vector<int64_t>;

/// Row-major strides of a shape.
Numbers contiguous(const Numbers &shape);
/// The strides of a `shape` cut out of a row-major buffer of shape `whole`.
inline Numbers stridesIn(const Numbers &whole) { return contiguous(whole); }

/// Memory of one operand. Pages that must not be touched lie at its end (every
/// other buffer: at its begin), so that a read or write outside ends the test.
class Buffer {
public:
  /// `element`: f32 f64 f16 bf16 i1 i8 ui8 i16 i32 i64. Filled with the bytes
  /// of a pattern.
  Buffer(std::string element, Numbers shape, Numbers strides = {});
  Buffer(const Buffer &other);
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer();

  /// Random numbers in [low, high], whole ones for integers, everywhere in the
  /// span, so that a wrong stride is seen.
  static Buffer random(std::string element, Numbers shape, Numbers strides = {}, double low = -2.0,
                       double high = 2.0);

  const Numbers &shape() const { return sizes; }
  const Numbers &strides() const { return steps; }
  const std::string &element() const { return name; }
  /// Elements from the first to one past the last.
  int64_t span() const { return elements; }
  void *data() const { return memory; }
  /// `memref<2x3xf32, strided<[8, 1]>>`
  std::string type() const;

  /// Returns the offset of a position, in elements. Positions in braces need no memory of their
  /// own: the loops that compute what is expected ask for many millions.
  int64_t at(const Numbers &position) const { return at(position.data(), position.size()); }
  int64_t at(std::initializer_list<int64_t> position) const {
    return at(position.begin(), position.size());
  }
  double get(int64_t offset) const { return access.load(memory, offset); }
  void set(int64_t offset, double value) { access.store(memory, offset, value); }
  double get(const Numbers &position) const { return get(at(position)); }
  double get(std::initializer_list<int64_t> position) const { return get(at(position)); }
  void set(const Numbers &position, double value) { set(at(position), value); }
  void set(std::initializer_list<int64_t> position, double value) { set(at(position), value); }

  /// Reads and writes one element of a type; offsets are in elements.
  struct Access {
    double (*load)(const char *memory, int64_t offset);
    void (*store)(char *memory, int64_t offset, double value);
  };

private:
  int64_t at(const int64_t *position, size_t rank) const {
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d)
      offset += position[d] * steps[d];
    return offset;
  }

  std::string name;
  Numbers sizes, steps;
  int64_t elements = 0, elementBytes = 0;
  Access access;
  char *memory = nullptr, *mapping = nullptr;
  size_t mapped = 0;
};

/// Calls `body` with every position of a shape.
void forEachPosition(const Numbers &shape, const std::function<void(const Numbers &)> &body);

/// Levels whose code runs here: 4, 8 and, as a pair of vectors or one, 16 lanes.
const std::vector<CpuLevel> &levels();

/// Compiles one cpu op to a kernel and runs it.
class Kernel {
public:
  /// `text`: the op on %0, %1, ..., with $0, $1, ... for the buffers' types and
  /// no others. What fails to compile ends the test case.
  Kernel(const std::string &text, std::vector<const Buffer *> buffers, const CpuLevel &level);
  ~Kernel();

  int64_t tasks() const { return taskCount; }
  /// Runs all tasks, the later half first: they must not need an order.
  void run() const;
  /// Runs all tasks on other buffers of the same types.
  void run(const std::vector<void *> &arguments) const;

private:
  using Entry = void (*)(void *const *, void *, int64_t, int64_t);
  std::vector<void *> arguments;
  Entry entry = nullptr;
  std::unique_ptr<Buffer> scratch;
  int64_t taskCount = 0;
  void *image = nullptr;
  size_t imageBytes = 0;
};

/// An op on buffers that is written operand by operand.
class OpText {
public:
  /// `op`: the op with its operands %0, %1, ... without names, which are `buffers`.
  OpText(const std::string &op, std::vector<const Buffer *> buffers)
      : text(op), operands(std::move(buffers)) {}

  /// Adds an operand that has a name in the op's text.
  void add(const std::string &name, const Buffer &buffer);
  /// Returns the op with its attributes, "a = 1, b" or nothing, and with the types of its buffers.
  std::string with(const std::string &attributes) const;
  const std::vector<const Buffer *> &buffers() const { return operands; }

private:
  std::string text;
  std::vector<const Buffer *> operands;
};

/// Compiles and runs an op whose last operand is its result, which is written to `result`; where
/// `replaced` is one of the operands, its values are in the memory of the result.
void runOp(const std::string &text, std::vector<const Buffer *> buffers, const CpuLevel &level,
           Buffer &result, const Buffer *replaced = nullptr);

/// Largest error of `actual`, |a - e| / max(|e|, floor), over the elements of
/// its shape; ends the test case where something between the elements was
/// written.
double largestError(const Buffer &actual, const Buffer &expected, double floor = 1.0);
/// CHECKs that the largest error is at most `tolerance`.
void checkClose(const Buffer &actual, const Buffer &expected, double tolerance = 1e-6,
                double floor = 1.0);

/// The generator all tests share; its seed is fixed.
std::mt19937 &generator();

} // namespace atc::cpu::test

#endif // OPENATC_TEST_PASSES_CPU_KERNELRUNNER_H
