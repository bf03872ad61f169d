//===-- GenerateEinsum.cpp - sums of products, dims known at run time -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All operands are multiplied at once. Where the last dim of the result is contiguous in an
// operand, a row is summed up in blocks of columns; otherwise each result is a sum in a register.

#include "dialects/graph/ops/HostOps.h"
#include "passes/cpu/calls/CallEquation.h"
#include "passes/cpu/calls/Generators.h"

#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t kColumnBlock = 256;

class Einsum {
public:
  Einsum(RowBuilder &b, const Equation &equation)
      : b(b), equation(equation), out(b.out()), wide(RowBuilder::computeType(out.element)) {
    for (auto [i, labels] : llvm::enumerate(equation.inputs)) {
      // A dim of one element broadcasts; a label that occurs twice walks along the diagonal.
      Indices own = b.broadcastSteps(b.in(i));
      std::map<int64_t, Value> &byLabel = steps.emplace_back();
      for (auto [label, step, dim] : llvm::zip_equal(labels, own, b.in(i).dims)) {
        Value &known = byLabel[label];
        known = known ? b.add(known, step) : step;
        Value &size = sizes[label];
        Value isOne = size ? b.compare(arith::CmpIPredicate::eq, size, b.index(1)) : Value();
        size = size ? b.select(isOne, dim, size) : dim;
        if (!llvm::is_contained(equation.output, label) && !llvm::is_contained(summed, label))
          summed.push_back(label);
      }
    }
  }

  void build() {
    const bool hasColumns = !equation.output.empty();
    const int64_t last = hasColumns ? equation.output.back() : -1;
    const bool isContiguous = llvm::any_of(equation.inputs, [&](ArrayRef<int64_t> labels) {
      return hasColumns && !labels.empty() && labels.back() == last;
    });
    Port sums = isContiguous && !summed.empty() ? b.scratch(wide, kColumnBlock) : Port();
    b.forEachRow([&](ArrayRef<Value> indices, Value row, Value length) {
      Indices bases(equation.inputs.size(), b.index(0));
      for (auto [label, index] : llvm::zip(equation.output, indices))
        move(bases, label, index);
      if (summed.empty() || !isContiguous)
        return b.loop(length, [&](Value j) {
          Indices own(bases);
          if (hasColumns)
            move(own, last, j);
          b.storeWide(out, fold(0, own, b.constant(wide, 0)), b.add(row, j));
        });
      Value blocks = b.div(b.add(length, b.index(kColumnBlock - 1)), b.index(kColumnBlock));
      b.loop(blocks, [&](Value block) {
        Value first = b.mul(block, b.index(kColumnBlock));
        Value n = b.min(b.index(kColumnBlock), b.sub(length, first));
        b.loop(n, [&](Value j) { b.store(sums, b.constant(wide, 0), j); });
        Indices dims = llvm::map_to_vector(summed, [&](int64_t label) { return sizes[label]; });
        b.nest(dims, [&](ArrayRef<Value> position) {
          Indices own(bases);
          for (auto [label, index] : llvm::zip(summed, position))
            move(own, label, index);
          move(own, last, first);
          b.loop(n, [&](Value j) {
            Indices at(own);
            move(at, last, j);
            b.store(sums, add(b.load(sums, j), product(at)), j);
          });
        });
        b.loop(n, [&](Value j) { b.storeWide(out, b.load(sums, j), b.add(b.add(row, first), j)); });
      });
    });
  }

private:
  /// Moves the offsets of all operands by an index of a label.
  void move(Indices &bases, int64_t label, Value index) {
    for (auto [base, own] : llvm::zip_equal(bases, steps))
      if (auto found = own.find(label); found != own.end())
        base = b.add(base, b.mul(index, found->second));
  }

  Value product(ArrayRef<Value> at) {
    Value result;
    for (auto [i, offset] : llvm::enumerate(at)) {
      Value x = b.loadWide(b.in(i), offset);
      result = result ? arith::MulFOp::create(b, result, x, kFast).getResult() : x;
    }
    return result;
  }
  Value add(Value sum, Value x) { return arith::AddFOp::create(b, sum, x, kFast); }

  /// Sums up over the labels from number d on.
  Value fold(size_t d, const Indices &bases, Value sum) {
    if (d == summed.size())
      return summed.empty() ? product(bases) : add(sum, product(bases));
    return b.fold(sizes[summed[d]], sum, [&](Value i, ValueRange carried) -> Indices {
      Indices own(bases);
      move(own, summed[d], i);
      return {fold(d + 1, own, carried.front())};
    })[0];
  }

  static constexpr auto kFast = arith::FastMathFlags::contract | arith::FastMathFlags::reassoc;

  RowBuilder &b;
  const Equation &equation;
  const Port &out;
  Type wide;
  std::vector<std::map<int64_t, Value>> steps; ///< by operand and label
  std::map<int64_t, Value> sizes;              ///< by label
  SmallVector<int64_t> summed;
};

bool einsum(RowBuilder &b, graph::HostCallOp call) {
  SmallVector<int64_t> ranks;
  for (unsigned i = 0; i < b.numInputs(); ++i) {
    if (!b.has(i) || !b.in(i).isFloat() || b.in(i).element != b.out().element)
      return false;
    ranks.push_back(b.in(i).rank());
  }
  auto text = dyn_cast_or_null<StringAttr>(call.getParameters().get("equation"));
  std::optional<Equation> equation = text ? Equation::read(text.getValue(), ranks) : std::nullopt;
  if (!equation || int64_t(equation->output.size()) != b.out().rank())
    return false;
  // Sums of products with a result for each pair of indices are products of matrices, for which the
  // host kernel packs panels.
  auto isSummed = [&](int64_t label) { return !llvm::is_contained(equation->output, label); };
  const bool sums = llvm::any_of(
      equation->inputs, [&](ArrayRef<int64_t> labels) { return llvm::any_of(labels, isSummed); });
  if (sums && b.numInputs() > 1 && b.out().rank() > 0)
    return false;
  Einsum(b, *equation).build();
  return true;
}

} // namespace

Generator findEinsumGenerator(StringRef kernel) {
  static const llvm::StringMap<Generator> generators = {{"Einsum", einsum}};
  return generators.lookup(kernel);
}

} // namespace atc::cpu
