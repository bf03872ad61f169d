//===-- Normalization.cpp - layer, group, instance, RMS norms -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/nn/MatMulPlan.h"
#include "kernels/tensor/Reduce.h"

namespace atc::kernels {

namespace {
/// Returns the sum of term(x[i]). Lanes fill several registers, since additions wait for each
/// other.
template <typename F, typename Term> F sumOf(const F *x, int64_t count, Term term) {
  constexpr int64_t lanes = 64;
  F sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t l = 0; l < lanes; ++l)
      sums[l] += term(x[i + l]);
  for (int64_t l = 0; i < count; ++i, ++l)
    sums[l] += term(x[i]);
  return fast::sumLanes(sums);
}

/// Returns a tensor broadcast to `dims`; its own elements where no dim is repeated. Null where
/// memory could not be allocated or it does not broadcast (a failed call).
template <typename F> const F *expanded(Context &c, Tensor tensor, const Dims &dims) {
  Dims common;
  if (!broadcastDims(c, dims, tensor.dims(), common))
    return nullptr;
  if (!(common == dims))
    return c.fail("an operand of % elements is larger than %", tensor.count(), dims.product()),
           nullptr;
  const F *from = numbersOf<F>(c, tensor);
  if (!from || tensor.count() == dims.product())
    return from;
  Dims steps;
  steps.rank = dims.rank;
  int64_t step = 1;
  for (int64_t d = 1; d <= tensor.rank(); ++d) {
    const int64_t size = tensor.dim(tensor.rank() - d);
    steps[dims.rank - d] = size == 1 ? 0 : step;
    step *= size;
  }
  F *to = c.scratch<F>(maximum(dims.product(), int64_t(1)));
  for (int64_t i = 0, count = dims.product(); to && i < count; ++i)
    to[i] = from[offsetOf(dims, steps, i)];
  return to;
}

/// Brings rows of `width` to mean 0 (unless `rms`) and variance 1, and computes y * by + add of
/// them, where these are not null. `means` and `inverses` take the mean and the inverse deviation
/// of every row, or are null.
template <typename F>
void normalizeRows(Context &c, F *y, const F *x, int64_t rows, int64_t width, F epsilon, bool rms,
                   F *means = nullptr, F *inverses = nullptr, const F *by = nullptr,
                   const F *add = nullptr) {
  parallelIf(c, rows, width * 4, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const F *from = x + row * width;
      F *to = y + row * width;
      const F mean = rms ? F(0) : sumOf(from, width, [](F value) { return value; }) / F(width);
      const F squares =
          sumOf(from, width, [=](F value) { return (value - mean) * (value - mean); });
      const F inverse = 1 / fast::sqrt(squares / F(width) + epsilon);
      if (by && add)
        for (int64_t i = 0; i < width; ++i)
          to[i] = (from[i] - mean) * inverse * by[i] + add[i];
      else if (by)
        for (int64_t i = 0; i < width; ++i)
          to[i] = (from[i] - mean) * inverse * by[i];
      else
        for (int64_t i = 0; i < width; ++i)
          to[i] = (from[i] - mean) * inverse;
      if (means)
        means[row] = mean;
      if (inverses)
        inverses[row] = inverse;
    }
  });
}

