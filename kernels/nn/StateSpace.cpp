//===-- StateSpace.cpp - operators that carry a state along a sequence ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/core/VectorMath.h"
#include "kernels/core/Widen.h"

namespace atc::kernels {

namespace {

/// The sizes of a LinearAttention and what its update rule reads.
struct LinearPlan {
  int64_t heads, shared;                ///< of queries; of keys, values and states
  int64_t batch, steps, size, values;   ///< elements per key and per value
  int64_t decays = 0, betas = 0;        ///< elements per step
  bool gated = false, corrects = false; ///< the state decays; errors of it are added

  /// Computes the sizes. Returns false and fails the call where inputs or attributes do not fit.
  bool find(Context &c);
  /// Returns the dims of the state.
  Dims stateDims() const { return Dims(batch, shared, size, values); }

private:
  bool findRule(Context &c);
};

bool LinearPlan::find(Context &c) {
  const Tensor q = c.in(0), k = c.in(1), v = c.in(2), past = c.in(3);
  heads = c.integer("q_num_heads", 0), shared = c.integer("kv_num_heads", 0);
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3)
    return c.fail("inputs have ranks %, % and %, not 3", q.rank(), k.rank(), v.rank()), false;
  batch = q.dim(0), steps = q.dim(1);
  // Heads without elements could be of any number.
  if (heads < 1 || shared < 1 || heads > maximum(q.dim(2), int64_t(1)) || heads % shared ||
      q.dim(2) % heads || k.dim(2) % shared || v.dim(2) % shared)
    return c.fail("% heads in % elements, % in % and %", heads, q.dim(2), shared, k.dim(2),
                  v.dim(2)),
           false;
  size = q.dim(2) / heads, values = v.dim(2) / shared;
  if (k.dim(2) / shared != size || k.dim(0) != batch || v.dim(0) != batch || k.dim(1) != steps ||
      v.dim(1) != steps)
    return c.fail("queries, keys and values do not fit heads of %", size), false;
  if (!findRule(c))
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
    const int64_t each = p.heads / p.shared;
    for (int64_t head = h * each; head < (h + 1) * each; ++head) {
      const F *qt = query + (t * p.heads + head) * size;
      F *to = result + (t * p.heads + head) * values;
      for (int64_t j = 0; j < values; ++j)
        to[j] = 0;
      for (int64_t d = 0; d < size; ++d)
        for (int64_t j = 0; j < values; ++j)
          to[j] += qt[d] * scale * s[d * values + j];
    }
  }
};

} // namespace

ATC_KERNEL(LinearAttention) {
  LinearPlan p;
  if (!p.find(*this))
    return;
  const Tensor q = in(0), past = in(3);
  const int64_t states = p.batch * p.shared, cells = p.size * p.values;
  const uint8_t stateType = past ? past.dtype() : q.dtype();
  const Dims shape(p.batch, p.steps, p.heads * p.values);
  void *out = makeBytes(0, q.dtype(), shape), *present = nullptr;
  if (!isFloat(stateType))
    return failType(stateType);
  if (!out || (wants(1) && !(present = makeBytes(1, stateType, p.stateDims()))))
    return;
  if (spaceFor(*this, p.batch, p.shared, p.size + 1, p.values) < 0)
    return;
  const double asked = number("scale", 0);
  const double scale = asked != 0 ? asked : 1 / math::sqrt(double(maximum(p.size, int64_t(1))));
  bool done = dispatchFloats(q.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(*this, out, shape.product());
    const LinearValues<F> all = {widen<T>(*this, q),
                                 widen<T>(*this, in(1)),
                                 widen<T>(*this, in(2)),
                                 p.gated ? widen<T>(*this, in(4)) : nullptr,
                                 p.corrects ? widen<T>(*this, in(5)) : nullptr,
                                 y.data,
                                 F(scale)};
    const F *before = past ? numbersOf<F>(*this, past) : nullptr;
    F *state = scratch<F>(maximum(states * (cells + p.values), int64_t(1)));
    if (!y.data || !all.query || !all.key || !all.value || (p.gated && !all.gate) ||
        (p.corrects && !all.rate) || (past && !before) || !state)
      return;
    F *errors = state + states * cells;
    parallelIf(*this, states, p.steps * cells * 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        F *s = state + i * cells;
        if (before)
          copyBytes(s, before + i * cells, cells * int64_t(sizeof(F)));
        else
          __builtin_memset(s, 0, uint64_t(cells) * sizeof(F));
        const int64_t b = i / p.shared;
        for (int64_t t = b * p.steps; t < (b + 1) * p.steps; ++t)
          all.step(p, s, errors + i * p.values, t, i % p.shared);
      }
    });
    y.store(*this);
    if (present)
      (void)dispatchFloats(stateType, [&](auto tag) {
        using S = typename decltype(tag)::Type;
        convert(*this, static_cast<S *>(present), state, p.stateDims().product());
      });
  });
  if (!done)
    failType(q.dtype());
}

