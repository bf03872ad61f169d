//===-- Recurrent.cpp - RNN, GRU and LSTM ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A single matrix product computes the contribution of the data to the gates for all steps. A step
// adds the contribution of the state and advances it, in one pass over the weights: a task computes
// all gates of some units and needs nothing from other tasks of the step. Directions advance
// together. Constant weights are packed when the model is compiled (attribute "packed").

#include "kernels/core/Widen.h"
#include "kernels/nn/CellActivations.h"
#include "kernels/nn/GateProduct.h"

namespace atc::kernels {

namespace {
enum class Cell : uint8_t { Rnn, Gru, Lstm };

struct RecurrentPlan {
  Cell cell;
  int64_t gates = 1, functions = 1; ///< of a direction
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool backwardOnly = false, batchFirst = false, inputForget = false, linearBeforeReset = false;
  bool packed = false; ///< W and R are in the order of CellLayout
  double clip = 0;     ///< 0: none
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
    packed = c.integer("packed", 0);
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

/// Holds the operands of all directions, in the type in which they are computed; null where
/// omitted.
template <typename F> struct Operands {
  const F *x, *w, *r, *bias, *initialH, *initialC, *peepholes;
  Tensor lengths;
  F *y, *lastH, *lastC;
};

/// Computes one direction of an operator. The state and the gates of a sequence are rows; a task
/// computes ranges of units of them.
template <typename F> class Recurrence {
public:
  /// Finds memory, packs weights that are not, and sets the first state. False where memory could
  /// not be allocated.
  bool prepare(Context &c, const RecurrentPlan &plan, int64_t which, const Operands<F> &operands) {
    p = &plan;
    o = &operands;
    direction = which;
    h = p->hidden;
    width = p->gates * h;
    if (spaceFor(c, p->steps, p->batch, p->gates, h) < 0)
      return false;
    inputLayout = {p->gates, h, p->inputs};
    stateLayout = {p->gates, h, h};
    inputWeights = packedWeights(c, o->w, inputLayout);
    stateWeights = packedWeights(c, o->r, stateLayout);
    const int64_t units = maximum(p->batch * h, int64_t(1));
    fromData = c.scratch<F>(maximum(p->steps * p->batch * width, int64_t(1)));
    gates = c.scratch<F>(units * p->gates);
    states[0] = c.scratch<F>(units);
    states[1] = c.scratch<F>(units);
    cellState = c.scratch<F>(units);
    extra = c.scratch<F>(units);
    bias = c.scratch<F>(maximum(width, int64_t(1)));
    biasOfLast = c.scratch<F>(maximum(h, int64_t(1)));
    times = c.scratch<int64_t>(maximum(p->batch, int64_t(1)));
    if (!inputWeights || !stateWeights || !fromData || !gates || !states[0] || !states[1] ||
        !cellState || !extra || !bias || !biasOfLast || !times)
      return false;
    peep = o->peepholes ? o->peepholes + direction * 3 * h : nullptr;
    joinBiases();
    load(states[0], o->initialH);
    load(cellState, p->cell == Cell::Lstm ? o->initialC : nullptr);
    return true;
  }

  /// Computes the contribution of the data to all gates, with the bias.
  void project(Context &c) {
    const int64_t rows = p->steps * p->batch;
    // Enough rows for the weights of a panel to be read from a near cache most of the time.
    constexpr int64_t chunk = 96;
    auto multiply = [&](GateLayout layout, const F *packed, int64_t first) {
      const int64_t panels = layout.panels(), chunks = ceilDiv(rows, chunk);
      parallelIf(c, panels * chunks, GateLayout::kColumns * layout.depth * minimum(rows, chunk),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t row = task / panels * chunk;
                     GateProduct<F> product{layout,
                                            packed,
                                            fromData + row * width + first,
                                            width,
                                            o->x + row * p->inputs,
                                            p->inputs,
                                            minimum(chunk, rows - row)};
                     product.run(task % panels, task % panels + 1,
                                 [&](int64_t) { return bias + first; });
                   }
                 });
    };
    multiply(inputLayout.together(), inputWeights, 0);
    if (inputLayout.hasLast())
      multiply(inputLayout.last(), inputWeights + inputLayout.together().size(), 2 * h);
  }

