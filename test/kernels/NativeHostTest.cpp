//===-- NativeHostTest.cpp - what the compiler's host gives to kernels ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernels/native/NativeHost.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace atc;
using host::Call;
using host::Kind;
using host::Value;
using kernels::native::Outcome;
using kernels::native::Values;

namespace {
constexpr uint8_t F32 = 1, I64 = 7;
constexpr uint64_t megabyte = 1 << 20;

/// Calls a kernel of this test on x[4] of f32, a number, and a sequence of x.
struct Kernel {
  explicit Kernel(host::Kernel kernel, bool onlyShapes = false, uint64_t maxBytes = megabyte) {
    const int64_t four = 4;
    const Value *x = values.tensor(F32, 1, &four), *number = values.tensor(I64, 0, nullptr);
    const Value *sequence = values.list(Kind::Sequence, F32, 1, &x);
    const kernels::native::Row row = {"Test", "", "0", "", nullptr, kernel};
    outcome = kernels::native::run(row, {x, number, sequence}, {}, /*outputs=*/1, /*wanted=*/1,
                                   onlyShapes, values, nullptr, maxBytes);
  }
  bool says(const std::string &text) const {
    UNSCOPED_INFO(outcome.error);
    return !outcome.outputs[0] && outcome.error.find(text) != std::string::npos;
  }
  Values values;
  Outcome outcome;
};

int64_t dimOf(int64_t dim) { return dim; }
} // namespace

TEST_CASE("what a call asks for has a ceiling, all of it together") {
  Kernel large([](Call *call) {
    const int64_t n = 1 << 20;
    if (call->host->makeTensor(call, 0, F32, 1, &n))
      call->host->fail(call, "it was made", nullptr, 0);
  });
  CHECK(large.says("a result needs 4194304 bytes, which is beyond the ceiling of 1048576 bytes"));
  // Shapes alone need no memory.
  Kernel shape(
      [](Call *call) {
        const int64_t n = 1 << 20;
        call->host->makeTensor(call, 0, F32, 1, &n);
      },
      /*onlyShapes=*/true);
  REQUIRE(shape.outcome.outputs[0]);
  CHECK(shape.outcome.outputs[0]->dims[0] == 1 << 20);
  Kernel many([](Call *call) {
    for (int i = 0; i < 100; ++i)
      if (!call->host->scratch(call, 100000))
        return;
    call->host->fail(call, "ten megabytes were given", nullptr, 0);
  });
  CHECK(many.says("scratch memory needs 100000 bytes"));
  Kernel texts([](Call *call) { call->host->makeText(call, uint64_t(1) << 62); });
  CHECK(texts.says("strings needs"));
  Kernel items([](Call *call) {
    const int64_t n = 1 << 20;
    call->host->makeItem(call, I64, 1, &n);
  });
  CHECK(items.says("an item needs"));
  // Without a ceiling it is the system that refuses.
  Kernel system([](Call *call) { call->host->scratch(call, uint64_t(1) << 62); }, false,
                UINT64_MAX);
  CHECK(system.says("could not be allocated"));
}

TEST_CASE("dims that cannot be are refused") {
  Kernel negative([](Call *call) {
    const int64_t dims[] = {0, -1};
    call->host->makeTensor(call, 0, F32, 2, dims);
  });
  CHECK(negative.says("negative or too large"));
  Kernel hidden([](Call *call) {
    const int64_t dims[] = {0, INT64_MAX, INT64_MAX};
    call->host->makeTensor(call, 0, F32, 3, dims);
  });
  CHECK(hidden.says("negative or too large"));
  Kernel rank([](Call *call) {
    int64_t dims[17];
    std::fill_n(dims, 17, dimOf(1));
    call->host->makeTensor(call, 0, F32, 17, dims);
  });
  CHECK(rank.says("negative or too large"));
  Kernel type([](Call *call) { call->host->makeTensor(call, 0, 99, 0, nullptr); });
  CHECK(type.says("unknown element type 99"));
}

