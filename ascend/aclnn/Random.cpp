//===-- Random.cpp - aclnn functions of random numbers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generator is Philox with 4 words and 10 rounds, whose key is the seed and whose counter is
// the offset and the number of the element: a seed and an offset always give the same numbers.
#include "ascend/aclnn/Steps.h"
#include "ascend/operators/Cast.h"
#include "ascend/src/Errors.h"

#include "aclnnop/aclnn_ops.h"

#include <array>
#include <cmath>
#include <numeric>

using namespace atc::ascend;

namespace {

/// Makes the random numbers of one call.
class Generator {
public:
  Generator(uint64_t seed, uint64_t offset) : seed(seed), offset(offset) {}

  /// Returns the 128 random bits of an element.
  std::array<uint32_t, 4> bits(uint64_t element) const {
    std::array<uint32_t, 4> counter = {uint32_t(element), uint32_t(element >> 32), uint32_t(offset),
                                       uint32_t(offset >> 32)};
    uint32_t low = uint32_t(seed), high = uint32_t(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t first = uint64_t{0xD2511F53} * counter[0];
      const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
      counter = {uint32_t(second >> 32) ^ counter[1] ^ low, uint32_t(second),
                 uint32_t(first >> 32) ^ counter[3] ^ high, uint32_t(first)};
      low += 0x9E3779B9;
      high += 0xBB67AE85;
    }
    return counter;
  }

  /// Returns 64 random bits.
  uint64_t word(uint64_t element) const {
    const auto words = bits(element);
    return uint64_t(words[0]) << 32 | words[1];
  }

  /// Returns a number from 0 to 1, without 1, of so many random bits.
  double uniform(uint64_t element, int digits = 53) const {
    return std::ldexp(double(word(element) >> (64 - digits)), -digits);
  }