  /// Begins a step: the times at which the sequences read the data, -1 for those that have ended.
  void begin(int64_t step) {
    now = states[step % 2];
    next = states[1 - step % 2];
    const bool reverse = direction == 1 || p->backwardOnly;
    for (int64_t b = 0; b < p->batch; ++b) {
      const int64_t length =
          o->lengths ? minimum(maximum(integerAt(o->lengths, b), int64_t(0)), p->steps) : p->steps;
      times[b] = step >= length ? -1 : reverse ? length - 1 - step : step;
    }
    currentStep = step;
  }

  /// Returns the number of tasks of a step, and whether they have two phases: those of a GRU whose
  /// reset gate scales the state.
  int64_t tasks() const { return ceilDiv(h, unitsPerTask()); }
  bool hasPhases() const { return p->cell == Cell::Gru && !p->linearBeforeReset; }
  /// Returns the approximate number of operations of a task.
  int64_t cost() const { return p->batch * p->gates * unitsPerTask() * h / 4; }

  /// Advances the units of tasks [begin, end).
  void advance(int64_t begin, int64_t end) {
    const int64_t first = begin * unitsPerTask(), last = minimum(end * unitsPerTask(), h);
    multiplyState(begin, end);
    if (p->cell == Cell::Lstm) {
      for (int64_t b = 0; b < p->batch; ++b)
        if (times[b] >= 0)
          advanceLstm(gates + b * width, next + b * h, cellState + b * h, first, last);
      return finish(first, last);
    }
    if (p->cell == Cell::Rnn) {
      for (int64_t b = 0; b < p->batch; ++b) {
        activate(gates + b * width + first, last - first, 0);
        copyUnits(next + b * h, gates + b * width, first, last);
      }
      return finish(first, last);
    }
    for (int64_t b = 0; b < p->batch; ++b) {
      F *gate = gates + b * width;
      activate(gate + first, last - first, 0);
      activate(gate + h + first, last - first, 0);
      for (int64_t j = first; hasPhases() && j < last; ++j)
        extra[b * h + j] = gate[h + j] * now[b * h + j];
    }
    if (!hasPhases())
      advanceGru(begin, end);
  }

  /// Computes the new gate of a GRU and its state, for the units of tasks [begin, end). In a phase
  /// of its own where the reset gates of all units are needed.
  void advanceGru(int64_t begin, int64_t end) {
    const int64_t first = begin * unitsPerTask(), last = minimum(end * unitsPerTask(), h);
    const GateLayout layout = stateLayout.last();
    const F *packed = stateWeights + stateLayout.together().size();
    if (hasPhases()) {
      GateProduct<F> product{layout, packed, gates + 2 * h, width, extra, h, p->batch};
      product.run(begin, end, [&](int64_t b) { return dataOf(b) + 2 * h; });
    } else {
      GateProduct<F> product{layout, packed, extra, h, now, h, p->batch};
      product.run(begin, end, [&](int64_t) { return biasOfLast; });
    }
    for (int64_t b = 0; b < p->batch; ++b) {
      F *gate = gates + b * width, *fresh = gate + 2 * h;
      const F *data = dataOf(b) + 2 * h, *old = now + b * h;
      for (int64_t j = first; !hasPhases() && j < last; ++j)
        fresh[j] = data[j] + gate[h + j] * extra[b * h + j];
      activate(fresh + first, last - first, 1);
      for (int64_t j = first; j < last; ++j)
        next[b * h + j] = (1 - gate[j]) * fresh[j] + gate[j] * old[j];
    }
    finish(first, last);
  }

