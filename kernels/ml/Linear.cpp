//===-- Linear.cpp - linear models and support vector machines ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/ml/Scores.h"

namespace atc::kernels {

namespace {
/// Most models have far fewer; more are not worth memory of their own.
constexpr int64_t kMaxClasses = 1 << 20;

/// sum_f x[row][f] * weights[f] + offset.
double dot(const Rows &rows, int64_t row, const double *weights) {
  double sum = 0;
  for (int64_t f = 0; f < rows.width; ++f)
    sum += rows.at(row, f) * weights[f];
  return sum;
}

/// The linear functions of both operators, one per class or target.
struct LinearFunctions {
  const Rows rows;
  const Transform transform;
  const List<double> weights, offsets;

  explicit LinearFunctions(Context &c)
      : rows(c.in(0)), transform(transformOf(c)), weights(c.numbers("coefficients")),
        offsets(c.numbers("intercepts")) {}
  bool valid(Context &c, int64_t count) {
    if (transform == Transform::Unknown || !rows.valid(c))
      return false;
    if (count < 1 || count > kMaxClasses || weights.size != count * rows.width)
      return c.fail("% coefficients for % functions of % features", weights.size, count,
                    rows.width),
             false;
    if (offsets.size && offsets.size != count)
      return c.fail("% intercepts for % functions", offsets.size, count), false;
    return true;
  }
  void find(int64_t row, int64_t count, double *scores) const {
    for (int64_t i = 0; i < count; ++i)
      scores[i] = dot(rows, row, weights.data + i * rows.width) + (offsets.size ? offsets[i] : 0);
  }
};
} // namespace

ATC_KERNEL(LinearClassifier) {
  LinearFunctions linear(*this);
  Labels labels(*this, "classlabels_ints", "classlabels_strings");
  const int64_t width = linear.rows.width, count = linear.rows.count;
  const int64_t classes = linear.offsets.size ? linear.offsets.size
                          : width             ? linear.weights.size / width
                                              : 0;
  if (!linear.valid(*this, classes))
    return;
  const bool second = classes == 1 && labels.size() == 2;
  if (labels.size() && labels.size() != classes && !second)
    return fail("% labels for % classes", labels.size(), classes);
  const int64_t columns = second ? 2 : classes;
  if (wants(0) && !labels.make(*this, 0, count))
    return;
  float *out = wants(1) ? make<float>(1, F32, Dims(count, columns)) : nullptr;
  if (wants(1) && !out)
    return;
  double *scores = scratch<double>(columns);
  if (!scores)
    return;
  for (int64_t row = 0; row < count; ++row) {
    linear.find(row, classes, scores);
    labels.set(row, classes == 1 ? scores[0] > 0 : indexOfLargest(scores, classes));
    if (second)
      transformBinary(linear.transform, scores[0], /*complement=*/true, scores);
    else
      transformScores(linear.transform, scores, classes);
    for (int64_t i = 0; out && i < columns; ++i)
      out[row * columns + i] = float(scores[i]);
  }
}

ATC_KERNEL(LinearRegressor) {
  LinearFunctions linear(*this);
  const int64_t targets = integer("targets", 1);
  if (!linear.valid(*this, targets))
    return;
  float *out = make<float>(0, F32, Dims(linear.rows.count, targets));
  double *scores = out ? scratch<double>(targets) : nullptr;
  if (!scores)
    return;
  for (int64_t row = 0; row < linear.rows.count; ++row) {
    linear.find(row, targets, scores);
    transformScores(linear.transform, scores, targets);
    for (int64_t i = 0; i < targets; ++i)
      out[row * targets + i] = float(scores[i]);
  }
}

//===----------------------------------------------------------------------===//
// Support vector machines
//===----------------------------------------------------------------------===//

namespace {

enum class KernelFunction { Linear, Poly, Rbf, Sigmoid, Unknown };

struct SvmKernel {
  KernelFunction function;
  double gamma = 0, offset = 0, degree = 0;

