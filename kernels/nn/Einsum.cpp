//===-- Einsum.cpp - sums of products by an equation ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are combined one after the other, each time by a batch of matrix products.

#include "kernels/core/Widen.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
/// Letters are 0 to 51, in the order of their codes; then the dims of an ellipsis.
constexpr int64_t kLetters = 52, kLabels = kLetters + host::kMaxRank;
constexpr uint32_t kMaxOperands = 32;

int64_t letterOf(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

/// The labels of a term in the order of its dims.
struct Term {
  uint8_t labels[2 * host::kMaxRank] = {};
  int64_t rank = 0;
  bool push(int64_t label) {
    if (rank == 2 * host::kMaxRank)
      return false;
    labels[rank++] = uint8_t(label);
    return true;
  }
  bool has(int64_t label) const {
    for (int64_t i = 0; i < rank; ++i)
      if (labels[i] == label)
        return true;
    return false;
  }
};

/// Elements under labels: the one at (i, j, ...) is data[i * steps[label of i] + ...].
/// Labels that it does not have have step 0.
template <typename F> struct EinsumOperand {
  const F *data = nullptr;
  int64_t steps[kLabels] = {};
  bool has[kLabels] = {};
};

struct Equation {
  Term inputs[kMaxOperands], output;
  int64_t sizes[kLabels] = {}, ellipsis = 0;

  bool read(Context &c) {
    String text = c.text("equation", "");
    uint64_t at = 0;
    const uint32_t count = c.inputs();
    if (count == 0 || count > kMaxOperands)
      return c.fail("% operands", count), false;
    // The number of dims of the ellipsis: the maximum over all operands.
    for (int pass = 0; pass < 2; ++pass) {
      at = 0;
      for (uint32_t i = 0; i < count; ++i)
        if (!readTerm(c, text, at, i, pass == 0))
          return false;
    }
    if (at < text.size)
      return readOutput(c, text, at + 1);
    for (int64_t d = 0; d < ellipsis; ++d)
      output.push(kLetters + d);
    for (int64_t label = 0; label < kLetters; ++label) {
      int64_t times = 0;
      for (uint32_t i = 0; i < count; ++i)
        for (int64_t d = 0; d < inputs[i].rank; ++d)
          times += inputs[i].labels[d] == label;
      if (times == 1 && !output.push(label))
        return c.fail("the result has too many dims"), false;
    }
    return true;
  }

private:
  /// Reads up to the comma or arrow after operand i.
  bool readTerm(Context &c, String text, uint64_t &at, uint32_t i, bool counting) {
    Term &term = inputs[i];
    term = Term();
    const Tensor x = c.in(i);
    int64_t letters = 0, dots = 0;
    for (uint64_t j = at; j < text.size && text.data[j] != ',' && text.data[j] != '-'; ++j) {
      letters += letterOf(text.data[j]) >= 0;
      dots += text.data[j] == '.';
    }
    const int64_t covered = dots ? int64_t(x.rank()) - letters : 0;
    if ((dots != 0 && dots != 3) || covered < 0 || letters + covered != x.rank())
      return c.fail("operand % has rank %, its term % letters", i, x.rank(), letters), false;
    ellipsis = maximum(ellipsis, covered);
    bool dotted = false;
    for (; at < text.size && text.data[at] != ',' && text.data[at] != '-'; ++at) {
      const char letter = text.data[at];
      if (letter == ' ')
        continue;
      if (letter == '.') {
        for (int64_t d = 0; !dotted && d < covered; ++d)
          if (!addLabel(c, x, term, kLetters + ellipsis - covered + d, counting))
            return false;
        dotted = true;
        continue;
      }
      if (letterOf(letter) < 0)
        return c.fail("the equation has a character of code %", letter), false;
      if (!addLabel(c, x, term, letterOf(letter), counting))
        return false;
    }
    const bool last = i + 1 == c.inputs();
    const bool arrow = at + 1 < text.size && text.data[at] == '-' && text.data[at + 1] == '>';
    if (last ? at < text.size && !arrow : at >= text.size || text.data[at] != ',')
      return c.fail("the equation does not have % terms", c.inputs()), false;
    ++at;
    return true;
  }
  bool addLabel(Context &c, Tensor x, Term &term, int64_t label, bool counting) {
    const int64_t size = x.dim(term.rank);
    if (!counting) {
      int64_t &known = sizes[label];
      const bool unknown = known == 0 && !seen[label];
      if (!unknown && known != size && known != 1 && size != 1)
        return c.fail("a label stands for dims of % and %", known, size), false;
      known = unknown || known == 1 ? size : known;
      seen[label] = true;
    }
    return term.push(label);
  }
  bool readOutput(Context &c, String text, uint64_t at) {
    bool dotted = false;
    for (; at < text.size; ++at) {
      const char letter = text.data[at];
      if (letter == ' ' || letter == '>')
        continue;
      if (letter == '.') {
        for (int64_t d = 0; !dotted && d < ellipsis; ++d)
          output.push(kLetters + d);
        dotted = true;
        continue;
      }
      const int64_t label = letterOf(letter);
      if (label < 0 || !seen[label] || output.has(label) || !output.push(label))
        return c.fail("the equation's result has a label that no operand has, or twice"), false;
    }
    return true;
  }
  bool seen[kLabels] = {};
};

/// Labels in some order with their sizes.
struct Axes {
  Term term;
  int64_t count(const Equation &e) const {
    int64_t result = 1;
    for (int64_t i = 0; i < term.rank; ++i)
      result *= e.sizes[term.labels[i]];
    return result;
  }
};

/// Returns the operand's elements in the order of `axes`, row-major; the operand itself where it
/// has that order.
template <typename F>
const F *ordered(Context &c, const EinsumOperand<F> &x, const Equation &e, const Axes &axes) {
  const int64_t rank = axes.term.rank, count = axes.count(e);
  bool same = true;
  for (int64_t i = rank - 1, step = 1; i >= 0; --i) {
    const int64_t label = axes.term.labels[i];
    same &= e.sizes[label] == 1 || x.steps[label] == step;
    step *= e.sizes[label];
  }
  if (same)
    return x.data;
  F *to = c.scratch<F>(maximum(count, int64_t(1)));
  if (!to)
    return nullptr;
  const int64_t inner = rank ? e.sizes[axes.term.labels[rank - 1]] : 1;
  const int64_t innerStep = rank ? x.steps[axes.term.labels[rank - 1]] : 0;
  parallelIf(c, inner ? count / inner : 0, inner, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t offset = 0;
      for (int64_t d = rank - 2, rest = row; d >= 0; --d) {
        const int64_t label = axes.term.labels[d];
        offset += rest % e.sizes[label] * x.steps[label];
        rest /= e.sizes[label];
      }
      for (int64_t i = 0; i < inner; ++i)
        to[row * inner + i] = x.data[offset + i * innerStep];
    }
  });
  return to;
}

