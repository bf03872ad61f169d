//===-- ModelTest.cpp - models are loaded, described and executed ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "openatc/npu.h"
#include "openatc/om.hpp"
#include "test/ascend/AclTest.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

// x[64,48] -> sums[64], picked/relu[1,5,3,4] and quadrupled[64], which an NPU computes.
const char *const path = OPENATC_TEST_GOLDEN "/schema-1.3.om";
constexpr size_t inputBytes = 64 * 48 * 4;

std::vector<char> fileBytes() {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> inputValues() {
  std::vector<float> values(64 * 48);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 17) - 8;
  return values;
}

/// What the runtime itself computes.
std::vector<std::vector<float>> expected() {
  om::Error error;
  om::Model model = om::Model::loadFile(path, error);
  REQUIRE(model);
  om_npu *npu = nullptr;
  REQUIRE(om_npu_simulator(nullptr, &npu, nullptr) == OM_OK);
  om_session_options options = OM_SESSION_OPTIONS_INIT;
  options.device = om_npu_device(npu);
  std::vector<std::vector<float>> results;
  {
    om::Session session(model, error, options);
    REQUIRE(session);
    om::Buffer x(inputBytes), sums(64 * 4), picks(60 * 4), quadrupled(64 * 4);
    const std::vector<float> values = inputValues();
    memcpy(x.data(), values.data(), inputBytes);
    const void *inputs[] = {x.data()};
    void *outputs[] = {sums.data(), picks.data(), quadrupled.data()};
    REQUIRE(session.run(inputs, outputs, error));
    for (auto *buffer : {&sums, &picks, &quadrupled}) {
      const float *data = buffer->data<float>();
      results.emplace_back(data, data + (buffer == &picks ? 60 : 64));
    }
  }
  om_npu_free(npu);
  return results;
}

/// Datasets with device memory for all inputs and outputs; `shift` moves every address.
struct Datasets {
  explicit Datasets(aclmdlDesc *desc, size_t shift = 0) {
    for (size_t i = 0; i < aclmdlGetNumInputs(desc); ++i)
      add(input, aclmdlGetInputSizeByIndex(desc, i), shift);
    for (size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i)
      add(output, aclmdlGetOutputSizeByIndex(desc, i), shift);
  }
  Datasets(const Datasets &) = delete;
  Datasets &operator=(const Datasets &) = delete;
  ~Datasets() {
    CHECK(aclmdlDestroyDataset(input) == ACL_SUCCESS);
    CHECK(aclmdlDestroyDataset(output) == ACL_SUCCESS);
    for (aclDataBuffer *buffer : buffers)
      CHECK(aclDestroyDataBuffer(buffer) == ACL_SUCCESS);
    for (void *block : memory)
      CHECK(aclrtFree(block) == ACL_SUCCESS);
  }

