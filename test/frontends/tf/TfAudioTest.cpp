//===-- TfAudioTest.cpp - recordings become features ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/frontends/tf/GraphOfConstants.h"

using namespace mlir;
using namespace atc::tf_test;

// All expected values are TensorFlow's.

static void checkNear(const Numbers &values, const Numbers &expected) {
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == Approx(expected[i]).epsilon(2e-5).margin(1e-5));
}

TEST_CASE("Spectra of overlapping windows") {
  auto spectrum = [](Graph &graph, const std::string &attributes) -> Graph & {
    return graph.floats("x", {13, 1}, {1, -2, 3, 0.5, -1, 2, 0, 4, -3, 1, 2, -1, 0.25})
        .node("AudioSpectrogram", "x", attributes);
  };
  Graph squared, plain, none, wrong;
  checkNear(
      spectrum(squared, "window_size i: 6; stride i: 3; magnitude_squared b: true").evaluate(),
      {4, 3.693019, 9.25, 10.05698, 1, 12.25, 10.43934, 3.25, 12.56066, 30.25, 1, 2.185214, 14.125,
       17.56479, 6.25});
  CHECK(squared.shape == std::vector<int64_t>{1, 3, 5});
  checkNear(spectrum(plain, "window_size i: 6; stride i: 3").evaluate(),
            {2, 1.921723, 3.041381, 3.171274, 1, 3.5, 3.230997, 1.802776, 3.544102, 5.5, 1,
             1.478247, 3.758324, 4.191037, 2.5});
  CHECK(spectrum(none, "window_size i: 16; stride i: 9").evaluate().empty());
  CHECK(none.shape == std::vector<int64_t>{1, 0, 9});
  CHECK(spectrum(wrong, "window_size i: 1; stride i: 3").errorText().find("window_size") !=
        std::string::npos);
}

TEST_CASE("Cepstra of squared spectra") {
  auto cepstrum = [](Graph &graph, double rate, const std::string &attributes) -> Graph & {
    return graph.floats("x", {1, 1, 9}, {4, 1, 9, 2, 0.25, 16, 3, 1, 7})
        .ints("rate", {}, {rate})
        .node("Mfcc", "x rate", attributes);
  };
  Graph wide, narrow, wrong;
  checkNear(cepstrum(wide, 16000,
                     "upper_frequency_limit f: 6000; lower_frequency_limit f: 300; "
                     "filterbank_channel_count i: 4; dct_coefficient_count i: 3")
                .evaluate(),
            {1.367558, -1.138188, -0.4444304});
  CHECK(wide.shape == std::vector<int64_t>{1, 1, 3});
  checkNear(cepstrum(narrow, 8000, "filterbank_channel_count i: 3; dct_coefficient_count i: 3")
                .evaluate(),
            {2.68761, -0.9402018, -0.2079127});
  Graph still, single;
  CHECK(cepstrum(still, 0, "").errorText().find("expected more than 0 samples per second") !=
        std::string::npos);
  CHECK(single.floats("x", {1, 1, 1}, {4})
            .ints("rate", {}, {8000})
            .node("Mfcc", "x rate")
            .errorText()
            .find("one frequency") != std::string::npos);
  CHECK(cepstrum(wrong, 8000, "upper_frequency_limit f: 10; lower_frequency_limit f: 20")
            .errorText()
            .find("lower_frequency_limit") != std::string::npos);
}
