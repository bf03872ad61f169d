//===-- GearTest.cpp - models with gears ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/GearTestModel.h"

#include <catch2/catch.hpp>

using atc::om::OmGears;
using atc::om::OmModel;
using Catch::Matchers::Contains;

namespace {
constexpr int columns = TestModel::columns;

struct Sample {
  explicit Sample(om_gear_kind kind)
      : image(readKernelImage(OPENATC_TEST_KERNELS)), source(image), merged(source.merge(kind)) {
    path = writeModel(merged, "gears-" + std::to_string(kind) + ".om");
    model = om::Model::loadFile(path, error);
    INFO(error.message());
    REQUIRE(model);
    session = om::Session(model, error);
    REQUIRE(session);
  }

  static om::Buffer input(int64_t n) {
    om::Buffer x(2 * n * columns * 4);
    for (int64_t i = 0; i < 2 * n * columns; ++i)
      x.data<float>()[i] = static_cast<float>(i % 13) - 6;
    return x;
  }
  void check(const om::Buffer &x, const float *y, int64_t n) const {
    for (int64_t i = 0; i < 2 * n * columns; ++i)
      REQUIRE(y[i] == source.expect(x.data<float>()[i], i % columns));
  }
  om::Value value(const om::Buffer &x, int64_t n) {
    return om::Value::borrow(OM_F32, {2, n, columns}, x.data(), error);
  }

  KernelImage image;
  GearTestModel source;
  OmModel merged;
  std::string path;
  om::Error error;
  om::Model model;
  om::Session session;
};

om::Buffer number(int64_t value) {
  om::Buffer buffer(8);
  *buffer.data<int64_t>() = value;
  return buffer;
}
} // namespace

TEST_CASE("equal constants and programs of gears are stored once") {
  Sample sample(OM_GEARS_BATCH);
  CHECK(sample.merged.weights.size() == 2);
  CHECK(sample.merged.arenaSize == 2 * 4 * columns * 4);
  CHECK(sample.merged.schedule[2].kernel == 1);
  CHECK(sample.merged.schedule[2].args[0].index == 1);
}

TEST_CASE("constants that only a later gear has come behind those of the first") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  GearTestModel source(image);
  OmModel first = source.gear(2), second = source.gear(4);
  std::vector<float> other(columns, 2.0f);
  second.weights[0].data = other.data();
  source.merger.add(first, {2});
  source.merger.add(second, {4});
  OmGears gears;
  gears.kind = OM_GEARS_DIMS;
  gears.axes = {{false, 0, 1, 0}};
  OmModel merged = source.merger.take(gears);
  REQUIRE(merged.weights.size() == 3);
  CHECK(merged.weights[2].offset == 384);
  CHECK(merged.schedule[2].args[1].offset == 384);
  CHECK(merged.schedule[2].args[2].offset == 192);
  CHECK(merged.schedule[0].args[1].offset == 0);
}

TEST_CASE("a model states its gears") {
  Sample sample(OM_GEARS_BATCH);
  CHECK(sample.model.info().schema_minor == 4);
  CHECK(sample.model.info().inputs == 2);
  CHECK(sample.model.input(0).dims == std::vector<int64_t>{2, -1, columns});
  CHECK(sample.model.input(0).bytes == 0);
  CHECK(sample.model.input(1).name == OM_GEAR_INPUT_NAME);
  CHECK(sample.model.input(1).dims == std::vector<int64_t>{1});
  CHECK(sample.model.input(1).dtype == OM_I64);
  CHECK(sample.model.output(0).dims == std::vector<int64_t>{2, -1, columns});

  const om::Gears gears = sample.model.gears();
  CHECK(gears.kind == OM_GEARS_BATCH);
  CHECK(gears.shapeInput == 1);
  REQUIRE(gears.all.size() == 2);
  CHECK(gears.all[0].values == std::vector<int64_t>{2});
  CHECK(gears.all[1].firstLaunch == 2);
  CHECK(gears.all[1].launches == 2);
  CHECK(gears.all[0].arenaBytes == 2 * 2 * columns * 4);
  REQUIRE(gears.axes.size() == 1);
  CHECK(gears.axes[0].dim == 1);
  CHECK(gears.axes[0].min == 2);
  CHECK(gears.axes[0].max == 4);
  CHECK(sample.model.gearInput(1, 0).dims == std::vector<int64_t>{2, 4, columns});
  CHECK(sample.model.gearOutput(0, 0).bytes == 2 * 2 * columns * 4);
  CHECK(sample.model.gearInput(0, 1).bytes == 8);
  om_tensor_info info = OM_TENSOR_INFO_INIT;
  CHECK(om_model_get_gear_input(sample.model.get(), 2, 0, &info) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_gear_input(sample.model.get(), 0, 2, &info) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_gear_output(sample.model.get(), 0, 1, &info) == OM_ERROR_ARGUMENT);
  om_gear_axis axis = OM_GEAR_AXIS_INIT;
  CHECK(om_model_get_gear_axis(sample.model.get(), 1, &axis) == OM_ERROR_ARGUMENT);
}

