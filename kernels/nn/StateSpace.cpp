//===-- StateSpace.cpp - operators that carry a state along a sequence ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {

/// Returns the dims of `window` states of `state`; of one state, without a dim that counts them,
/// where it is 0.
Dims windowOf(int64_t window, const Dims &state) {
  if (!window)
    return state;
  Dims dims(window);
  for (uint32_t i = 0; i < state.rank; ++i)
    dims.push(state[i]);
  return dims;
}

/// Reads how many of the last states are kept. Returns false and fails the call where the number
/// does not fit.
bool findWindow(Context &c, int64_t &window) {
  window = c.integer("state_window", 0);
  if (window < 0 || window > 8)
    return c.fail("state_window is %, not 0 to 8", window), false;
  return true;
}

/// The sizes of a LinearAttention and what its update rule reads.
struct LinearPlan {
  int64_t heads, shared, results;       ///< of queries; of keys, values and states; of the result
  int64_t batch, steps, size, values;   ///< elements per key and per value
  int64_t decays = 0, betas = 0;        ///< elements per step
  bool gated = false, corrects = false; ///< the state decays; errors of it are added

  /// Computes the sizes. Returns false and fails the call where inputs or attributes do not fit.
  bool find(Context &c);
  int64_t window = 0; ///< see windowOf()
  /// Returns the dims of the past and of the present.
  Dims stateDims() const { return windowOf(window, Dims(batch, shared, size, values)); }

private:
  bool findRule(Context &c);
};

bool LinearPlan::find(Context &c) {
  const Tensor q = c.in(0), k = c.in(1), v = c.in(2), past = c.in(3);
  heads = c.integer("q_num_heads", 0), shared = c.integer("kv_num_heads", 0);
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3)
    return c.fail("inputs have ranks %, % and %, not 3", q.rank(), k.rank(), v.rank()), false;
  batch = q.dim(0), steps = q.dim(1);
  results = maximum(heads, shared);
  // Heads without elements could be of any number.
  if (heads < 1 || shared < 1 || heads > maximum(q.dim(2), int64_t(1)) ||
      shared > maximum(k.dim(2), int64_t(1)) || (heads % shared && shared % heads) ||
      q.dim(2) % heads || k.dim(2) % shared || v.dim(2) % shared)
    return c.fail("% heads in % elements, % in % and %", heads, q.dim(2), shared, k.dim(2),
                  v.dim(2)),
           false;
  size = q.dim(2) / heads, values = v.dim(2) / shared;
  if (k.dim(2) / shared != size || k.dim(0) != batch || v.dim(0) != batch || k.dim(1) != steps ||
      v.dim(1) != steps)
    return c.fail("queries, keys and values do not fit heads of %", size), false;
  if (!findRule(c) || !findWindow(c, window))
    return false;
  if (past && !(past.dims() == stateDims()))
    return c.fail("past_state does not fit % heads of % x %", shared, size, values), false;
  return true;
}

bool LinearPlan::findRule(Context &c) {
  const Tensor decay = c.in(4), beta = c.in(5);
  const bool delta = c.is("update_rule", "gated_delta", "delta");
  const bool gatedDelta = c.is("update_rule", "gated_delta", "gated_delta");
  gated = gatedDelta || c.is("update_rule", "gated_delta", "gated");
  corrects = delta || gatedDelta;
  if (!gated && !corrects && !c.is("update_rule", "gated_delta", "linear"))
    return c.fail("update_rule is not known"), false;
  if ((gated && !decay) || (corrects && !beta))
    return c.fail("decay or beta is left out"), false;
  if ((decay && !decay.rank()) || (beta && !beta.rank()))
    return c.fail("decay or beta has no dims"), false;
  decays = decay ? decay.dim(int64_t(decay.rank()) - 1) : 0;
  betas = beta ? beta.dim(int64_t(beta.rank()) - 1) : 0;
  if (gated &&
      ((decays != shared && decays != shared * size) || decay.count() != batch * steps * decays))
    return c.fail("a decay of % for % heads", decays, shared), false;
  if (corrects && ((betas != 1 && betas != shared) || beta.count() != batch * steps * betas))
    return c.fail("a beta of % for % heads", betas, shared), false;
  return true;
}