ATC_KERNEL(CausalConvWithState) {
  const Tensor x = in(0), w = in(1), bias = in(2), past = in(3);
  if (x.rank() != 3 || w.rank() != 3 || w.dim(0) != x.dim(1) || w.dim(1) != 1 || w.dim(2) < 1)
    return fail("data of rank %, weights of rank %", x.rank(), w.rank());
  const int64_t batch = x.dim(0), channels = x.dim(1), length = x.dim(2), taps = w.dim(2);
  const Dims stateDims(batch, channels, taps - 1);
  if ((bias && bias.count() != channels) || (past && !(past.dims() == stateDims)))
    return fail("bias or past_state do not fit % channels and % taps", channels, taps);
  const bool silu = is("activation", "none", "silu") || is("activation", "none", "swish");
  if (!silu && !is("activation", "none", "none"))
    return fail("activation is not known");
  void *out = makeBytes(0, x.dtype(), x.dims()), *present = nullptr;
  if (!out || (wants(1) && !(present = makeBytes(1, x.dtype(), stateDims))))
    return;
  if (spaceFor(*this, batch, channels, length + taps) < 0)
    return;
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    const int64_t before = taps - 1, all = before + length;
    WideResult<T> y(*this, out, x.count());
    WideResult<T> state(*this, present, present ? stateDims.product() : 0);
    const F *data = widen<T>(*this, x), *weights = widen<T>(*this, w);
    const F *terms = bias ? widen<T>(*this, bias) : nullptr;
    const F *old = past ? widen<T>(*this, past) : nullptr;
    F *lines = scratch<F>(maximum(batch * channels * all, int64_t(1)));
    if (!y.data || !data || !weights || (bias && !terms) || (past && !old) || !lines)
      return;
    parallelIf(*this, batch * channels, all * taps, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        F *line = lines + i * all, *to = y.data + i * length;
        for (int64_t j = 0; j < before; ++j)
          line[j] = old ? old[i * before + j] : F(0);
        copyBytes(line + before, data + i * length, length * int64_t(sizeof(F)));
        for (int64_t j = 0; j < length; ++j)
          to[j] = terms ? terms[i % channels] : F(0);
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t j = 0; j < length; ++j)
            to[j] += weights[i % channels * taps + tap] * line[j + tap];
        for (int64_t j = 0; silu && j < length; ++j)
          to[j] *= fast::sigmoid(to[j]);
        if (present)
          copyBytes(state.data + i * before, line + length, before * int64_t(sizeof(F)));
      }
    });
    y.store(*this);
    if (present)
      state.store(*this);
  });
  if (!done)
    failType(x.dtype());
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
  if (positions ? positions.count() != batch * length
                : cosines.dim(0) != batch || cosines.dim(1) != length)
    return fail("the caches or positions do not fit % sequences of %", batch, length);
  void *out = makeBytes(0, x.dtype(), x.dims());
  if (!out)
    return;
  for (int64_t i = 0; positions && i < batch * length; ++i)
    if (const int64_t at = integerAt(positions, i); at < 0 || at >= cosines.dim(0))
      return fail("position % of a cache of %", at, cosines.dim(0));
  auto compute = [&]<typename F>(F *y, const F *data, const F *cos, const F *sin) {
    parallelIf(*this, batch * length, heads * size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = (positions ? integerAt(positions, i) : i) * half;
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
