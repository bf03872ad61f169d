//===-- Recurrent.cpp - RNN, GRU and LSTM ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A single matrix product computes the contribution of the data to the gates for all steps. Each
// step adds the contribution of the state, with weights that are packed once.

#include "kernels/core/Widen.h"
#include "kernels/nn/CellActivations.h"
#include "kernels/nn/Gemm.h"

namespace atc::kernels {

namespace {
enum class Cell : uint8_t { Rnn, Gru, Lstm };

struct RecurrentPlan {
  Cell cell;
  int64_t gates = 1, functions = 1; ///< of a direction
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool backwardOnly = false, batchFirst = false, inputForget = false, linearBeforeReset = false;
  double clip = 0; ///< 0: none
  Activation activations[6];

  bool find(Context &c, Cell kind) {
    cell = kind;
    gates = cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 3 : 4;
    functions = cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 2 : 3;
    const Tensor x = c.in(0), w = c.in(1), r = c.in(2);
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3)
      return c.fail("X, W and R have ranks %, % and %, not 3", x.rank(), w.rank(), r.rank()), false;
    batchFirst = c.integer("layout", 0);
    steps = x.dim(batchFirst);
    batch = x.dim(!batchFirst);
    inputs = x.dim(2);
    hidden = r.dim(2);
    const bool both = c.is("direction", "forward", "bidirectional");
    backwardOnly = c.is("direction", "forward", "reverse");
    directions = both ? 2 : 1;
    inputForget = c.integer("input_forget", 0);
    linearBeforeReset = c.integer("linear_before_reset", 0);
    clip = c.number("clip", 0);
    auto fits = [&](uint32_t index, Dims dims) {
      if (!c.in(index) || c.in(index).dims() == dims)
        return true;
      c.fail("input % does not fit % directions, % hidden, % inputs, % sequences", index,
             directions, hidden, inputs, batch);
      return false;
    };
    const Dims state =
        batchFirst ? Dims(batch, directions, hidden) : Dims(directions, batch, hidden);
    if (!fits(1, Dims(directions, gates * hidden, inputs)) ||
        !fits(2, Dims(directions, gates * hidden, hidden)) ||
        !fits(3, Dims(directions, 2 * gates * hidden)) || !fits(4, Dims(batch)) || !fits(5, state))
      return false;
    if (cell == Cell::Lstm && (!fits(6, state) || !fits(7, Dims(directions, 3 * hidden))))
      return false;
    return readActivations(c);
  }

private:
  bool readActivations(Context &c) {
    const List<String> names = c.strings("activations");
    const List<double> alphas = c.numbers("activation_alpha"), betas = c.numbers("activation_beta");
    if (names.size && names.size != functions * directions)
      return c.fail("% activations for % functions", names.size, functions * directions), false;
    int64_t alpha = 0, beta = 0;
    for (int64_t i = 0; i < functions * directions; ++i) {
      Activation &a = activations[i];
      if (names.size)
        a = Activation::named(names[i]);
      else
        a.function =
            i % functions == 0 && cell != Cell::Rnn ? Activation::Sigmoid : Activation::Tanh;
      if (a.function == Activation::Unknown)
        return c.fail("activation number % is not known", i), false;
      if (a.hasAlpha() && alpha < alphas.size)
        a.alpha = alphas[alpha++];
      if (a.hasBeta() && beta < betas.size)
        a.beta = betas[beta++];
    }
    return true;
  }
};

/// Computes one direction of one operator.
template <typename F> class Recurrence {
public:
  Recurrence(Context &c, const RecurrentPlan &p, int64_t direction)
      : c(c), p(p), direction(direction), reverse(direction == 1 || p.backwardOnly), h(p.hidden) {}

  /// False where there is no memory. Null: y, initial states, bias, peepholes.
  bool run(F *y, F *lastH, F *lastC, const F *x, const F *w, const F *r, const F *bias,
           const F *initialH, const F *initialC, const F *peepholes, Tensor lengths) {
    const int64_t width = p.gates * h, rows = p.steps * p.batch;
    if (spaceFor(c, p.steps, p.batch, p.gates, h) < 0)
      return false;
    weights = r + direction * width * h;
    peep = peepholes ? peepholes + direction * 3 * h : nullptr;
    biasR = bias ? bias + direction * 2 * width + width : nullptr;
    fromData = c.scratch<F>(maximum(rows * width, int64_t(1)));
    sums = c.scratch<F>(maximum(p.batch * width, int64_t(1)));
    state = c.scratch<F>(maximum(2 * p.batch * h, int64_t(1)));
    extra = c.scratch<F>(maximum(p.batch * h, int64_t(1)));
    // The last gate of a GRU uses its weights separately.
    const int64_t together = p.cell == Cell::Gru ? 2 * h : width;
    packed = c.scratch<F>(maximum(packedSize<F>(h, together), int64_t(1)));
    packedLast =
        p.cell == Cell::Gru ? c.scratch<F>(maximum(packedSize<F>(h, h), int64_t(1))) : packed;
    if (!fromData || !sums || !state || !extra || !packed || !packedLast)
      return false;
    cellState = state + p.batch * h;
    packAll(packed, weights, together);
    if (p.cell == Cell::Gru)
      packAll(packedLast, weights + 2 * h * h, h);
    addBias(bias ? bias + direction * 2 * width : nullptr, rows, width);
    Product<F> product{fromData, x,        w + direction * width * p.inputs,
                       rows,     width,    p.inputs,
                       width,    p.inputs, 1,
                       1,        p.inputs, true};
    if (!multiply(c, product))
      return false;
    load(state, initialH);
    load(cellState, p.cell == Cell::Lstm ? initialC : nullptr);
    for (int64_t step = 0; step < p.steps; ++step) {
      for (int64_t b = 0; b < p.batch; ++b)
        if (int64_t at = timeOf(lengths, b, step); at >= 0)
          copyBytes(sums + b * width, fromData + row(at, b) * width, width * int64_t(sizeof(F)));
        else
          __builtin_memset(sums + b * width, 0, uint64_t(width) * sizeof(F));
      advance(lengths, step);
      for (int64_t b = 0; y && b < p.batch; ++b) {
        int64_t at = timeOf(lengths, b, step);
        F *to =
            y + (p.batchFirst ? ((b * p.steps + (at < 0 ? step : at)) * p.directions + direction)
                              : (((at < 0 ? step : at) * p.directions + direction) * p.batch + b)) *
                    h;
        // Beyond the end of a sequence there are zeros.
        if (at >= 0)
          copyBytes(to, state + b * h, h * int64_t(sizeof(F)));
        else
          __builtin_memset(to, 0, uint64_t(h) * sizeof(F));
      }
    }
    save(lastH, state);
    save(lastC, cellState);
    return true;
  }

private:
  int64_t row(int64_t time, int64_t b) const {
    return p.batchFirst ? b * p.steps + time : time * p.batch + b;
  }
  int64_t stateRow(int64_t b) const {
    return p.batchFirst ? b * p.directions + direction : direction * p.batch + b;
  }
  /// Returns the element of sequence b that is read at a step; -1 where it has ended.
  int64_t timeOf(Tensor lengths, int64_t b, int64_t step) const {
    const int64_t length =
        lengths ? minimum(maximum(integerAt(lengths, b), int64_t(0)), p.steps) : p.steps;
    return step >= length ? -1 : reverse ? length - 1 - step : step;
  }
  void load(F *to, const F *from) {
    for (int64_t b = 0; b < p.batch; ++b)
      for (int64_t j = 0; j < h; ++j)
        to[b * h + j] = from ? from[stateRow(b) * h + j] : F(0);
  }
  void save(F *to, const F *from) {
    for (int64_t b = 0; to && b < p.batch; ++b)
      copyBytes(to + stateRow(b) * h, from + b * h, h * int64_t(sizeof(F)));
  }
  void packAll(F *to, const F *from, int64_t columns) {
    parallelIf(c, ceilDiv(columns, kPanel<F>), kPanel<F> * h, [&](int64_t begin, int64_t end) {
      packPanels(to, from, 1, h, h, columns, begin, end);
    });
  }
  /// Both biases, except that of the state where the reset gate scales it.
  void addBias(const F *biasW, int64_t rows, int64_t width) {
    const int64_t both = p.cell == Cell::Gru && p.linearBeforeReset ? 2 * h : width;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j)
        fromData[i * width + j] = !biasW ? F(0) : j < both ? biasW[j] + biasR[j] : biasW[j];
  }
  /// to (rows of `step`) += from * the packed weights.
  void addProduct(F *to, int64_t step, const F *from, const F *by, int64_t columns) {
    constexpr int64_t width = kPanel<F>;
    parallelIf(c, ceilDiv(columns, width), p.batch * width * h / 4,
               [&](int64_t begin, int64_t end) {
                 multiplyPacked(to + begin * width, step, from, h, 1, by + begin * width * h,
                                p.batch, minimum(end * width, columns) - begin * width, h, true);
               });
  }
  void activate(F *x, int64_t count, int64_t function) const {
    if (p.clip > 0) {
      const F most = F(p.clip);
      for (int64_t i = 0; i < count; ++i) {
        x[i] = x[i] > most ? most : x[i];
        x[i] = x[i] < -most ? -most : x[i];
      }
    }
    p.activations[direction * p.functions + function].apply(x, count);
  }