/// Joins two operands; labels that `kept` does not have are summed. False: no memory.
template <typename F>
bool join(Context &c, EinsumOperand<F> &a, const EinsumOperand<F> &b, const Equation &e,
          const bool *kept) {
  Axes left, right, result;
  int64_t sizes[4] = {1, 1, 1, 1}; // both, left, right, summed
  auto kindOf = [&](int64_t label) {
    return !kept[label] ? 3 : a.has[label] ? (b.has[label] ? 0 : 1) : 2;
  };
  for (int64_t kind = 0; kind < 4; ++kind)
    for (int64_t label = 0; label < kLabels; ++label)
      if ((a.has[label] || b.has[label]) && kindOf(label) == kind) {
        sizes[kind] = spaceFor(c, sizes[kind], e.sizes[label]);
        if (sizes[kind] < 0)
          return false;
        if ((kind != 2 && !left.term.push(label)) || (kind == 0 && !right.term.push(label)) ||
            (kind != 3 && !result.term.push(label)))
          return c.fail("too many labels at once"), false;
      }
  for (int64_t kind = 3; kind > 1; --kind)
    for (int64_t label = 0; label < kLabels; ++label)
      if ((a.has[label] || b.has[label]) && kindOf(label) == kind && !right.term.push(label))
        return c.fail("too many labels at once"), false;
  const int64_t batch = sizes[0], m = sizes[1], n = sizes[2], k = sizes[3];
  if (spaceFor(c, batch, m, n) < 0 || spaceFor(c, batch, m, k) < 0 || spaceFor(c, batch, k, n) < 0)
    return false;
  const F *x = ordered(c, a, e, left), *w = ordered(c, b, e, right);
  F *y = c.scratch<F>(maximum(batch * m * n, int64_t(1)));
  int64_t *offsets = c.scratch<int64_t>(3 * maximum(batch, int64_t(1)));
  if (!x || !w || !y || !offsets)
    return false;
  for (int64_t i = 0; i < batch; ++i) {
    offsets[i] = i * m * n;
    offsets[batch + i] = i * m * k;
    offsets[2 * batch + i] = i * k * n;
  }
  Product<F> p{
      y, x, w, m, n, k, n, k, 1, n, 1, false, batch, offsets, offsets + batch, offsets + 2 * batch};
  if (!multiply(c, p))
    return false;
  a = EinsumOperand<F>();
  a.data = y;
  int64_t step = 1;
  for (int64_t i = result.term.rank - 1; i >= 0; --i) {
    const int64_t label = result.term.labels[i];
    a.has[label] = true;
    a.steps[label] = e.sizes[label] == 1 ? 0 : step;
    step *= e.sizes[label];
  }
  return true;
}