  explicit SvmKernel(Context &c) {
    const String name = c.text("kernel_type", "LINEAR");
    function = equal(name, "LINEAR")    ? KernelFunction::Linear
               : equal(name, "POLY")    ? KernelFunction::Poly
               : equal(name, "RBF")     ? KernelFunction::Rbf
               : equal(name, "SIGMOID") ? KernelFunction::Sigmoid
                                        : KernelFunction::Unknown;
    if (function == KernelFunction::Unknown)
      c.fail("kernel_type is none of LINEAR, POLY, RBF, SIGMOID");
    const List<double> numbers = c.numbers("kernel_params");
    gamma = numbers.size > 0 ? numbers[0] : 0;
    offset = numbers.size > 1 ? numbers[1] : 0;
    degree = numbers.size > 2 ? numbers[2] : 0;
  }
  double operator()(const Rows &rows, int64_t row, const double *vector) const {
    if (function == KernelFunction::Rbf) {
      double distance = 0;
      for (int64_t f = 0; f < rows.width; ++f) {
        const double gap = rows.at(row, f) - vector[f];
        distance += gap * gap;
      }
      return math::exp(-gamma * distance);
    }
    const double product = dot(rows, row, vector);
    switch (function) {
    case KernelFunction::Poly:
      return math::pow(gamma * product + offset, degree);
    case KernelFunction::Sigmoid:
      return math::tanh(gamma * product + offset);
    default:
      return product;
    }
  }
};

/// Probabilities of classes from those of one class against another, r[i][j]:
/// the fixed point of Wu, Lin and Weng (2004), second method.
void coupleProbabilities(int64_t classes, const double *r, double *p, double *q, double *qp) {
  for (int64_t t = 0; t < classes; ++t) {
    p[t] = 1.0 / double(classes);
    q[t * classes + t] = 0;
    for (int64_t j = 0; j < classes; ++j)
      if (j != t) {
        q[t * classes + t] += r[j * classes + t] * r[j * classes + t];
        q[t * classes + j] = -r[j * classes + t] * r[t * classes + j];
      }
  }
  const double enough = 0.005 / double(classes);
  for (int64_t round = 0; round < maximum(classes, int64_t(100)); ++round) {
    double pqp = 0;
    for (int64_t t = 0; t < classes; ++t) {
      qp[t] = 0;
      for (int64_t j = 0; j < classes; ++j)
        qp[t] += q[t * classes + j] * p[j];
      pqp += p[t] * qp[t];
    }
    double worst = 0;
    for (int64_t t = 0; t < classes; ++t)
      worst = maximum(worst, math::abs(qp[t] - pqp));
    if (worst < enough)
      return;
    for (int64_t t = 0; t < classes; ++t) {
      const double diagonal = q[t * classes + t], step = (pqp - qp[t]) / diagonal;
      p[t] += step;
      pqp = (pqp + step * (step * diagonal + 2 * qp[t])) / (1 + step) / (1 + step);
      for (int64_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + step * q[t * classes + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

} // namespace

ATC_KERNEL(SVMRegressor) {
  const Rows rows(in(0));
  SvmKernel kernel(*this);
  const Transform transform = transformOf(*this);
  const List<double> weights = numbers("coefficients"), vectors = numbers("support_vectors"),
                     rho = numbers("rho");
  const int64_t count = integer("n_supports", 0);
  if (transform == Transform::Unknown || kernel.function == KernelFunction::Unknown ||
      !rows.valid(*this))
    return;
  if (count < 0 ||
      (count ? count > vectors.size || vectors.size != count * rows.width || weights.size < count
             : weights.size != rows.width))
    return fail("% support vectors: % numbers, % coefficients, % features", count, vectors.size,
                weights.size, rows.width);
  float *out = make<float>(0, F32, Dims(rows.count, int64_t(1)));
  if (!out)
    return;
  if (!count) // the coefficients are those of a linear function
    kernel.function = KernelFunction::Linear;
  for (int64_t row = 0; row < rows.count; ++row) {
    double score = rho.size ? rho[0] : 0;
    for (int64_t v = 0; v < count; ++v)
      score += weights[v] * kernel(rows, row, vectors.data + v * rows.width);
    if (!count)
      score += kernel(rows, row, weights.data);
    if (integer("one_class", 0))
      score = score > 0 ? 1 : -1;
    transformScores(transform, &score, 1);
    out[row] = float(score);
  }
}

namespace {

/// Computes the score of each pair of classes from the kernel's values of all support vectors, and
/// how many pairs each class wins. Class i has `perClass[i]` vectors, one behind the other.
void scorePairs(List<int64_t> perClass, List<double> weights, List<double> rho,
                const double *kernels, int64_t supports, double *scores, double *votes) {
  const int64_t classes = perClass.size;
  for (int64_t i = 0; i < classes; ++i)
    votes[i] = 0;
  int64_t pair = 0, startI = 0;
  for (int64_t i = 0; i < classes; startI += perClass[i++]) {
    int64_t startJ = startI + perClass[i];
    for (int64_t j = i + 1; j < classes; startJ += perClass[j++], ++pair) {
      double sum = rho[pair];
      for (int64_t v = startI; v < startI + perClass[i]; ++v)
        sum += weights[(j - 1) * supports + v] * kernels[v];
      for (int64_t v = startJ; v < startJ + perClass[j]; ++v)
        sum += weights[i * supports + v] * kernels[v];
      scores[pair] = sum;
      votes[sum > 0 ? i : j] += 1;
    }
  }
}

/// Computes the probability that class i wins against class j from the scores of the pairs, for
/// the `classes` rows and columns of `square`.
void compareClasses(int64_t classes, const double *scores, List<double> probA, List<double> probB,
                    double *square) {
  for (int64_t i = 0, pair = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      const double raw = math::sigmoid(-(scores[pair] * probA[pair] + probB[pair]));
      const double bounded = minimum(maximum(raw, 1e-7), 1 - 1e-7);
      square[i * classes + j] = bounded;
      square[j * classes + i] = 1 - bounded;
    }
}

} // namespace

ATC_KERNEL(SVMClassifier) {
  const Rows rows(in(0));
  SvmKernel kernel(*this);
  const Transform transform = transformOf(*this);
  const List<double> weights = numbers("coefficients"), vectors = numbers("support_vectors"),
                     rho = numbers("rho"), probA = numbers("prob_a"), probB = numbers("prob_b");
  const List<int64_t> perClass = integers("vectors_per_class");
  Labels labels(*this, "classlabels_ints", "classlabels_strings");
  if (transform == Transform::Unknown || kernel.function == KernelFunction::Unknown ||
      !rows.valid(*this))
    return;
  int64_t supports = 0;
  for (int64_t i = 0; i < perClass.size; ++i) {
    if (perClass[i] < 0 || perClass[i] > vectors.size)
      return fail("vectors_per_class has %", perClass[i]);
    supports += perClass[i];
  }
  const bool linear = supports == 0;
  const int64_t classes = linear ? labels.size() : perClass.size;
  if (classes < 1 || classes > 4096)
    return fail("% classes", classes);
  const int64_t pairs = classes * (classes - 1) / 2;
  const bool probabilities = !linear && probA.size > 0;
  if (linear ? weights.size != classes * rows.width || rho.size < 1
             : vectors.size != supports * rows.width || rho.size < pairs ||
                   weights.size != supports * (classes - 1) || pairs < 1)
    return fail("% support vectors: % numbers, % coefficients, % features, % rho", supports,
                vectors.size, weights.size, rows.width, rho.size);
  if (probabilities && (probA.size < pairs || probB.size < pairs))
    return fail("% and % numbers for probabilities of % classes", probA.size, probB.size, classes);
  const int64_t columns = linear || probabilities ? classes : classes > 2 ? pairs : 2;
  if (wants(0) && !labels.make(*this, 0, rows.count))
    return;
  float *out = wants(1) ? make<float>(1, F32, Dims(rows.count, columns)) : nullptr;
  if (wants(1) && !out)
    return;
  double *scores = scratch<double>(maximum(maximum(pairs, classes), int64_t(2)));
  double *votes = scratch<double>(classes), *kernels = scratch<double>(supports + 1);
  double *square = scratch<double>(classes * classes), *q = scratch<double>(classes * classes);
  double *p = scratch<double>(classes), *qp = scratch<double>(classes);
  if (!scores || !votes || !kernels || !square || !q || !p || !qp)
    return;
  bool positive = true;
  for (int64_t i = 0; i < weights.size; ++i)
    positive &= weights[i] >= 0;
  for (int64_t row = 0; row < rows.count; ++row) {
    int64_t found = classes; // scores
    if (linear) {
      for (int64_t i = 0; i < classes; ++i)
        scores[i] = dot(rows, row, weights.data + i * rows.width) + rho[0];
    } else {
      for (int64_t v = 0; v < supports; ++v)
        kernels[v] = kernel(rows, row, vectors.data + v * rows.width);
      scorePairs(perClass, weights, rho, kernels, supports, scores, votes);
      found = pairs;
    }
    if (probabilities) {
      compareClasses(classes, scores, probA, probB, square);
      coupleProbabilities(classes, square, p, q, qp);
      for (int64_t i = 0; i < classes; ++i)
        scores[i] = p[i];
      found = classes;
    }
    const double *deciding = linear ? scores : votes;
    // The votes decide, even where probabilities are returned.
    int64_t best = indexOfLargest(deciding, classes);
    const double top = deciding[best];
    if (linear && classes == 1)
      best = top > 0;
    else if (linear && classes == 2)
      best = (positive ? top >= 0.5 : top > 0) ? 1 : best;
    labels.set(row, best);
    if (found == 1)
      transformBinary(transform, scores[0], transform != Transform::None, scores);
    else
      transformScores(transform, scores, found);
    for (int64_t i = 0; out && i < columns; ++i)
      out[row * columns + i] = float(scores[i]);
  }
}

} // namespace atc::kernels
