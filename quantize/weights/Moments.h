//===-- Moments.h - the second moments of layers' inputs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_QUANTIZE_WEIGHTS_MOMENTS_H
#define OPENATC_QUANTIZE_WEIGHTS_MOMENTS_H

#include "quantize/Calibrate.h"

namespace atc::quantize {

/// The sums and the sums of products of the elements of vectors x: whatever a change D of weights
/// W does to the squared error of W x is D E[x x^T] D^T.
class Moments {
public:
  explicit Moments(int64_t size = 0) : length(size), sums(size), products(size * size) {}

  /// Adds `count` vectors that follow each other.
  void add(const float *rows, int64_t count);

  int64_t size() const { return length; }
  double count() const { return seen; }
  /// Returns the mean of the vectors; zeros where none was added.
  std::vector<float> mean() const;
  /// Returns E[x x^T], or the covariance where `centered`, row-major and symmetric, with
  /// `variance` added to the diagonal.
  std::vector<float> matrix(bool centered, double variance = 0) const;

private:
  int64_t length;
  double seen = 0;
  std::vector<double> sums;
  std::vector<float> products; ///< the upper triangle
};

/// Returns tr(D H D^T) of `rows` rows D and a symmetric matrix H.
double squaredError(llvm::ArrayRef<float> difference, int64_t rows, llvm::ArrayRef<float> matrix);

/// The longest vectors of which moments are kept: their matrix takes 256 MB.
constexpr int64_t kMaxMomentSize = 8192;

/// The moments of the vectors that the rows of a layer's weights are multiplied by, for each group.
class LayerMoments {
public:
  /// Returns the moments of a convolution or product, still empty; nothing for layers of other
  /// forms and for vectors longer than kMaxMomentSize.
  static std::optional<LayerMoments> of(const PlannedLayer &layer);

  /// Adds the vectors of one sample: all of the layer's input, or as many as tell enough.
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims);

  std::vector<Moments> groups;
  /// The vectors that one sample has, whether all were added or not.
  int64_t vectorsPerSample = 0;

private:
  void addPatches(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims);

  /// The window of a convolution; empty for a product.
  std::vector<int64_t> kernel, strides, pads, dilations;
};

/// Moments of layers by the tensors that they compute. Products of one tensor share theirs.
using MomentsByOutput = std::map<std::string, std::shared_ptr<LayerMoments>>;

/// Runs samples through a module, whose results it changes, and collects the moments of layers.
/// Layers of which `wanted` returns false are left out, as are those without moments. Returns
/// nothing after an error.
std::optional<MomentsByOutput> collectMoments(mlir::ModuleOp module, const Plan &plan,
                                              DataSource &data, int64_t batchNum,
                                              llvm::function_ref<bool(const PlannedLayer &)> wanted,
                                              const Progress &progress, Diagnostics &diagnostics);

} // namespace atc::quantize

#endif // OPENATC_QUANTIZE_WEIGHTS_MOMENTS_H