  /// The next state, of the sequences that have not ended.
  void advance(Tensor lengths, int64_t step) {
    const int64_t width = p.gates * h;
    addProduct(sums, width, state, packed, p.cell == Cell::Gru ? 2 * h : width);
    if (p.cell == Cell::Gru)
      resetState(width);
    for (int64_t b = 0; b < p.batch; ++b) {
      if (timeOf(lengths, b, step) < 0)
        continue;
      F *gate = sums + b * width, *now = state + b * h;
      if (p.cell == Cell::Lstm) {
        advanceLstm(gate, now, cellState + b * h);
      } else if (p.cell == Cell::Gru) {
        for (int64_t j = 0; j < h; ++j)
          now[j] = (1 - gate[j]) * gate[2 * h + j] + gate[j] * now[j];
      } else {
        activate(gate, h, 0);
        copyBytes(now, gate, h * int64_t(sizeof(F)));
      }
    }
  }

  /// Update, reset and new gate of a GRU, ready to use.
  void resetState(int64_t width) {
    for (int64_t b = 0; b < p.batch; ++b) {
      F *gate = sums + b * width, *to = extra + b * h;
      activate(gate, 2 * h, 0);
      for (int64_t j = 0; j < h; ++j)
        to[j] = p.linearBeforeReset ? (biasR ? biasR[2 * h + j] : F(0))
                                    : gate[h + j] * state[b * h + j];
    }
    if (p.linearBeforeReset)
      addProduct(extra, h, state, packedLast, h);
    else
      addProduct(sums + 2 * h, width, extra, packedLast, h);
    for (int64_t b = 0; b < p.batch; ++b) {
      F *gate = sums + b * width;
      for (int64_t j = 0; p.linearBeforeReset && j < h; ++j)
        gate[2 * h + j] += gate[h + j] * extra[b * h + j];
      activate(gate + 2 * h, h, 1);
    }
  }