/// The elements of a LinearAttention in its type of computation; `gate` and `rate` may be null.
template <typename F> struct LinearValues {
  const F *query, *key, *value, *gate, *rate;
  F *result;
  F scale;

  /// Updates the state `s` of head `h` by step `t` (counted over all batches) and computes the
  /// results of the query heads that share it. `error` has room for one value vector.
  void step(const LinearPlan &p, F *s, F *error, int64_t t, int64_t h) const {
    const int64_t size = p.size, values = p.values;
    const F *kt = key + (t * p.shared + h) * size, *vt = value + (t * p.shared + h) * values;
    for (int64_t d = 0; p.gated && d < size; ++d) {
      const F keep = fast::exp(gate[t * p.decays + (p.decays == p.shared ? h : h * size + d)]);
      for (int64_t j = 0; j < values; ++j)
        s[d * values + j] *= keep;
    }
    for (int64_t j = 0; j < values; ++j)
      error[j] = vt[j];
    const F by = rate ? rate[t * p.betas + (p.betas == 1 ? 0 : h)] : F(1);
    if (p.corrects) {
      for (int64_t d = 0; d < size; ++d)
        for (int64_t j = 0; j < values; ++j)
          error[j] -= s[d * values + j] * kt[d];
      for (int64_t j = 0; j < values; ++j)
        error[j] *= by;
    }
    for (int64_t d = 0; d < size; ++d)
      for (int64_t j = 0; j < values; ++j)
        s[d * values + j] += kt[d] * error[j];
    // Heads of queries share states, or heads of states share queries.
    const int64_t each = p.results / p.shared, same = p.results / p.heads;
    for (int64_t head = h * each; head < (h + 1) * each; ++head) {
      const F *qt = query + (t * p.heads + head / same) * size;
      F *to = result + (t * p.results + head) * values;
      for (int64_t j = 0; j < values; ++j)
        to[j] = 0;
      for (int64_t d = 0; d < size; ++d)
        for (int64_t j = 0; j < values; ++j)
          to[j] += qt[d] * scale * s[d * values + j];
    }
  }
};

} // namespace

namespace {

void attendLinearly(Context &c) {
  LinearPlan p;
  if (!p.find(c))
    return;
  const Tensor q = c.in(0), past = c.in(3);
  const int64_t states = p.batch * p.shared, cells = p.size * p.values;
  const uint8_t stateType = past ? past.dtype() : q.dtype();
  const Dims shape(p.batch, p.steps, p.results * p.values);
  void *out = c.makeBytes(0, q.dtype(), shape), *present = nullptr;
  if (!isFloat(stateType))
    return c.failType(stateType);
  if (!out || (c.wants(1) && !(present = c.makeBytes(1, stateType, p.stateDims()))))
    return;
  const int64_t slots = maximum(p.window, int64_t(1));
  if (spaceFor(c, p.batch, p.shared, p.size + 1, p.values, slots + 1) < 0)
    return;
  const double asked = c.number("scale", 0);
  const double scale = asked != 0 ? asked : 1 / math::sqrt(double(maximum(p.size, int64_t(1))));
  bool done = dispatchFloats(q.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(c, out, shape.product());
    const LinearValues<F> all = {widen<T>(c, q),
                                 widen<T>(c, c.in(1)),
                                 widen<T>(c, c.in(2)),
                                 p.gated ? widen<T>(c, c.in(4)) : nullptr,
                                 p.corrects ? widen<T>(c, c.in(5)) : nullptr,
                                 y.data,
                                 F(scale)};
    const F *before = past ? numbersOf<F>(c, past) : nullptr;
    // The last slot holds the running state; those in front of it are copies on the way.
    F *kept = c.scratch<F>(maximum(states * (slots * cells + p.values), int64_t(1)));
    if (!y.data || !all.query || !all.key || !all.value || (p.gated && !all.gate) ||
        (p.corrects && !all.rate) || (past && !before) || !kept)
      return;
    const int64_t last = (slots - 1) * states * cells;
    F *errors = kept + slots * states * cells;
    parallelIf(c, states, p.steps * cells * 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        F *s = kept + last + i * cells;
        if (before)
          copyBytes(s, before + last + i * cells, cells * int64_t(sizeof(F)));
        else
          __builtin_memset(s, 0, uint64_t(cells) * sizeof(F));
        const int64_t b = i / p.shared;
        for (int64_t slot = 0; slot + 1 < slots && slot < slots - p.steps; ++slot)
          __builtin_memset(kept + (slot * states + i) * cells, 0, uint64_t(cells) * sizeof(F));
        for (int64_t t = 0; t < p.steps; ++t) {
          all.step(p, s, errors + i * p.values, b * p.steps + t, i % p.shared);
          if (const int64_t slot = slots - p.steps + t; slot >= 0 && slot + 1 < slots)
            copyBytes(kept + (slot * states + i) * cells, s, cells * int64_t(sizeof(F)));
        }
      }
    });
    y.store(c);
    if (present)
      (void)dispatchFloats(stateType, [&](auto tag) {
        using S = typename decltype(tag)::Type;
        convert(c, static_cast<S *>(present), kept, p.stateDims().product());
      });
  });
  if (!done)
    c.failType(q.dtype());
}

