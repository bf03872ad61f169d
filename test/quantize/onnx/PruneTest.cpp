//===-- PruneTest.cpp - channels and weights that go ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/Prune.h"

#include "driver/Compiler.h"
#include "quantize/onnx/ChannelGraph.h"
#include "quantize/onnx/OnnxHost.h"
#include "quantize/onnx/OnnxMoments.h"
#include "test/quantize/SmallModel.h"
#include "test/quantize/weights/RandomRows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace atc;
using namespace atc::quantize;

namespace {

/// Supplies inputs of a seed.
class RandomInputs : public DataSource {
public:
  void begin(const std::vector<::om::Tensor> &, Diagnostics &) override {}
  bool next(const std::vector<::om::Buffer> &inputs, Diagnostics &) override {
    if (done == 6)
      return false;
    const std::vector<float> numbers = randomNumbers(inputs[0].size() / sizeof(float), 50 + done++);
    std::memcpy(inputs[0].data(), numbers.data(), inputs[0].size());
    return true;
  }

private:
  unsigned done = 0;
};

/// Returns the output for an input that no sample is.
std::vector<float> run(OnnxModel &model) {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  auto host = compileOnnx(model.proto, "small", {}, *context, diagnostics);
  for (const CodedMessage &message : diagnostics.all())
    UNSCOPED_INFO(message.text);
  REQUIRE(host);
  const std::vector<::om::Buffer> inputs = host->makeInputs();
  const std::vector<float> numbers = randomNumbers(inputs[0].size() / sizeof(float), 99);
  std::memcpy(inputs[0].data(), numbers.data(), inputs[0].size());
  REQUIRE(host->run(inputs, diagnostics));
  return host->floats(0).vec();
}

double distance(const std::vector<float> &a, const std::vector<float> &b) {
  double difference = 0, all = 0;
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double(a[i]) - b[i], 2);
    all += std::pow(double(a[i]), 2);
  }
  return std::sqrt(difference / all);
}

/// Returns weights [outputs, inputs, kernel, kernel] whose rows in `zeros` are zero.
std::vector<float> weightsOf(int64_t outputs, int64_t row, unsigned seed,
                             const std::set<int64_t> &zeros = {}) {
  std::vector<float> values = randomNumbers(outputs * row, seed);
  for (int64_t zero : zeros)
    std::fill_n(values.begin() + zero * row, row, 0.0f);
  return values;
}

/// Returns a network with two summands, a depthwise convolution, two parts that are joined and a
/// product. Channels 1 and 4 of the summands and channel 2 of `side` are always zero.
std::unique_ptr<OnnxModel> makeModel() {
  SmallModel model;
  model.input("x", {1, 3, 8, 8}).output("y", {1, 5});
  model.constant("wa", {6, 3, 3, 3}, weightsOf(6, 27, 1, {1, 4}));
  model.constant("wb", {6, 6, 1, 1}, weightsOf(6, 6, 2, {1, 4}));
  model.constant("wd", {6, 1, 3, 3}, weightsOf(6, 9, 3));
  model.constant("slope", {6, 1, 1}, weightsOf(6, 1, 4));
  model.constant("ws", {4, 6, 1, 1}, weightsOf(4, 6, 5, {2}));
  model.constant("wy", {5, 160}, weightsOf(5, 160, 6));
  model.constant("by", {5}, weightsOf(5, 1, 7));
  auto &a = model.node("Conv", {"x", "wa"}, "a");
  auto *pads = a.add_attribute();
  pads->set_name("pads");
  pads->set_type(onnx::AttributeProto::INTS);
  for (int i = 0; i < 4; ++i)
    pads->add_ints(1);
  model.node("PRelu", {"a", "slope"}, "p");
  model.node("Conv", {"p", "wb"}, "b");
  model.node("Add", {"b", "p"}, "sum");
  auto &depthwise = model.node("Conv", {"sum", "wd"}, "d");
  setAttribute(depthwise, "group", int64_t(6));
  auto *dpads = depthwise.add_attribute();
  *dpads = *pads;
  model.node("Conv", {"d", "ws"}, "side");
  setAttribute(model.node("Concat", {"side", "d"}, "joined"), "axis", int64_t(1));
  auto &pool = model.node("MaxPool", {"joined"}, "pool");
  for (const char *name : {"kernel_shape", "strides"}) {
    auto *two = pool.add_attribute();
    two->set_name(name);
    two->set_type(onnx::AttributeProto::INTS);
    two->add_ints(2);
    two->add_ints(2);
  }
  model.node("Flatten", {"pool"}, "flat");
  setAttribute(model.node("Gemm", {"flat", "wy", "by"}, "y"), "transB", int64_t(1));
  return model.finish();
}

