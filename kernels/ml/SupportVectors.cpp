//===-- SupportVectors.cpp - support vector machines ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler packs support vectors as columns of floats (PackVectors), so that a register
// computes the function of as many vectors as it has lanes. Rows that are no floats, and calls
// without packed vectors, compute in doubles.

#include "kernels/core/VectorMath.h"
#include "kernels/ml/Scores.h"

namespace atc::kernels {

namespace {

typedef float Floats __attribute__((vector_size(64)));
typedef float LooseFloats __attribute__((vector_size(64), aligned(4), may_alias));

/// Packed columns are padded to a multiple of as many.
constexpr int64_t kBlock = 64;

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

  double power(double base) const {
    if (!(degree >= 0 && degree <= 16) || degree != double(int64_t(degree)))
      return math::pow(base, degree);
    double result = 1;
    for (int64_t i = 0; i < int64_t(degree); ++i)
      result *= base;
    return result;
  }

  /// Returns the function of a product of two vectors, or for RBF of their squared distance.
  double operator()(double sum) const {
    switch (function) {
    case KernelFunction::Rbf:
      return math::exp(-gamma * sum);
    case KernelFunction::Poly:
      return power(gamma * sum + offset);
    case KernelFunction::Sigmoid:
      return math::tanh(gamma * sum + offset);
    default:
      return sum;
    }
  }

  /// Replaces the products of a block, or squared distances, by the function of each.
  void operator()(float (&sums)[kBlock]) const {
    const float factor = float(gamma), summand = float(offset);
    switch (function) {
    case KernelFunction::Rbf:
      for (float &sum : sums)
        sum = fast::exp(-factor * sum);
      return;
    case KernelFunction::Poly:
      for (float &sum : sums)
        sum = float(power(gamma * double(sum) + offset));
      return;
    case KernelFunction::Sigmoid:
      for (float &sum : sums)
        sum = fast::tanh(factor * sum + summand);
      return;
    default:
      return;
    }
  }
};

/// The support vectors of a call and the rows that it compares with them.
struct SupportVectors {
  const SvmKernel kernel;
  Rows rows;
  const double *wide = nullptr;   ///< the rows, where vectors are not packed or rows no floats
  List<double> listed;            ///< count x width
  const float *columns = nullptr; ///< packed: width x stride
  int64_t count = 0, stride = 0;

  explicit SupportVectors(Context &c)
      : kernel(c), rows(c.in(0)), listed(c.numbers("support_vectors")) {}

  /// Finds the data of as many vectors. Returns false where the kernel must return.
  bool read(Context &c, int64_t vectors) {
    count = vectors;
    if (!count)
      return true;
    const Tensor packed = c.tensor("packed_vectors");
    if (packed && packed.dtype() == F32 && packed.rank() == 2 && packed.dim(0) == rows.width &&
        packed.dim(1) % kBlock == 0 && packed.dim(1) >= count) {
      columns = packed.as<float>();
      stride = packed.dim(1);
    } else if (packed || count > listed.size || listed.size != count * rows.width) {
      return c.fail("% support vectors of % features: % numbers", count, rows.width,
                    packed && packed.rank() == 2 ? packed.dim(0) * count : listed.size),
             false;
    }
    if (columns && rows.data.dtype() == F32)
      return true;
    wide = rows.asDoubles(c);
    return wide;
  }

  /// Calls visit(i, value) with the function of a row and each of the vectors, in their order.
  template <typename Visit> void evaluate(int64_t row, Visit &&visit) const {
    if (wide) {
      for (int64_t i = 0; i < count; ++i)
        visit(i, valueOf(wide + row * rows.width, i));
      return;
    }
    float values[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      evaluateBlock(rows.data.as<float>() + row * rows.width, columns + first, values);
      for (int64_t i = first; i < minimum(first + kBlock, count); ++i)
        visit(i, double(values[i - first]));
    }
  }

private:
  double valueOf(const double *row, int64_t vector) const {
    double sum = 0;
    for (int64_t f = 0; f < rows.width; ++f) {
      const double other =
          columns ? double(columns[f * stride + vector]) : listed[vector * rows.width + f];
      sum += kernel.function == KernelFunction::Rbf ? (row[f] - other) * (row[f] - other)
                                                    : row[f] * other;
    }
    return kernel(sum);
  }

