//===-- TokenSourceTest.cpp - pieces of a text as samples -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "quantize/onnx/TokenSource.h"

#include "test/quantize/SmallModel.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace atc;
using namespace atc::quantize;

namespace {

::om::Tensor integers(const std::string &name, const std::vector<int64_t> &dims) {
  uint64_t count = 1;
  for (int64_t dim : dims)
    count *= static_cast<uint64_t>(dim);
  return {name, OM_I64, dims, count, count * sizeof(int64_t), {}, 0};
}

std::vector<std::vector<int64_t>> nextOf(TokenSource &source,
                                         const std::vector<::om::Tensor> &tensors) {
  std::vector<::om::Buffer> buffers;
  for (const ::om::Tensor &tensor : tensors)
    buffers.emplace_back(tensor.bytes);
  Diagnostics diagnostics;
  std::vector<std::vector<int64_t>> values;
  if (source.next(buffers, diagnostics))
    for (size_t i = 0; i < tensors.size(); ++i)
      values.emplace_back(buffers[i].data<int64_t>(),
                          buffers[i].data<int64_t>() + tensors[i].elements);
  return values;
}

} // namespace

TEST_CASE("a decoder's cache has one hidden token", "[tokens]") {
  // Dims of 0 are dynamic.
  SmallModel small;
  small.input("input_ids", {0, 0}).input("attention_mask", {0, 0}).input("past", {0, 4, 0, 8});
  auto model = small.output("y").finish();
  TokenSource source({5, 6, 7, 8, 9, 1, 2}, 3);
  const InputShapes shapes = source.shapesFor(*model);
  CHECK(shapes[0].second == std::vector<int64_t>{1, 3});
  CHECK(shapes[1].second == std::vector<int64_t>{1, 4});
  CHECK(shapes[2].second == std::vector<int64_t>{1, 4, 1, 8});
  const std::vector<::om::Tensor> tensors = {integers("input_ids", {1, 3}),
                                             integers("attention_mask", {1, 4}),
                                             integers("position_ids", {1, 3})};
  Diagnostics diagnostics;
  source.begin(tensors, diagnostics);
  CHECK(source.count() == 2);
  nextOf(source, tensors);
  CHECK(nextOf(source, tensors) ==
        std::vector<std::vector<int64_t>>{{8, 9, 1}, {0, 1, 1, 1}, {0, 1, 2}});
  CHECK(nextOf(source, tensors).empty());
}

TEST_CASE("an encoder of a fixed length", "[tokens]") {
  SmallModel small;
  small.input("input_ids", {1, 4}).input("attention_mask", {1, 4}).input("token_type_ids", {1, 0});
  auto model = small.output("y").finish();
  TokenSource source({5, 6, 7, 8, 9, 1, 2}, 3);
  const InputShapes shapes = source.shapesFor(*model);
  CHECK(shapes[1].second == std::vector<int64_t>{1, 4});
  CHECK(shapes[2].second == std::vector<int64_t>{1, 3});
  const std::vector<::om::Tensor> tensors = {integers("input_ids", {1, 4}),
                                             integers("attention_mask", {1, 4})};
  Diagnostics diagnostics;
  source.begin(tensors, diagnostics);
  CHECK(nextOf(source, tensors) == std::vector<std::vector<int64_t>>{{5, 6, 7, 8}, {1, 1, 1, 1}});
  TokenSource few({5, 6}, 3);
  few.begin(tensors, diagnostics);
  REQUIRE(diagnostics.hasErrors());
  CHECK(diagnostics.all()[0].text == "the model takes 4 tokens at once, --tokens has 2");
}
