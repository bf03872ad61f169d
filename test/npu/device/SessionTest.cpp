//===-- SessionTest.cpp - sessions of the runtime with a simulated NPU ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openatc/npu.h"
#include "test/npu/device/NpuTestModel.h"
#include "test/runtime-lite/GoldenFile.h"
#include "test/runtime-lite/HostTestRun.h"

namespace {

using Simulator = std::unique_ptr<om_npu, void (*)(om_npu *)>;

Simulator makeSimulator() {
  om_npu *npu = nullptr;
  REQUIRE(om_npu_simulator(nullptr, &npu, nullptr) == OM_OK);
  return {npu, om_npu_free};
}

om_session_options optionsWith(const Simulator &npu) {
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.device = om_npu_device(npu.get());
  return options;
}

} // namespace

TEST_CASE("golden files with launches of an NPU still run") {
  const uint32_t minor = GENERATE(range(kFirstGoldenWithNpu, kFirstGoldenWithState));
  const Simulator npu = makeSimulator();
  runGolden(loadGolden(minor), minor, optionsWith(npu));
}

TEST_CASE("parts may have launches of an NPU") {
  NpuTestModel part(image());
  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1, -1});
  const uint32_t index = test.part(part.model);
  const int32_t sums = test.slot(), four = test.slot();
  const int32_t more = test.make("host_add_one", {x});
  test.run(index, {more}, {sums, -1, four});
  test.run(index, {x}, {sums, -1, -1});
  test.output("sums", sums);
  test.output("four", four);
  const Simulator npu = makeSimulator();
  Ready ready(test, "host-npu.om", optionsWith(npu));
  std::vector<float> data(64 * 48, 2), more2(64 * 48, 3), plain, moreSums, picks;
  part.expect(data.data(), plain, picks);
  part.expect(more2.data(), moreSums, picks);
  for (int i = 0; i < 3; ++i) {
    Values out = ready.good({floats({64, 48}, data)});
    for (int k = 0; k < 64; ++k) {
      CHECK(out[0].data<float>()[k] == Approx(plain[static_cast<size_t>(k)]));
      CHECK(out[1].data<float>()[k] == Approx(4 * moreSums[static_cast<size_t>(k)]));
    }
  }
}