TEST_CASE("values that cannot be are refused") {
  Kernel types(
      [](Call *call) { call->host->makeSequence(call, 0, Kind::Sequence, F32, 2, call->inputs); });
  CHECK(types.says("item 1 of the sequence is of another type"));
  Kernel map([](Call *call) { call->host->makeMapItem(call, call->inputs[0], call->inputs[1]); });
  CHECK(map.says("a map is made of"));
  Kernel shared([](Call *call) {
    const int64_t five = 5;
    call->host->share(call, 0, call->inputs[0], 1, &five);
  });
  CHECK(shared.says("more elements than the tensor it shares"));
  Kernel kind([](Call *call) { call->host->share(call, 0, call->inputs[2], 0, nullptr); });
  CHECK(kind.says("no tensor"));
  Kernel good([](Call *call) {
    const int64_t dims[] = {2, 1};
    call->host->share(call, 0, call->inputs[0], 2, dims);
  });
  REQUIRE(good.outcome.outputs[0]);
  CHECK(good.outcome.outputs[0]->rank == 2);
  Kernel sequence([](Call *call) {
    call->host->makeSequence(call, 0, Kind::Sequence, 0, 1, call->inputs + 2);
  });
  REQUIRE(sequence.outcome.outputs[0]);
  CHECK(sequence.outcome.outputs[0]->dtype == F32); // of what is in it
}

TEST_CASE("an output that the call does not have is refused") {
  for (host::Kernel kernel :
       {host::Kernel([](Call *call) { call->host->makeTensor(call, 1, F32, 0, nullptr); }),
        host::Kernel([](Call *call) { call->host->share(call, 1, call->inputs[1], 0, nullptr); }),
        host::Kernel([](Call *call) { call->host->forward(call, 1, call->inputs[0]); }),
        host::Kernel([](Call *call) { call->host->makeNone(call, 1); }),
        host::Kernel([](Call *call) {
          call->host->makeSequence(call, 1, Kind::Sequence, F32, 1, call->inputs);
        })})
    CHECK(Kernel(kernel).says("it made output 1, but has only 1"));
}

TEST_CASE("a kernel does not go on when one of its tasks has failed") {
  Kernel fails([](Call *call) {
    call->host->parallel(
        call, 10,
        [](void *arg, int64_t, int64_t) {
          Call *call = static_cast<Call *>(arg);
          call->host->scratch(call, uint64_t(1) << 40);
        },
        call);
    std::abort();
  });
  CHECK(fails.says("scratch memory"));
}

TEST_CASE("a kernel fails where it cannot compute a result, instead of leaving it unwritten") {
  Values values;
  auto tensor = [&](uint8_t dtype, int64_t rows, int64_t columns) {
    const int64_t dims[] = {rows, columns};
    return static_cast<const Value *>(values.tensor(dtype, 2, dims));
  };
  auto errorOf = [&](const char *name, const std::vector<const Value *> &inputs,
                     const std::vector<host::Attribute> &attributes = {}, unsigned outputs = 1) {
    const kernels::native::Row *row = kernels::native::find(name);
    REQUIRE(row);
    return kernels::native::run(*row, inputs, attributes, outputs, (1u << outputs) - 1,
                                /*onlyShapes=*/false, values)
        .error;
  };
  constexpr uint8_t I32 = 6, U32 = 12, C64 = 14;
  const int64_t integers = I32;
  const host::Attribute stash = {"stash_type", host::AttributeKind::Ints, 1, &integers};
  const std::vector<const Value *> rows = {tensor(F32, 2, 3), tensor(F32, 1, 3)};
  // Mean and deviation in integers; nobody asks for them in the second call.
  CHECK_THAT(errorOf("LayerNormalization", rows, {stash}, 3), Catch::Contains("stash_type 6"));
  CHECK(errorOf("LayerNormalization", rows, {stash}, 1) == "");
  CHECK_THAT(errorOf("FusedGemm", {tensor(U32, 2, 2), tensor(U32, 2, 2)}),
             Catch::Contains("element type 12"));
  CHECK_THAT(errorOf("RandomNormalLike", {tensor(C64, 2, 4)}), Catch::Contains("element type 14"));
}

TEST_CASE("rows without elements have statistics") {
  Values values;
  const int64_t dims[] = {2, 0}, none = 0;
  const std::vector<const Value *> inputs = {values.tensor(F32, 2, dims),
                                             values.tensor(F32, 1, &none)};
  const kernels::native::Row *row = kernels::native::find("SimplifiedLayerNormalization");
  REQUIRE(row);
  const Outcome outcome =
      kernels::native::run(*row, inputs, {}, /*outputs=*/2, /*wanted=*/3, false, values);
  CHECK(outcome.error == "");
  REQUIRE(outcome.outputs[1]);
  // 1 / sqrt(0 / 0 + epsilon); memory is zeroed before.
  const auto *deviations = static_cast<const float *>(outcome.outputs[1]->data);
  CHECK(std::isnan(deviations[0]));
  CHECK(std::isnan(deviations[1]));
}
