//===-- HostileTest.cpp - files and calls that mean harm ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "acl/acl_op_compiler.h"
#include "test/ascend/AclTest.h"
#include "test/runtime-lite/HostTestRun.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace {

std::vector<char> bytesOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Loads a file that says of its operator what `text` is.
aclError loadOperator(const std::string &text) {
  TestModel test(image());
  test.model.commandLine = "atc --singleop=" + text + " --soc_version=Ascend310P3";
  const std::vector<char> bytes = bytesOf(writeModel(test.model, "acl-operator.om"));
  return aclopLoad(bytes.data(), bytes.size());
}

aclTensorDesc *descOf(aclDataType type, std::vector<int64_t> dims) {
  return aclCreateTensorDesc(type, int(dims.size()), dims.data(), ACL_FORMAT_ND);
}

size_t filesIn(const fs::path &folder) {
  return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

TEST_CASE("what a file says of its operator is checked before it is used") {
  Started started;
  const std::string tensor = R"([{"type":0,"format":2,"shape":[2]}])";
  auto with = [&](const char *op, const std::string &inputs, const char *attributes) {
    return std::string("{\"op\":") + op + ",\"input_desc\":" + inputs +
           ",\"output_desc\":" + tensor + ",\"attr\":" + attributes + "}";
  };
  for (const std::string &text :
       {std::string("{}"), std::string("{\"op\":5}"), with("[]", tensor, "[]"),
        with("\"Add\"", "{\"type\":0}", "[]"), with("\"Add\"", "[7]", "[]"),
        with("\"Add\"", R"([{"type":"float","format":2,"shape":[2]}])", "[]"),
        with("\"Add\"", R"([{"type":1e300,"format":2,"shape":[2]}])", "[]"),
        with("\"Add\"", R"([{"type":0,"format":{},"shape":[2]}])", "[]"),
        with("\"Add\"", R"([{"type":0,"format":2,"shape":2}])", "[]"),
        with("\"Add\"", R"([{"type":0,"format":2,"shape":[null]}])", "[]"),
        with("\"Add\"", tensor, "[1]"), with("\"Add\"", tensor, R"([{"value":1}])"),
        with("\"Add\"", tensor, R"([{"name":1,"value":1}])"),
        with("\"Add\"", tensor, R"([{"name":"axis"}])"),
        with("\"Add\"", tensor, R"({"name":"axis","value":1})"),
        with("\"Add\"", tensor,
             ("[{\"name\":\"axis\",\"value\":" + std::string(100000, '[') +
              std::string(100000, ']') + "}]")
                 .c_str())}) {
    INFO(text.substr(0, 200));
    BAD(ACL_ERROR_OP_LOAD_FAILED, loadOperator(text));
  }
  GOOD(loadOperator(with("\"Add\"", tensor, R"([{"name":"axis","value":[[1]]}])")));
  // A call that finds it, but for its type.
  aclTensorDesc *desc = descOf(ACL_INT8, {2});
  aclTensorDesc *descs[] = {desc};
  BAD(ACL_ERROR_OP_NOT_FOUND,
      aclopExecuteV2("Add", 1, descs, nullptr, 1, descs, nullptr, nullptr, nullptr));
  // Texts of the program's own that are not UTF-8 and move the cursor.
  setenv("OPENATC_ATC", "/nowhere/atc", 1);
  CHECK(aclopCompile("\xFF\x1B[2J", 1, descs, 1, descs, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS,
                     nullptr) == ACL_ERROR_OP_NOT_FOUND);
  BAD(ACL_ERROR_OP_NOT_FOUND,
      aclopExecuteV2("\xFF\x1B[2J", 1, descs, nullptr, 1, descs, nullptr, nullptr, nullptr));
  aclopExecuteV2("\x1B[2J", 1, descs, nullptr, 1, descs, nullptr, nullptr, nullptr);
  const std::string message = aclGetRecentErrMsg();
  CHECK(message.find('\x1B') == std::string::npos);
  CHECK(message.find("\\x1B[2J") != std::string::npos);
  aclDestroyTensorDesc(desc);
}

TEST_CASE("numbers of elements that wrap are refused") {
  Started started;
  DeviceMemory memory(64), parameters(64);
  aclDataBuffer *buffer = aclCreateDataBuffer(memory.data, 8);
  // 2^61 elements of 8 bytes are 2^64 bytes.
  aclTensorDesc *huge = descOf(ACL_DOUBLE, {int64_t{1} << 61});
  BAD(ACL_ERROR_INVALID_PARAM, aclopCast(huge, buffer, huge, buffer, 0, nullptr));
  CHECK(aclGetTensorDescSize(huge) == 0);

  HostTestModel test(image());
  const int32_t x = test.input("x", OM_F32, {-1});
  test.output("y", test.make("host_add_one", {x}), OM_F32);
  const std::string path = writeModel(test.model, "acl-wrap.om");
  uint32_t id = 0;
  GOOD(aclmdlLoadFromFile(path.c_str(), &id));
  aclmdlDataset *input = aclmdlCreateDataset(), *output = aclmdlCreateDataset();
  GOOD(aclmdlAddDatasetBuffer(input, buffer));
  GOOD(aclmdlAddDatasetBuffer(output, buffer));
  for (int64_t dim : {int64_t{1} << 59, int64_t{1} << 60, INT64_MAX}) {
    aclTensorDesc *desc = descOf(ACL_FLOAT, {dim});
    GOOD(aclmdlSetDatasetTensorDesc(input, desc, 0));
    BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlExecute(id, input, output));
    aclDestroyTensorDesc(desc);
  }
  aclTensorDesc *two = descOf(ACL_FLOAT, {2});
  GOOD(aclmdlSetDatasetTensorDesc(input, two, 0));
  GOOD(aclmdlExecute(id, input, output));
  for (aclTensorDesc *desc : {huge, two})
    aclDestroyTensorDesc(desc);
  GOOD(aclmdlDestroyDataset(input));
  GOOD(aclmdlDestroyDataset(output));
  GOOD(aclDestroyDataBuffer(buffer));
  GOOD(aclmdlUnload(id));
}

