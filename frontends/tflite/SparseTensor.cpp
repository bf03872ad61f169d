//===-- SparseTensor.cpp - tensors that are stored without their zeros ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/SparseTensor.h"

#include <cstring>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace atc::tflite {

namespace {

/// The stored positions along one dim.
struct Level {
  int64_t dim = 0;  ///< of the shape
  int64_t size = 0; ///< its indices, or those inside of a block
  bool isDense = true;
  SmallVector<int64_t> segments, indices;
};

template <typename Vector> void append(const Vector *vector, SmallVector<int64_t> &to) {
  if (vector && vector->values())
    to.append(vector->values()->begin(), vector->values()->end());
}

SmallVector<int64_t> read(fb::IndexVector type, const void *vector) {
  SmallVector<int64_t> values;
  if (type == fb::IndexVector::Int32Vector)
    append(static_cast<const fb::Int32Vector *>(vector), values);
  else if (type == fb::IndexVector::Uint16Vector)
    append(static_cast<const fb::Uint16Vector *>(vector), values);
  else if (type == fb::IndexVector::Uint8Vector)
    append(static_cast<const fb::Uint8Vector *>(vector), values);
  return values;
}

class Expander {
public:
  Expander(const fb::Tensor &tensor, size_t size, StringRef stored, std::string &error)
      : sparsity(*tensor.sparsity()), size(size), stored(stored), error(error) {
    if (tensor.shape())
      shape.assign(tensor.shape()->begin(), tensor.shape()->end());
  }

  std::optional<std::string> run() {
    if (!readLevels())
      return std::nullopt;
    uint64_t elements = 1;
    for (int64_t dim : shape)
      elements *= dim;
    // A small file may state a large shape.
    constexpr uint64_t max = uint64_t(1) << 28;
    if (elements > max || !size)
      return fail(size ? "has more than 2^28 elements" : "has elements of no whole bytes"),
             std::nullopt;
    all.resize(elements * size);
    position.assign(shape.size(), 0);
    if (elements && !visit(0, 0))
      return std::nullopt;
    if (next * size != stored.size())
      return fail("stores " + Twine(stored.size()) + " bytes for " + Twine(next) + " elements"),
             std::nullopt;
    return std::move(all);
  }

private:
  bool fail(const Twine &text) {
    error = (Twine("is stored without its zeros, and ") + text).str();
    return false;
  }

  bool readLevels() {
    const auto *order = sparsity.traversal_order();
    const auto *metadata = sparsity.dim_metadata();
    const auto *blocks = sparsity.block_map();
    const size_t rank = shape.size(), inner = blocks ? blocks->size() : 0;
    // Each is visited inside of the one before.
    constexpr size_t max = 64;
    if (rank + inner > max)
      return fail("has " + Twine(rank + inner) + " dims and blocks, more than " + Twine(max));
    if (!order || !metadata || order->size() != rank + inner || metadata->size() != rank + inner)
      return fail("does not describe each dim once");
    SmallVector<bool> isMet(rank + inner);
    SmallVector<int64_t> sizes(shape);
    for (size_t i = 0; i < rank + inner; ++i) {
      const auto dim = static_cast<uint32_t>(order->Get(i));
      // Blocks are whole behind the dims that they divide.
      if (dim >= rank + inner || isMet[dim] || (dim < rank) != (i < rank))
        return fail("has its dims in no order that there is");
      isMet[dim] = true;
      const fb::DimensionMetadata *stated = metadata->Get(i);
      if (!stated)
        return fail("does not describe each dim once");
      Level level;
      level.dim = dim;
      level.size = stated->dense_size();
      level.isDense = stated->format() == fb::DimensionType::DENSE;
      if (dim >= rank) {
        const auto whole = static_cast<uint32_t>(blocks->Get(dim - rank));
        if (whole >= rank || level.size < 1 || sizes[whole] % level.size != 0)
          return fail("has blocks that do not divide its shape");
        level.dim = whole;
        sizes[whole] /= level.size;
        if (!level.isDense)
          return fail("has blocks with zeros left out");
      }
      level.segments = read(stated->array_segments_type(), stated->array_segments());
      level.indices = read(stated->array_indices_type(), stated->array_indices());
      // Each position before has a segment of its own, so that nothing is visited twice.
      if (!level.segments.empty() &&
          (level.segments.front() != 0 || !llvm::is_sorted(level.segments)))
        return fail("has segments that overlap");
      levels.push_back(std::move(level));
    }
    for (Level &level : llvm::MutableArrayRef(levels).take_front(rank)) {
      if (level.isDense && level.size != sizes[level.dim])
        return fail("states " + Twine(level.size) + " positions of " + Twine(sizes[level.dim]));
      level.size = sizes[level.dim];
    }
    return true;
  }

  /// Visits what is stored behind a position of the levels before.
  bool visit(size_t depth, int64_t before) {
    if (depth == levels.size())
      return copy();
    const Level &level = levels[depth];
    const int64_t outer = position[level.dim];
    int64_t first = 0, end = level.size;
    if (!level.isDense) {
      if (before + 1 >= static_cast<int64_t>(level.segments.size()))
        return fail("has no segment " + Twine(before));
      first = level.segments[before], end = level.segments[before + 1];
      if (first < 0 || end < first || end > static_cast<int64_t>(level.indices.size()))
        return fail("has a segment from " + Twine(first) + " to " + Twine(end));
    }
    for (int64_t i = first; i < end; ++i) {
      const int64_t index = level.isDense ? i : level.indices[i];
      if (index < 0 || index >= level.size)
        return fail("has the index " + Twine(index) + " of " + Twine(level.size));
      // Inside of a block the position counts elements instead of blocks.
      position[level.dim] = depth < shape.size() ? index : outer * level.size + index;
      if (!visit(depth + 1, level.isDense ? before * level.size + i : i))
        return false;
    }
    position[level.dim] = outer;
    return true;
  }

  bool copy() {
    if (stored.size() < size || next > (stored.size() - size) / size)
      return fail("has fewer bytes than elements");
    uint64_t at = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      at = at * shape[dim] + position[dim];
    std::memcpy(all.data() + at * size, stored.data() + next++ * size, size);
    return true;
  }

  const fb::SparsityParameters &sparsity;
  const size_t size;
  const StringRef stored;
  std::string &error;
  SmallVector<int64_t> shape, position;
  SmallVector<Level> levels;
  std::string all;
  uint64_t next = 0; ///< stored element
};

} // namespace

std::optional<std::string> expandSparse(const fb::Tensor &tensor, size_t size, StringRef stored,
                                        std::string &error) {
  return Expander(tensor, size, stored, error).run();
}

} // namespace atc::tflite
