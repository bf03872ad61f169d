//===-- Recurrent.cpp - RNN, GRU and LSTM ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product computes the contribution of the data to the gates for a block of steps. A step
// adds the contribution of the state and advances it, in one pass over the weights: a task computes
// all gates of some units and needs nothing from other tasks of the step. Threads go through the
// steps of a block together (PhaseChain.h), with the same units in each step, or with a direction
// each. Constant weights are packed when the model is compiled (attribute "packed"). Where the call
// has generated code, that computes the cells from their gates.

#include "kernels/core/GeneratedCode.h"
#include "kernels/core/Widen.h"
#include "kernels/nn/CellActivations.h"
#include "kernels/nn/PhaseChain.h"
#include "kernels/nn/RecurrentPlan.h"
#include "kernels/nn/gates/GateProduct.h"

namespace atc::kernels {

namespace {
/// Holds the operands of all directions, in the type in which they are computed; null where
/// omitted.
template <typename F> struct CellOperands {
  const F *x, *w, *r, *bias, *initialH, *initialC, *peepholes;
  Tensor lengths;
  F *y, *lastH, *lastC;
  host::GeneratedCode code; ///< of cells; null: none
};

/// Computes one direction of an operator. The state and the gates of a sequence are rows; a task
/// computes ranges of units of them.
template <typename F> class Recurrence {
public:
  /// Finds memory, packs weights that are not, and sets the first state. False where memory could
  /// not be allocated.
  bool prepare(Context &c, const RecurrentPlan &plan, int64_t which,
               const CellOperands<F> &operands) {
    p = &plan;
    o = &operands;
    direction = which;
    h = p->hidden;
    width = p->gates * h;
    if (spaceFor(c, p->steps, p->batch, p->gates, h) < 0)
      return false;
    inputLayout = p->inputLayout();
    stateLayout = p->stateLayout();
    inputWeights = packedWeights(c, o->w, inputLayout);
    stateWeights = packedWeights(c, o->r, stateLayout);
    // A block of steps for which the data are multiplied at once. Sequences that end early and are
    // read backward begin at different times: only all times together are a block.
    const int64_t enough = maximum(int64_t(kBlockRows) / maximum(p->batch, int64_t(1)), int64_t(8));
    const int64_t blocks = o->lengths ? 1 : ceilDiv(maximum(p->steps, int64_t(1)), enough);
    blockSteps = ceilDiv(p->steps, blocks);
    const int64_t units = maximum(p->batch * h, int64_t(1));
    const int64_t rows = maximum(blockSteps * p->batch, int64_t(1));
    fromData = c.scratch<F>(rows * maximum(width, int64_t(1)));
    gates = c.scratch<F>(units * p->gates);
    states[0] = c.scratch<F>(units);
    states[1] = c.scratch<F>(units);
    cellState = c.scratch<F>(units);
    extra = c.scratch<F>(units);
    bias = c.scratch<F>(maximum(width, int64_t(1)));
    biasOfLast = c.scratch<F>(maximum(h, int64_t(1)));
    times = c.scratch<int64_t>(rows);
    dataRows = c.scratch<int64_t>(rows);
    if (!inputWeights || !stateWeights || !fromData || !gates || !states[0] || !states[1] ||
        !cellState || !extra || !bias || !biasOfLast || !times || !dataRows)
      return false;
    hasDefaultFunctions = p->hasDefaultFunctions(direction) && !o->peepholes && !p->inputForget;
    peep = o->peepholes ? o->peepholes + direction * 3 * h : nullptr;
    joinBiases();
    load(states[0], o->initialH);
    load(cellState, p->cell == Cell::Lstm ? o->initialC : nullptr);
    return true;
  }

  /// Returns the number of steps of a block, all but the last of which have as many.
  int64_t stepsPerBlock() const { return blockSteps; }

  /// Begins the block of steps [begin, end): finds the times at which the sequences read the data,
  /// and computes its contribution to all gates, with the bias.
  void beginBlock(Context &c, int64_t begin, int64_t end) {
    blockBegin = begin;
    const bool reverse = direction == 1 || p->backwardOnly;
    const int64_t count = end - begin, firstTime = o->lengths || !reverse ? begin : p->steps - end;
    for (int64_t b = 0; b < p->batch; ++b) {
      const int64_t length =
          o->lengths ? minimum(maximum(integerAt(o->lengths, b), int64_t(0)), p->steps) : p->steps;
      for (int64_t step = begin; step < end; ++step) {
        const int64_t time = step >= length ? -1 : reverse ? length - 1 - step : step;
        const int64_t fromFirst = maximum(time - firstTime, int64_t(0));
        const int64_t at = (step - begin) * p->batch + b;
        times[at] = time;
        dataRows[at] = p->batchFirst ? b * count + fromFirst : fromFirst * p->batch + b;
      }
    }
    if (!p->batchFirst || count == p->steps)
      return project(c, o->x + firstTime * p->batch * p->inputs, fromData, count * p->batch);
    for (int64_t b = 0; b < p->batch; ++b)
      project(c, o->x + (b * p->steps + firstTime) * p->inputs, fromData + b * count * width,
              count);
  }

  /// Returns the number of tasks of a step, and the number of its phases: two for a GRU whose reset
  /// gate scales the state.
  int64_t tasks() const { return ceilDiv(h, unitsPerTask()); }
  int64_t phases() const { return p->cell == Cell::Gru && !p->linearBeforeReset ? 2 : 1; }
  /// Returns the number of products of a step.
  int64_t products() const { return p->batch * width * h; }

  /// Runs tasks [begin, end) of a phase of the block. Odd steps read the weights backward, so that
  /// what is left in a cache of those that a step has read last is read first.
  void run(int64_t phase, int64_t begin, int64_t end) {
    const Step step = stepOf(blockBegin + phase / phases());
    if (phase % phases() == 0)
      advance(step, begin, end);
    else
      advanceGru(step, begin, end);
  }

  /// Writes the last states.
  void save() {
    save(o->lastH, states[p->steps % 2]);
    save(o->lastC, cellState);
  }

private:
  static constexpr int64_t kBlockRows = 128;

  /// Holds what a step reads and writes: the states before and after it, and per sequence the time
  /// at which it reads the data (-1 where it has ended) and the row of its contribution.
  struct Step {
    int64_t number;
    const F *now;
    F *next;
    const int64_t *times, *dataRows;
  };
  Step stepOf(int64_t number) const {
    const int64_t at = (number - blockBegin) * p->batch;
    return {number, states[number % 2], states[1 - number % 2], times + at, dataRows + at};
  }

  /// Multiplies `rows` rows of the data by the weights of all gates.
  void project(Context &c, const F *x, F *to, int64_t rows) {
    // Enough rows for the weights of a panel to be read from a near cache most of the time.
    constexpr int64_t chunk = 96;
    auto multiply = [&](GateLayout layout, const F *packed, int64_t first) {
      const int64_t panels = layout.panels(), chunks = ceilDiv(rows, chunk);
      parallelIf(c, panels * chunks, GateLayout::kColumns * layout.depth * minimum(rows, chunk),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end;) {
                     const int64_t row = task / panels * chunk, panel = task % panels;
                     const int64_t count = minimum(end - task, panels - panel);
                     GateProduct<F> product{layout,
                                            packed,
                                            to + row * width + first,
                                            width,
                                            x + row * p->inputs,
                                            p->inputs,
                                            minimum(chunk, rows - row),
                                            {bias + first, 0}};
                     product.run(panel, panel + count);
                     task += count;
                   }
                 });
    };
    multiply(inputLayout.together(), inputWeights, 0);
    if (inputLayout.hasLast())
      multiply(inputLayout.last(), inputWeights + inputLayout.together().size(), 2 * h);
  }