/// The sizes of a causal convolution. A line is what a channel of a batch has had before, followed
/// by its new positions.
struct CausalPlan {
  int64_t batch = 0, channels = 0, length = 0, taps = 0, dilation = 1;
  int64_t before = 0; ///< positions of a state
  int64_t window = 0; ///< see windowOf()
  bool last = false;  ///< channels are the last dims: [batch, length, channels ...]
  Dims stateDims;

  /// Computes the sizes. Returns false and fails the call where they do not fit.
  bool find(Context &c);
  /// Returns the offset of position `j` of a channel of a batch in a tensor of `positions`.
  int64_t offsetOf(int64_t index, int64_t j, int64_t positions) const {
    return last ? (index / channels * positions + j) * channels + index % channels
                : index * positions + j;
  }
};

bool CausalPlan::find(Context &c) {
  const Tensor x = c.in(0), w = c.in(1), bias = c.in(2), past = c.in(3);
  last = c.integer("channels_last", 0);
  dilation = c.integer("dilation", 1);
  if ((last ? x.rank() < 3 : x.rank() != 3) || w.rank() != 3 || w.dim(1) != 1 || w.dim(2) < 1 ||
      dilation < 1)
    return c.fail("data of rank %, weights of rank %, dilation %", x.rank(), w.rank(), dilation),
           false;
  const Dims dims = x.dims();
  batch = dims[0], length = dims[last ? 1 : 2], taps = w.dim(2);
  channels = last ? dims.product(2, dims.rank) : dims[1];
  if (w.dim(0) != channels || __builtin_mul_overflow(taps - 1, dilation, &before) ||
      before > (int64_t(1) << 40))
    return c.fail("weights of % channels and % taps for % channels", w.dim(0), taps, channels),
           false;
  Dims state = dims;
  state[last ? 1 : 2] = before;
  if (!findWindow(c, window))
    return false;
  stateDims = windowOf(window, state);
  if ((bias && bias.count() != channels) || (past && !(past.dims() == stateDims)))
    return c.fail("bias or past_state do not fit % channels and % taps", channels, taps), false;
  return true;
}