std::vector<int64_t> dimsOf(OnnxModel &model, const std::string &output, int input) {
  const auto &tensor = *model.findConstant(model.findProducer(output)->input(input));
  return {tensor.dims().begin(), tensor.dims().end()};
}

PruneConfig ratio(double value) {
  PruneConfig config;
  config.common = {PruneKind::Channels, value, /*ascendOptimized=*/false};
  return config;
}

MomentsByOutput observe(OnnxModel &model) {
  auto context = driver::makeCompilerContext();
  Diagnostics diagnostics;
  RandomInputs data;
  auto moments = collectOnnxMoments(model, {"small", {}, 0, {}}, data, *context, diagnostics);
  REQUIRE(moments);
  return *moments;
}

} // namespace

TEST_CASE("channels that are zero go without a trace", "[prune]") {
  auto model = makeModel();
  const std::vector<float> before = run(*model);
  Diagnostics diagnostics;
  // A third of the six, and a quarter of the four.
  const Pruning result = pruneChannels(*model, ratio(0.34), {}, diagnostics);
  REQUIRE(!diagnostics.hasErrors());
  REQUIRE(result.layers.size() == 3);
  CHECK(result.layers[0].node == "node_a");
  CHECK(result.layers[0].after == 4);
  CHECK(result.layers[1].after == 4); // with the other summand
  CHECK(result.layers[2].after == 3);
  CHECK(dimsOf(*model, "a", 1) == std::vector<int64_t>{4, 3, 3, 3});
  CHECK(dimsOf(*model, "p", 1) == std::vector<int64_t>{4, 1, 1});
  CHECK(dimsOf(*model, "b", 1) == std::vector<int64_t>{4, 4, 1, 1});
  CHECK(dimsOf(*model, "d", 1) == std::vector<int64_t>{4, 1, 3, 3});
  CHECK(intAttribute(*model->findProducer("d"), "group", 0) == 4);
  CHECK(dimsOf(*model, "side", 1) == std::vector<int64_t>{3, 4, 1, 1});
  CHECK(dimsOf(*model, "y", 1) == std::vector<int64_t>{5, 112}); // the outputs stay
  CHECK(distance(before, run(*model)) < 1e-5);
  CHECK(result.after < result.before);
}

TEST_CASE("readers absorb what they lose", "[prune]") {
  auto plain = makeModel(), absorbed = makeModel();
  const std::vector<float> before = run(*plain);
  Diagnostics diagnostics;
  const MomentsByOutput moments = observe(*absorbed);
  CHECK(moments.size() == 5);
  pruneChannels(*plain, ratio(0.6), {}, diagnostics);
  pruneChannels(*absorbed, ratio(0.6), moments, diagnostics);
  CHECK(dimsOf(*absorbed, "a", 1) == std::vector<int64_t>{3, 3, 3, 3});
  CHECK(distance(before, run(*absorbed)) < 0.8 * distance(before, run(*plain)));
}

TEST_CASE("layers that settings skip, and multiples of 16", "[prune]") {
  Diagnostics diagnostics;
  PruneConfig config = ratio(0.5);
  config.skipLayers = {"node_b"};
  auto model = makeModel();
  const Pruning result = pruneChannels(*model, config, {}, diagnostics);
  REQUIRE(result.layers.size() == 1); // its summand has the same channels
  CHECK(result.layers[0].node == "node_side");
  config = ratio(0.5);
  config.common.ascendOptimized = true;
  model = makeModel();
  CHECK(pruneChannels(*model, config, {}, diagnostics).layers.empty());
  config.skipLayers = {"none"};
  pruneChannels(*model, config, {}, diagnostics);
  CHECK(diagnostics.all().back().code == "E10016");
}