  void add(aclmdlDataset *dataset, size_t bytes, size_t shift) {
    void *data = nullptr;
    REQUIRE(aclrtMalloc(&data, bytes + shift, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    memory.push_back(data);
    buffers.push_back(aclCreateDataBuffer(static_cast<char *>(data) + shift, bytes));
    REQUIRE(aclmdlAddDatasetBuffer(dataset, buffers.back()) == ACL_SUCCESS);
  }

  void set(const std::vector<float> &values) {
    aclDataBuffer *buffer = aclmdlGetDatasetBuffer(input, 0);
    REQUIRE(aclrtMemcpy(aclGetDataBufferAddr(buffer), aclGetDataBufferSizeV2(buffer), values.data(),
                        values.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
  }

  std::vector<float> get(size_t index) {
    aclDataBuffer *buffer = aclmdlGetDatasetBuffer(output, index);
    std::vector<float> values(aclGetDataBufferSizeV2(buffer) / 4);
    REQUIRE(aclrtMemcpy(values.data(), values.size() * 4, aclGetDataBufferAddr(buffer),
                        values.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    return values;
  }

  aclmdlDataset *input = aclmdlCreateDataset(), *output = aclmdlCreateDataset();
  std::vector<aclDataBuffer *> buffers;
  std::vector<void *> memory;
};

void checkRun(uint32_t id, size_t shift = 0) {
  aclmdlDesc *desc = aclmdlCreateDesc();
  GOOD(aclmdlGetDesc(desc, id));
  {
    Datasets data(desc, shift);
    data.set(inputValues());
    GOOD(aclmdlExecute(id, data.input, data.output));
    const auto wanted = expected();
    for (size_t i = 0; i < wanted.size(); ++i)
      CHECK(data.get(i) == wanted[i]);
  }
  GOOD(aclmdlDestroyDesc(desc));
}

} // namespace

TEST_CASE("a model is loaded in every form") {
  Started started;
  uint32_t id = 0;
  GOOD(aclmdlLoadFromFile(path, &id));
  checkRun(id);
  checkRun(id, 4); // addresses that no kernel could use in place
  GOOD(aclmdlUnload(id));
  BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlUnload(id));

  size_t work = 0, weights = 0;
  GOOD(aclmdlQuerySize(path, &work, &weights));
  CHECK((work > 0 && weights > 0));
  {
    DeviceMemory workMemory(work), weightMemory(weights);
    GOOD(aclmdlLoadFromFileWithMem(path, &id, workMemory.data, work, weightMemory.data, weights));
    checkRun(id);
    GOOD(aclmdlUnload(id));
    BAD(ACL_ERROR_INVALID_PARAM,
        aclmdlLoadFromFileWithMem(path, &id, workMemory.data, work, weightMemory.data, 1));
  }
  {
    std::vector<char> bytes = fileBytes();
    GOOD(aclmdlQuerySizeFromMem(bytes.data(), bytes.size(), &work, &weights));
    GOOD(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id));
    bytes.assign(bytes.size(), 0); // the model is a copy
    checkRun(id);
    GOOD(aclmdlUnload(id));
  }
  {
    aclmdlConfigHandle *handle = aclmdlCreateConfigHandle();
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlLoadWithConfig(handle, &id));
    size_t type = ACL_MDL_LOAD_FROM_FILE;
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetConfigOpt(handle, ACL_MDL_LOAD_TYPE_SIZET, &type, 4));
    GOOD(aclmdlSetConfigOpt(handle, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof(type)));
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlLoadWithConfig(handle, &id));
    GOOD(aclmdlSetConfigOpt(handle, ACL_MDL_PATH_PTR, &path, sizeof(void *)));
    // The folder of external weights has no meaning where all weights are in the file.
    const char *folder = ".";
    GOOD(aclmdlSetConfigOpt(handle, ACL_MDL_WEIGHT_PATH_PTR, &folder, sizeof(void *)));
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetConfigOpt(handle, ACL_MDL_WEIGHT_PATH_PTR, &folder, 2));
    GOOD(aclmdlLoadWithConfig(handle, &id));
    checkRun(id);
    GOOD(aclmdlUnload(id));
    std::vector<char> bytes = fileBytes();
    const void *data = bytes.data();
    size_t size = bytes.size();
    type = ACL_MDL_LOAD_FROM_MEM;
    GOOD(aclmdlSetConfigOpt(handle, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof(type)));
    GOOD(aclmdlSetConfigOpt(handle, ACL_MDL_MEM_ADDR_PTR, &data, sizeof(data)));
    GOOD(aclmdlSetConfigOpt(handle, ACL_MDL_MEM_SIZET, &size, sizeof(size)));
    GOOD(aclmdlLoadWithConfig(handle, &id));
    checkRun(id);
    GOOD(aclmdlUnload(id));
    GOOD(aclmdlDestroyConfigHandle(handle));
    BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlLoadWithConfig(handle, &id));
  }
}

TEST_CASE("what is no model is refused") {
  uint32_t id = 0;
  BAD(ACL_ERROR_UNINITIALIZE, aclmdlLoadFromFile(path, &id));
  BAD(ACL_ERROR_UNINITIALIZE, aclmdlBundleInitFromFile(path, nullptr, 0, &id));
  Started started;
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlLoadFromFile(nullptr, &id));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlLoadFromFile(path, nullptr));
  BAD(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, aclmdlLoadFromFile("/nowhere/model.om", &id));
  BAD(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID, aclmdlLoadFromMem("model", 5, &id));
  std::vector<char> bytes = fileBytes();
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlLoadFromMem(bytes.data(), 0, &id));
  CHECK(aclmdlLoadFromMem(bytes.data(), bytes.size() / 2, &id) != ACL_SUCCESS);
  CHECK(aclmdlLoadFromMem(bytes.data(), 16, &id) != ACL_SUCCESS);
  bytes[bytes.size() / 2] ^= 1;
  CHECK(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id) != ACL_SUCCESS);
  size_t size = 0;
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlQuerySize(path, nullptr, &size));
  BAD(ACL_ERROR_DUMP_NOT_RUN, aclmdlSetDump("acl.json"));
  BAD(ACL_ERROR_DUMP_NOT_RUN, aclmdlFinalizeDump());
  GOOD(aclmdlInitDump());
  BAD(ACL_ERROR_DUMP_ALREADY_RUN, aclmdlInitDump());
  BAD(ACL_ERROR_INVALID_FILE, aclmdlSetDump("not-there.json"));
  GOOD(aclmdlFinalizeDump());
}