void convolveCausally(Context &c) {
  const Tensor x = c.in(0), w = c.in(1), bias = c.in(2), past = c.in(3);
  CausalPlan p;
  if (!p.find(c))
    return;
  const bool silu = c.is("activation", "none", "silu") || c.is("activation", "none", "swish");
  if (!silu && !c.is("activation", "none", "none"))
    return c.fail("activation is not known");
  void *out = c.makeBytes(0, x.dtype(), x.dims()), *present = nullptr;
  if (!out || (c.wants(1) && !(present = c.makeBytes(1, x.dtype(), p.stateDims))))
    return;
  if (spaceFor(c, p.batch, p.channels, p.before + p.length + 1) < 0)
    return;
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    const int64_t length = p.length, before = p.before, all = before + length;
    const int64_t slots = maximum(p.window, int64_t(1));
    const int64_t each = p.batch * p.channels * before; // elements of a state
    WideResult<T> y(c, out, x.count());
    WideResult<T> state(c, present, present ? p.stateDims.product() : 0);
    const F *data = widen<T>(c, x), *weights = widen<T>(c, w);
    const F *terms = bias ? widen<T>(c, bias) : nullptr;
    const F *old = past ? widen<T>(c, past) : nullptr;
    F *lines = c.scratch<F>(maximum(p.batch * p.channels * (all + length), int64_t(1)));
    if (!y.data || !data || !weights || (bias && !terms) || (past && !old) || !lines)
      return;
    parallelIf(c, p.batch * p.channels, all * p.taps, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        F *line = lines + i * (all + length), *to = line + all;
        for (int64_t j = 0; j < before; ++j)
          line[j] = old ? old[(slots - 1) * each + p.offsetOf(i, j, before)] : F(0);
        for (int64_t j = 0; j < length; ++j)
          line[before + j] = data[p.offsetOf(i, j, length)];
        for (int64_t j = 0; j < length; ++j)
          to[j] = terms ? terms[i % p.channels] : F(0);
        for (int64_t tap = 0; tap < p.taps; ++tap)
          for (int64_t j = 0; j < length; ++j)
            to[j] += weights[i % p.channels * p.taps + tap] * line[j + tap * p.dilation];
        for (int64_t j = 0; silu && j < length; ++j)
          to[j] *= fast::sigmoid(to[j]);
        for (int64_t j = 0; j < length; ++j)
          y.data[p.offsetOf(i, j, length)] = to[j];
        for (int64_t slot = 0; present && slot < slots; ++slot) {
          // The state behind so many new positions; there is none where that is negative.
          const int64_t passed = length - (slots - 1 - slot);
          const bool is = p.window ? passed > 0 || slot == slots - 1 : true;
          for (int64_t j = 0; j < before; ++j)
            state.data[slot * each + p.offsetOf(i, j, before)] = is ? line[passed + j] : F(0);
        }
      }
    });
    y.store(c);
    if (present)
      state.store(c);
  });
  if (!done)
    c.failType(x.dtype());
}

} // namespace

ATC_KERNEL(LinearAttention) { attendLinearly(*this); }

ATC_KERNEL(MsLinearAttention) { attendLinearly(*this); }

ATC_KERNEL(CausalConvWithState) { convolveCausally(*this); }

ATC_KERNEL(MsCausalConvWithState) { convolveCausally(*this); }

ATC_KERNEL(LinearAttentionGate) {
  const Tensor a = in(0), bias = in(1), decayScale = in(2), b = in(3);
  const int64_t heads = a.rank() ? a.dim(a.rank() - 1) : 0;
  if (bias.count() != heads || decayScale.count() != heads || bias.dtype() != F32 ||
      decayScale.dtype() != F32 || (b && !(b.dims() == a.dims())) || (wants(1) && !b))
    return fail("% and % numbers for % heads", bias.count(), decayScale.count(), heads);
  void *decay = wants(0) ? makeBytes(0, a.dtype(), a.dims()) : nullptr;
  void *beta = wants(1) ? makeBytes(1, a.dtype(), a.dims()) : nullptr;
  if ((wants(0) && !decay) || (wants(1) && !beta))
    return;
  bool done = dispatchFloats(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    const float *terms = bias.as<float>(), *factors = decayScale.as<float>();
    for (int64_t i = 0; decay && i < a.count(); ++i) {
      const float x = float(a.as<T>()[i]) + terms[i % heads];
      static_cast<T *>(decay)[i] = T(factors[i % heads] * float(math::softplus(x)));
    }
    for (int64_t i = 0; beta && i < a.count(); ++i)
      static_cast<T *>(beta)[i] = T(fast::sigmoid(float(b.as<T>()[i])));
  });
  if (!done)
    failType(a.dtype());
}

ATC_KERNEL(GatedRMSNorm) {
  const Tensor x = in(0), scale = in(1), gate = in(2);
  const int64_t size = scale.count(), width = x.rank() ? x.dim(x.rank() - 1) : 0;
  const bool plain = is("activation", "silu", "sigmoid");
  if (!plain && !is("activation", "silu", "silu") && !is("activation", "silu", "swish"))
    return fail("activation is not known");
  if (size < 1 || width % size || !(gate.dims() == x.dims()))
    return fail("rows of % and a gate of % numbers for a scale of %", width, gate.count(), size);
  auto compute = [&]<typename F>(F *y, const F *data, const F *factors, const F *gates) {
    const F epsilon = F(number("epsilon", 1e-5));
    parallelIf(*this, x.count() / size, size * 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const F *row = data + i * size, *z = gates + i * size;
        F sum = 0;
        for (int64_t j = 0; j < size; ++j)
          sum += row[j] * row[j];
        const F norm = 1 / math::sqrt(sum / F(size) + epsilon);
        for (int64_t j = 0; j < size; ++j)
          y[i * size + j] =
              row[j] * norm * factors[j] * fast::sigmoid(z[j]) * (plain ? F(1) : z[j]);
      }
    });
    return true;
  };
  void *out = makeBytes(0, x.dtype(), x.dims());
  if (out)
    computeFloats(*this, out, x.count(), compute, x, scale, gate);
}