TEST_CASE("channels whose reader needs all of them stay", "[prune]") {
  SmallModel small;
  small.input("x", {1, 3, 4, 4}).output("y", {1, 4, 4, 4}).output("z", {1, 4, 4, 4});
  for (const char *name : {"wa", "wb", "wc"})
    small.constant(name, {4, *(name + 1) == 'a' ? 3 : 4, 1, 1},
                   weightsOf(4, *(name + 1) == 'a' ? 3 : 4, 1));
  small.node("Conv", {"x", "wa"}, "a");
  setAttribute(small.node("Softmax", {"a"}, "s"), "axis", int64_t(1));
  small.node("Conv", {"s", "wb"}, "b");
  small.node("Conv", {"b", "wc"}, "y");
  small.node("Conv", {"b", "wc"}, "z"); // weights of two layers
  auto model = small.finish();
  const ChannelGraph graph(*model);
  for (const ChannelLayer &layer : graph.layers())
    for (int label : layer.outputs)
      CHECK(graph.isLocked(label));
}

TEST_CASE("two of four weights along the channels", "[prune]") {
  auto model = makeModel();
  PruneConfig config;
  config.common.kind = PruneKind::TwoOfFour;
  Diagnostics diagnostics;
  const MomentsByOutput moments = observe(*model);
  const Pruning result = pruneWeights(*model, config, moments, diagnostics);
  // `a` has 3 channels of inputs, the depthwise convolution 1.
  REQUIRE(result.layers.size() == 3);
  CHECK(result.layers[2].node == "node_y");
  CHECK(result.layers[2].after == 5 * 80);
  const std::vector<float> values =
      *readFloats(*model->findConstant(model->findProducer("side")->input(1)));
  for (int row = 0; row < 4; ++row) {
    CHECK(std::count(values.begin() + row * 6, values.begin() + row * 6 + 4, 0.0f) >= 2);
    CHECK((row == 2 || values[row * 6 + 5] != 0)); // behind the last four
  }
}

static std::string messagesOf(const std::string &text) {
  PruneConfig config;
  Diagnostics diagnostics;
  parsePruneConfig(text, "prune.cfg", config, diagnostics);
  std::string all;
  for (const CodedMessage &message : diagnostics.all())
    all += message.text + "\n";
  return all;
}

TEST_CASE("settings of pruning", "[prune]") {
  PruneConfig config;
  Diagnostics diagnostics;
  REQUIRE(parsePruneConfig(R"(
    prune_config { filter_pruner { balanced_l2_norm_filter_prune { prune_ratio: 0.3 } } }
    regular_prune_skip_layers: "a"
    skip_layer_types: "Gemm"
    override_layer_configs { layer_name: "b" prune_config { filter_pruner {
      balanced_l2_norm_filter_prune { prune_ratio: 0.5 ascend_optimized: false } } } })",
                           "prune.cfg", config, diagnostics));
  CHECK(config.of("x", "Conv").ratio == 0.3);
  CHECK(config.of("x", "Conv").ascendOptimized);
  CHECK(config.of("a", "Conv").kind == PruneKind::Nothing);
  CHECK(config.of("x", "Gemm").kind == PruneKind::Nothing);
  CHECK(config.of("b", "Conv").ratio == 0.5);
  CHECK(!config.of("b", "Conv").ascendOptimized);
  const std::string sparse = "n_out_of_m_pruner { l1_selective_prune { n_out_of_m_type: M4N2 } }";
  CHECK(messagesOf("prune_config { " + sparse + " }").empty());
  const std::string channels =
      "filter_pruner { balanced_l2_norm_filter_prune { prune_ratio: 0.3 } }";
  for (const auto &[text, message] : std::initializer_list<std::pair<std::string, const char *>>{
           {"prune_config { " + sparse + " " + channels + " }", "one of filter_pruner and"},
           {"prune_config { " + channels +
                " } override_layer_types { layer_type: \"Conv\" prune_config { " + sparse + " } }",
            "at once"},
           {"prune_config { filter_pruner { balanced_l2_norm_filter_prune { } } }", "prune_ratio"},
           {"prune_config { filter_pruner { other { } } }", "\"prune_config.filter_pruner.other\""},
           {"prune_config { n_out_of_m_pruner { l1_selective_prune { update_freq: 3 } } }",
            "update_freq\" must be 0"},
           {"retrain_data_quant_config { }", "\"retrain_data_quant_config\" is not supported"},
           {"skip_layers: \"a\"", "nothing would be pruned"},
           {"compress_ratio: 0.5", "from 1 to 1000"},
           {"compress_ratio: 2 prune_ratio: 1", "\"prune_ratio\" is not known"},
           {"unknown: 1", "\"unknown\" is not known"}}) {
    INFO(text);
    CHECK_THAT(messagesOf(text), Catch::Matchers::Contains(message));
  }
}

