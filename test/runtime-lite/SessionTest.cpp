//===-- SessionTest.cpp - running, threads, profile, dumps ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/om.hpp"
#include "test/runtime-lite/TestModel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace {
KernelImage image() { return readKernelImage(OPENATC_TEST_KERNELS); }

om_session_options withThreads(uint32_t threads, uint32_t spin = OM_DEFAULT_SPIN_US) {
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = threads;
  options.spin_us = spin;
  return options;
}

/// The test model with its buffers.
struct Run {
  explicit Run(const om::Model &model, om_session_options options = OM_SESSION_OPTIONS_INIT)
      : session(model, error, options), x(64 * 48 * 4), sums(64 * 4), picks(60 * 4) {}

  void fill(int seed) {
    for (int i = 0; i < 64 * 48; ++i)
      x.data<float>()[i] = static_cast<float>((i * 7 + seed) % 23) - 11;
  }
  const void *const *inputs() { return in; }
  void *const *outputs() { return out; }

  bool isRight(const TestModel &test) const {
    std::vector<float> wantedSums, wantedPicks;
    test.expect(x.data<float>(), wantedSums, wantedPicks);
    for (int i = 0; i < 64; ++i)
      if (std::abs(sums.data<float>()[i] - wantedSums[i]) > 1e-3f * (1 + std::abs(wantedSums[i])))
        return false;
    return std::equal(wantedPicks.begin(), wantedPicks.begin() + 60, picks.data<float>());
  }

  om::Error error;
  om::Session session;
  om::Buffer x, sums, picks;
  const void *in[1] = {x.data()};
  void *out[2] = {sums.data(), picks.data()};
};
} // namespace

TEST_CASE("a model gives the right answer with any number of threads") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "run.om"), error);
  REQUIRE(model);
  for (uint32_t threads : {1, 2, 3, 8}) {
    Run run(model, withThreads(threads));
    REQUIRE(run.session);
    CHECK(om_session_threads(run.session.get()) == threads);
    for (int seed = 0; seed < 200; ++seed) {
      run.fill(seed);
      REQUIRE(run.session.run(run.inputs(), run.outputs(), run.error));
      REQUIRE(run.isRight(test));
    }
  }
}

TEST_CASE("a model from memory runs, aligned or not") {
  KernelImage code = image();
  TestModel test(code);
  std::vector<char> file = readBytes(writeModel(test.model, "memory.om"));
  for (size_t shift : {0, 1, 32}) {
    std::vector<char> shifted(shift, 'x');
    shifted.insert(shifted.end(), file.begin(), file.end());
    AlignedBytes memory(shifted);
    om::Error error;
    om::Model model = om::Model::loadMemory(memory.data + shift, file.size(), error);
    INFO(error.message());
    REQUIRE(model);
    Run run(model);
    run.fill(5);
    REQUIRE(run.session.run(run.inputs(), run.outputs(), run.error));
    CHECK(run.isRight(test));
  }
}

TEST_CASE("each task of each launch is run exactly once") {
  KernelImage code = image();
  for (uint64_t tasks : {1, 2, 7, 64, 1000})
    for (uint32_t threads : {1, 2, 5})
      for (uint32_t spin : {0, 200}) {
        om::Error error;
        om::Model model = om::Model::loadFile(
            writeModel(countingModel(code, tasks, 50, 1000000), "counting.om"), error);
        REQUIRE(model);
        om::Session session(model, error, withThreads(threads, spin));
        REQUIRE(session);
        om::Buffer counts(tasks * 4);
        void *outputs[] = {counts.data()};
        for (int i = 0; i < 10; ++i)
          REQUIRE(session.run(nullptr, outputs, error));
        for (uint64_t t = 0; t < tasks; ++t)
          REQUIRE(counts.data<uint32_t>()[t] == 500);
      }
}

TEST_CASE("threads that have gone to sleep are woken, and end with the session") {
  KernelImage code = image();
  om::Error error;
  om::Model model =
      om::Model::loadFile(writeModel(countingModel(code, 64, 3, 1000000), "sleep.om"), error);
  REQUIRE(model);
  om::Buffer counts(64 * 4);
  void *outputs[] = {counts.data()};
  for (int i = 0; i < 20; ++i) {
    om::Session session(model, error, withThreads(3, 50));
    REQUIRE(session);
    for (int j = 0; j < 3; ++j) {
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));
      REQUIRE(session.run(nullptr, outputs, error));
    }
  }
  for (int t = 0; t < 64; ++t)
    CHECK(counts.data<uint32_t>()[t] == 180);
}

TEST_CASE("sessions of one model run side by side") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "side.om"), error);
  REQUIRE(model);
  std::atomic<int> right{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user)
    users.emplace_back([&, user] {
      Run run(model, withThreads(2));
      for (int i = 0; i < 100; ++i) {
        run.fill(user * 1000 + i);
        right += run.session.run(run.inputs(), run.outputs(), run.error) && run.isRight(test);
      }
    });
  for (std::thread &user : users)
    user.join();
  CHECK(right == 300);
}