  /// Advances the units of tasks [begin, end).
  void advance(const Step &step, int64_t begin, int64_t end) {
    const int64_t first = begin * unitsPerTask(), last = minimum(end * unitsPerTask(), h);
    multiplyState(step, begin, end);
    for (int64_t b = 0; b < p->batch; ++b) {
      F *gate = gates + b * width;
      if (p->cell == Cell::Lstm) {
        if (step.times[b] < 0)
          continue;
        if (o->code)
          runLstmCode(gate, step.next + b * h, cellState + b * h, first, last);
        else if (hasDefaultFunctions)
          advanceDefaultLstm(gate, step.next + b * h, cellState + b * h, first, last);
        else
          advanceLstm(gate, step.next + b * h, cellState + b * h, first, last);
      } else if (o->code && p->cell == Cell::Rnn) {
        const F *rows[] = {gate, step.next + b * h};
        runCode<2, 1>(rows, first, last);
      } else if (o->code && phases() == 1) {
        continue; // The code computes these gates, too.
      } else if (p->cell == Cell::Rnn) {
        activate(gate + first, last - first, 0);
        copyUnits(step.next + b * h, gate, first, last);
      } else {
        if (!o->code)
          activate(gate + first, last - first, 0);
        activate(gate + h + first, last - first, 0);
        for (int64_t j = first; phases() > 1 && j < last; ++j)
          extra[b * h + j] = gate[h + j] * step.now[b * h + j];
      }
    }
    if (p->cell != Cell::Gru)
      finish(step, first, last);
    else if (phases() == 1)
      advanceGru(step, begin, end);
  }

