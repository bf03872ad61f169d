//===-- RowBuilder.h - loops with dims that are known at run time ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_ROWBUILDER_H
#define OPENATC_PASSES_CPU_CALLS_ROWBUILDER_H

#include "dialects/graph/ops/HostOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace atc::cpu {

using Indices = llvm::SmallVector<mlir::Value>;

/// Sums and products whose order the code generator may choose.
inline constexpr auto kReassociate = mlir::arith::FastMathFlags::reassoc;

/// An input or output of a call in its generated code. Sizes and strides count elements.
struct Port {
  mlir::Value flat;   ///< the elements, memref<?xT>; null: omitted
  mlir::Type element; ///< signless
  bool isUnsigned = false;
  Indices dims, strides; ///< one index per dim

  explicit operator bool() const { return flat != nullptr; }
  int64_t rank() const { return dims.size(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element); }
};

/// Builds the generated code of a call (kernels/core/GeneratedCode.h): scalar loops over dims that
/// are operands, which the code generator vectorizes.
class RowBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Starts in a kernel function of CallFunctions::make with the buffers of `call`, whose inputs
  /// have the ranks `inputRanks` by position (ignored where omitted) and whose outputs have
  /// `outputRanks`.
  RowBuilder(mlir::func::FuncOp function, graph::HostCallOp call,
             llvm::ArrayRef<int64_t> inputRanks, llvm::ArrayRef<int64_t> outputRanks);

  /// Returns the types of the buffers of a call, by its element types.
  static llvm::SmallVector<mlir::Type> bufferTypes(graph::HostCallOp call);

  const Port &in(unsigned i) const { return inputs[i]; }
  unsigned numInputs() const { return inputs.size(); }
  /// Returns whether input i is given.
  bool has(unsigned i) const { return i < inputs.size() && inputs[i]; }
  const Port &out(unsigned i = 0) const { return outputs[i]; }
  unsigned numOutputs() const { return outputs.size(); }

  // Index arithmetic.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  /// Returns the product of dims [begin, end).
  mlir::Value product(llvm::ArrayRef<mlir::Value> dims);
  /// Returns sum(indices[d] * port.strides[d]).
  mlir::Value offset(const Port &port, llvm::ArrayRef<mlir::Value> indices);
  /// Splits a row-major index over `dims`.
  Indices split(mlir::Value linear, llvm::ArrayRef<mlir::Value> dims);
  /// Returns an index of a dim that counts from its end where it is negative, clamped to the dim;
  /// stores an error where it is out of range. Without `wraps`, negative ones are, too.
  mlir::Value checked(mlir::Value index, mlir::Value dim, bool wraps = true);
  /// Returns a class below `count`, 0 where it is out of range, which stores an error.
  mlir::Value checkedClass(mlir::Value target, mlir::Value count);

  /// Ends the code with an error where the dims of `port` do not broadcast to `dims`, as many. To
  /// be called before any loop over rows.
  void requireBroadcast(const Port &port, llvm::ArrayRef<mlir::Value> dims);
  /// Ends the code with an error where two lists of as many dims differ; as requireBroadcast.
  void requireEqual(llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b);
  /// Returns the strides of a port, 0 for dims of one element.
  Indices broadcastSteps(const Port &port);

  // Elements.
  mlir::Value load(const Port &port, mlir::Value at);
  void store(const Port &port, mlir::Value value, mlir::Value at);
  /// Returns element `at` of a port of integers as an index.
  mlir::Value loadIndex(const Port &port, mlir::Value at);
  /// Return a value in the type in which elements are computed (float32 for 16-bit floats), and
  /// from that type in the type of a port.
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value, const Port &port);
  mlir::Value loadWide(const Port &port, mlir::Value at) { return widen(load(port, at)); }
  void storeWide(const Port &port, mlir::Value value, mlir::Value at) {
    store(port, narrow(value, port), at);
  }
  static mlir::Type computeType(mlir::Type element);
  mlir::Value constant(mlir::Type type, double value);

  // Arithmetic of floats of one type.
  mlir::Value addF(mlir::Value a, mlir::Value b);
  mlir::Value subF(mlir::Value a, mlir::Value b);
  mlir::Value mulF(mlir::Value a, mlir::Value b);
  mlir::Value divF(mlir::Value a, mlir::Value b);
  mlir::Value floorF(mlir::Value a);
  mlir::Value compareF(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b);
  /// Returns `b` where it is less (or, for largerF, greater) than `a`, else `a`, which may be NaN.
  mlir::Value smallerF(mlir::Value a, mlir::Value b);
  mlir::Value largerF(mlir::Value a, mlir::Value b);
  /// Returns the greater (or less) of two values, NaN where either is.
  mlir::Value extremeF(mlir::Value a, mlir::Value b, bool isGreatest);
  /// Returns the greater of two numbers, any value where one is NaN.
  mlir::Value maximumOfNumbers(mlir::Value a, mlir::Value b);
  /// Returns an index as a float of this type, and a float that is the value of an index.
  mlir::Value toFloat(mlir::Type type, mlir::Value index);
  mlir::Value toIndex(mlir::Value number);
  /// Returns a float in another float type.
  mlir::Value convertF(mlir::Type type, mlir::Value number);

  /// Returns a buffer of `count` elements on the stack, for the whole call.
  Port scratch(mlir::Type element, int64_t count);

  // Loops.
  using Body = llvm::function_ref<void(mlir::Value)>;
  using Fold = llvm::function_ref<Indices(mlir::Value, mlir::ValueRange)>;
  void loop(mlir::Value begin, mlir::Value end, Body body);
  void loop(mlir::Value count, Body body) { loop(index(0), count, body); }
  Indices fold(mlir::Value count, mlir::ValueRange initial, Fold body);
  Indices fold(mlir::Value begin, mlir::Value end, mlir::Value step, mlir::ValueRange initial,
               Fold body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  /// Makes the last `count` dims of output 0 its rows, not only the last one; at least one. To be
  /// called before the loop over rows.
  void setRowDims(int64_t count) { rowDims = std::max<int64_t>(count, 1); }
  int64_t getRowDims() const { return rowDims; }
  /// Return the first of the rows to be computed, and the one behind the last.
  mlir::Value firstRow() const { return begin; }
  mlir::Value endRow() const { return end; }
  /// Returns the number of the row in the loop over rows.
  mlir::Value row() const { return currentRow; }
  /// Builds the loop over the rows of output 0. `body` receives the indices of all dims but those
  /// of rows, the offset of the row and its length.
  void
  forEachRow(llvm::function_ref<void(llvm::ArrayRef<mlir::Value>, mlir::Value, mlir::Value)> body);
  /// Builds nested loops over `dims`; `body` receives the indices.
  void nest(llvm::ArrayRef<mlir::Value> dims,
            llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

  // Vectors of neighbours: what bodies load and store are vectors there, or single elements.
  /// The elements of a vector, and of the smallest one that pays for itself.
  static constexpr int64_t kLanes = 16, kShortLanes = 8, kFewLanes = 4;
  /// The vectors of the longest row that stays in registers.
  static constexpr int64_t kShortVectors = 4;
  /// Returns whether elements of a type are computed in vectors; bodies widen those of 16 bits.
  static bool hasLanes(mlir::Type element) { return mlir::isa<mlir::FloatType>(element); }
  /// Calls body(j), which loads elements of type `loaded`, for vectors of elements from j on, until
  /// there was one of all `count` elements, some of which are in two vectors. Fewer elements than a
  /// vector has are in smaller vectors, those that are fewer than kFewLanes come one by one. What
  /// it loads must not be what it stores.
  void lanes(mlir::Value count, mlir::Type loaded, Body body);
  /// Returns what combine(a, b) makes of `initial`, which combined with others leaves these, and of
  /// element(j) for all `count` elements, in any order. An element may be asked for twice.
  mlir::Value reduceLanes(mlir::Value count, mlir::Type loaded, mlir::Value initial,
                          llvm::function_ref<mlir::Value(mlir::Value)> element,
                          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  using FewVectors =
      llvm::function_ref<void(llvm::ArrayRef<mlir::Value>, llvm::ArrayRef<mlir::Value>)>;
  /// Where all elements of a row are a few vectors of one size, builds few(starts, areNew), where
  /// these begin, and the masks of what no vector in front of each has; for shorter and longer rows
  /// others().
  void shortRow(mlir::Value count, mlir::Type loaded, FewVectors few,
                llvm::function_ref<void()> others);
  /// Returns what combine(a, b) makes of the elements of a vector, in any order.
  mlir::Value foldVector(mlir::Value all,
                         llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Returns a number in all elements of a vector, or itself where single elements are computed.
  mlir::Value spread(mlir::Value number);
  /// Returns i64 numbers that count up from `first`, as many as elements are computed at a time.
  mlir::Value numbersFrom(mlir::Value first);
  /// Returns the elements `step` (1 or 2) apart from `at` on.
  mlir::Value loadLanes(const Port &port, mlir::Value at, int64_t step);

  /// Copies `length` elements, which are `step` apart in `from` from `base` on, to `row` in `to`.
  void copyRow(const Port &to, mlir::Value row, mlir::Value length, const Port &from,
               mlir::Value base, mlir::Value step);

private:
  void storeError(mlir::Value first, mlir::Value second, int64_t kind);
  /// Does the same as lanes() with vectors of at most `size` elements.
  void lanesOf(int64_t size, mlir::Value count, Body body);
  /// Returns the numbers of the elements of a vector.
  mlir::Value laneNumbers();
  /// Returns the mask of the elements of a vector from number `first` on.
  mlir::Value lanesFrom(mlir::Value first);
  Port makePort(mlir::Value buffer, mlir::Value table, unsigned number, int64_t rank);

  llvm::SmallVector<Port> inputs, outputs;
  mlir::Value table, begin, end, currentRow;
  unsigned errorAt;
  int64_t rowDims = 1;
  int64_t width = 1; ///< of what is loaded; 1: single elements
};

} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_ROWBUILDER_H