TEST_CASE("an observer sees every launch and can read what it wrote") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "observe.om"), error);
  REQUIRE(model);
  Run run(model);
  run.fill(3);
  std::vector<uint32_t> seen;
  std::vector<float> y(64 * 48), packed(60);
  auto observer = [&](uint32_t launch) {
    seen.push_back(launch);
    if (launch == 0)
      CHECK(om_session_read_tensor(run.session.get(), TestModel::Y, y.data(), y.size() * 4,
                                   nullptr) == OM_OK);
    if (launch == 2)
      CHECK(om_session_read_tensor(run.session.get(), TestModel::Packed, packed.data(), 60 * 4,
                                   nullptr) == OM_OK);
  };
  REQUIRE(run.session.run(run.inputs(), run.outputs(), observer, run.error));
  CHECK(seen == std::vector<uint32_t>{0, 1, 2, 3});
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 48; ++c)
      CHECK(y[r * 48 + c] == run.x.data<float>()[r * 48 + c] * test.scale[c] + test.bias[c]);
  // Out of its padded blocks the packed tensor is the first 60 elements again.
  for (int i = 0; i < 60; ++i)
    CHECK(packed[i] == y[i]);

  std::vector<float> weights(48);
  CHECK(om_session_read_tensor(run.session.get(), TestModel::Scale, weights.data(), 48 * 4,
                               nullptr) == OM_OK);
  CHECK(weights == test.scale);
  om_error errorText;
  CHECK(om_session_read_tensor(run.session.get(), TestModel::Y, y.data(), 4, &errorText) ==
        OM_ERROR_ARGUMENT);
  CHECK(om_session_read_tensor(run.session.get(), 99, y.data(), 4, &errorText) ==
        OM_ERROR_ARGUMENT);

  auto stop = [](void *, uint32_t launch) { return launch == 1 ? 1 : 0; };
  CHECK(om_session_run_observed(run.session.get(), run.inputs(), run.outputs(), stop, nullptr,
                                &errorText) == OM_ERROR_ARGUMENT);
  CHECK(std::string(errorText.message).find("'sum'") != std::string::npos);
}

TEST_CASE("the profile counts runs and time for each launch") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "profile.om"), error);
  REQUIRE(model);
  Run run(model);
  uint64_t nanoseconds = 1, runs = 1;
  REQUIRE(run.session.run(run.inputs(), run.outputs(), run.error));
  CHECK(om_session_get_profile(run.session.get(), 0, &nanoseconds, &runs) == OM_OK);
  CHECK(nanoseconds == 0);
  CHECK(runs == 0);
  om_session_set_profile(run.session.get(), 1);
  for (int i = 0; i < 5; ++i)
    REQUIRE(run.session.run(run.inputs(), run.outputs(), run.error));
  for (uint32_t launch = 0; launch < 4; ++launch) {
    CHECK(om_session_get_profile(run.session.get(), launch, &nanoseconds, &runs) == OM_OK);
    CHECK(nanoseconds > 0);
    CHECK(nanoseconds < 1000000000);
    CHECK(runs == 5);
  }
  CHECK(om_session_get_profile(run.session.get(), 4, &nanoseconds, &runs) == OM_ERROR_ARGUMENT);
}

TEST_CASE("pointers that cannot be used are refused by name") {
  KernelImage code = image();
  TestModel test(code);
  om::Error error;
  om::Model model = om::Model::loadFile(writeModel(test.model, "pointers.om"), error);
  REQUIRE(model);
  Run run(model);
  const void *unaligned[] = {run.x.data<char>() + 4};
  CHECK_FALSE(run.session.run(unaligned, run.outputs(), run.error));
  CHECK(std::string(run.error.message())
            .find("input 0 ('x') is not 64-byte aligned (OM_ALIGNMENT)") != std::string::npos);
  void *none[] = {run.sums.data(), nullptr};
  CHECK_FALSE(run.session.run(run.inputs(), none, run.error));
  CHECK(std::string(run.error.message()).find("output 1 ('picked/relu') is null") !=
        std::string::npos);
  CHECK_FALSE(run.session.run(nullptr, run.outputs(), run.error));

  om::Error refusal;
  om::Session many(model, refusal, withThreads(100000));
  CHECK_FALSE(many);
  CHECK(refusal.code() == OM_ERROR_ARGUMENT);
}