ATC_KERNEL(RotaryEmbedding) {
  const Tensor x = in(0), cosines = in(1), sines = in(2), positions = in(3);
  if (x.rank() != 3 && x.rank() != 4)
    return fail("data of rank %, not 3 or 4", x.rank());
  const bool packed = x.rank() == 3;
  const int64_t heads = packed ? integer("num_heads", 0) : x.dim(1);
  if (heads < 1 || (packed && (x.dim(2) % heads || heads > maximum(x.dim(2), int64_t(1)))))
    return fail("% heads in % elements", heads, x.dim(x.rank() - 1));
  const int64_t batch = x.dim(0), length = x.dim(packed ? 1 : 2);
  const int64_t size = packed ? x.dim(2) / heads : x.dim(3);
  const int64_t asked = integer("rotary_embedding_dim", 0), turned = asked ? asked : size;
  const int64_t half = turned / 2;
  const bool interleaved = integer("interleaved", 0);
  if (turned < 0 || turned > size || turned % 2 || !(cosines.dims() == sines.dims()) ||
      cosines.rank() != (positions ? 2u : 3u) || cosines.dim(cosines.rank() - 1) != half)
    return fail("% of % elements are turned; the caches do not fit", turned, size);
  // Exporters write the angles of one sequence for the whole batch.
  const Tensor &angles = positions ? positions : cosines;
  const bool shared = angles.rank() > 1 && angles.dim(0) == 1;
  if (angles.rank() < 2 || (!shared && angles.dim(0) != batch) || angles.dim(1) != length ||
      (positions && angles.rank() != 2))
    return fail("the caches or positions do not fit % sequences of %", batch, length);
  void *out = makeBytes(0, x.dtype(), x.dims());
  if (!out)
    return;
  for (int64_t i = 0; positions && i < positions.count(); ++i)
    if (const int64_t at = integerAt(positions, i); at < 0 || at >= cosines.dim(0))
      return fail("position % of a cache of %", at, cosines.dim(0));
  auto compute = [&]<typename F>(F *y, const F *data, const F *cos, const F *sin) {
    parallelIf(*this, batch * length, heads * size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t angle = shared ? i % length : i;
        const int64_t row = (positions ? integerAt(positions, angle) : angle) * half;
        for (int64_t head = 0; head < heads; ++head) {
          const int64_t at = packed ? (i * heads + head) * size
                                    : ((i / length * heads + head) * length + i % length) * size;
          const F *from = data + at;
          F *to = y + at;
          const int64_t step = interleaved ? 2 : 1, other = interleaved ? 1 : half;
          for (int64_t j = 0; j < half; ++j) {
            const F a = from[j * step], b = from[j * step + other];
            to[j * step] = cos[row + j] * a - sin[row + j] * b;
            to[j * step + other] = sin[row + j] * a + cos[row + j] * b;
          }
          for (int64_t j = turned; j < size; ++j)
            to[j] = from[j];
        }
      }
    });
    return true;
  };
  computeFloats(*this, out, x.count(), compute, x, cosines, sines);
}

ATC_KERNEL(SwiGLU) {
  const Tensor a = in(0), b = in(1);
  if (!(a.dims() == b.dims()))
    return fail("the inputs have % and % elements", a.count(), b.count());
  void *out = makeBytes(0, a.dtype(), a.dims());
  if (!out)
    return;
  const double alpha = number("alpha", 1);
  bool done = dispatchFloats(a.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    const T *gate = a.as<T>(), *value = b.as<T>();
    parallelIf(*this, a.count(), 20, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const F x = gate[i];
        static_cast<T *>(out)[i] = T(x * fast::sigmoid(F(alpha) * x) * F(value[i]));
      }
    });
  });
  if (!done)
    failType(a.dtype());
}

} // namespace atc::kernels