TEST_CASE("a description tells names, dims, types and sizes") {
  Started started;
  uint32_t id = 0;
  GOOD(aclmdlLoadFromFile(path, &id));
  aclmdlDesc *desc = aclmdlCreateDesc();
  CHECK(aclmdlGetNumInputs(desc) == 0); // still empty
  BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlGetDesc(desc, id + 1));
  GOOD(aclmdlGetDesc(desc, id));
  GOOD(aclmdlUnload(id)); // the description stays
  CHECK(aclmdlGetNumInputs(desc) == 1);
  CHECK(aclmdlGetNumOutputs(desc) == 3);
  CHECK(aclmdlGetInputSizeByIndex(desc, 0) == inputBytes);
  CHECK(aclmdlGetOutputSizeByIndex(desc, 1) == 240);
  CHECK(aclmdlGetOutputSizeByIndex(desc, 3) == 0);
  CHECK(std::string(aclmdlGetInputNameByIndex(desc, 0)) == "x");
  CHECK(std::string(aclmdlGetOutputNameByIndex(desc, 9)).empty());
  size_t index = 7;
  GOOD(aclmdlGetOutputIndexByName(desc, "sums", &index));
  CHECK(index == 0);
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlGetInputIndexByName(desc, "y", &index));
  aclmdlIODims dims;
  GOOD(aclmdlGetInputDims(desc, 0, &dims));
  CHECK((dims.dimCount == 2 && dims.dims[0] == 64 && dims.dims[1] == 48));
  CHECK(std::string(dims.name) == "x");
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlGetInputDims(desc, 1, &dims));
  GOOD(aclmdlGetOutputDims(desc, 1, &dims));
  CHECK((dims.dimCount == 4 && dims.dims[1] == 5));
  GOOD(aclmdlGetCurOutputDims(desc, 1, &dims));
  CHECK(aclmdlGetInputDataType(desc, 0) == ACL_FLOAT);
  CHECK(aclmdlGetOutputFormat(desc, 1) == ACL_FORMAT_NCHW);
  CHECK(aclmdlGetInputFormat(desc, 0) == ACL_FORMAT_ND);
  CHECK(aclmdlGetInputDataType(desc, 5) == ACL_DT_UNDEFINED);
  aclmdlBatch batch;
  GOOD(aclmdlGetDynamicBatch(desc, &batch));
  CHECK(batch.batchCount == 0);
  aclmdlHW hw;
  GOOD(aclmdlGetDynamicHW(desc, size_t(-1), &hw));
  CHECK(hw.hwCount == 0);
  size_t gears = 9;
  GOOD(aclmdlGetInputDynamicGearCount(desc, size_t(-1), &gears));
  CHECK(gears == 0);
  GOOD(aclmdlDestroyDesc(desc));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlGetDesc(desc, id));
  CHECK(aclmdlGetNumInputs(desc) == 0);
}

TEST_CASE("buffers that do not fit the model are refused") {
  Started started;
  uint32_t id = 0;
  GOOD(aclmdlLoadFromFile(path, &id));
  aclmdlDesc *desc = aclmdlCreateDesc();
  GOOD(aclmdlGetDesc(desc, id));
  {
    Datasets data(desc);
    BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlExecute(id + 1, data.input, data.output));
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlExecute(id + 1, nullptr, data.output));
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlExecute(id, nullptr, data.output));
    BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlExecute(id, data.output, data.output));
    BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlExecute(id, data.input, data.input));
    BAD(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, aclmdlSetDynamicBatchSize(id, data.input, 0, 1));
    BAD(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, aclmdlSetDynamicHWSize(id, data.input, 0, 1, 1));
    aclmdlAIPP *aipp = aclmdlCreateAIPP(1);
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetInputAIPP(id, data.input, 0, aipp));
    GOOD(aclmdlDestroyAIPP(aipp));
    void *address = aclGetDataBufferAddr(data.buffers[0]);
    GOOD(aclUpdateDataBuffer(data.buffers[0], address, inputBytes - 1));
    BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlExecute(id, data.input, data.output));
    std::vector<char> host(inputBytes);
    GOOD(aclUpdateDataBuffer(data.buffers[0], host.data(), inputBytes));
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlExecute(id, data.input, data.output));
    GOOD(aclUpdateDataBuffer(data.buffers[0], address, inputBytes));
    GOOD(aclmdlExecute(id, data.input, data.output));
    CHECK(aclmdlGetDatasetBuffer(data.input, 1) == nullptr);
    BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE,
        aclmdlAddDatasetBuffer(data.input, reinterpret_cast<aclDataBuffer *>(desc)));
  }
  GOOD(aclmdlDestroyDesc(desc));
  GOOD(aclmdlUnload(id));
}