  /// The gates are in the order input, output, forget, cell.
  void advanceLstm(F *gate, F *now, F *memory) {
    F *in = gate, *out = gate + h, *forget = gate + 2 * h, *fresh = gate + 3 * h;
    for (int64_t j = 0; peep && j < h; ++j) {
      in[j] += peep[j] * memory[j];
      forget[j] += peep[2 * h + j] * memory[j];
    }
    activate(in, h, 0);
    if (p.inputForget)
      for (int64_t j = 0; j < h; ++j)
        forget[j] = 1 - in[j];
    else
      activate(forget, h, 0);
    activate(fresh, h, 1);
    for (int64_t j = 0; j < h; ++j) {
      memory[j] = forget[j] * memory[j] + in[j] * fresh[j];
      now[j] = memory[j];
    }
    for (int64_t j = 0; peep && j < h; ++j)
      out[j] += peep[h + j] * memory[j];
    activate(out, h, 0);
    activate(now, h, 2);
    for (int64_t j = 0; j < h; ++j)
      now[j] *= out[j];
  }

  Context &c;
  const RecurrentPlan &p;
  const int64_t direction;
  const bool reverse;
  const int64_t h;
  const F *weights = nullptr, *biasR = nullptr, *peep = nullptr;
  F *fromData = nullptr, *sums = nullptr, *state = nullptr, *cellState = nullptr;
  F *extra = nullptr, *packed = nullptr, *packedLast = nullptr;
};

void runRecurrent(Context &c, Cell cell) {
  RecurrentPlan p;
  if (!p.find(c, cell))
    return;
  const Tensor x = c.in(0), none;
  const Dims state =
      p.batchFirst ? Dims(p.batch, p.directions, p.hidden) : Dims(p.directions, p.batch, p.hidden);
  const Dims all = p.batchFirst ? Dims(p.batch, p.steps, p.directions, p.hidden)
                                : Dims(p.steps, p.directions, p.batch, p.hidden);
  void *out[3] = {};
  for (uint32_t i = 0; i < 3; ++i)
    if (c.wants(i) && !(out[i] = c.makeBytes(i, x.dtype(), i == 0 ? all : state)))
      return;
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(c, out[0], out[0] ? all.product() : 0);
    WideResult<T> lastH(c, out[1], out[1] ? state.product() : 0);
    WideResult<T> lastC(c, out[2], out[2] ? state.product() : 0);
    const F *in[8] = {};
    for (uint32_t i = 0; i < 8; ++i)
      if (i != 4 && c.in(i) && !(in[i] = widen<T>(c, c.in(i))))
        return;
    for (int64_t d = 0; d < p.directions; ++d) {
      Recurrence<F> direction(c, p, d);
      if (!direction.run(out[0] ? y.data : nullptr, out[1] ? lastH.data : nullptr,
                         out[2] ? lastC.data : nullptr, in[0], in[1], in[2], in[3], in[5], in[6],
                         in[7], c.in(4)))
        return;
    }
    y.store(c);
    lastH.store(c);
    lastC.store(c);
  });
  if (!done)
    c.failType(x.dtype());
}
} // namespace

ATC_KERNEL(RNN) { runRecurrent(*this, Cell::Rnn); }
ATC_KERNEL(GRU) { runRecurrent(*this, Cell::Gru); }
ATC_KERNEL(LSTM) { runRecurrent(*this, Cell::Lstm); }

} // namespace atc::kernels