  void evaluateBlock(const float *row, const float *of, float (&values)[kBlock]) const {
    constexpr int64_t lanes = sizeof(Floats) / sizeof(float);
    const bool isRbf = kernel.function == KernelFunction::Rbf;
    Floats sums[kBlock / lanes] = {};
    for (int64_t f = 0; f < rows.width; ++f, of += stride)
      for (int64_t i = 0; i < kBlock / lanes; ++i) {
        const Floats other = *reinterpret_cast<const LooseFloats *>(of + i * lanes);
        const Floats gap = row[f] - other;
        sums[i] += isRbf ? gap * gap : row[f] * other;
      }
    for (int64_t i = 0; i < kBlock / lanes; ++i)
      *reinterpret_cast<LooseFloats *>(values + i * lanes) = sums[i];
    kernel(values);
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

/// Packs the support vectors of a call, whose attributes it takes, and has no inputs. Result: the
/// vectors as columns, [features, vectors], with zeros up to whole blocks.
ATC_KERNEL(PackVectors) {
  const List<double> vectors = numbers("support_vectors");
  const List<int64_t> perClass = integers("vectors_per_class");
  int64_t count = perClass.given ? 0 : integer("n_supports", 0);
  for (int64_t i = 0; i < perClass.size && perClass[i] >= 0 && count <= vectors.size; ++i)
    count += minimum(perClass[i], vectors.size + 1);
  // Vectors without features may be of any number.
  constexpr int64_t max = int64_t(1) << 32;
  if (count < 1 || count > max || vectors.size % count)
    return fail("% numbers for % support vectors", vectors.size, count);
  const int64_t width = vectors.size / count, stride = ceilDiv(count, kBlock) * kBlock;
  float *out = make<float>(0, F32, Dims(width, stride));
  if (!out)
    return;
  for (int64_t f = 0; f < width; ++f)
    for (int64_t v = 0; v < stride; ++v)
      out[f * stride + v] = v < count ? float(vectors[v * width + f]) : 0;
}

ATC_KERNEL(SVMRegressor) {
  SupportVectors vectors(*this);
  const Rows &rows = vectors.rows;
  const Transform transform = transformOf(*this);
  const List<double> weights = numbers("coefficients"), rho = numbers("rho");
  const int64_t count = integer("n_supports", 0);
  const bool oneClass = integer("one_class", 0);
  if (transform == Transform::Unknown || vectors.kernel.function == KernelFunction::Unknown ||
      !rows.valid(*this))
    return;
  if (count < 0 || (count ? weights.size < count : weights.size != rows.width))
    return fail("% support vectors: % coefficients, % features", count, weights.size, rows.width);
  float *out = make<float>(0, F32, Dims(rows.count, int64_t(1)));
  // Without vectors the coefficients are those of a linear function.
  const double *linear = out && !count ? rows.asDoubles(*this) : nullptr;
  if (!out || !vectors.read(*this, count) || (!count && !linear))
    return;
  parallel(rows.count, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      double score = rho.size ? rho[0] : 0;
      vectors.evaluate(row, [&](int64_t i, double value) { score += weights[i] * value; });
      if (linear)
        score += sumOfProducts(linear + row * rows.width, weights.data, rows.width);
      if (oneClass)
        score = score > 0 ? 1 : -1;
      transformScores(transform, &score, 1);
      out[row] = float(score);
    }
  });
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
      const double sum =
          rho[pair] +
          sumOfProducts(weights.data + (j - 1) * supports + startI, kernels + startI, perClass[i]) +
          sumOfProducts(weights.data + i * supports + startJ, kernels + startJ, perClass[j]);
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

/// SVMClassifier: a linear function per class, or the votes of each pair of classes.
class SupportVectorClassifier {
public:
  explicit SupportVectorClassifier(Context &c)
      : c(c), vectors(c), rows(vectors.rows), transform(transformOf(c)),
        weights(c.numbers("coefficients")), rho(c.numbers("rho")), probA(c.numbers("prob_a")),
        probB(c.numbers("prob_b")), perClass(c.integers("vectors_per_class")),
        labels(c, "classlabels_ints", "classlabels_strings") {}