  /// Computes the new gate of a GRU and its state, for the units of tasks [begin, end). In a phase
  /// of its own where the reset gates of all units are needed.
  void advanceGru(const Step &step, int64_t begin, int64_t end) {
    const int64_t first = begin * unitsPerTask(), last = minimum(end * unitsPerTask(), h);
    const GateLayout layout = stateLayout.last();
    const F *packed = stateWeights + stateLayout.together().size();
    const bool isApart = phases() > 1;
    GateProduct<F> product{layout,
                           packed,
                           isApart ? gates + 2 * h : extra,
                           isApart ? width : h,
                           isApart ? extra : step.now,
                           h,
                           p->batch,
                           isApart ? StartRows<F>{fromData + 2 * h, width, step.dataRows}
                                   : StartRows<F>{biasOfLast, 0}};
    product.run(begin, end, step.number & 1);
    for (int64_t b = 0; b < p->batch; ++b) {
      F *gate = gates + b * width, *fresh = gate + 2 * h;
      const F *data = fromData + step.dataRows[b] * width + 2 * h, *old = step.now + b * h;
      if (o->code) {
        if (isApart) {
          const F *rows[] = {gate, fresh, old, step.next + b * h};
          runCode<4, 1>(rows, first, last);
        } else {
          const F *rows[] = {gate, gate + h, data, extra + b * h, old, step.next + b * h};
          runCode<6, 1>(rows, first, last);
        }
        continue;
      }
      for (int64_t j = first; !isApart && j < last; ++j)
        fresh[j] = data[j] + gate[h + j] * extra[b * h + j];
      activate(fresh + first, last - first, 1);
      for (int64_t j = first; j < last; ++j)
        step.next[b * h + j] = (1 - gate[j]) * fresh[j] + gate[j] * old[j];
    }
    finish(step, first, last);
  }

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

  /// Computes the gates of tasks [begin, end) that depend on the state alone: all but the last of a
  /// GRU.
  void multiplyState(const Step &step, int64_t begin, int64_t end) {
    const GateLayout layout = stateLayout.together();
    const int64_t panels = unitsPerTask() / layout.units();
    GateProduct<F> product{layout,   stateWeights,
                           gates,    width,
                           step.now, h,
                           p->batch, {fromData, width, step.dataRows}};
    product.run(begin * panels, minimum(end * panels, layout.panels()), step.number & 1);
  }