TEST_CASE("an execution can be queued, and everything be destroyed before it runs") {
  Started started;
  uint32_t id = 0;
  GOOD(aclmdlLoadFromFile(path, &id));
  aclmdlDesc *desc = aclmdlCreateDesc();
  GOOD(aclmdlGetDesc(desc, id));
  aclrtStream stream = nullptr;
  GOOD(aclrtCreateStream(&stream));
  std::vector<float> sums(64);
  {
    Datasets data(desc);
    data.set(inputValues());
    for (int i = 0; i < 3; ++i)
      GOOD(aclmdlExecuteAsync(id, data.input, data.output, stream));
    aclmdlExecConfigHandle *settings = aclmdlCreateExecConfigHandle();
    GOOD(aclmdlExecuteAsyncV2(id, data.input, data.output, stream, settings));
    GOOD(aclmdlExecuteV2(id, data.input, data.output, stream, settings));
    GOOD(aclmdlDestroyExecConfigHandle(settings));
    BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE,
        aclmdlExecuteAsyncV2(id, data.input, data.output, stream, settings));
    aclDataBuffer *buffer = aclmdlGetDatasetBuffer(data.output, 0);
    GOOD(aclrtMemcpyAsync(sums.data(), 256, aclGetDataBufferAddr(buffer), 256,
                          ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  GOOD(aclmdlUnload(id));
  GOOD(aclrtSynchronizeStream(stream));
  CHECK(sums == expected()[0]);
  GOOD(aclrtDestroyStream(stream));
  GOOD(aclmdlDestroyDesc(desc));
}

TEST_CASE("parameters of dynamic image preprocessing are checked") {
  size_t size = 0;
  GOOD(aclmdlGetAippDataSize(2, &size));
  CHECK(size == 64 + 2 * 96);
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlGetAippDataSize(128, &size));
  CHECK(aclmdlCreateAIPP(0) == nullptr);
  aclmdlAIPP *aipp = aclmdlCreateAIPP(2);
  GOOD(aclmdlSetAIPPInputFormat(aipp, ACL_YUV420SP_U8));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetAIPPInputFormat(aipp, ACL_RAW16));
  GOOD(aclmdlSetAIPPCscParams(aipp, 1, 256, 0, 359, 256, -88, -183, 256, 454, 0, 0, 0, 0, 0, 128,
                              128));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetAIPPRbuvSwapSwitch(aipp, 2));
  GOOD(aclmdlSetAIPPSrcImageSize(aipp, 224, 224));
  for (auto [width, height] : {std::pair{0, 224}, {1, 224}, {4097, 224}, {224, 0}, {224, 4097}})
    BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetAIPPSrcImageSize(aipp, width, height));
  GOOD(aclmdlSetAIPPCropParams(aipp, 1, 0, 0, 200, 200, 1));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetAIPPCropParams(aipp, 1, 0, 0, 200, 200, 2));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetAIPPPaddingParams(aipp, 1, 33, 0, 0, 0, 0));
  GOOD(aclmdlSetAIPPDtcPixelMean(aipp, 104, 117, 123, 0, 0));
  GOOD(aclmdlSetAIPPDtcPixelMin(aipp, 0, 0, 0, 0, 0));
  GOOD(aclmdlSetAIPPPixelVarReci(aipp, 0.0039f, 0.0039f, 0.0039f, 1, 0));
  GOOD(aclmdlDestroyAIPP(aipp));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlDestroyAIPP(aipp));
}

/// Returns a bundle that has a model twice; `head` gets what follows its first 16 bytes.
static std::vector<char> bundleOf(const std::vector<char> &model, uint64_t (&head)[5]) {
  std::vector<char> bundle;
  auto append = [&](const void *data, size_t size) {
    bundle.insert(bundle.end(), static_cast<const char *>(data),
                  static_cast<const char *>(data) + size);
  };
  const uint64_t numbers[] = {2, 56, model.size(), 56 + model.size(), model.size()};
  std::copy(std::begin(numbers), std::end(numbers), head);
  append("OpenATC bundle 1", 16);
  append(head, sizeof head);
  append(model.data(), model.size());
  append(model.data(), model.size());
  return bundle;
}