TEST_CASE("the search reduces the operations by a factor", "[prune]") {
  PruneConfig config;
  Diagnostics diagnostics;
  REQUIRE(parsePruneConfig("compress_ratio: 1.4 ascend_optimized: false max_prune_ratio: 0.5",
                           "auto.cfg", config, diagnostics));
  CHECK(config.compressRatio == 1.4);
  auto searched = makeModel(), uniform = makeModel();
  const std::vector<float> before = run(*searched);
  const MomentsByOutput moments = observe(*searched);
  auto macsOf = [](const MomentsByOutput &of, OnnxModel &model) {
    double macs = 0;
    for (const auto &[output, each] : of)
      if (output != "d")
        macs += static_cast<double>(each->vectorsPerSample) *
                static_cast<double>(
                    countElements(*model.findConstant(model.findProducer(output)->input(1))));
    return macs;
  };
  const double all = macsOf(moments, *searched);
  const Pruning result = pruneChannels(*searched, config, moments, diagnostics);
  REQUIRE(!diagnostics.hasErrors());
  const double left = macsOf(moments, *searched);
  CHECK(left <= all / 1.4);
  CHECK(left > all / 2.2);
  for (const PrunedLayer &layer : result.layers)
    CHECK(2 * layer.after >= layer.before);
  CHECK(distance(before, run(*searched)) < 0.5);
  // More than all layers can lose.
  REQUIRE(parsePruneConfig("compress_ratio: 30", "auto.cfg", config, diagnostics));
  pruneChannels(*uniform, config, moments, diagnostics);
  REQUIRE(diagnostics.hasErrors());
  CHECK(diagnostics.all().back().code == "E10014");
}

TEST_CASE("damaged nodes are left alone", "[prune]") {
  for (int damage = 0; damage < 6; ++damage) {
    auto model = makeModel();
    onnx::NodeProto &a = *model->findProducer("a"), &y = *model->findProducer("y");
    if (damage == 0)
      a.clear_output();
    else if (damage == 1)
      setAttribute(a, "group", int64_t(0));
    else if (damage == 2)
      a.mutable_input()->DeleteSubrange(1, 1);
    else if (damage == 3)
      model->findConstant("wa")->set_dims(0, 0);
    else if (damage == 4)
      y.mutable_input()->DeleteSubrange(0, 2);
    else
      model->findConstant("wd")->set_data_type(onnx::TensorProto::FLOAT16);
    model->index();
    INFO(damage);
    Diagnostics diagnostics;
    OnnxModel other(*model);
    pruneChannels(other, ratio(0.5), {}, diagnostics);
    PruneConfig sparse;
    sparse.common.kind = PruneKind::TwoOfFour;
    pruneWeights(*model, sparse, {}, diagnostics);
    CHECK(!diagnostics.hasErrors());
  }
}
