//===-- HostTilesTest.cpp - static parts in a loop over a dynamic dim -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/HostTestRun.h"

#include <numeric>

namespace {

constexpr int64_t columns = TestModel::columns;

/// Returns the static model y = x * scale + bias and sums of y's rows, for x[blocks][size][48].
/// y has x's dims; the sums have [blocks][size].
atc::om::OmModel rowsModel(const TestModel &from, int64_t blocks, int64_t size) {
  using namespace atc::om;
  OmModel model = from.model;
  const uint64_t rows = static_cast<uint64_t>(blocks * size), bytes = rows * columns * 4;
  const OmBufferRef x{OM_INPUT, 0, 0, bytes}, y{OM_OUTPUT, 0, 0, bytes},
      sums{OM_OUTPUT, 1, 0, rows * 4}, scale = from.model.schedule[0].args[1],
                                       bias = from.model.schedule[0].args[2];
  model.arenaSize = 0;
  model.tensors = {{"x", OM_F32, {blocks, size, columns}, 0, {}, x},
                   {"y", OM_F32, {blocks, size, columns}, 0, {}, y},
                   {"sums", OM_F32, {blocks, size}, 0, {}, sums}};
  model.inputs = {0};
  model.outputs = {1, 2};
  model.kernels.resize(2);
  model.images[0].entries.resize(2);
  model.images[0].tasks = {rows, rows};
  model.schedule = {{0, "scale", {x, scale, bias, y}, 100000, {0}, {1}},
                    {1, "sum", {y, sums}, 100000, {1}, {2}}};
  return model;
}

/// A loop over tiles of x[blocks][n][48] along dim 1.
HostTestModel tilesModel(const TestModel &part, int64_t blocks, std::vector<int64_t> sizes) {
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {blocks, -1, columns});
  const int32_t y = test.slot(), sums = test.slot();
  std::vector<uint32_t> parts;
  for (int64_t size : sizes)
    parts.push_back(test.part(rowsModel(part, blocks, size)));
  HostTestModel::Step &step = test.add(HostTestModel::Kind::Tiles);
  step.parts = parts;
  step.sizes = sizes;
  step.inputs = {x};
  step.outputs = {y, sums};
  step.inputDims = {1};
  step.outputDims = {1, 1};
  test.output("y", y, OM_F32);
  test.output("sums", sums, OM_F32);
  return test;
}

} // namespace

TEST_CASE("a loop runs the tiles of every size, in place and through copies") {
  TestModel part(image());
  // With one block x and y are used in place; the sums never are, and nothing is with two.
  const int64_t blocks = GENERATE(1, 2);
  const std::vector<int64_t> sizes =
      GENERATE(std::vector<int64_t>{4, 3, 1}, std::vector<int64_t>{1});
  const HostTestModel test = tilesModel(part, blocks, sizes);
  for (uint32_t count : {1, 3}) {
    Ready ready(test, "host-tiles.om", threads(count, /*serialCost=*/0));
    CHECK(ready.model.info().schema_minor == 4);
    for (int64_t n : {1, 2, 4, 0, 11, 40}) {
      std::vector<float> data(static_cast<size_t>(blocks * n * columns));
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<float>(i % 23) - 11;
      const Values out = ready.good({floats({blocks, n, columns}, data)});
      REQUIRE(out[0].dims() == std::vector<int64_t>{blocks, n, columns});
      REQUIRE(out[1].dims() == std::vector<int64_t>{blocks, n});
      for (size_t row = 0; row < static_cast<size_t>(blocks * n); ++row) {
        float sum = 0;
        for (size_t c = 0; c < columns; ++c) {
          const float wanted = data[row * columns + c] * part.scale[c] + part.bias[c];
          CHECK(out[0].data<float>()[row * columns + c] == Approx(wanted));
          sum += wanted;
        }
        CHECK(out[1].data<float>()[row] == Approx(sum));
      }
    }
  }
}