/// LayerNormalization and RMSNormalization.
void normalizeLayer(Context &c, bool rms) {
  const Tensor x = c.in(0), scale = c.in(1), bias = rms ? Tensor() : c.in(2);
  const Dims dims = x.dims();
  const int64_t axis = normalizeAxis(c, c.integer("axis", -1), dims.rank);
  if (axis < 0)
    return;
  const int64_t rows = dims.product(0, uint32_t(axis));
  const int64_t width = dims.product(uint32_t(axis), dims.rank);
  Dims stats = dims;
  for (int64_t d = axis; d < dims.rank; ++d)
    stats[d] = 1;
  const uint8_t stash = uint8_t(c.integer("stash_type", F32));
  if (!rms && (c.wants(1) || c.wants(2)) && !isFloat(stash))
    return c.fail("stash_type % is no type of floats", c.integer("stash_type", F32));
  void *out = c.makeBytes(0, rms ? scale.dtype() : x.dtype(), dims), *saved[2] = {};
  if (!out)
    return;
  for (uint32_t i = 0; i < 2; ++i)
    if (!rms && c.wants(i + 1) && !(saved[i] = c.makeBytes(i + 1, stash, stats)))
      return;
  const double epsilon = c.number("epsilon", 1e-5);
  bool done = dispatchFloats(rms ? scale.dtype() : x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(c, out, rows * width);
    const F *data = numbersOf<F>(c, x);
    F *means = c.scratch<F>(rows + 1), *inverses = c.scratch<F>(rows + 1);
    if (!y.data || !data || !means || !inverses)
      return;
    // Factors of one row serve all rows, except where they have more dims.
    const bool perRow =
        scale.count() > width || (bias && bias.count() > width) || scale.rank() > dims.rank - axis;
    const Dims shape = perRow ? dims : Dims(dims.at + axis, dims.rank - uint32_t(axis));
    const F *factors = expanded<F>(c, scale, shape);
    const bool wide = bias && bias.rank() > shape.rank;
    const F *terms = bias ? expanded<F>(c, bias, wide ? dims : shape) : nullptr;
    if (!factors || (bias && !terms))
      return;
    if (perRow || wide)
      normalizeRows(c, y.data, data, rows, width, F(epsilon), rms, means, inverses);
    else
      normalizeRows(c, y.data, data, rows, width, F(epsilon), rms, means, inverses, factors, terms);
    parallelIf(c, perRow || wide ? rows : 0, width * 2, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        F *to = y.data + row * width;
        const F *by = factors + (perRow ? row * width : 0);
        const F *add = terms ? terms + (perRow || wide ? row * width : 0) : nullptr;
        if (add)
          for (int64_t i = 0; i < width; ++i)
            to[i] = to[i] * by[i] + add[i];
        else
          for (int64_t i = 0; i < width; ++i)
            to[i] = to[i] * by[i];
      }
    });
    y.store(c);
    auto save = [&](void *to, const F *from) {
      if (to)
        (void)dispatchFloats(stash, [&](auto tag) {
          using S = typename decltype(tag)::Type;
          convert(c, static_cast<S *>(to), from, rows);
        });
    };
    save(saved[0], means);
    save(saved[1], inverses);
  });
  if (!done)
    c.failType(x.dtype());
}

/// Groups of channels are normalized; scale and bias are those of channels.
void normalizeGroups(Context &c, int64_t groups) {
  const Tensor x = c.in(0), scale = c.in(1), bias = c.in(2);
  const Dims dims = x.dims();
  if (dims.rank < 2 || groups < 1 || dims[1] % groups)
    return c.fail("data of rank % cannot be % groups", dims.rank, groups);
  const int64_t channels = dims[1];
  if (scale.count() != channels || bias.count() != channels)
    return c.fail("% factors and % terms for % channels", scale.count(), bias.count(), channels);
  void *out = c.makeBytes(0, x.dtype(), dims);
  const int64_t count = dims.product();
  if (!out || count == 0)
    return;
  const int64_t plane = dims.product(2, dims.rank), rows = dims[0] * groups;
  const double epsilon = c.number("epsilon", 1e-5);
  auto compute = [&]<typename F>(F *y, const F *data) {
    const F *by = numbersOf<F>(c, scale), *add = numbersOf<F>(c, bias);
    if (!by || !add)
      return false;
    normalizeRows(c, y, data, rows, count / rows, F(epsilon), false);
    parallelIf(c, dims[0] * channels, plane, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const F factor = by[i % channels], term = add[i % channels];
        for (int64_t j = 0; j < plane; ++j)
          y[i * plane + j] = y[i * plane + j] * factor + term;
      }
    });
    return true;
  };
  computeFloats(c, out, count, compute, x);
}
} // namespace

ATC_KERNEL(LayerNormalization) { normalizeLayer(*this, false); }
ATC_KERNEL(RMSNormalization) { normalizeLayer(*this, true); }
ATC_KERNEL(GroupNormalization) { normalizeGroups(*this, integer("num_groups", 1)); }
ATC_KERNEL(InstanceNormalization) { normalizeGroups(*this, in(0).rank() > 1 ? in(0).dim(1) : 1); }