  /// Writes the last states.
  void save() {
    save(o->lastH, states[p->steps % 2]);
    save(o->lastC, cellState);
  }

private:
  /// Returns the units of a panel of an LSTM; for the other cells those of the widest panel.
  int64_t unitsPerTask() const {
    return GateLayout::kColumns / (p->cell == Cell::Lstm ? p->gates : 1);
  }
  int64_t row(int64_t time, int64_t b) const {
    return p->batchFirst ? b * p->steps + time : time * p->batch + b;
  }
  int64_t stateRow(int64_t b) const {
    return p->batchFirst ? b * p->directions + direction : direction * p->batch + b;
  }

  const F *packedWeights(Context &c, const F *weights, CellLayout layout) {
    const F *own = weights + direction * layout.size();
    if (p->packed)
      return own;
    F *packed = c.scratch<F>(maximum(layout.size(), int64_t(1)));
    if (!packed)
      return nullptr;
    auto pack = [&](GateLayout part, int64_t offset) {
      parallelIf(c, part.panels(), GateLayout::kColumns * part.depth,
                 [&](int64_t begin, int64_t end) {
                   part.pack(packed + offset, own + offset, begin, end);
                 });
    };
    pack(layout.together(), 0);
    if (layout.hasLast())
      pack(layout.last(), layout.together().size());
    return packed;
  }
  /// Adds both biases, except that of the state where the reset gate scales it.
  void joinBiases() {
    const F *own = o->bias ? o->bias + direction * 2 * width : nullptr;
    const bool apart = p->cell == Cell::Gru && p->linearBeforeReset;
    for (int64_t j = 0; j < width; ++j)
      bias[j] = !own ? F(0) : apart && j >= 2 * h ? own[j] : own[j] + own[width + j];
    for (int64_t j = 0; j < h; ++j)
      biasOfLast[j] = own && apart ? own[width + 2 * h + j] : F(0);
  }
  void load(F *to, const F *from) {
    for (int64_t b = 0; b < p->batch; ++b)
      for (int64_t j = 0; j < h; ++j)
        to[b * h + j] = from ? from[stateRow(b) * h + j] : F(0);
  }
  void save(F *to, const F *from) {
    for (int64_t b = 0; to && b < p->batch; ++b)
      copyBytes(to + stateRow(b) * h, from + b * h, h * int64_t(sizeof(F)));
  }
  static void copyUnits(F *to, const F *from, int64_t first, int64_t end) {
    copyBytes(to + first, from + first, (end - first) * int64_t(sizeof(F)));
  }

  /// Returns the contribution of the data to the gates of sequence b; any row where it has ended.
  const F *dataOf(int64_t b) const {
    return fromData + row(maximum(times[b], int64_t(0)), b) * width;
  }

  /// Computes the gates of tasks [begin, end) that depend on the state alone: all but the last of a
  /// GRU.
  void multiplyState(int64_t begin, int64_t end) {
    const GateLayout layout = stateLayout.together();
    const int64_t panels = unitsPerTask() / layout.units();
    GateProduct<F> product{layout, stateWeights, gates, width, now, h, p->batch};
    product.run(begin * panels, minimum(end * panels, layout.panels()),
                [&](int64_t b) { return dataOf(b); });
  }

  void activate(F *x, int64_t count, int64_t function) const {
    if (p->clip > 0) {
      const F limit = F(p->clip);
      for (int64_t i = 0; i < count; ++i) {
        x[i] = x[i] > limit ? limit : x[i];
        x[i] = x[i] < -limit ? -limit : x[i];
      }
    }
    p->activations[direction * p->functions + function].apply(x, count);
  }

