//===-- AudioFeatures.cpp - recordings, spectra and cepstra ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <numbers>

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/HostOps.h"
#include "frontends/tf/OpTable.h"
#include "frontends/tf/ops/Complex.h"
#include "frontends/tf/ops/Strings.h"
#include "frontends/tf/ops/arithmetic/TensorMath.h"

using namespace mlir;

namespace atc::tf_import {
namespace {

/// The samples [samples, channels] of a recording, and their number per second.
void importDecodeWav(NodeContext &n) {
  Value input = n.input(0);
  requireStrings(n, 0);
  const int64_t channels = n.intAttr("desired_channels", -1),
                samples = n.intAttr("desired_samples", -1);
  for (auto [name, value] :
       {std::pair("desired_channels", channels), std::pair("desired_samples", samples)})
    if (!n.failed() && (value == 0 || value < -1 || value > maxDim))
      n.failAttribute(name, "is " + Twine(value) + ", expected -1 or a number from 1");
  if (n.failed())
    return;
  SmallVector<Value> results =
      n.callHost(graph::HostCall{"WavDecoder",
                                 {input},
                                 n.builder().getDictionaryAttr({n.hostInts("channels", {channels}),
                                                                n.hostInts("samples", {samples})}),
                                 2});
  if (results.empty())
    return;
  auto dim = [](int64_t size) { return size < 0 ? ShapedType::kDynamic : size; };
  n.setOutput(0, withKnownDims(n, results[0], {dim(samples), dim(channels)}, 0));
  n.setOutput(1, withKnownDims(n, results[1], {}, 0));
}

/// Returns values of f32 as a constant.
Value constantOf(NodeContext &n, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  SmallVector<float> narrow(values.begin(), values.end());
  return n.constant(graph::makeConstant(RankedTensorType::get(shape, n.builder().getF32Type()),
                                        ArrayRef<float>(narrow)));
}

/// The magnitudes [channels, frames, frequencies] of the spectra of overlapping windows.
void importSpectrogram(NodeContext &n) {
  n.requireRank(0, 2, 2);
  Value input = n.input(0);
  const int64_t window = n.requiredInt("window_size"), stride = n.requiredInt("stride");
  const bool isSquared = n.boolAttr("magnitude_squared", false);
  for (auto [name, value, min] :
       {std::tuple("window_size", window, 2), std::tuple("stride", stride, 1)})
    if (!n.failed() && (value < min || value > (1 << 16)))
      n.failAttribute(name, "is " + Twine(value) + ", expected a number from " + Twine(min) +
                                " to " + Twine(1 << 16));
  if (n.failed())
    return;
  TensorMath m(n);
  // Frame i begins at sample i * stride; what is shorter than a window has none.
  Value samples = m.dim(input, 0);
  Value frames = m.max(
      m.div(m.add(m.sub(samples, m.index(window)), m.index(stride)), m.index(stride)), m.index(0));
  // Without a whole window the quotient, which is rounded to zero, may be of less than none.
  frames = m.select(m.less(samples, m.index(window)), m.index(0), frames);
  Value begins = m.unsqueeze(m.mul(m.count(frames), m.index(stride)), {1});
  SmallVector<int64_t> offsets(window);
  SmallVector<double> hann(window);
  for (int64_t i = 0; i < window; ++i) {
    offsets[i] = i;
    hann[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * double(i) / double(window));
  }
  Value windows =
      m.gather(n.transpose(input, {1, 0}), m.add(begins, m.unsqueeze(n.intList(offsets), {0})), 1);
  windows = withKnownDims(n, windows, {n.shape(input)[1], ShapedType::kDynamic, window}, 0);
  Complex spectrum = transformForward(n, {m.mul(windows, constantOf(n, {window}, hann)), {}},
                                      int64_t(llvm::PowerOf2Ceil(uint64_t(window))),
                                      /*isHalf=*/true);
  if (n.failed())
    return;
  Value power = m.add(m.mul(spectrum.re, spectrum.re), m.mul(spectrum.im, spectrum.im));
  n.setOutput(isSquared ? power : n.create<graph::SqrtOp>(power));
}

double toMel(double frequency) { return 1127.0 * std::log1p(frequency / 700.0); }

/// Returns the weights [frequencies, bands] of overlapping triangles, whose corners lie evenly on
/// the scale of mel. How many Hz a frequency's number stands for depends on the rate, a value of
/// rank 0.
Value makeBands(TensorMath &m, Value frequencies, Value rate, int64_t bands, double low,
                double high) {
  NodeContext &n = m.n;
  const Type wide = n.builder().getF64Type();
  auto real = [&](double value) { return n.scalar(value, wide); };
  Value one = real(1);
  Value step = m.div(m.mul(n.cast(rate, wide), real(0.5)), m.sub(n.cast(frequencies, wide), one));
  // Only frequencies from the first above the lower limit to the last below the upper one count.
  Value first = m.floor(m.add(real(1.5), m.div(real(low), step)));
  Value last = m.floor(m.div(real(high), step));
  Value number = m.unsqueeze(n.cast(m.count(frequencies), wide), {1});
  Value mel =
      m.mul(real(1127), n.create<graph::LogOp>(m.add(one, m.div(m.mul(number, step), real(700)))));
  const double begin = toMel(low), spacing = (toMel(high) - begin) / double(bands + 1);
  SmallVector<double> centers;
  for (int64_t i = 1; i <= bands; ++i)
    centers.push_back(begin + spacing * double(i));
  Value center = n.constant(
      graph::makeConstant(RankedTensorType::get({1, bands}, wide), ArrayRef<double>(centers)));
  Value share = m.sub(one, m.div(m.abs(m.sub(mel, center)), real(spacing)));
  Value isOutside = n.create<graph::OrOp>(m.less(number, first), m.greater(number, last));
  return m.toReal(m.select(isOutside, real(0), m.max(share, real(0))));
}

/// The cosine transform of the logarithms of the energies in bands of a squared spectrum.
void importMfcc(NodeContext &n) {
  n.requireRank(0, 3, 3);
  Value spectrum = n.input(0), rate = n.input(1);
  const double high = n.floatAttr("upper_frequency_limit", 4000),
               low = n.floatAttr("lower_frequency_limit", 20);
  const int64_t bands = n.intAttr("filterbank_channel_count", 40),
                results = n.intAttr("dct_coefficient_count", 13);
  if (n.failed())
    return;
  if (!(low >= 0) || !(low < high))
    return n.failAttribute("lower_frequency_limit", "is not from 0 to below the upper limit");
  for (auto [name, value] :
       {std::pair("filterbank_channel_count", bands), std::pair("dct_coefficient_count", results)})
    if (value < 1 || value > 4096)
      return n.failAttribute(name, "is " + Twine(value) + ", expected a number from 1 to 4096");
  if (results > bands)
    return n.failAttribute("dct_coefficient_count",
                           "is " + Twine(results) + ", more than the " + Twine(bands) + " bands");
  if (n.shape(spectrum)[2] == 1)
    return n.failInput(0, "is a spectrum of one frequency, expected two or more");
  DenseElementsAttr known;
  if (matchPattern(rate, m_Constant(&known)) && known.getNumElements() == 1 &&
      known.getElementType().isInteger(32) && known.getValues<APInt>()[0].isNonPositive())
    return n.failInput(1, "is the rate " + Twine(known.getValues<APInt>()[0].getSExtValue()) +
                              ", expected more than 0 samples per second");
  TensorMath m(n);
  rate = m.reshape(rate, ArrayRef<int64_t>{});
  // Adds 0: the first of as many numbers as there are, which fails a run in which there are none.
  auto requireMoreThanNone = [&](Value number) { return m.gather(m.count(number), m.index(0), 0); };
  rate = m.add(rate, n.cast(requireMoreThanNone(m.min(m.toIndex(rate), m.index(1))),
                            n.builder().getI32Type()));
  Value frequencies = m.dim(spectrum, 2);
  Value second = m.min(m.sub(frequencies, m.index(1)), m.index(1));
  frequencies = m.add(frequencies, requireMoreThanNone(second));
  Value weights = makeBands(m, frequencies, rate, bands, low, high);
  Value energies = n.create<graph::MatMulOp>(n.create<graph::SqrtOp>(spectrum), weights);
  Value logs = n.create<graph::LogOp>(m.max(energies, m.real(1e-12)));
  SmallVector<double> cosines;
  for (int64_t band = 0; band < bands; ++band)
    for (int64_t k = 0; k < results; ++k)
      cosines.push_back(
          std::sqrt(2.0 / double(bands)) *
          std::cos(double(k) * std::numbers::pi / double(bands) * (double(band) + 0.5)));
  n.setOutput(n.create<graph::MatMulOp>(logs, constantOf(n, {bands, results}, cosines)));
}

} // namespace

ArrayRef<OpRow> audioRows() {
  static const OpRow rows[] = {
      {"AudioSpectrogram", importSpectrogram},
      {"DecodeWav", importDecodeWav, "samples of 16 bits"},
      {"Mfcc", importMfcc},
  };
  return rows;
}

} // namespace atc::tf_import