ATC_KERNEL(BatchNormalization) {
  const Tensor x = in(0);
  const Dims dims = x.dims();
  const int64_t channels = dims.rank > 1 ? dims[1] : 1;
  for (uint32_t i = 1; i < 5; ++i)
    if (!in(i) || in(i).count() != channels)
      return fail("input % does not have % elements", i, channels);
  if (!isFloat(in(3).dtype()))
    return failType(in(3).dtype());
  const bool training = integer("training_mode", 0);
  void *out = makeBytes(0, x.dtype(), dims), *running[2] = {};
  if (!out)
    return;
  for (uint32_t i = 0; i < 2; ++i)
    if (wants(i + 1) && !(running[i] = makeBytes(i + 1, in(3).dtype(), Dims(channels))))
      return;
  const int64_t count = dims.product();
  const int64_t plane = dims.rank > 2 ? dims.product(2, dims.rank) : 1;
  const double epsilon = number("epsilon", 1e-5), momentum = number("momentum", 0.9);
  bool done = dispatchFloats(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::Type;
    using F = Compute<T>;
    WideResult<T> y(*this, out, count);
    const F *data = widen<T>(*this, x), *scale = numbersOf<F>(*this, in(1));
    const F *bias = numbersOf<F>(*this, in(2)), *means = numbersOf<F>(*this, in(3));
    const F *variances = numbersOf<F>(*this, in(4));
    F *now = scratch<F>(4 * channels + 1);
    if (!y.data || !data || !scale || !bias || !means || !variances || !now)
      return;
    F *factor = now + 2 * channels, *term = now + 3 * channels;
    if (training) {
      bool chosen[host::kMaxRank];
      for (int64_t d = 0; d < dims.rank; ++d)
        chosen[d] = d != 1 || dims.rank < 2;
      ReducePlan p;
      p.find(dims, chosen, false);
      const F *none = nullptr;
      reduce<reduction::Sum>(*this, now, data, p, none);
      for (int64_t i = 0; i < channels; ++i)
        now[i] /= F(p.count);
      reduce<reduction::Deviation>(*this, now + channels, data, p, static_cast<const F *>(now));
      for (int64_t i = 0; i < channels; ++i)
        now[channels + i] /= F(p.count);
    } else {
      copyBytes(now, means, channels * int64_t(sizeof(F)));
      copyBytes(now + channels, variances, channels * int64_t(sizeof(F)));
    }
    for (int64_t i = 0; i < channels; ++i) {
      factor[i] = scale[i] / fast::sqrt(now[channels + i] + F(epsilon));
      term[i] = bias[i] - now[i] * factor[i];
    }
    parallelIf(*this, plane ? count / plane : 0, plane, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = dims.rank > 1 ? i % channels : 0;
        for (int64_t j = 0; j < plane; ++j)
          y.data[i * plane + j] = data[i * plane + j] * factor[channel] + term[channel];
      }
    });
    y.store(*this);
    for (int64_t i = 0; i < 2; ++i) {
      F *blend = now + i * channels;
      const F *before = i ? variances : means;
      for (int64_t j = 0; training && j < channels; ++j)
        blend[j] = before[j] * F(momentum) + blend[j] * F(1 - momentum);
      if (running[i])
        (void)dispatchFloats(in(3).dtype(), [&](auto tag) {
          using S = typename decltype(tag)::Type;
          convert(*this, static_cast<S *>(running[i]), blend, channels);
        });
    }
  });
  if (!done)
    failType(x.dtype());
}

ATC_KERNEL(LpNormalization) {
  const Tensor x = in(0);
  const Dims dims = x.dims();
  const int64_t axis = normalizeAxis(*this, integer("axis", -1), dims.rank), p = integer("p", 2);
  if (axis < 0)
    return;
  if (p != 1 && p != 2)
    return fail("p is %, not 1 or 2", p);
  void *out = makeBytes(0, x.dtype(), dims);
  const int64_t count = dims.product();
  if (!out || count == 0)
    return;
  const int64_t length = dims[axis], inner = dims.product(uint32_t(axis) + 1, dims.rank);
  bool chosen[host::kMaxRank] = {};
  chosen[axis] = true;
  ReducePlan plan;
  plan.find(dims, chosen, true);
  auto compute = [&]<typename F>(F *y, const F *data) {
    const F *none = nullptr;
    F *norms = scratch<F>(count / length);
    if (!norms)
      return false;
    if (p == 1)
      reduce<reduction::Absolute>(*this, norms, data, plan, none);
    else
      reduce<reduction::Square>(*this, norms, data, plan, none);
    for (int64_t i = 0; i < count / length; ++i)
      norms[i] = p == 2 ? fast::sqrt(norms[i]) : norms[i];
    for (int64_t row = 0; row < count / inner; ++row)
      for (int64_t j = 0; j < inner; ++j) {
        // An all-zero vector stays zero.
        const F norm = norms[row / length * inner + j];
        y[row * inner + j] = norm == 0 ? F(0) : data[row * inner + j] / norm;
      }
    return true;
  };
  computeFloats(*this, out, count, compute, x);
}

