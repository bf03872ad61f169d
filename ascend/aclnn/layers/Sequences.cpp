//===-- Sequences.cpp - aclnn functions of labels and bags of words -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine, in float64: what is summed depends on labels and lengths.
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cmath>

using namespace atc::ascend;

namespace {

//===--- Connectionist temporal classification ------------------------------===//

/// The labels of a batch, with a blank in front of each and behind the last.
struct Labels {
  int64_t steps = 0, batch = 0, classes = 0, blank = 0, longest = 0;
  Dims inputLengths, targetLengths, starts; ///< starts[b]: where the labels of sequence b begin

  int64_t states(int64_t b) const { return 2 * targetLengths[size_t(b)] + 1; }
  int64_t at(const int64_t *targets, int64_t b, int64_t state) const {
    return state % 2 ? targets[starts[size_t(b)] + state / 2] : blank;
  }
  /// Returns whether a state may follow the one before the last: no blank between equal labels may
  /// be left out.
  bool skips(const int64_t *targets, int64_t b, int64_t state) const {
    return state % 2 && state > 1 && at(targets, b, state) != at(targets, b, state - 2);
  }
};

double logOfSum(double a, double b) {
  if (a == -INFINITY || b == -INFINITY) // std::max would lose a NaN beside it
    return a == -INFINITY ? b : a;
  const double max = std::max(a, b);
  return std::isinf(max) ? a + b : max + std::log(std::exp(a - max) + std::exp(b - max));
}

/// Checks the arguments of both functions; `scores` are [steps, batch, classes].
Labels labelsOf(Plan &plan, const View &scores, const View &targets,
                const aclIntArray *inputLengths, const aclIntArray *targetLengths, int64_t blank) {
  Labels all;
  all.inputLengths = plan.numbers(inputLengths, "inputLengths");
  all.targetLengths = plan.numbers(targetLengths, "targetLengths");
  if (!plan.isGood())
    return all;
  all.steps = scores.dims.size() == 3 ? scores.dims[0] : 0;
  all.batch = scores.dims.size() == 3 ? scores.dims[1] : 0;
  all.classes = scores.dims.size() == 3 ? scores.dims[2] : 0;
  all.blank = blank;
  if (scores.dims.size() != 3 || countOf(scores.dims) == 0 || !isFloat(scores.type) ||
      isFloat(targets.type) || blank < 0 || blank >= all.classes) {
    plan.reject("logProbs %s must be [steps, batch, classes] of floats, targets whole numbers, and "
                "blank %lld one of the classes",
                textOf(scores.dims).c_str(), (long long)blank);
    return all;
  }
  const bool isPadded = targets.dims.size() == 2;
  int64_t total = 0;
  if (int64_t(all.inputLengths.size()) != all.batch ||
      int64_t(all.targetLengths.size()) != all.batch) {
    plan.reject("inputLengths and targetLengths must have %lld numbers", (long long)all.batch);
    return all;
  }
  for (int64_t b = 0; b < all.batch; ++b) {
    const int64_t length = all.targetLengths[size_t(b)], input = all.inputLengths[size_t(b)];
    if (length < 0 || length > countOf(targets.dims) || input < 0 || input > all.steps ||
        (isPadded && length > targets.dims[1])) {
      plan.reject("inputLengths %s must be 0 to %lld, and targetLengths %s fit targets %s",
                  textOf(all.inputLengths).c_str(), (long long)all.steps,
                  textOf(all.targetLengths).c_str(), textOf(targets.dims).c_str());
      return all;
    }
    all.starts.push_back(isPadded ? b * targets.dims[1] : total);
    total += length;
    all.longest = std::max(all.longest, length);
  }
  if (isPadded ? targets.dims[0] != all.batch
               : targets.dims.size() != 1 || countOf(targets.dims) < total)
    plan.reject("targets %s must be [%lld, longest], or hold the %lld labels of all sequences",
                textOf(targets.dims).c_str(), (long long)all.batch, (long long)total);
  return all;
}

/// Writes the logarithms of what paths up to each step and state have, [steps, states] with
/// `width` states in a row, and returns that of all of them.
double forward(const Labels &labels, const double *scores, const int64_t *targets, int64_t b,
               double *alpha, int64_t width) {
  const int64_t states = labels.states(b), length = labels.inputLengths[size_t(b)];
  std::fill(alpha, alpha + labels.steps * width, -INFINITY);
  auto score = [&](int64_t t, int64_t state) {
    return scores[(t * labels.batch + b) * labels.classes + labels.at(targets, b, state)];
  };
  if (length == 0)
    return states == 1 ? 0 : -INFINITY;
  for (int64_t s = 0; s < std::min<int64_t>(states, 2); ++s)
    alpha[s] = score(0, s);
  for (int64_t t = 1; t < length; ++t)
    for (int64_t s = 0; s < states; ++s) {
      const double *before = alpha + (t - 1) * width;
      double sum = before[s];
      if (s > 0)
        sum = logOfSum(sum, before[s - 1]);
      if (labels.skips(targets, b, s))
        sum = logOfSum(sum, before[s - 2]);
      alpha[t * width + s] = sum + score(t, s);
    }
  const double *last = alpha + (length - 1) * width;
  return states > 1 ? logOfSum(last[states - 1], last[states - 2]) : last[0];
}

/// Returns whether all labels are classes: they are known only when the stream comes to them.
bool areClasses(const Labels &labels, const int64_t *targets) {
  for (int64_t b = 0; b < labels.batch; ++b)
    for (int64_t i = 0; i < labels.targetLengths[size_t(b)]; ++i) {
      const int64_t label = targets[labels.starts[size_t(b)] + i];
      if (label < 0 || label >= labels.classes)
        return false;
    }
  return true;
}

/// Writes the gradient of one sequence: exp(score) less the share of the paths through a class.
void sequenceGradient(const Labels &labels, const double *scores, const int64_t *targets, int64_t b,
                      double factor, bool zeroInfinity, double *gradient) {
  const int64_t states = labels.states(b), length = labels.inputLengths[size_t(b)];
  std::vector<double> alpha(static_cast<size_t>(labels.steps * states));
  const double all = forward(labels, scores, targets, b, alpha.data(), states);
  if (std::isinf(all) && zeroInfinity)
    return;
  auto offsetOf = [&](int64_t t, int64_t c) { return (t * labels.batch + b) * labels.classes + c; };
  std::vector<double> beta(static_cast<size_t>(states), -INFINITY), next(beta);
  for (int64_t t = length - 1; t >= 0; --t) {
    for (int64_t s = 0; s < states; ++s) {
      double sum = t == length - 1 ? (s >= states - 2 ? 0 : -INFINITY) : next[size_t(s)];
      if (t < length - 1 && s + 1 < states)
        sum = logOfSum(sum, next[size_t(s + 1)]);
      if (t < length - 1 && s + 2 < states && labels.skips(targets, b, s + 2))
        sum = logOfSum(sum, next[size_t(s + 2)]);
      beta[size_t(s)] = sum + scores[offsetOf(t, labels.at(targets, b, s))];
    }
    std::vector<double> through(static_cast<size_t>(labels.classes), -INFINITY);
    for (int64_t s = 0; s < states; ++s) {
      double &sum = through[size_t(labels.at(targets, b, s))];
      sum = logOfSum(sum, alpha[size_t(t * states + s)] + beta[size_t(s)]);
    }
    for (int64_t c = 0; c < labels.classes; ++c) {
      const double score = scores[offsetOf(t, c)];
      gradient[offsetOf(t, c)] =
          (std::exp(score) - std::exp(through[size_t(c)] - all - score)) * factor;
    }
    std::swap(beta, next);
  }
}

//===--- Bags of rows -------------------------------------------------------===//

struct Bags {
  int64_t rows = 0, width = 0, words = 0, bags = 0, offsets = 0, mode = 0, padding = -1;
  bool hasWeights = false;
};

/// at[0] table, at[1] indices, at[2] offsets, at[3] weights, at[4] sums, at[5] the bag of each
/// word, at[6] sizes of bags, at[7] rows of the largest elements.
aclError collectBags(const Bags &all, const std::vector<char *> &at) {
  auto *table = reinterpret_cast<const double *>(at[0]),
       *weight = reinterpret_cast<const double *>(at[3]);
  auto *index = reinterpret_cast<const int64_t *>(at[1]),
       *offset = reinterpret_cast<const int64_t *>(at[2]);
  auto *sum = reinterpret_cast<double *>(at[4]);
  auto *bagOf = reinterpret_cast<int64_t *>(at[5]), *count = reinterpret_cast<int64_t *>(at[6]),
       *row = reinterpret_cast<int64_t *>(at[7]);
  std::fill(sum, sum + all.bags * all.width, 0);
  std::fill(row, row + all.bags * all.width, 0);
  std::fill(bagOf, bagOf + all.words, all.bags); // words behind the last offset, as in PyTorch
  if (all.offsets > 0 && offset[0] != 0)
    return ACL_ERROR_INVALID_PARAM;
  for (int64_t bag = 0; bag < all.bags; ++bag) {
    const int64_t begin = offset[bag], end = bag + 1 < all.offsets ? offset[bag + 1] : all.words;
    if (begin < 0 || begin > end || end > all.words)
      return ACL_ERROR_INVALID_PARAM;
    count[bag] = 0;
    double *result = sum + bag * all.width;
    for (int64_t i = begin; i < end; ++i) {
      bagOf[i] = bag;
      if (index[i] < 0 || index[i] >= all.rows)
        return ACL_ERROR_INVALID_PARAM;
      if (index[i] == all.padding)
        continue;
      for (int64_t j = 0; j < all.width; ++j) {
        const double value = table[index[i] * all.width + j];
        if (all.mode < 2)
          result[j] += value * (all.hasWeights ? weight[i] : 1);
        else if (count[bag] == 0 || value > result[j] || std::isnan(value)) {
          result[j] = value;
          row[bag * all.width + j] = index[i];
        }
      }
      ++count[bag];
    }
    for (int64_t j = 0; all.mode == 1 && count[bag] > 0 && j < all.width; ++j)
      result[j] /= double(count[bag]);
  }
  return ACL_SUCCESS;
}

} // namespace

