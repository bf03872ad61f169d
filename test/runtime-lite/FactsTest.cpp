//===-- FactsTest.cpp - names of ports and dims, metadata, started runs ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/runtime-lite/FactsTestModel.h"
#include "test/runtime-lite/GoldenFile.h"
#include "test/runtime-lite/HostTestRun.h"

#include <atomic>

namespace {
void checkFacts(const om::Model &model) {
  CHECK(model.findInput("x") == 0);
  CHECK(model.findInput("y") == OM_NO_INDEX);
  CHECK(model.findOutput("y") == 0);
  CHECK(om_model_find_output(model.get(), nullptr) == OM_NO_INDEX);
  CHECK(model.input(0).dimNames == std::vector<std::string>{"batch", "seq", ""});
  CHECK(model.output(0).dimNames == std::vector<std::string>{"batch", "", ""});
  CHECK(std::string(om_model_dim_name(model.get(), OM_INPUT, 0, 9)).empty());
  CHECK(std::string(om_model_dim_name(model.get(), OM_OUTPUT, 1, 0)).empty());
  CHECK(std::string(om_model_dim_name(model.get(), OM_WEIGHTS, 0, 0)).empty());
  CHECK(om_model_metadata_count(model.get()) == 2);
  CHECK(model.metadata() == std::vector<std::pair<std::string, std::string>>{
                                {"author", "the tests"}, {"license", "Apache-2.0"}});
  CHECK(om_model_find_metadata(model.get(), "license") == std::string("Apache-2.0"));
  CHECK(om_model_find_metadata(model.get(), "labels") == nullptr);
  CHECK(om_model_get_metadata(model.get(), 2, nullptr, nullptr) == OM_ERROR_ARGUMENT);
}

void checkRun(om::Session &session) {
  om::Error error;
  const Values out = session.run({floats({1, 1, 3}, {1, 2, 3})}, error);
  INFO(error.message());
  REQUIRE(out.size() == 1);
  CHECK(listOf<float>(out[0]) == std::vector<float>{2, 3, 4});
}
} // namespace

TEST_CASE("a model keeps the names of its dynamic dims and its metadata") {
  Ready ready(factsModel(image()), "facts.om");
  CHECK(ready.model.info().schema_minor == 7);
  checkFacts(ready.model);
  checkRun(ready.session);
}

TEST_CASE("the golden files with names of dims still run") {
  const om::Model model = loadGolden(GENERATE(kFirstGoldenWithFacts, kFirstGoldenWithParts));
  checkFacts(model);
  om::Error error;
  om::Session session(model, error);
  REQUIRE(session);
  checkRun(session);
}

TEST_CASE("a model without names of dynamic dims has an older version") {
  HostTestModel test = factsModel(image());
  test.model.metadata.clear();
  test.host().inputs[0].dimNames = {"", "", "three"}; // of a static dim
  test.host().outputs[0].dimNames.clear();
  Ready ready(test, "facts-none.om");
  CHECK(ready.model.info().schema_minor == 3);
  CHECK(ready.model.input(0).dimNames.empty());
  CHECK(ready.model.metadata().empty());
}

TEST_CASE("a run that was started ends on another thread") {
  Ready ready(factsModel(image()), "facts-start.om");
  om_session *session = ready.session.get();
  om_error error;
  CHECK(om_session_is_running(session) == 0);
  CHECK(om_session_wait(session, &error) == OM_ERROR_ARGUMENT);
  CHECK(std::string(error.message) ==
        "there is no run to wait for: om_session_start_run starts one.");

  const om::Value x = floats({1, 1, 3}, {4, 5, 6});
  const om_value *inputs[] = {x.get()};
  om_value *outputs[] = {nullptr};
  std::atomic<int> calls(0);
  auto done = [](void *user, om_status status, const om_error *problem) {
    *static_cast<std::atomic<int> *>(user) += status == OM_OK && !problem ? 1 : 100;
  };
  for (int round = 1; round <= 3; ++round) {
    REQUIRE(om_session_start_run_values(session, inputs, outputs, done, &calls, &error) == OM_OK);
    CHECK(om_session_start_run_values(session, inputs, outputs, done, &calls, &error) ==
          OM_ERROR_ARGUMENT);
    REQUIRE(om_session_wait(session, &error) == OM_OK);
    CHECK(calls == round);
    CHECK(listOf<float>(om::Value(static_cast<const om_value *>(outputs[0]))) ==
          std::vector<float>{5, 6, 7});
  }
}

TEST_CASE("wait returns the error of the run, and free ends one in progress") {
  Ready ready(loopModel(), "facts-cancel.om");
  om_session *session = ready.session.get();
  const om::Value n = number(INT64_MAX), x = floats({1}, {0});
  const om_value *inputs[] = {n.get(), x.get()};
  om_value *outputs[3] = {};
  om_error error;
  REQUIRE(om_session_start_run_values(session, inputs, outputs, nullptr, nullptr, &error) == OM_OK);
  om_session_cancel(session);
  CHECK(om_session_wait(session, &error) == OM_ERROR_CANCELLED);
  CHECK(error.code == OM_ERROR_CANCELLED);
  CHECK(om_session_is_running(session) == 0);
  REQUIRE(om_session_start_run_values(session, inputs, outputs, nullptr, nullptr, &error) == OM_OK);
  om_session_cancel(session);
  ready.session = om::Session();
}