  /// Returns a number of the normal distribution with mean 0 and deviation 1.
  double normal(uint64_t element) const {
    const auto words = bits(element);
    const double radius = std::sqrt(-2 * std::log((double(words[0]) + 1) * 0x1p-32));
    return radius * std::cos(2 * M_PI * double(words[1]) * 0x1p-32);
  }

private:
  uint64_t seed, offset;
};

/// Fills an output with what a function makes of the generator and the number of an element.
template <typename Element, typename Function>
void fill(Plan &plan, const View &out, Generator generator, Function function) {
  if (!plan.isGood())
    return;
  const View result = plan.make(std::is_same_v<Element, double> ? ACL_DOUBLE : ACL_INT64, out.dims);
  plan.onHost({result}, [=, count = countOf(out.dims)](const auto &at) -> aclError {
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<Element *>(at[0])[i] = function(generator, uint64_t(i));
    return ACL_SUCCESS;
  });
  plan.write(result, out);
}

aclnnStatus fillNormal(const char *name, const aclTensor *handle, float mean, float deviation,
                       int64_t seed, int64_t offset, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(name);
  const View out = plan.output(handle, "out");
  if (deviation < 0)
    plan.reject("std is %g; it must not be negative", double(deviation));
  fill<double>(plan, out, Generator(uint64_t(seed), uint64_t(offset)),
               [=](const Generator &generator, uint64_t element) {
                 return double(mean) + double(deviation) * generator.normal(element);
               });
  return plan.finish(size, executor);
}

/// Fills with mean + deviation * a normal number, each of a tensor, or one element for all.
aclnnStatus fillNormalOf(const char *name, const aclTensor *meanHandle, float mean,
                         const aclTensor *deviationHandle, float deviation, int64_t seed,
                         int64_t offset, const aclTensor *handle, uint64_t *size,
                         aclOpExecutor **executor) {
  Plan plan(name);
  View means = meanHandle ? plan.input(meanHandle, "mean") : plan.constant(double(mean), ACL_FLOAT);
  View deviations = deviationHandle ? plan.input(deviationHandle, "std")
                                    : plan.constant(double(deviation), ACL_FLOAT);
  const View out = plan.output(handle, "out");
  if (plan.isGood() && (broadcastDims(means.dims, out.dims) != out.dims ||
                        broadcastDims(deviations.dims, out.dims) != out.dims))
    plan.reject("mean %s and std %s must fit out %s", textOf(means.dims).c_str(),
                textOf(deviations.dims).c_str(), textOf(out.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View centre = plan.dense(plan.broadcast(means, out.dims), ACL_DOUBLE),
             spread = plan.dense(plan.broadcast(deviations, out.dims), ACL_DOUBLE),
             result = plan.make(ACL_DOUBLE, out.dims);
  plan.onHost(
      {centre, spread, result},
      [=, count = countOf(out.dims),
       generator = Generator(uint64_t(seed), uint64_t(offset))](const auto &at) -> aclError {
        for (int64_t i = 0; i < count; ++i) {
          const double own = reinterpret_cast<const double *>(at[1])[i];
          if (own < 0)
            return fail(ACL_ERROR_INVALID_PARAM, name, "std has %g; it must not be negative", own);
          reinterpret_cast<double *>(at[2])[i] =
              reinterpret_cast<const double *>(at[0])[i] + own * generator.normal(uint64_t(i));
        }
        return ACL_SUCCESS;
      });
  plan.write(result, out);
  return plan.finish(size, executor);
}

/// Multiplies what is not above 0 by a random number from lower to upper, which `noise` gets (1
/// elsewhere); outside of training by their mean.
aclnnStatus noisyRelu(const char *name, const aclTensor *self, const aclTensor *noise,
                      const aclScalar *lower, const aclScalar *upper, bool training, int64_t seed,
                      int64_t offset, const aclTensor *out, uint64_t *size,
                      aclOpExecutor **executor) {
  Plan plan(name);
  const View x = plan.input(self, "self"), factors = plan.output(noise, "noise"),
             y = plan.output(out, "out");
  const double low = plan.number(lower, "lower"), high = plan.number(upper, "upper");
  if (plan.isGood() && !(low <= high && std::isfinite(high - low)))
    plan.reject("lower %g and upper %g must be numbers, and lower not be more", low, high);
  if (plan.isGood() && training && factors.dims != x.dims)
    plan.reject("noise %s must have the dims of self %s", textOf(factors.dims).c_str(),
                textOf(x.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View values = plan.dense(x, ACL_DOUBLE), result = plan.make(ACL_DOUBLE, x.dims),
             drawn = plan.make(ACL_DOUBLE, x.dims);
  plan.onHost({values, result, drawn},
              [=, count = countOf(x.dims), generator = Generator(uint64_t(seed), uint64_t(offset))](
                  const auto &at) -> aclError {
                for (int64_t i = 0; i < count; ++i) {
                  const double element = reinterpret_cast<const double *>(at[0])[i];
                  double factor = 1;
                  if (!(element > 0))
                    factor = training ? low + (high - low) * generator.uniform(uint64_t(i))
                                      : (low + high) / 2;
                  reinterpret_cast<double *>(at[1])[i] = element * factor;
                  reinterpret_cast<double *>(at[2])[i] = factor;
                }
                return ACL_SUCCESS;
              });
  plan.write(result, y);
  if (training)
    plan.write(drawn, factors);
  return plan.finish(size, executor);
}

/// Returns a number as a type rounds it.
double rounded(double value, aclDataType type) {
  char bytes[8];
  double result = 0;
  CastPlan{ACL_DOUBLE, type, 1}.run(&value, bytes);
  CastPlan{type, ACL_DOUBLE, 1}.run(bytes, &result);
  return result;
}

/// Returns the digits of a type, with which a number below 1 is not rounded to 1.
int digitsOf(aclDataType type) {
  return type == ACL_FLOAT16 ? 11 : type == ACL_BF16 ? 8 : type == ACL_FLOAT ? 24 : 53;
}

/// Returns 1 with the probability of each element, else 0, as doubles.
View bernoulli(Plan &plan, const View &probability, const Dims &dims, uint64_t seed,
               uint64_t offset) {
  if (!plan.isGood())
    return {};
  const View chances = plan.dense(plan.broadcast(probability, dims), ACL_DOUBLE);
  const View result = plan.make(ACL_DOUBLE, dims);
  plan.onHost(
      {chances, result},
      [=, count = countOf(dims), generator = Generator(seed, offset)](const auto &at) -> aclError {
        for (int64_t i = 0; i < count; ++i)
          reinterpret_cast<double *>(at[1])[i] =
              generator.uniform(uint64_t(i)) < reinterpret_cast<const double *>(at[0])[i];
        return ACL_SUCCESS;
      });
  return result;
}

/// Returns one probability, which must be one.
View chance(Plan &plan, double probability, const char *name) {
  if (!(probability >= 0 && probability <= 1))
    plan.reject("%s is %g; a probability is 0 to 1", name, probability);
  return plan.isGood() ? plan.constant(probability, ACL_DOUBLE) : View();
}

/// Returns the bytes of a mask of so many bits: a multiple of 16.
int64_t maskBytes(int64_t count) { return (count + 127) / 128 * 16; }

/// Returns bits, the lowest of a byte first, of which each is 1 with a probability.
View maskOf(Plan &plan, const Dims &dims, double keep, uint64_t seed, uint64_t offset) {
  constexpr int64_t max = int64_t{1} << 31;
  for (int64_t dim : dims)
    if (dim < 0 || dim > max)
      plan.reject("shape has %lld; a dim is 0 to %lld", (long long)dim, (long long)max);
  if (!plan.isGood())
    return {};
  const int64_t count = countOf(dims);
  const View mask = plan.make(ACL_UINT8, {maskBytes(count)});
  plan.onHost({mask}, [=, generator = Generator(seed, offset)](const auto &at) -> aclError {
    std::fill(at[0], at[0] + maskBytes(count), 0);
    for (int64_t i = 0; i < count; ++i)
      if (generator.uniform(uint64_t(i)) < keep)
        at[0][i / 8] = char(at[0][i / 8] | 1 << (i % 8));
    return ACL_SUCCESS;
  });
  return mask;
}

/// Returns x * scale where the bit of a mask is 1, else 0.
View masked(Plan &plan, const View &x, const View &mask, double scale) {
  if (plan.isGood() && (mask.type != ACL_UINT8 || countOf(mask.dims) < maskBytes(countOf(x.dims))))
    plan.reject("the mask must be uint8 with %lld elements", (long long)maskBytes(countOf(x.dims)));
  if (!plan.isGood())
    return {};
  const View bits = plan.dense(mask, ACL_UINT8), factors = plan.make(ACL_FLOAT, x.dims);
  plan.onHost({bits, factors}, [=, count = countOf(x.dims)](const auto &at) -> aclError {
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<float *>(at[1])[i] = at[0][i / 8] >> (i % 8) & 1 ? float(scale) : 0;
    return ACL_SUCCESS;
  });
  return combined(plan, "Mul", plan.dense(x, floatOf(x.type)),
                  plan.dense(factors, floatOf(x.type)));
}

/// Checks that so many positions of a row can be drawn by its weights.
aclError checkWeights(const std::vector<double> &weights, int64_t row, int64_t count) {
  constexpr const char *name = "aclnnMultinomial";
  for (double weight : weights)
    if (!(weight >= 0) || std::isinf(weight))
      return fail(ACL_ERROR_INVALID_PARAM, name,
                  "row %lld of self has the weight %g; weights are numbers that are not negative",
                  (long long)row, weight);
  const int64_t drawable =
      std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
  if (drawable < count)
    return fail(
        ACL_ERROR_INVALID_PARAM, name,
        "row %lld of self has %lld weights that are not 0, of which %lld positions cannot be "
        "drawn",
        (long long)row, (long long)drawable, (long long)count);
  return ACL_SUCCESS;
}

/// Draws positions of each row of weights.
View drawn(Plan &plan, const View &self, int64_t count, bool replacement, uint64_t seed,
           uint64_t offset) {
  const size_t rank = self.dims.size();
  if (plan.isGood() &&
      (rank < 1 || rank > 2 || count < 1 || (!replacement && count > self.dims.back())))
    plan.reject("self %s must have 1 or 2 dims, and numsamples %lld be positive and, without "
                "replacement, at most the last of them",
                textOf(self.dims).c_str(), (long long)count);
  if (!plan.isGood())
    return {};
  const int64_t width = self.dims.back(), rows = rank == 2 ? self.dims[0] : 1;
  const View weights = plan.dense(self, ACL_DOUBLE);
  const View result = plan.make(ACL_INT64, rank == 2 ? Dims{rows, count} : Dims{count});
  plan.onHost({weights, result},
              [=, generator = Generator(seed, offset)](const auto &at) -> aclError {
                auto *to = reinterpret_cast<int64_t *>(at[1]);
                for (int64_t row = 0; row < rows; ++row) {
                  auto *from = reinterpret_cast<const double *>(at[0]) + row * width;
                  std::vector<double> left(from, from + width);
                  ACL_TRY(checkWeights(left, row, replacement ? 1 : count));
                  for (int64_t i = 0; i < count; ++i) {
                    double rest = std::accumulate(left.begin(), left.end(), 0.0) *
                                  generator.uniform(uint64_t(row * count + i));
                    int64_t position = 0, last = 0;
                    for (; position < width; ++position) {
                      if (left[size_t(position)] <= 0)
                        continue;
                      last = position;
                      if (rest < left[size_t(position)])
                        break;
                      rest -= left[size_t(position)];
                    }
                    *to++ = position = position < width ? position : last;
                    if (!replacement)
                      left[size_t(position)] = 0;
                  }
                }
                return ACL_SUCCESS;
              });
  return result;
}

} // namespace

aclnnStatus aclnnInplaceNormalGetWorkspaceSize(const aclTensor *selfRef, float mean, float std,
                                               int64_t seed, int64_t offset, uint64_t *size,
                                               aclOpExecutor **executor) {
  return fillNormal(__func__, selfRef, mean, std, seed, offset, size, executor);
}
ACLNN_RUN(InplaceNormal)
aclnnStatus aclnnNormalFloatFloatGetWorkspaceSize(float mean, float std, int64_t seed,
                                                  int64_t offset, aclTensor *out, uint64_t *size,
                                                  aclOpExecutor **executor) {
  return fillNormal(__func__, out, mean, std, seed, offset, size, executor);
}
ACLNN_RUN(NormalFloatFloat)

aclnnStatus aclnnNormalTensorFloatGetWorkspaceSize(const aclTensor *mean, float std, int64_t seed,
                                                   int64_t offset, aclTensor *out, uint64_t *size,
                                                   aclOpExecutor **executor) {
  return fillNormalOf(__func__, mean, 0, nullptr, std, seed, offset, out, size, executor);
}
ACLNN_RUN(NormalTensorFloat)
aclnnStatus aclnnNormalFloatTensorGetWorkspaceSize(float mean, const aclTensor *std, int64_t seed,
                                                   int64_t offset, aclTensor *out, uint64_t *size,
                                                   aclOpExecutor **executor) {
  return fillNormalOf(__func__, nullptr, mean, std, 0, seed, offset, out, size, executor);
}
ACLNN_RUN(NormalFloatTensor)
aclnnStatus aclnnNormalTensorTensorGetWorkspaceSize(const aclTensor *mean, const aclTensor *std,
                                                    int64_t seed, int64_t offset, aclTensor *out,
                                                    uint64_t *size, aclOpExecutor **executor) {
  return fillNormalOf(__func__, mean, 0, std, 0, seed, offset, out, size, executor);
}
ACLNN_RUN(NormalTensorTensor)
aclnnStatus aclnnRReluWithNoiseGetWorkspaceSize(const aclTensor *self, const aclTensor *noise,
                                                const aclScalar *lower, const aclScalar *upper,
                                                bool training, int64_t seed, int64_t offset,
                                                aclTensor *out, uint64_t *size,
                                                aclOpExecutor **executor) {
  return noisyRelu(__func__, self, noise, lower, upper, training, seed, offset, out, size,
                   executor);
}
ACLNN_RUN(RReluWithNoise)
aclnnStatus aclnnInplaceRReluWithNoiseGetWorkspaceSize(
    const aclTensor *self, const aclTensor *noise, const aclScalar *lower, const aclScalar *upper,
    bool training, int64_t seed, int64_t offset, uint64_t *size, aclOpExecutor **executor) {
  return noisyRelu(__func__, self, noise, lower, upper, training, seed, offset, self, size,
                   executor);
}
ACLNN_RUN(InplaceRReluWithNoise)

aclnnStatus aclnnInplaceUniformGetWorkspaceSize(const aclTensor *selfRef, double from, double to,
                                                uint64_t seed, uint64_t offset, uint64_t *size,
                                                aclOpExecutor **executor) {
  Plan plan(__func__);
  const View out = plan.output(selfRef, "selfRef");
  if (!(from <= to) || !std::isfinite(to - from))
    plan.reject("from %g and to %g must be numbers, and from not be more than to", from, to);
  fill<double>(plan, out, Generator(seed, offset),
               [=, type = out.type](const Generator &generator, uint64_t element) {
                 const double number =
                     rounded(from + (to - from) * generator.uniform(element, digitsOf(type)), type);
                 // The type may round up to the end, which does not belong to the numbers.
                 return number < to ? number : from;
               });
  return plan.finish(size, executor);
}
ACLNN_RUN(InplaceUniform)

aclnnStatus aclnnInplaceRandomGetWorkspaceSize(const aclTensor *selfRef, int64_t from, int64_t to,
                                               int64_t seed, int64_t offset, uint64_t *size,
                                               aclOpExecutor **executor) {
  Plan plan(__func__);
  const View out = plan.output(selfRef, "selfRef");
  if (from >= to)
    plan.reject("from %lld must be less than to %lld", (long long)from, (long long)to);
  fill<int64_t>(
      plan, out, Generator(uint64_t(seed), uint64_t(offset)),
      [=, range = uint64_t(to) - uint64_t(from)](const Generator &generator, uint64_t element) {
        return int64_t(uint64_t(from) + generator.word(element) % range);
      });
  return plan.finish(size, executor);
}
ACLNN_RUN(InplaceRandom)

ACLNN_FUNCTION(Bernoulli,
               (const aclTensor *self, const aclScalar *prob, int64_t seed, int64_t offset,
                aclTensor *out),
               out,
               bernoulli(plan, chance(plan, plan.number(prob, "prob"), "prob"), IN(self).dims,
                         uint64_t(seed), uint64_t(offset)))
ACLNN_FUNCTION(InplaceBernoulli,
               (const aclTensor *selfRef, const aclScalar *prob, int64_t seed, int64_t offset),
               selfRef,
               bernoulli(plan, chance(plan, plan.number(prob, "prob"), "prob"), IN(selfRef).dims,
                         uint64_t(seed), uint64_t(offset)))
ACLNN_FUNCTION(BernoulliTensor,
               (const aclTensor *self, const aclTensor *prob, int64_t seed, int64_t offset,
                aclTensor *out),
               out, bernoulli(plan, IN(prob), IN(self).dims, uint64_t(seed), uint64_t(offset)))
ACLNN_FUNCTION(InplaceBernoulliTensor,
               (const aclTensor *selfRef, const aclTensor *prob, int64_t seed, int64_t offset),
               selfRef,
               bernoulli(plan, IN(prob), IN(selfRef).dims, uint64_t(seed), uint64_t(offset)))

ACLNN_FUNCTION(DropoutGenMask,
               (const aclIntArray *shape, double prob, int64_t seed, int64_t offset,
                aclTensor *out),
               out,
               (chance(plan, prob, "prob"), maskOf(plan, plan.numbers(shape, "shape"), 1 - prob,
                                                   uint64_t(seed), uint64_t(offset))))
ACLNN_FUNCTION(DropoutGenMaskV2,
               (const aclIntArray *shape, double prob, int64_t seed, int64_t offset, aclDataType,
                aclTensor *out),
               out,
               (chance(plan, prob, "prob"), maskOf(plan, plan.numbers(shape, "shape"), 1 - prob,
                                                   uint64_t(seed), uint64_t(offset))))
ACLNN_FUNCTION(DropoutDoMask,
               (const aclTensor *self, const aclTensor *mask, double prob, aclTensor *out), out,
               (chance(plan, prob, "prob"),
                masked(plan, IN(self), IN(mask), prob < 1 ? 1 / (1 - prob) : 0)))
ACLNN_FUNCTION(DropoutBackward,
               (const aclTensor *gradOutput, const aclTensor *mask, double scale, aclTensor *out),
               out, masked(plan, IN(gradOutput), IN(mask), scale))

aclnnStatus aclnnDropoutGetWorkspaceSize(const aclTensor *input, double p, bool train, int64_t seed,
                                         int64_t offset, aclTensor *out, aclTensor *maskOut,
                                         uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View x = plan.input(input, "input"), y = plan.output(out, "out"),
             maskTensor = plan.output(maskOut, "maskOut");
  (void)chance(plan, p, "p");
  if (plan.isGood()) {
    const double drop = train ? p : 0;
    const View mask = maskOf(plan, x.dims, 1 - drop, uint64_t(seed), uint64_t(offset));
    plan.write(masked(plan, x, mask, drop < 1 ? 1 / (1 - drop) : 0), y);
    plan.write(mask, maskTensor);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(Dropout)

aclnnStatus aclnnRandpermGetWorkspaceSize(int64_t n, int64_t seed, int64_t offset, aclTensor *out,
                                          uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View y = plan.output(out, "out");
  if (plan.isGood() && (n < 0 || y.dims != Dims{n}))
    plan.reject("out %s must be [%lld]", textOf(y.dims).c_str(), (long long)n);
  const View order = plan.isGood() ? plan.make(ACL_INT64, {n}) : View();
  if (plan.isGood())
    plan.onHost(
        {order},
        [=, generator = Generator(uint64_t(seed), uint64_t(offset))](const auto &at) -> aclError {
          auto *values = reinterpret_cast<int64_t *>(at[0]);
          std::iota(values, values + n, 0);
          for (int64_t i = n - 1; i > 0; --i)
            std::swap(values[i], values[int64_t(generator.uniform(uint64_t(i)) * double(i + 1))]);
          return ACL_SUCCESS;
        });
  plan.write(order, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Randperm)
ACLNN_FUNCTION(Multinomial,
               (const aclTensor *self, int64_t numsamples, bool replacement, int64_t seed,
                int64_t offset, aclTensor *out),
               out,
               drawn(plan, IN(self), numsamples, replacement, uint64_t(seed), uint64_t(offset)))