  void activate(F *x, int64_t count, int64_t function) const {
    if (p->clip > 0) {
      const F limit = F(p->clip);
      for (int64_t i = 0; i < count; ++i) {
        x[i] = x[i] > limit ? limit : x[i];
        x[i] = x[i] < -limit ? -limit : x[i];
      }
    }
    apply(x, count, function);
  }
  void apply(F *x, int64_t count, int64_t function) const {
    p->activations[direction * p->functions + function].apply(x, count);
  }

  /// Runs the generated code for units [first, end) of its buffers, of which it writes the last
  /// `Written`.
  template <uint32_t Count, uint32_t Written>
  void runCode(const F *const (&rows)[Count], int64_t first, int64_t end) const {
    static_assert(Count <= kCellBuffers);
    void *buffers[Count];
    int64_t j = first;
    for (; j + kCellUnits <= end; j += kCellUnits) {
      for (uint32_t i = 0; i < Count; ++i)
        buffers[i] = const_cast<F *>(rows[i] + j);
      o->code(buffers, nullptr, 0, 1);
    }
    if (j == end)
      return;
    // The rest as a whole block, too.
    F rest[Count][kCellUnits] = {};
    for (uint32_t i = 0; i < Count; ++i) {
      for (int64_t unit = 0; j + unit < end; ++unit)
        rest[i][unit] = rows[i][j + unit];
      buffers[i] = rest[i];
    }
    o->code(buffers, nullptr, 0, 1);
    for (uint32_t i = Count - Written; i < Count; ++i)
      for (int64_t unit = 0; j + unit < end; ++unit)
        const_cast<F *>(rows[i])[j + unit] = rest[i][unit];
  }
  void runLstmCode(F *gate, F *to, F *memory, int64_t first, int64_t end) const {
    if (peep) {
      const F *rows[] = {gate,   gate + h, gate + 2 * h, gate + 3 * h, peep, peep + h, peep + 2 * h,
                         memory, to};
      return runCode<9, 2>(rows, first, end);
    }
    const F *rows[] = {gate, gate + h, gate + 2 * h, gate + 3 * h, memory, to};
    runCode<6, 2>(rows, first, end);
  }

  /// Advances units [first, end) of an LSTM with the default functions, all of it in registers.
  void advanceDefaultLstm(const F *gate, F *to, F *memory, int64_t first, int64_t end) const {
    constexpr int64_t block = 16;
    auto advanceBlock = [](const F *in, const F *out, const F *forget, const F *fresh, F *state,
                           F *result) {
#pragma clang loop unroll(disable)
      for (int64_t j = 0; j < block; ++j) {
        const F added = fast::sigmoidTimesTanh(in[j], fresh[j]);
        state[j] = state[j] / (1 + fast::exp(-forget[j])) + added;
        result[j] = fast::sigmoidTimesTanh(out[j], state[j]);
      }
    };
    int64_t j = first;
    for (; j + block <= end; j += block)
      advanceBlock(gate + j, gate + h + j, gate + 2 * h + j, gate + 3 * h + j, memory + j, to + j);
    if (j == end)
      return;
    // The rest as a whole block, too.
    F rest[6][block] = {};
    for (int64_t i = 0; j + i < end; ++i) {
      for (int64_t g = 0; g < 4; ++g)
        rest[g][i] = gate[g * h + j + i];
      rest[4][i] = memory[j + i];
    }
    advanceBlock(rest[0], rest[1], rest[2], rest[3], rest[4], rest[5]);
    for (int64_t i = 0; j + i < end; ++i) {
      memory[j + i] = rest[4][i];
      to[j + i] = rest[5][i];
    }
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
    apply(to, count, 2); // ONNX Runtime limits the gates, not the state
    for (int64_t j = 0; j < count; ++j)
      to[j] *= out[j];
  }