  void run() {
    if (!check() || (c.wants(0) && !labels.make(c, 0, rows.count)))
      return;
    const int64_t columns = linear || probabilities ? classes : classes > 2 ? pairs : 2;
    float *out = c.wants(1) ? c.make<float>(1, F32, Dims(rows.count, columns)) : nullptr;
    if (c.wants(1) && !out)
      return;
    inputs = linear ? rows.asDoubles(c) : nullptr;
    if (!vectors.read(c, supports) || (linear && !inputs))
      return;
    // Rows in groups, each row with memory of its own.
    constexpr int64_t kGroup = 64;
    double *rooms = c.scratch<double>(minimum(kGroup, rows.count) * room() + 1);
    if (!rooms)
      return;
    for (int64_t first = 0; first < rows.count; first += kGroup)
      c.parallel(minimum(kGroup, rows.count - first), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double *scores = rooms + i * room();
          classify(first + i, scores);
          for (int64_t j = 0; out && j < columns; ++j)
            out[(first + i) * columns + j] = float(scores[j]);
        }
      });
  }

private:
  /// Returns whether the attributes fit; fails the call otherwise.
  bool check() {
    if (transform == Transform::Unknown || vectors.kernel.function == KernelFunction::Unknown ||
        !rows.valid(c))
      return false;
    for (int64_t i = 0; i < perClass.size; ++i) {
      if (perClass[i] < 0 || perClass[i] > weights.size) {
        c.fail("vectors_per_class has %", perClass[i]);
        return false;
      }
      supports += perClass[i];
    }
    linear = supports == 0;
    classes = linear ? labels.size() : perClass.size;
    if (classes < 1 || classes > 4096) {
      c.fail("% classes", classes);
      return false;
    }
    pairs = classes * (classes - 1) / 2;
    probabilities = !linear && probA.size > 0;
    if (linear ? weights.size != classes * rows.width || rho.size < 1
               : rho.size < pairs || weights.size != supports * (classes - 1) || pairs < 1) {
      c.fail("% support vectors: % coefficients, % features, % rho", supports, weights.size,
             rows.width, rho.size);
      return false;
    }
    if (probabilities && (probA.size < pairs || probB.size < pairs)) {
      c.fail("% and % numbers for probabilities of % classes", probA.size, probB.size, classes);
      return false;
    }
    for (int64_t i = 0; i < weights.size; ++i)
      positive &= weights[i] >= 0;
    return true;
  }

  int64_t scoreCount() const { return maximum(maximum(pairs, classes), int64_t(2)); }
  int64_t squareSize() const { return probabilities ? classes * classes : 0; }
  /// Returns how many numbers the classification of one row needs.
  int64_t room() const { return scoreCount() + supports + 3 * classes + 2 * squareSize(); }

  /// Sets the label of a row, and its scores in the first numbers of its memory.
  void classify(int64_t row, double *scores) {
    double *kernels = scores + scoreCount(), *votes = kernels + supports, *p = votes + classes,
           *qp = p + classes, *square = qp + classes, *q = square + squareSize();
    if (linear) {
      for (int64_t i = 0; i < classes; ++i)
        scores[i] =
            sumOfProducts(inputs + row * rows.width, weights.data + i * rows.width, rows.width) +
            rho[0];
    } else {
      vectors.evaluate(row, [&](int64_t i, double value) { kernels[i] = value; });
      scorePairs(perClass, weights, rho, kernels, supports, scores, votes);
    }
    if (probabilities) {
      compareClasses(classes, scores, probA, probB, square);
      coupleProbabilities(classes, square, p, q, qp);
      for (int64_t i = 0; i < classes; ++i)
        scores[i] = p[i];
    }
    // The votes decide, even where probabilities are returned.
    labels.set(row, labelOf(linear ? scores : votes));
    const int64_t found = linear || probabilities ? classes : pairs;
    if (found == 1)
      transformBinary(transform, scores[0], transform != Transform::None, scores);
    else
      transformScores(transform, scores, found);
  }

  int64_t labelOf(const double *deciding) const {
    const int64_t best = indexOfLargest(deciding, classes);
    const double top = deciding[best];
    if (linear && classes == 1)
      return top > 0;
    if (linear && classes == 2)
      return (positive ? top >= 0.5 : top > 0) ? 1 : best;
    return best;
  }

  Context &c;
  SupportVectors vectors;
  const Rows &rows;
  const Transform transform;
  const List<double> weights, rho, probA, probB;
  const List<int64_t> perClass;
  Labels labels;
  int64_t supports = 0, classes = 0, pairs = 0;
  bool linear = false, probabilities = false;
  bool positive = true; ///< no coefficient is below 0
  const double *inputs = nullptr;
};

} // namespace

ATC_KERNEL(SVMClassifier) { SupportVectorClassifier(*this).run(); }

} // namespace atc::kernels