TEST_CASE("a model without gears says so") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  TestModel test(image);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "no-gears.om"), error);
  REQUIRE(model);
  CHECK(model.gears().kind == OM_GEARS_NONE);
  om_gear_info info = OM_GEAR_INFO_INIT;
  CHECK(om_model_get_gear(model.get(), 0, &info) == OM_ERROR_ARGUMENT);
  om::Session session(model, error);
  REQUIRE(session);
  CHECK(session.gear() == OM_NO_GEAR);
  CHECK_FALSE(session.setGear({1}, error));
  CHECK_THAT(error.message(), Contains("has no gears"));
}

TEST_CASE("the shape input chooses the gear of a run on plain memory") {
  Sample sample(OM_GEARS_BATCH);
  CHECK(sample.session.gear() == OM_NO_GEAR);
  for (int64_t n : {4, 2, 4}) {
    const om::Buffer x = Sample::input(n), shape = number(n);
    om::Buffer y(2 * n * columns * 4);
    const void *inputs[] = {x.data(), shape.data()};
    void *outputs[] = {y.data()};
    REQUIRE(sample.session.run(inputs, outputs, sample.error));
    sample.check(x, y.data<float>(), n);
    CHECK(sample.session.gear() == (n == 4 ? 1 : 0));
  }
  const om::Buffer x = Sample::input(4), shape = number(3);
  const void *inputs[] = {x.data(), shape.data()};
  void *outputs[] = {nullptr};
  CHECK_FALSE(sample.session.run(inputs, outputs, sample.error));
  CHECK(sample.error.code() == OM_ERROR_ARGUMENT);
  CHECK_THAT(sample.error.message(),
             Contains("has the values 3, which are no gear; the gears are 2; 4."));
  inputs[1] = nullptr;
  CHECK_FALSE(sample.session.run(inputs, outputs, sample.error));
  CHECK_THAT(sample.error.message(), Contains("nothing chooses the gear"));
  inputs[1] = shape.data<char>() + 1;
  CHECK_FALSE(sample.session.run(inputs, outputs, sample.error));
  CHECK_THAT(sample.error.message(), Contains("not 64-byte aligned"));
}

TEST_CASE("a gear that is set holds until it is set again") {
  Sample sample(OM_GEARS_BATCH);
  CHECK_FALSE(sample.session.setGear({3}, sample.error));
  CHECK_THAT(sample.error.message(), Contains("the gears are 2; 4"));
  CHECK_FALSE(sample.session.setGear({2, 2}, sample.error));
  CHECK_THAT(sample.error.message(), Contains("has 1 values, not 2"));
  REQUIRE(sample.session.setGear({4}, sample.error));
  CHECK(sample.session.gear() == 1);
  CHECK_FALSE(sample.session.setGear({5}, sample.error));
  CHECK(sample.session.gear() == 1);
  const om::Buffer x = Sample::input(4), two = number(2);
  om::Buffer y(2 * 4 * columns * 4);
  const void *inputs[] = {x.data(), two.data()};
  void *outputs[] = {y.data()};
  REQUIRE(sample.session.run(inputs, outputs, sample.error));
  sample.check(x, y.data<float>(), 4);
  REQUIRE(sample.session.setGear({}, sample.error));
  REQUIRE(sample.session.run(inputs, outputs, sample.error));
  CHECK(sample.session.gear() == 0);
}

TEST_CASE("the shapes of values choose the gear") {
  Sample sample(OM_GEARS_BATCH);
  for (int64_t n : {2, 4}) {
    const om::Buffer x = Sample::input(n);
    const std::vector<om::Value> out =
        sample.session.run({sample.value(x, n), om::Value()}, sample.error);
    INFO(sample.error.message());
    REQUIRE(out.size() == 1);
    CHECK(out[0].dims() == std::vector<int64_t>{2, n, columns});
    sample.check(x, out[0].data<float>(), n);
  }
  const om::Buffer x = Sample::input(4);
  CHECK(sample.session.run({sample.value(x, 3), om::Value()}, sample.error).empty());
  CHECK_THAT(sample.error.message(), Contains("the inputs have the values 3, which are no gear"));
  const om::Value two = om::Value::tensor(OM_I64, {1}, number(2).data(), sample.error);
  CHECK(sample.session.run({sample.value(x, 4), two}, sample.error).empty());
  CHECK_THAT(sample.error.message(), Contains("must be a tensor of f32 with dims [2, 2, 48]"));
  REQUIRE(sample.session.setGear({4}, sample.error));
  CHECK(sample.session.run({sample.value(x, 4), two}, sample.error).size() == 1);
  CHECK(sample.session.run({om::Value(), om::Value()}, sample.error).empty());
  CHECK_THAT(sample.error.message(), Contains("input 0 ('x')"));
}