aclnnStatus aclnnCtcLossGetWorkspaceSize(const aclTensor *logProbs, const aclTensor *targets,
                                         const aclIntArray *inputLengths,
                                         const aclIntArray *targetLengths, int64_t blank,
                                         bool zeroInfinity, aclTensor *negLogLikelihoodOut,
                                         aclTensor *logAlphaOut, uint64_t *size,
                                         aclOpExecutor **executor) {
  Plan plan(__func__);
  const View scores = IN(logProbs), names = IN(targets),
             losses = plan.output(negLogLikelihoodOut, "negLogLikelihoodOut"),
             paths = plan.output(logAlphaOut, "logAlphaOut");
  const Labels labels = labelsOf(plan, scores, names, inputLengths, targetLengths, blank);
  const int64_t width = plan.isGood() && paths.dims.size() == 3 ? paths.dims[2] : 0;
  if (plan.isGood() &&
      (losses.dims != Dims{labels.batch} || paths.dims != Dims{labels.batch, labels.steps, width} ||
       width < 2 * labels.longest + 1))
    plan.reject("negLogLikelihoodOut %s must be [%lld], and logAlphaOut %s [%lld, %lld, %lld or "
                "more]",
                textOf(losses.dims).c_str(), (long long)labels.batch, textOf(paths.dims).c_str(),
                (long long)labels.batch, (long long)labels.steps,
                (long long)(2 * labels.longest + 1));
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View loss = plan.make(ACL_DOUBLE, losses.dims), alpha = plan.make(ACL_DOUBLE, paths.dims);
  plan.onHost({plan.dense(scores, ACL_DOUBLE), plan.dense(names, ACL_INT64), loss, alpha},
              [=](const std::vector<char *> &at) -> aclError {
                auto *label = reinterpret_cast<const int64_t *>(at[1]);
                if (!areClasses(labels, label))
                  return ACL_ERROR_INVALID_PARAM;
                for (int64_t b = 0; b < labels.batch; ++b) {
                  const double all =
                      forward(labels, reinterpret_cast<const double *>(at[0]), label, b,
                              reinterpret_cast<double *>(at[3]) + b * labels.steps * width, width);
                  reinterpret_cast<double *>(at[2])[b] = std::isinf(all) && zeroInfinity ? 0 : -all;
                }
                return ACL_SUCCESS;
              });
  plan.write(loss, losses);
  plan.write(alpha, paths);
  return plan.finish(size, executor);
}
ACLNN_RUN(CtcLoss)