TEST_CASE("values that are no enumerators are refused") {
  Started started;
  void *data = nullptr;
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&data, 64, aclrtMemMallocPolicy(0x7FFFFFFF)));
  BAD(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(&data, 8, &data, 8, aclrtMemcpyKind(-1)));
  CHECK(aclDataTypeSize(aclDataType(12345)) == 0);
  CHECK(aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, aclFormat(-77)) == nullptr);
  aclAppLog(aclLogLevel(-5), "f", "f", 1, "%s", "");
  char text[4];
  BAD(ACL_ERROR_INVALID_PARAM, aclGetCompileopt(aclCompileOpt(-1), text, sizeof(text)));
}

TEST_CASE("a forked process is told that a stream is its parent's") {
  Started started;
  DeviceMemory memory(64);
  aclrtStream stream = nullptr, unused = nullptr;
  GOOD(aclrtCreateStream(&stream));
  GOOD(aclrtCreateStream(&unused));
  GOOD(aclrtMemsetAsync(memory.data, 64, 0, 64, stream));
  GOOD(aclrtSynchronizeStream(stream));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20); // it waited without end
    aclrtStream own = nullptr;
    const bool right =
        aclrtMemsetAsync(memory.data, 64, 0, 64, stream) == ACL_ERROR_INVALID_RESOURCE_HANDLE &&
        std::string(aclGetRecentErrMsg()).find("before fork") != std::string::npos &&
        aclrtSynchronizeStream(stream) == ACL_SUCCESS &&
        aclrtMemsetAsync(memory.data, 64, 1, 64, unused) == ACL_SUCCESS &&
        aclrtSynchronizeStream(unused) == ACL_SUCCESS && aclrtCreateStream(&own) == ACL_SUCCESS &&
        aclrtMemsetAsync(memory.data, 64, 1, 64, own) == ACL_SUCCESS &&
        aclrtSynchronizeDevice() == ACL_SUCCESS && aclrtDestroyStream(stream) == ACL_SUCCESS;
    _exit(right ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  GOOD(aclrtDestroyStream(stream));
  GOOD(aclrtDestroyStream(unused));
}

TEST_CASE("a program that is ended while it compiles an operator leaves no folder behind") {
  const fs::path folder = scratchPath("acl-temporary");
  fs::remove_all(folder);
  fs::create_directory(folder);
  const fs::path compiler = scratchPath("acl-slow-atc");
  std::ofstream(compiler)
      << "#!/bin/sh\necho x >\"$(dirname \"$0\")/acl-temporary-started\"\nsleep 1\n";
  fs::permissions(compiler, fs::perms::owner_all);
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    fs::remove(scratchPath("acl-temporary-started"));
    const pid_t child = fork();
    if (child == 0) {
      for (int each : {SIGINT, SIGTERM}) // Catch handles them
        std::signal(each, SIG_DFL);
      setenv("OPENATC_ATC", compiler.c_str(), 1);
      setenv("TMPDIR", folder.c_str(), 1);
      aclInit(nullptr);
      aclrtSetDevice(0);
      aclTensorDesc *descs[] = {descOf(ACL_FLOAT, {2})};
      aclopCompile("Neg", 1, descs, 1, descs, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr);
      _exit(3);
    }
    REQUIRE(child > 0);
    const auto wait = [](const auto &come) {
      for (int i = 0; i < 500 && !come(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return come();
    };
    REQUIRE(wait([&] { return fs::exists(scratchPath("acl-temporary-started")); }));
    CHECK(filesIn(folder) == 1);
    kill(child, signal);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(wait([&] { return filesIn(folder) == 0; }));
  }
}