TEST_CASE("a range pads inputs and crops outputs") {
  Sample sample(OM_GEARS_RANGE);
  CHECK(sample.model.info().inputs == 1);
  CHECK(sample.model.gears().shapeInput == OM_NO_INPUT);
  CHECK(sample.model.gears().axes[1].output == 1);
  CHECK(sample.model.gears().axes[1].min == 1);
  for (int64_t n : {3, 1, 2, 4, 3}) {
    const om::Buffer x = Sample::input(n);
    const std::vector<om::Value> out = sample.session.run({sample.value(x, n)}, sample.error);
    INFO(sample.error.message());
    REQUIRE(out.size() == 1);
    CHECK(out[0].dims() == std::vector<int64_t>{2, n, columns});
    sample.check(x, out[0].data<float>(), n);
    CHECK(sample.session.gear() == (n > 2 ? 1 : 0));

    om::Buffer y(2 * n * columns * 4 + 64);
    y.data<char>()[2 * n * columns * 4] = 77;
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    REQUIRE(sample.session.setGear({n}, sample.error));
    REQUIRE(sample.session.run(inputs, outputs, sample.error));
    sample.check(x, y.data<float>(), n);
    CHECK(y.data<char>()[2 * n * columns * 4] == 77);
    REQUIRE(sample.session.setGear({}, sample.error));
    CHECK_FALSE(sample.session.run(inputs, outputs, sample.error));
    CHECK_THAT(sample.error.message(), Contains("call om_session_set_gear"));
  }
  CHECK_FALSE(sample.session.setGear({5}, sample.error));
  CHECK_THAT(sample.error.message(), Contains("outside the bounds of the model; it takes 1 to 4."));
  CHECK_FALSE(sample.session.setGear({0}, sample.error));
}

TEST_CASE("what a padded session holds counts against its ceiling") {
  Sample sample(OM_GEARS_RANGE);
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = 1;
  const uint64_t largest = 2 * 4 * columns * 4;
  options.max_memory = sample.model.info().arena_bytes + 4096 + 2 * largest - 1;
  om::Error error;
  CHECK_FALSE(om::Session(sample.model, error, options));
  CHECK(error.code() == OM_ERROR_LIMIT);
  options.max_memory += 1;
  CHECK(om::Session(sample.model, error, options));
}

TEST_CASE("a gear may be a host program") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  GearTestModel source(image);
  for (int64_t n : {2, 4}) {
    OmModel gear = source.gear(n);
    gear.host.emplace();
    gear.host->slots = 2;
    gear.host->inputs = {{"x", OM_KIND_TENSOR, OM_F32, {2, n, columns}, false, false, 0}};
    gear.host->outputs = {{"y", OM_KIND_TENSOR, OM_F32, {2, n, columns}, false, false, 1}};
    gear.host->parts = {{0, 2, 0, 1, 0, 1}};
    atc::om::OmHostStep whole;
    whole.kind = atc::om::OmHostStep::Kind::Run;
    whole.inputs = {0};
    whole.outputs = {1};
    gear.host->blocks = {{whole}};
    source.merger.add(gear, {n});
  }
  OmGears gears;
  gears.kind = OM_GEARS_DIMS;
  gears.axes = {{false, 0, 1, 0}};
  om::Error error;
  om::Model model =
      om::Model::loadFile(writeModel(source.merger.take(gears), "host-gears.om"), error);
  INFO(error.message());
  REQUIRE(model);
  CHECK(model.output(0).dims == std::vector<int64_t>{2, -1, columns});
  CHECK(model.gearOutput(1, 0).bytes == 2 * 4 * columns * 4);
  om::Session session(model, error);
  REQUIRE(session);
  for (int64_t n : {4, 2, 4}) {
    const om::Buffer x = Sample::input(n), shape = number(n);
    om::Buffer y(2 * n * columns * 4);
    const void *inputs[] = {x.data(), shape.data()};
    void *outputs[] = {y.data()};
    REQUIRE(session.run(inputs, outputs, error));
    const om::Value value = om::Value::borrow(OM_F32, {2, n, columns}, x.data(), error);
    const std::vector<om::Value> made = session.run({value, om::Value()}, error);
    REQUIRE(made.size() == 1);
    CHECK(made[0].dims() == std::vector<int64_t>{2, n, columns});
    for (int64_t i = 0; i < 2 * n * columns; ++i) {
      REQUIRE(y.data<float>()[i] == source.expect(x.data<float>()[i], i % columns));
      REQUIRE(made[0].data<float>()[i] == y.data<float>()[i]);
    }
  }
}