  /// Advances units [first, end) of an LSTM. The gates are in the order input, output, forget,
  /// cell.
  void advanceLstm(F *gate, F *to, F *memory, int64_t first, int64_t end) {
    const int64_t count = end - first;
    F *in = gate + first, *out = gate + h + first, *forget = gate + 2 * h + first;
    F *fresh = gate + 3 * h + first;
    const F *peeps = peep ? peep + first : nullptr;
    memory += first;
    to += first;
    for (int64_t j = 0; peep && j < count; ++j) {
      in[j] += peeps[j] * memory[j];
      forget[j] += peeps[2 * h + j] * memory[j];
    }
    activate(in, count, 0);
    if (p->inputForget)
      for (int64_t j = 0; j < count; ++j)
        forget[j] = 1 - in[j];
    else
      activate(forget, count, 0);
    activate(fresh, count, 1);
    for (int64_t j = 0; j < count; ++j) {
      memory[j] = forget[j] * memory[j] + in[j] * fresh[j];
      to[j] = memory[j];
    }
    for (int64_t j = 0; peep && j < count; ++j)
      out[j] += peeps[h + j] * memory[j];
    activate(out, count, 0);
    activate(to, count, 2);
    for (int64_t j = 0; j < count; ++j)
      to[j] *= out[j];
  }

  /// Keeps the state of sequences that have ended, and writes y: zeros beyond their ends.
  void finish(int64_t first, int64_t end) {
    for (int64_t b = 0; b < p->batch; ++b) {
      const bool ended = times[b] < 0;
      if (ended)
        copyUnits(next + b * h, now + b * h, first, end);
      if (!o->y)
        continue;
      const int64_t time = ended ? currentStep : times[b];
      F *to = o->y + (p->batchFirst ? ((b * p->steps + time) * p->directions + direction)
                                    : ((time * p->directions + direction) * p->batch + b)) *
                         h;
      if (ended)
        __builtin_memset(to + first, 0, uint64_t(end - first) * sizeof(F));
      else
        copyUnits(to, next + b * h, first, end);
    }
  }

  const RecurrentPlan *p = nullptr;
  const Operands<F> *o = nullptr;
  int64_t direction = 0, h = 0, width = 0, currentStep = 0;
  CellLayout inputLayout = {}, stateLayout = {};
  const F *inputWeights = nullptr, *stateWeights = nullptr, *peep = nullptr;
  F *fromData = nullptr, *gates = nullptr, *states[2] = {}, *cellState = nullptr, *extra = nullptr;
  F *bias = nullptr, *biasOfLast = nullptr, *now = nullptr, *next = nullptr;
  int64_t *times = nullptr;
};

/// Computes all directions of an operator. False where memory could not be allocated.
template <typename F>
bool runDirections(Context &c, const RecurrentPlan &p, const Operands<F> &operands) {
  Recurrence<F> all[2];
  for (int64_t d = 0; d < p.directions; ++d) {
    if (!all[d].prepare(c, p, d, operands))
      return false;
    all[d].project(c);
  }
  const int64_t tasks = all[0].tasks();
  // Runs work(direction, begin, end) for all tasks of all directions.
  auto forAll = [&](int64_t cost, auto &&work) {
    parallelIf(c, p.directions * tasks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t d = 0; d < p.directions; ++d) {
        const int64_t first = maximum(begin - d * tasks, int64_t(0));
        const int64_t last = minimum(end - d * tasks, tasks);
        if (first < last)
          work(all[d], first, last);
      }
    });
  };
  using Direction = Recurrence<F>;
  const int64_t cost = all[0].cost();
  for (int64_t step = 0; step < p.steps; ++step) {
    for (int64_t d = 0; d < p.directions; ++d)
      all[d].begin(step);
    forAll(cost, [](Direction &d, int64_t first, int64_t last) { d.advance(first, last); });
    if (all[0].hasPhases())
      forAll(cost / 3,
             [](Direction &d, int64_t first, int64_t last) { d.advanceGru(first, last); });
  }
  for (int64_t d = 0; d < p.directions; ++d)
    all[d].save();
  return true;
}

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
    const Operands<F> operands{in[0],
                               in[1],
                               in[2],
                               in[3],
                               in[5],
                               in[6],
                               in[7],
                               c.in(4),
                               out[0] ? y.data : nullptr,
                               out[1] ? lastH.data : nullptr,
                               out[2] ? lastC.data : nullptr};
    if (!runDirections(c, p, operands))
      return;
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
