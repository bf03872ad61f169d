//===-- RegisterTile.h - the accumulators of a contraction ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_TILES_REGISTERTILE_H
#define OPENATC_PASSES_CPU_TILES_REGISTERTILE_H

#include "passes/cpu/tiles/KernelBuilder.h"

namespace atc::cpu {

/// A linear element index: a value plus a constant that the addressing mode absorbs.
struct Address {
  mlir::Value base;
  int64_t offset = 0;

  Address operator+(int64_t more) const { return {base, offset + more}; }
};

/// A loop of a contraction: its trip count, and the elements by which the operands advance per
/// iteration.
struct SumLoop {
  int64_t trip;
  int64_t lhsStride;
  int64_t rhsStride;
  bool unroll = false;
  mlir::Value begin = {}, end = {}; ///< the iterations that add something; null: all of them
};

/// Names what a contraction requests of rhs while it multiplies: its share of the panels that come
/// next. Requests between the multiplications cost nothing; all of them at once would wait for the
/// few buffers that hold misses.
struct Lookahead {
  mlir::Value from;    ///< the first element of the next panels
  int64_t tiles;       ///< that multiply by the same panels and request a share each
  mlir::Value ordinal; ///< of this tile among them
};

/// The element type in which products are computed and accumulated.
enum class Products {
  Float32,
  /// Pairs of f16: lhs is a buffer of f32 whose elements are two values of f16 that follow each
  /// other along the contracted dim, rhs one of f16 with the two weights of each channel side by
  /// side. Even and odd lanes of an accumulator are sums of their own, which addTo() adds up.
  HalfPairs
};

/// `pixels` x `blocks` output positions held in vector registers:
///
///   acc[p][j][v] += lhs[pixel p] * rhs[block j][v]
///
/// where lhs is broadcast from memory and rhs is a vector of `width` output channels. It is the
/// inner part of both convolutions and matrix products.
class RegisterTile {
public:
  /// Prepares accumulators for `pixels` pixels times `blocks` blocks of `width` channels. With
  /// pairs of f16 a block is one vector of f32.
  RegisterTile(KernelBuilder &builder, int64_t pixels, int64_t blocks, int64_t width,
               Products products = Products::Float32);

  /// Returns the number of vectors per block.
  int64_t vectors() const { return width / lanes; }
  mlir::VectorType vectorType() const { return type; }

  /// Sets all accumulators to zero.
  void zero();
  /// Initializes every pixel with the per-channel values (a bias) at `first`.
  void broadcast(mlir::Value flat, Address first, int64_t blockStride);
  /// Loads or stores the accumulators of all pixels, which have one address each; strides are in
  /// elements. The last block has `lastBlockWidth` columns (0: all).
  void load(mlir::Value flat, llvm::ArrayRef<Address> pixels, int64_t blockStride,
            int64_t lastBlockWidth = 0);
  void store(mlir::Value flat, llvm::ArrayRef<Address> pixels, int64_t blockStride,
             int64_t lastBlockWidth = 0);
  /// Adds accumulators of pairs of f16 to values of f32 in memory, which have one address per
  /// pixel.
  void addTo(mlir::Value flat, llvm::ArrayRef<Address> pixels, int64_t blockStride);

  /// Accumulates over `loops` (outermost first). `lhsPixels` has one address per pixel. Of the last
  /// block only `lastBlockWidth` columns are read (0: all). With `ahead` each iteration of the
  /// innermost loop prefetches into L2; panels of rhs must then be contiguous.
  void contract(mlir::Value lhs, llvm::ArrayRef<Address> lhsPixels, mlir::Value rhs,
                Address rhsFirst, int64_t rhsBlockStride, llvm::ArrayRef<SumLoop> loops,
                int64_t lastBlockWidth = 0, const Lookahead *ahead = nullptr);
  /// Accumulates over `depth` steps in which the operands advance by `lhsStride` and `rhsStride`
  /// elements: a product of matrices. Other parameters are those of contract().
  void contractRows(mlir::Value lhs, llvm::ArrayRef<Address> lhsRows, int64_t lhsStride,
                    mlir::Value rhs, Address rhsFirst, int64_t rhsStride, int64_t rhsBlockStride,
                    int64_t depth, int64_t lastBlockWidth = 0, const Lookahead *ahead = nullptr);

  /// Accumulates acc[p][0][v] += lhs[pixel p][v] * rhs[v] over `loops`: both operands are vectors,
  /// as in a depthwise convolution.
  void multiply(mlir::Value lhs, llvm::ArrayRef<Address> lhsPixels, mlir::Value rhs,
                Address rhsFirst, llvm::ArrayRef<SumLoop> loops);

  /// Replaces each accumulator by fn(acc, pixel, block, vector); its first channel is at block *
  /// width + vector * lanes of a per-channel buffer.
  using MapFn = llvm::function_ref<mlir::Value(mlir::Value acc, int64_t pixel, int64_t block,
                                               int64_t vector)>;
  void map(MapFn fn);

  /// Returns the accumulators as a list, to be carried through control flow.
  llvm::SmallVector<mlir::Value> &values() { return accumulators; }

  /// Returns how many lanes of vector `vector` of block `block` are inside where the last block has
  /// `lastBlockWidth` columns (0: all of them).
  int64_t validLanes(int64_t block, int64_t vector, int64_t lastBlockWidth) const {
    if (!lastBlockWidth || block != blocks - 1)
      return lanes;
    return std::clamp<int64_t>(lastBlockWidth - vector * lanes, 0, lanes);
  }

  /// Loads `width` elements of a flat buffer.
  mlir::Value loadVector(mlir::Value flat, Address address);
  /// Loads the first `valid` lanes; the others are 0.
  mlir::Value loadVector(mlir::Value flat, Address address, int64_t valid);
  /// Loads `width` weights, the first `valid` lanes of them, as floats; those of 16 bits are whole.
  mlir::Value loadWeights(mlir::Value flat, Address address, int64_t valid);

private:
  using StepFn = llvm::function_ref<void(llvm::ArrayRef<Address> lhsPixels, Address rhsAt)>;
  using IterationFn = llvm::function_ref<void(Address rhsAt)>;
  mlir::Value spreadElement(mlir::Value lhs, Address address);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);
  void sum(llvm::ArrayRef<Address> lhsPixels, Address rhsAt, llvm::ArrayRef<SumLoop> loops,
           StepFn step, IterationFn iteration = nullptr);
  mlir::Value laneMask(int64_t valid);
  mlir::Value at(Address address);
  mlir::Value &acc(int64_t pixel, int64_t block, int64_t vector) {
    return accumulators[(pixel * blocks + block) * vectors() + vector];
  }

  KernelBuilder &b;
  int64_t pixels, blocks, width, lanes;
  Products products;
  mlir::VectorType type;
  llvm::SmallVector<mlir::Value> accumulators;
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_TILES_REGISTERTILE_H