TEST_CASE("rows are counted by any dims") {
  TestModel part(image());
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {});
  test.host().inputs[0].unranked = true;
  const int32_t y = test.slot(), sums = test.slot();
  std::vector<uint32_t> parts;
  for (int64_t size : {4, 1}) {
    atc::om::OmModel rows = rowsModel(part, 1, size);
    for (atc::om::OmTensor &tensor : rows.tensors)
      tensor.dims.erase(tensor.dims.begin());
    parts.push_back(test.part(rows));
  }
  HostTestModel::Step &step = test.add(HostTestModel::Kind::Tiles);
  step.parts = parts;
  step.sizes = {4, 1};
  step.inputs = {x};
  step.outputs = {y, sums};
  step.inputDims = {0};
  step.outputDims = {0, 0};
  step.rows = true;
  test.output("y", y, OM_F32);
  test.output("sums", sums, OM_F32);
  Ready ready(test, "host-rows.om", threads(2, /*serialCost=*/0));
  using Dims = std::vector<int64_t>;
  for (const Dims &dims : {Dims{5}, Dims{2, 7}, Dims{}, Dims{1, 3, 2}, Dims{4, 0, 3}}) {
    size_t rows = 1;
    for (int64_t dim : dims)
      rows *= static_cast<size_t>(dim);
    std::vector<float> data(rows * columns);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<float>(i % 19) - 9;
    Dims whole = dims;
    whole.push_back(columns);
    const Values out = ready.good({floats(whole, data)});
    REQUIRE(out[0].dims() == whole);
    REQUIRE(out[1].dims() == dims);
    for (size_t i = 0; i < data.size(); ++i)
      CHECK(out[0].data<float>()[i] ==
            Approx(data[i] * part.scale[i % columns] + part.bias[i % columns]));
    for (size_t row = 0; row < rows; ++row)
      CHECK(out[1].data<float>()[row] ==
            Approx(std::accumulate(out[0].data<float>() + row * columns,
                                   out[0].data<float>() + (row + 1) * columns, 0.0f)));
  }
  CHECK(ready.run({floats({2, 47}, std::vector<float>(94))}).empty());
  CHECK(ready.says("[?, 48]"));
  CHECK(ready.run({floats({}, {1})}).empty());
  CHECK(ready.run({number(1)}).empty());
}

TEST_CASE("a loop has at most 64 sizes of tiles") {
  // Each port is checked against the parts of all sizes.
  TestModel part(image());
  for (int64_t max : {64, 65}) {
    std::vector<int64_t> sizes(static_cast<size_t>(max));
    std::iota(sizes.rbegin(), sizes.rend(), 1);
    std::string error;
    CHECK(atc::om::writeOm(tilesModel(part, 1, sizes).model, scratchPath("host-tiles-many.om"),
                           error) == (max == 64));
    CHECK((max == 64 || error.find("too many sizes") != std::string::npos));
  }
}

TEST_CASE("a tensor whose other dims do not fit the tiles is refused") {
  TestModel part(image());
  HostTestModel test = tilesModel(part, 1, {2, 1});
  // The loop's own input may come from anywhere.
  test.host().inputs[0].dims = {-1, -1, -1};
  Ready ready(test, "host-tiles-dims.om");
  CHECK(ready.run({floats({1, 2, 47}, std::vector<float>(94))}).empty());
  CHECK(ready.error.code() == OM_ERROR_RUN);
  CHECK(ready.says("[1, ?, 48]"));
  CHECK(ready.run({floats({2, 1, 48}, std::vector<float>(96))}).empty());
}