template <typename F> const F *einsum(Context &c, const Equation &e) {
  const uint32_t count = c.inputs();
  EinsumOperand<F> sum;
  for (uint32_t i = 0; i < count; ++i) {
    EinsumOperand<F> x;
    x.data = numbersOf<F>(c, c.in(i));
    if (!x.data)
      return nullptr;
    const Dims steps = stridesOf(c.in(i).dims());
    for (int64_t d = 0; d < e.inputs[i].rank; ++d) {
      // A repeated label in a term selects the diagonal.
      x.has[e.inputs[i].labels[d]] = true;
      x.steps[e.inputs[i].labels[d]] += c.in(i).dim(d) == 1 ? 0 : steps[d];
    }
    bool kept[kLabels];
    for (int64_t label = 0; label < kLabels; ++label) {
      kept[label] = e.output.has(label);
      for (uint32_t later = i + 1; later < count; ++later)
        kept[label] |= e.inputs[later].has(label);
    }
    if (i == 0 && count > 1) {
      sum = x;
      continue;
    }
    if (count == 1) {
      // A single operand is multiplied by 1.
      F *one = c.scratch<F>(1);
      if (!one)
        return nullptr;
      one[0] = 1;
      sum.data = one;
    }
    if (!join(c, sum, x, e, kept))
      return nullptr;
  }
  Axes axes;
  axes.term = e.output;
  return ordered(c, sum, e, axes);
}
} // namespace

ATC_KERNEL(Einsum) {
  Equation e;
  if (!e.read(*this))
    return;
  Dims shape;
  for (int64_t i = 0; i < e.output.rank; ++i)
    if (!shape.push(e.sizes[e.output.labels[i]]))
      return fail("the result has % dims", e.output.rank);
  const uint8_t dtype = in(0).dtype();
  void *out = makeBytes(0, dtype, shape);
  const int64_t count = shape.product();
  if (!out || count == 0)
    return;
  bool done = dispatchNumbers(dtype, [&](auto type) {
    using T = typename decltype(type)::Type;
    auto run = [&](auto computed) {
      using F = typename decltype(computed)::Type;
      if (const F *y = einsum<F>(*this, e))
        convert(*this, static_cast<T *>(out), y, count);
    };
    if constexpr (kIsFloat<T>)
      run(TypeTag<Compute<T>>());
    else if constexpr (sizeof(T) == 8)
      run(TypeTag<uint64_t>());
    else
      run(TypeTag<uint32_t>());
  });
  if (!done)
    failType(dtype);
}

} // namespace atc::kernels