ATC_KERNEL(MeanVarianceNormalization) {
  const Tensor x = in(0);
  const Dims dims = x.dims();
  const List<int64_t> axes = integers("axes");
  bool chosen[host::kMaxRank] = {};
  constexpr int64_t usual[3] = {0, 2, 3};
  for (int64_t i = 0; i < (axes.given ? axes.size : 3); ++i) {
    const int64_t axis = normalizeAxis(*this, axes.given ? axes[i] : usual[i], dims.rank);
    if (axis < 0)
      return;
    chosen[axis] = true;
  }
  void *out = makeBytes(0, x.dtype(), dims);
  const int64_t count = dims.product();
  if (!out || count == 0)
    return;
  ReducePlan plan;
  plan.find(dims, chosen, true);
  Dims steps = stridesOf(plan.result);
  for (int64_t d = 0; d < dims.rank; ++d)
    steps[d] = chosen[d] ? 0 : steps[d];
  // The elements of a row share their mean, or have one each.
  const bool isShared = dims.rank > 0 && chosen[dims.rank - 1];
  int64_t inner = 1;
  for (int64_t d = int64_t(dims.rank) - 1; d >= 0 && chosen[d] == isShared; --d)
    inner *= dims[d];
  auto compute = [&]<typename F>(F *y, const F *data) {
    const F *none = nullptr;
    const int64_t results = plan.result.product();
    F *means = scratch<F>(results), *deviations = scratch<F>(results);
    if (!means || !deviations)
      return false;
    reduce<reduction::Sum>(*this, means, data, plan, none);
    for (int64_t i = 0; i < results; ++i)
      means[i] /= F(plan.count);
    reduce<reduction::Deviation>(*this, deviations, data, plan, static_cast<const F *>(means));
    for (int64_t i = 0; i < results; ++i)
      deviations[i] = fast::sqrt(deviations[i] / F(plan.count)) + F(1e-9);
    parallelIf(*this, count / inner, inner * 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = offsetOf(dims, steps, row * inner);
        const F *from = data + row * inner;
        F *to = y + row * inner;
        if (isShared) {
          const F mean = means[at], deviation = deviations[at];
          for (int64_t j = 0; j < inner; ++j)
            to[j] = (from[j] - mean) / deviation;
        } else {
          for (int64_t j = 0; j < inner; ++j)
            to[j] = (from[j] - means[at + j]) / deviations[at + j];
        }
      }
    });
    return true;
  };
  computeFloats(*this, out, count, compute, x);
}

ATC_KERNEL(LRN) {
  const Tensor x = in(0);
  const Dims dims = x.dims();
  if (dims.rank < 2)
    return fail("data of rank %", dims.rank);
  void *out = makeBytes(0, x.dtype(), dims);
  const int64_t count = dims.product();
  if (!out || count == 0)
    return;
  const int64_t size = integer("size", 1), channels = dims[1], plane = dims.product(2, dims.rank);
  if (size < 1)
    return fail("a window of % channels, expected at least one", size);
  // Positions beyond the channels do not count, however wide the window is.
  const int64_t reach = minimum(size, 2 * channels);
  const double beta = number("beta", 0.75), bias = number("bias", 1);
  const double alpha = number("alpha", 1e-4) / double(size);
  auto compute = [&]<typename F>(F *y, const F *data) {
    parallelIf(*this, dims[0] * channels, plane * (reach + 50), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i % channels;
        const int64_t first = maximum(int64_t(0), channel - (size - 1) / 2);
        const int64_t last = minimum(channels - 1, channel + minimum(size / 2, channels));
        F *to = y + i * plane;
        for (int64_t j = 0; j < plane; ++j)
          to[j] = 0;
        for (int64_t other = first; other <= last; ++other) {
          const F *from = data + (i - channel + other) * plane;
          for (int64_t j = 0; j < plane; ++j)
            to[j] += from[j] * from[j];
        }
        for (int64_t j = 0; j < plane; ++j)
          to[j] = F(double(data[i * plane + j]) / math::pow(bias + alpha * double(to[j]), beta));
      }
    });
    return true;
  };
  computeFloats(*this, out, count, compute, x);
}

} // namespace atc::kernels