TEST_CASE("the models of a bundle are loaded one by one") {
  Started started;
  uint64_t head[5];
  const std::vector<char> model = fileBytes(), bundle = bundleOf(model, head);

  aclmdlBundleQueryInfo *query = aclmdlBundleCreateQueryInfo();
  size_t count = 0, variables = 0, work = 0, weights = 0, ownWork = 0, ownWeights = 0;
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleGetQueryModelNum(query, &count));
  GOOD(aclmdlBundleQueryInfoFromMem(bundle.data(), bundle.size(), query));
  GOOD(aclmdlBundleGetQueryModelNum(query, &count));
  CHECK(count == 2);
  GOOD(aclmdlBundleGetVarWeightSize(query, &variables));
  GOOD(aclmdlBundleGetSize(query, 1, &work, &weights));
  GOOD(aclmdlQuerySizeFromMem(model.data(), model.size(), &ownWork, &ownWeights));
  CHECK(work == ownWork);
  CHECK(weights == ownWeights);
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleGetSize(query, 2, &work, &weights));
  GOOD(aclmdlBundleQueryInfoFromFile(path, query));
  GOOD(aclmdlBundleGetQueryModelNum(query, &count));
  CHECK(count == 1);
  BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlBundleQueryInfoFromMem(bundle.data(), 40, query));
  // Neither a file of something else is a bundle, nor one of whose parts one is something else.
  BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlBundleQueryInfoFromFile("/etc/passwd", query));
  std::vector<char> changed = bundle;
  changed[56 + model.size() + 8] ^= 1;
  BAD(ACL_ERROR_GE_PARAM_INVALID,
      aclmdlBundleQueryInfoFromMem(changed.data(), changed.size(), query));
  GOOD(aclmdlBundleDestroyQueryInfo(query));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlBundleGetQueryModelNum(query, &count));

  void *shared = nullptr, *workPtr = nullptr, *weightPtr = nullptr;
  GOOD(aclrtMalloc(&shared, variables, ACL_MEM_MALLOC_NORMAL_ONLY));
  GOOD(aclrtMalloc(&workPtr, work, ACL_MEM_MALLOC_NORMAL_ONLY));
  GOOD(aclrtMalloc(&weightPtr, weights, ACL_MEM_MALLOC_NORMAL_ONLY));
  uint32_t id = 0, first = 0, second = 0, found = 0;
  BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlBundleInitFromFile("/etc/passwd", nullptr, 0, &id));
  GOOD(aclmdlBundleInitFromMem(bundle.data(), bundle.size(), shared, variables, &id));
  GOOD(aclmdlBundleGetModelNum(id, &count));
  CHECK(count == 2);
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleGetModelId(id, 1, &found));
  GOOD(aclmdlBundleLoadModelWithMem(id, 1, workPtr, work, weightPtr, weights, &second));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleLoadModel(id, 1, &second));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleLoadModel(id, 2, &first));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleLoadModelWithMem(id, 0, workPtr, 1, nullptr, 0, &first));
  GOOD(aclmdlBundleLoadModel(id, 0, &first));
  GOOD(aclmdlBundleGetModelId(id, 1, &found));
  CHECK(found == second);
  aclmdlDesc *desc = aclmdlCreateDesc();
  GOOD(aclmdlGetDesc(desc, first));
  GOOD(aclmdlBundleUnloadModel(id, first));
  BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlBundleUnloadModel(id, first));
  BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlGetDesc(desc, first));

  aclmdlConfigHandle *config = aclmdlCreateConfigHandle();
  GOOD(aclmdlSetConfigOpt(config, ACL_MDL_WORKSPACE_ADDR_PTR, &workPtr, sizeof workPtr));
  GOOD(aclmdlSetConfigOpt(config, ACL_MDL_WORKSPACE_SIZET, &work, sizeof work));
  size_t policy = ACL_MEM_MALLOC_HUGE_FIRST;
  GOOD(aclmdlSetConfigOpt(config, ACL_MDL_MEM_MALLOC_POLICY_SIZET, &policy, sizeof policy));
  BAD(ACL_ERROR_API_NOT_SUPPORT,
      aclmdlSetConfigOpt(config, ACL_MDL_KERNEL_PTR, &workPtr, sizeof workPtr));
  GOOD(aclmdlSetExternalWeightAddress(config, "weight_0", weightPtr, weights));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlSetExternalWeightAddress(config, "weight_0", weightPtr, 0));
  GOOD(aclmdlBundleLoadModelWithConfig(id, 0, config, &first));
  GOOD(aclmdlBundleUnloadModel(id, first));
  GOOD(aclmdlDestroyConfigHandle(config));
  BAD(ACL_ERROR_INVALID_RESOURCE_HANDLE, aclmdlBundleLoadModelWithConfig(id, 0, config, &first));
  GOOD(aclmdlBundleUnload(id));
  BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlGetDesc(desc, second));
  BAD(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, aclmdlBundleLoadModel(id, 0, &first));
  GOOD(aclmdlDestroyDesc(desc));

  GOOD(aclmdlBundleInitFromFile(path, nullptr, 0, &id));
  GOOD(aclmdlBundleLoadModel(id, 0, &first));
  // A model that the program has unloaded by its own id is loaded again.
  GOOD(aclmdlUnload(first));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleGetModelId(id, 0, &found));
  GOOD(aclmdlBundleLoadModel(id, 0, &second));
  CHECK(second != first);
  GOOD(aclmdlBundleGetModelId(id, 0, &found));
  CHECK(found == second);
  GOOD(aclmdlBundleUnload(id));
  for (void *memory : {shared, workPtr, weightPtr})
    GOOD(aclrtFree(memory));
}