/// Returns a model whose gears have values that are no dims of the input x[2, n, 48].
static OmModel withoutAxes(GearTestModel &source, std::vector<int64_t> sizes) {
  for (size_t gear = 0; gear < sizes.size(); ++gear)
    source.merger.add(source.gear(sizes[gear]), {int64_t(10 + gear)});
  OmGears gears;
  gears.kind = OM_GEARS_BATCH;
  OmModel model = source.merger.take(std::move(gears));
  model.name = "gears";
  model.producer = "OpenATC test";
  return model;
}

TEST_CASE("dims that are no value of a gear choose it where no other gear has them") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  const bool areDifferent = GENERATE(true, false);
  GearTestModel source(image);
  OmModel written = withoutAxes(source, {2, areDifferent ? 4 : 2});
  CHECK(written.gears->inputs[0].dims == std::vector<int64_t>{2, areDifferent ? -1 : 2, columns});
  const std::string path = writeModel(written, "gears-axes.om");
  om::Error error;
  om::Model model = om::Model::loadFile(path, error);
  REQUIRE(model);
  // Runtimes before 1.7 ask for an axis.
  CHECK(model.info().schema_minor == 7);
  om::Session session(model, error);
  const om::Buffer x = Sample::input(4);
  auto run = [&](int64_t n) {
    return session.run({om::Value::borrow(OM_F32, {2, n, columns}, x.data(), error), om::Value()},
                       error);
  };
  if (areDifferent) {
    CHECK(run(4).size() == 1);
    CHECK(session.gear() == 1);
    CHECK(run(2).size() == 1);
    CHECK(session.gear() == 0);
    CHECK(run(3).empty());
  } else {
    CHECK(run(2).empty());
  }
  CHECK_THAT(error.message(), Contains("nothing chooses the gear") && Contains("10; 11"));
  REQUIRE(session.setGear({11}, error));
  CHECK(run(areDifferent ? 4 : 2).size() == 1);
}