  /// Keeps the state of sequences that have ended, and writes y: zeros beyond their ends.
  void finish(const Step &step, int64_t first, int64_t end) {
    for (int64_t b = 0; b < p->batch; ++b) {
      const bool ended = step.times[b] < 0;
      if (ended)
        copyUnits(step.next + b * h, step.now + b * h, first, end);
      if (!o->y)
        continue;
      const int64_t time = ended ? step.number : step.times[b];
      F *to = o->y + (p->batchFirst ? ((b * p->steps + time) * p->directions + direction)
                                    : ((time * p->directions + direction) * p->batch + b)) *
                         h;
      if (ended)
        __builtin_memset(to + first, 0, uint64_t(end - first) * sizeof(F));
      else
        copyUnits(to, step.next + b * h, first, end);
    }
  }

  const RecurrentPlan *p = nullptr;
  const CellOperands<F> *o = nullptr;
  int64_t direction = 0, h = 0, width = 0, blockSteps = 0, blockBegin = 0;
  bool hasDefaultFunctions = false;
  CellLayout inputLayout = {}, stateLayout = {};
  const F *inputWeights = nullptr, *stateWeights = nullptr, *peep = nullptr;
  F *fromData = nullptr, *gates = nullptr, *states[2] = {}, *cellState = nullptr, *extra = nullptr;
  F *bias = nullptr, *biasOfLast = nullptr;
  int64_t *times = nullptr, *dataRows = nullptr; ///< [steps of the block, batch]
};

/// Computes all directions of an operator. False where memory could not be allocated.
template <typename F>
bool runDirections(Context &c, const RecurrentPlan &p, const CellOperands<F> &operands) {
  Recurrence<F> all[2];
  PhaseChain chains[2];
  for (int64_t d = 0; d < p.directions; ++d) {
    if (!all[d].prepare(c, p, d, operands))
      return false;
    auto *phases =
        c.scratch<PhaseChain::Phase>(maximum(all[d].stepsPerBlock() * all[d].phases(), int64_t(1)));
    if (!phases)
      return false;
    chains[d].use(phases);
  }
  // A step of fewer products takes less time than threads need to agree on its end.
  constexpr int64_t shared = 1 << 17;
  const int64_t tasks = all[0].tasks(), products = all[0].products(), phases = all[0].phases();
  const int64_t chunks =
      products < shared ? 1 : maximum(minimum(tasks, PhaseChain::kMaxChunks), int64_t(1));
  auto run = [&](int64_t d, int64_t phase, int64_t begin, int64_t end) {
    all[d].run(phase, begin * tasks / chunks, end * tasks / chunks);
  };
  const int64_t perBlock = all[0].stepsPerBlock();
  for (int64_t begin = 0; begin < p.steps; begin += perBlock) {
    const int64_t steps = minimum(perBlock, p.steps - begin);
    for (int64_t d = 0; d < p.directions; ++d) {
      all[d].beginBlock(c, begin, begin + steps);
      chains[d].restart(steps, phases, chunks, products / chunks);
    }
    runChains(c, chains, p.directions, steps, p.directions * products / 4, run);
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
    const CellOperands<F> operands{in[0],
                                   in[1],
                                   in[2],
                                   in[3],
                                   in[5],
                                   in[6],
                                   in[7],
                                   c.in(4),
                                   out[0] ? y.data : nullptr,
                                   out[1] ? lastH.data : nullptr,
                                   out[2] ? lastC.data : nullptr,
                                   hasFittingCode(c) ? c.generatedCode() : nullptr};
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

ATC_KERNEL_OF_CODE(RNN) { runRecurrent(*this, Cell::Rnn); }
ATC_KERNEL_OF_CODE(GRU) { runRecurrent(*this, Cell::Gru); }
ATC_KERNEL_OF_CODE(LSTM) { runRecurrent(*this, Cell::Lstm); }

} // namespace atc::kernels
