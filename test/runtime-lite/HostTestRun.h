//===-- HostTestRun.h - host programs, loaded and run ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TEST_RUNTIME_HOSTTESTRUN_H
#define OPENATC_TEST_RUNTIME_HOSTTESTRUN_H

#include "openatc/om.hpp"
#include "test/runtime-lite/HostTestModel.h"

#include <catch2/catch.hpp>

using Values = std::vector<om::Value>;

inline const KernelImage &image() {
  static const KernelImage read = readKernelImage(OPENATC_TEST_KERNELS);
  return read;
}

/// A program written, loaded and ready to run.
struct Ready {
  Ready(const HostTestModel &test, const char *name,
        om_session_options options = OM_SESSION_OPTIONS_INIT)
      : model(om::Model::loadFile(writeModel(test.model, name), error)),
        session(model ? om::Session(model, error, options) : om::Session()) {
    INFO(error.message());
    REQUIRE(session);
  }
  Values run(const Values &inputs) { return session.run(inputs, error); }
  Values good(const Values &inputs) {
    Values outputs = run(inputs);
    INFO(error.message());
    REQUIRE_FALSE(error);
    return outputs;
  }
  bool says(const char *text) const {
    UNSCOPED_INFO(error.message());
    return std::string(error.message()).find(text) != std::string::npos;
  }

  om::Error error;
  om::Model model;
  om::Session session;
};

inline om::Value floats(std::vector<int64_t> dims, const std::vector<float> &data) {
  om::Error error;
  return om::Value::tensor(OM_F32, dims, data.data(), error);
}
inline om::Value number(int64_t value) {
  om::Error error;
  return om::Value::tensor(OM_I64, {}, &value, error);
}
inline om::Value texts(const std::vector<std::string> &list) {
  om::Error error;
  return om::Value::strings({static_cast<int64_t>(list.size())}, list, error);
}
template <typename T> std::vector<T> listOf(const om::Value &value) {
  return {value.data<T>(), value.data<T>() + value.size()};
}

inline om_session_options threads(uint32_t count, uint64_t serialCost = OM_DEFAULT_SERIAL_COST) {
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.threads = count;
  options.serial_cost = serialCost;
  return options;
}

/// i = 0; while (i < n) { i += step; x = x + 1; sequence += x }
inline HostTestModel loopModel() {
  HostTestModel test(image());
  const int32_t n = test.input("n", OM_I64, {}), x = test.input("x", OM_F32, {-1});
  const int32_t i = test.make("host_forward", {test.number(0)});
  const int32_t sequence = test.make("host_none", {}), go = test.make("host_less", {i, n});
  const int32_t body = test.block();
  test.loop(go, body);
  test.current = static_cast<size_t>(body);
  const int32_t next = test.slot(), changed = test.slot(), longer = test.slot();
  atc::om::OmHostAttribute step{"step"};
  step.ints = {2};
  test.call("host_step", {i}, {next}).attributes = {step};
  test.call("host_add_one", {x}, {changed});
  test.call("host_append", {sequence, changed}, {longer});
  test.move({next, changed, longer}, {i, x, sequence});
  test.release({next, changed, longer});
  test.call("host_less", {i, n}, {go});
  test.current = 0;
  test.output("i", i, OM_I64);
  test.output("x", x, OM_F32);
  test.output("all", sequence, OM_F32, OM_KIND_SEQUENCE, /*optional=*/true);
  return test;
}

#endif