TEST_CASE("inputs that are indices out of range are refused by name") {
  for (om_dtype type : {OM_I32, OM_I64}) {
    KernelImage code = image();
    TestModel test(code);
    // A model of one more input, which nothing reads: pairs of indices into dims of 3 and 5.
    atc::om::OmTensor at;
    at.name = "at";
    at.dtype = type;
    at.dims = {2, 2};
    at.place = {OM_INPUT, 1, 0, uint64_t(type == OM_I32 ? 16 : 32)};
    at.indexSizes = {3, 5};
    at.indexWraps = true;
    test.model.inputs.push_back(static_cast<uint32_t>(test.model.tensors.size()));
    test.model.tensors.push_back(at);
    om::Error error;
    om::Model model = om::Model::loadFile(writeModel(test.model, "indices.om"), error);
    INFO(error.message());
    REQUIRE(model);
    Run run(model);
    run.fill(5);
    om::Buffer indices(64);
    const void *inputs[] = {run.x.data(), indices.data()};
    auto runs = [&](std::vector<int64_t> values) {
      for (size_t i = 0; i < values.size(); ++i)
        if (type == OM_I32)
          indices.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
        else
          indices.data<int64_t>()[i] = values[i];
      return run.session.run(inputs, run.outputs(), run.error);
    };
    CHECK(runs({0, 4, -3, -5}));
    CHECK(run.isRight(test));
    CHECK_FALSE(runs({0, 4, 3, 0}));
    CHECK(run.error.code() == OM_ERROR_RUN);
    CHECK(std::string(run.error.message()) ==
          "element 2 of input 'at' is the index 3, which is outside of a dim of 3 elements.");
    CHECK_FALSE(runs({0, -6, 0, 0}));
    CHECK_FALSE(runs({-4, 0, 0, 0}));
    // The least and greatest indices have the largest distances to the bounds.
    if (type == OM_I64)
      for (int64_t extreme : {INT64_MIN, INT64_MAX})
        CHECK_FALSE(runs({0, extreme, 0, 0}));

    // One bound for all elements is checked without branches.
    for (bool wraps : {false, true}) {
      test.model.tensors.back().indexSizes = {3};
      test.model.tensors.back().indexWraps = wraps;
      om::Model one = om::Model::loadFile(writeModel(test.model, "one-bound.om"), error);
      REQUIRE(one);
      Run again(one);
      again.fill(5);
      auto allows = [&](int64_t index) {
        for (int i = 0; i < 4; ++i)
          if (type == OM_I32)
            indices.data<int32_t>()[i] = i == 2 ? static_cast<int32_t>(index) : 0;
          else
            indices.data<int64_t>()[i] = i == 2 ? index : 0;
        const void *given[] = {again.x.data(), indices.data()};
        return bool(again.session.run(given, again.outputs(), again.error));
      };
      CHECK((allows(0) && allows(2)));
      CHECK_FALSE(allows(3));
      CHECK(allows(-1) == wraps);
      CHECK(allows(-3) == wraps);
      CHECK_FALSE(allows(-4));
      CHECK_FALSE(allows(type == OM_I32 ? INT32_MIN : INT64_MIN));
      CHECK_FALSE(allows(type == OM_I32 ? INT32_MAX : INT64_MAX));
    }

    // Bounds that make no sense are damage.
    test.model.tensors.back().indexSizes = {3, -1};
    CHECK_THROWS_WITH(writeModel(test.model, "negative.om"),
                      Catch::Contains("the sizes that its indices must fit make no sense"));
  }
}

TEST_CASE("functions that run a session or describe a model refuse null", "[session]") {
  om_error error = {};
  void *output[1] = {};
  om_value *value[1] = {};
  auto refuses = [&](om_status status) {
    CHECK(status == OM_ERROR_ARGUMENT);
    CHECK(std::string(error.message) == "there is no session (null).");
    error = {};
  };
  refuses(om_session_run(nullptr, nullptr, output, &error));
  refuses(om_session_run_observed(nullptr, nullptr, output, nullptr, nullptr, &error));
  refuses(om_session_run_values(nullptr, nullptr, value, &error));
  refuses(om_session_run_values_observed(nullptr, nullptr, value, nullptr, nullptr, &error));
  refuses(om_session_start_run(nullptr, nullptr, output, nullptr, nullptr, &error));
  refuses(om_session_start_run_values(nullptr, nullptr, value, nullptr, nullptr, &error));
  refuses(om_session_wait(nullptr, &error));
  refuses(om_session_read_tensor(nullptr, 0, output, sizeof(output), &error));
  om_model_info model = OM_MODEL_INFO_INIT;
  om_tensor_info tensor = OM_TENSOR_INFO_INIT;
  om_launch_info launch = OM_LAUNCH_INFO_INIT;
  CHECK(om_model_get_info(nullptr, &model) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_tensor(nullptr, 0, &tensor) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_input(nullptr, 0, &tensor) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_output(nullptr, 0, &tensor) == OM_ERROR_ARGUMENT);
  CHECK(om_model_get_launch(nullptr, 0, &launch) == OM_ERROR_ARGUMENT);
}