TEST_CASE("inputs that share a dynamic dim must agree about it") {
  TestModel part(image());
  HostTestModel test(image());
  const int32_t a = test.input("a", OM_F32, {-1, columns}), b = test.input("b", OM_F32, {-1, 2});
  atc::om::OmModel one = rowsModel(part, 1, 1);
  one.tensors[0].dims = {1, columns};
  one.tensors.push_back({"b", OM_F32, {1, 2}, 0, {}, {OM_INPUT, 1, 0, 8}});
  one.inputs.push_back(3);
  const uint32_t index = test.part(one);
  const int32_t y = test.slot();
  HostTestModel::Step &step = test.add(HostTestModel::Kind::Tiles);
  step.parts = {index};
  step.sizes = {1};
  step.inputs = {a, b};
  step.outputs = {y, -1};
  step.inputDims = {0, 0};
  step.outputDims = {1, 1};
  test.output("y", y, OM_F32);
  Ready ready(test, "host-tiles-inputs.om");
  const std::vector<float> three(3 * columns), four(8);
  CHECK(ready.good({floats({3, columns}, three), floats({3, 2}, {1, 2, 3, 4, 5, 6})}).size() == 1);
  CHECK(ready.run({floats({3, columns}, three), floats({4, 2}, four)}).empty());
  CHECK(ready.says("dim 0 of 'b' has 4 elements, but 3 were expected"));
}

TEST_CASE("a loop over tiles that cannot be trusted is not written") {
  TestModel part(image());
  std::string error;
  auto refused = [&](auto change) {
    HostTestModel test = tilesModel(part, 1, {4, 1});
    change(test, test.host().blocks[0].back());
    return !atc::om::writeOm(test.model, scratchPath("host-tiles-refused.om"), error) &&
           error.rfind("E19999: ", 0) == 0;
  };
  using Test = HostTestModel;
  using Step = Test::Step;
  CHECK_FALSE(refused([](Test &, Step &) {}));
  CHECK(refused([](Test &, Step &s) { s.parts = {}; }));
  CHECK(refused([](Test &, Step &s) { s.parts[1] = 2; }));
  CHECK(refused([](Test &, Step &s) { s.sizes = {4}; }));
  CHECK(refused([](Test &, Step &s) { s.sizes = {4, 2}; }));
  CHECK(refused([](Test &, Step &s) { s.sizes = {0, 1}; }));
  CHECK(refused([](Test &, Step &s) { s.sizes = {-4, 1}; }));
  CHECK(refused([](Test &, Step &s) { s.sizes = {2, 1}; })); // 4 is not the same multiple of 2
  CHECK(refused([](Test &, Step &s) { s.sizes = {3, 1}; }));
  CHECK(refused([](Test &, Step &s) { s.parts = {1, 0}; }));
  CHECK(refused([](Test &, Step &s) { // a copy of a tile would be too short
    s.parts = {1, 0, 1};
    s.sizes = {1, 4, 1};
  }));
  CHECK(refused([](Test &, Step &s) { s.rows = true; })); // along dim 1
  CHECK(refused([](Test &, Step &s) { s.inputs = {}; }));
  CHECK(refused([](Test &, Step &s) { s.inputs = {-1}; }));
  CHECK(refused([](Test &, Step &s) { s.outputs.pop_back(); }));
  CHECK(refused([](Test &, Step &s) { s.outputs[0] = 1000; }));
  CHECK(refused([](Test &, Step &s) { s.inputDims = {3}; }));
  CHECK(refused([](Test &, Step &s) { s.inputDims = {0}; }));
  CHECK(refused([](Test &, Step &s) { s.inputDims = {-1}; }));
  CHECK(refused([](Test &, Step &s) { s.inputDims = {-2}; }));
  CHECK(refused([](Test &, Step &s) { s.outputDims = {1, -1}; }));
  CHECK(refused([](Test &, Step &s) { s.outputDims = {1}; }));
  CHECK(refused([](Test &t, Step &) { t.model.tensors[3].dims = {1, 1, 47}; }));
  CHECK(refused([](Test &t, Step &) { t.model.tensors[3].dtype = OM_I32; }));
  CHECK(refused([](Test &t, Step &) {
    for (auto &tensor : t.model.tensors)
      tensor.dtype = OM_I4;
  }));
  CHECK(refused([](Test &t, Step &) { t.host().parts[1].launches = 0; }));
}