TEST_CASE("tables of gears that would lie are refused") {
  const KernelImage image = readKernelImage(OPENATC_TEST_KERNELS);
  GearTestModel source(image);
  GearTestModel padded(image);
  const OmModel batch = source.merge(OM_GEARS_BATCH), range = padded.merge(OM_GEARS_RANGE);
  auto refuses = [](OmModel model, const char *reason, auto change) {
    change(*model.gears, model);
    std::string error;
    CHECK_FALSE(atc::om::writeOm(model, scratchPath("refused.om"), error));
    CHECK_THAT(error, Contains(reason));
  };
  using Model = OmModel &;
  using Gears = OmGears &;
  refuses(batch, "of a kind", [](Gears gears, Model) { gears.kind = om_gear_kind(9); });
  refuses(batch, "none or too many", [](Gears gears, Model) { gears.gears.clear(); });
  refuses(batch, "too many axes", [](Gears gears, Model) { gears.axes.resize(300); });
  refuses(batch, "no values", [](Gears gears, Model) { gears.gears[0].values.clear(); });
  refuses(batch, "as its kind says", [](Gears gears, Model) { gears.kind = OM_GEARS_IMAGE; });
  refuses(batch, "as many values as the first",
          [](Gears gears, Model) { gears.gears[1].values.push_back(1); });
  refuses(batch, "below 1", [](Gears gears, Model) { gears.gears[1].values[0] = 0; });
  refuses(batch, "not the one that chooses",
          [](Gears gears, Model) { gears.inputs.back().dtype = OM_F32; });
  refuses(batch, "not the one that chooses",
          [](Gears gears, Model) { gears.inputs.back().dims = {2}; });
  refuses(batch, "impossible", [](Gears gears, Model) { gears.inputs[0].unranked = true; });
  refuses(batch, "impossible", [](Gears gears, Model) { gears.inputs[0].dims[0] = -2; });
  refuses(batch, "inputs and outputs of the model",
          [](Gears gears, Model) { gears.gears[0].part.inputs = 2; });
  refuses(batch, "where the one before it ends",
          [](Gears gears, Model) { gears.gears[1].part.firstLaunch = 1; });
  refuses(batch, "not the whole schedule",
          [](Gears gears, Model) { gears.gears[1].part.launches = 1; });
  refuses(batch, "reaches into an input or output of another",
          [](Gears, Model model) { model.schedule[0].args[0].index = 1; });
  refuses(batch, "more of the arena",
          [](Gears gears, Model) { gears.gears[1].arenaSize = 1 << 20; });
  refuses(batch, "outside its gear's piece",
          [](Gears gears, Model) { gears.gears[0].arenaSize = 64; });
  refuses(batch, "is not what the model says",
          [](Gears gears, Model) { gears.outputs[0].dims[2] = 47; });
  refuses(batch, "only padding", [](Gears gears, Model) { gears.axes[0].output = true; });
  refuses(batch, "does not exist", [](Gears gears, Model) { gears.axes[0].index = 1; });
  refuses(batch, "does not exist", [](Gears gears, Model) { gears.axes[0].value = 1; });
  refuses(batch, "no dim that depends", [](Gears gears, Model) { gears.axes[0].dim = 2; });
  refuses(batch, "no dim that depends", [](Gears gears, Model) { gears.axes[0].dim = 3; });
  refuses(batch, "twice", [](Gears gears, Model) { gears.axes.push_back(gears.axes[0]); });
  refuses(batch, "is not its value", [](Gears gears, Model) { gears.gears[1].values[0] = 5; });
  refuses(range, "none of its values", [](Gears gears, Model) { gears.inputs[0].dims[0] = -1; });
  refuses(range, "none of its values", [](Gears gears, Model) { gears.axes.clear(); });
  refuses(batch, "a smallest value", [](Gears gears, Model model) {
    gears.kind = OM_GEARS_RANGE;
    gears.min = {1, 1};
    gears.inputs.pop_back();
  });
  refuses(range, "no dim of any input", [](Gears gears, Model) {
    for (auto &gear : gears.gears)
      gear.values.push_back(1);
    gears.min.push_back(1);
  });
  refuses(range, "none of its values", [](Gears gears, Model) { gears.axes.pop_back(); });
  refuses(range, "below 1 or above", [](Gears gears, Model) { gears.min = {5}; });
  refuses(range, "below 1 or above", [](Gears gears, Model) { gears.min = {0}; });
  refuses(batch, "host program too", [](Gears, Model model) {
    model.host.emplace();
    model.host->blocks.emplace_back();
  });
  refuses(batch, "inputs and outputs of the model", [](Gears gears, Model) {
    gears.gears[0].host.emplace();
    gears.gears[0].host->blocks.emplace_back();
  });
  auto asHost = [](Gears gears) -> atc::om::OmHostProgram & {
    auto &host = gears.gears[0].host.emplace();
    host.slots = 2;
    host.blocks.emplace_back();
    host.inputs = {{"x", OM_KIND_TENSOR, OM_F32, {2, 2, columns}, false, false, 0}};
    host.outputs = {{"y", OM_KIND_TENSOR, OM_F32, {2, 2, columns}, false, false, 1}};
    host.parts = {gears.gears[0].part};
    return host;
  };
  refuses(batch, "dims are not known",
          [&](Gears gears, Model) { asHost(gears).inputs[0].dims[0] = -1; });
  refuses(batch, "impossible",
          [&](Gears gears, Model) { asHost(gears).outputs[0].unranked = true; });
  refuses(batch, "not what the model says",
          [&](Gears gears, Model) { asHost(gears).outputs[0].dtype = OM_I32; });
  refuses(batch, "is not its value",
          [&](Gears gears, Model) { asHost(gears).inputs[0].dims[1] = 3; });
  refuses(batch, "outside the schedule",
          [&](Gears gears, Model) { asHost(gears).parts[0].launches = 3; });
  refuses(batch, "main block", [&](Gears gears, Model) { asHost(gears).main = 1; });
  refuses(range, "padded has a host program", [&](Gears gears, Model) { asHost(gears); });
  GearTestModel reversed(image);
  for (int64_t n : {4, 2})
    reversed.merger.add(reversed.gear(n), {n});
  OmGears request;
  request.kind = OM_GEARS_RANGE;
  request.axes = {{false, 0, 1, 0}, {true, 0, 1, 0}};
  request.min = {1};
  refuses(reversed.merger.take(request), "largest values", [](Gears, Model) {});
}