aclnnStatus aclnnCtcLossBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *logProbs, const aclTensor *targets,
    const aclIntArray *inputLengths, const aclIntArray *targetLengths,
    const aclTensor *negLogLikelihood, const aclTensor *logAlpha, int64_t blank, bool zeroInfinity,
    aclTensor *out, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View factors = IN(gradOut), scores = IN(logProbs), names = IN(targets),
             y = plan.output(out, "out");
  // The paths are summed again: what the first function wrote may have fewer digits.
  IN(negLogLikelihood);
  IN(logAlpha);
  const Labels labels = labelsOf(plan, scores, names, inputLengths, targetLengths, blank);
  if (plan.isGood() && factors.dims != Dims{labels.batch})
    plan.reject("gradOut %s must be [%lld]", textOf(factors.dims).c_str(), (long long)labels.batch);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View gradient = plan.make(ACL_DOUBLE, scores.dims);
  plan.onHost({plan.dense(factors, ACL_DOUBLE), plan.dense(scores, ACL_DOUBLE),
               plan.dense(names, ACL_INT64), gradient},
              [=, count = countOf(scores.dims)](const std::vector<char *> &at) -> aclError {
                auto *label = reinterpret_cast<const int64_t *>(at[2]);
                if (!areClasses(labels, label))
                  return ACL_ERROR_INVALID_PARAM;
                auto *result = reinterpret_cast<double *>(at[3]);
                std::fill(result, result + count, 0);
                for (int64_t b = 0; b < labels.batch; ++b)
                  sequenceGradient(labels, reinterpret_cast<const double *>(at[1]), label, b,
                                   reinterpret_cast<const double *>(at[0])[b], zeroInfinity,
                                   result);
                return ACL_SUCCESS;
              });
  plan.write(gradient, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(CtcLossBackward)

aclnnStatus aclnnEmbeddingBagGetWorkspaceSize(
    const aclTensor *weight, const aclTensor *indices, const aclTensor *offsets,
    bool scaleGradByFreq, int64_t mode, bool sparse, const aclTensor *perSampleWeights,
    bool includeLastOffset, int64_t paddingIdx, aclTensor *output, aclTensor *offset2bag,
    aclTensor *bagSize, aclTensor *maxIndices, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View table = IN(weight), words = IN(indices), starts = IN(offsets),
             factors = plan.input(perSampleWeights, "perSampleWeights", true),
             y = plan.output(output, "output"), bagOf = plan.output(offset2bag, "offset2bag"),
             sizes = plan.output(bagSize, "bagSize"), rows = plan.output(maxIndices, "maxIndices");
  if (scaleGradByFreq || sparse)
    plan.reject("scaleGradByFreq and sparse must be false");
  const int64_t kind = mode == 0 || mode == 1 ? mode : 2;
  if (plan.isGood() && factors.memory &&
      (kind != 0 || countOf(factors.dims) != countOf(words.dims)))
    plan.reject("perSampleWeights %s must have a number for each of indices %s, and mode be 0 "
                "(sum)",
                textOf(factors.dims).c_str(), textOf(words.dims).c_str());
  if (plan.isGood() &&
      (table.dims.size() != 2 || words.dims.size() != 1 || starts.dims.size() != 1 ||
       isFloat(words.type) || isFloat(starts.type) || starts.dims[0] < (includeLastOffset ? 1 : 0)))
    plan.reject("weight %s must have 2 dims, and indices %s and offsets %s one, of whole numbers",
                textOf(table.dims).c_str(), textOf(words.dims).c_str(),
                textOf(starts.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Bags bags{
      table.dims[0],  table.dims[1], words.dims[0], starts.dims[0] - (includeLastOffset ? 1 : 0),
      starts.dims[0], kind,          paddingIdx,    bool(factors.memory)};
  const Dims dims{bags.bags, bags.width};
  const View sums = plan.make(ACL_DOUBLE, dims), owners = plan.make(ACL_INT64, words.dims),
             counts = plan.make(ACL_INT64, {bags.bags}), largest = plan.make(ACL_INT64, dims);
  plan.onHost({plan.dense(table, ACL_DOUBLE), plan.dense(words, ACL_INT64),
               plan.dense(starts, ACL_INT64),
               factors.memory ? plan.dense(factors, ACL_DOUBLE) : plan.constant(1, ACL_DOUBLE),
               sums, owners, counts, largest},
              [bags](const std::vector<char *> &at) { return collectBags(bags, at); });
  plan.write(sums, y);
  plan.write(owners, bagOf);
  // With the last offset PyTorch's sizes have a bag more, an empty one.
  if (sizes.dims == starts.dims && bags.bags != bags.offsets) {
    const View all = plan.make(ACL_INT64, starts.dims);
    plan.copy(plan.broadcast(plan.constant(0, ACL_INT64), starts.dims), all);
    plan.copy(counts, part(all, 0, 0, bags.bags));
    plan.write(all, sizes);
  } else {
    plan.write(counts, sizes);
  }
  if (kind == 2)
    plan.write(largest, rows);
  else if (countOf(rows.dims) > 0)
    plan.write(plan.broadcast(plan.constant(0, ACL_INT64), rows.dims), rows);
  return plan.finish(size, executor);
}
ACLNN_RUN(EmbeddingBag)