TEST_CASE("a bundle has several models") {
  Started started;
  uint64_t head[5];
  const std::vector<char> model = fileBytes();
  std::vector<char> bundle = bundleOf(model, head);

  uint32_t id = 0, first = 0, second = 0;
  size_t count = 0;
  GOOD(aclmdlBundleLoadFromMem(bundle.data(), bundle.size(), &id));
  GOOD(aclmdlBundleGetModelNum(id, &count));
  CHECK(count == 2);
  GOOD(aclmdlBundleGetModelId(id, 0, &first));
  GOOD(aclmdlBundleGetModelId(id, 1, &second));
  CHECK(first != second);
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleGetModelId(id, 2, &second));
  aclmdlDesc *desc = aclmdlCreateDesc();
  GOOD(aclmdlGetDesc(desc, second));
  CHECK(aclmdlGetNumInputs(desc) > 0);
  GOOD(aclmdlBundleUnload(id));
  BAD(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, aclmdlGetDesc(desc, second));
  BAD(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, aclmdlBundleUnload(id));
  BAD(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, aclmdlBundleGetModelNum(id, &count));
  GOOD(aclmdlDestroyDesc(desc));

  GOOD(aclmdlBundleLoadFromFile(path, &id));
  GOOD(aclmdlBundleGetModelNum(id, &count));
  CHECK(count == 1);
  // Nothing is kept from which a model that was unloaded could be loaded again.
  GOOD(aclmdlBundleGetModelId(id, 0, &first));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleLoadModel(id, 0, &second));
  GOOD(aclmdlBundleUnloadModel(id, first));
  BAD(ACL_ERROR_INVALID_PARAM, aclmdlBundleLoadModel(id, 0, &second));
  BAD(ACL_ERROR_INVALID_PARAM,
      aclmdlBundleLoadModelWithMem(id, 0, nullptr, 0, nullptr, 0, &second));
  GOOD(aclmdlBundleUnload(id));
  // Each cut and each offset that leaves the file is one error, and nothing stays loaded.
  for (size_t size : {size_t(16), size_t(23), size_t(40), size_t(56), bundle.size() - 1})
    BAD(ACL_ERROR_GE_PARAM_INVALID, aclmdlBundleLoadFromMem(bundle.data(), size, &id));
  for (uint64_t wrong : {uint64_t(0), uint64_t(3), UINT64_MAX, UINT64_MAX / 16 + 2}) {
    memcpy(bundle.data() + 16, &wrong, sizeof wrong);
    CHECK(aclmdlBundleLoadFromMem(bundle.data(), bundle.size(), &id) != ACL_SUCCESS);
  }
  memcpy(bundle.data() + 16, head, sizeof head);
  bundle[bundle.size() - 1] ^= 1; // in the second model
  CHECK(aclmdlBundleLoadFromMem(bundle.data(), bundle.size(), &id) != ACL_SUCCESS);
  BAD(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, aclmdlBundleLoadFromFile("/nowhere/bundle.om", &id));
}
