// A model with a dynamic batch, then its scores through the operators Cast and ArgMaxD.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"

#include <cstring>

int main(int, char **argv) {
  const std::string model = argv[1], image = argv[2];
  const uint64_t batch = std::stoul(argv[3]);
  CHECK(aclInit(""));
  CHECK(aclopSetModelDir("op_models"));
  CHECK(aclrtSetDevice(0));
  uint32_t id = 0;
  CHECK(aclmdlLoadFromFile(model.c_str(), &id));
  aclmdlDesc *desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, id));
  std::vector<char> bytes = readFile(image), all;
  for (uint64_t i = 0; i < batch; ++i)
    all.insert(all.end(), bytes.begin(), bytes.end());

  aclmdlDataset *input = aclmdlCreateDataset(), *output = aclmdlCreateDataset();
  for (size_t i = 0; i < aclmdlGetNumInputs(desc); ++i) {
    const bool isGear = strcmp(aclmdlGetInputNameByIndex(desc, i), ACL_DYNAMIC_TENSOR_NAME) == 0;
    const size_t size = isGear ? aclmdlGetInputSizeByIndex(desc, i) : all.size();
    void *data = toDevice(all.data(), size);
    CHECK(aclmdlAddDatasetBuffer(input, aclCreateDataBuffer(data, size)));
  }
  const size_t size = aclmdlGetOutputSizeByIndex(desc, 0);
  void *scores = nullptr;
  CHECK(aclrtMalloc(&scores, size, ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(aclmdlAddDatasetBuffer(output, aclCreateDataBuffer(scores, size)));
  size_t gear = 0;
  CHECK(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_TENSOR_NAME, &gear));
  CHECK(aclmdlSetDynamicBatchSize(id, input, gear, batch));
  CHECK(aclmdlExecute(id, input, output));
  aclmdlIODims dims;
  CHECK(aclmdlGetCurOutputDims(desc, 0, &dims));
  const int64_t classes = dims.dims[1];
  printf("%d %d\n", static_cast<int>(dims.dims[0]), static_cast<int>(classes));

  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  const int64_t one = 1;
  aclTensorDesc *floats = aclCreateTensorDesc(ACL_FLOAT, 1, &classes, ACL_FORMAT_ND);
  aclTensorDesc *halves = aclCreateTensorDesc(ACL_FLOAT16, 1, &classes, ACL_FORMAT_ND);
  aclTensorDesc *index = aclCreateTensorDesc(ACL_INT32, 1, &one, ACL_FORMAT_ND);
  void *half = nullptr, *best = nullptr;
  CHECK(aclrtMalloc(&half, aclGetTensorDescSize(halves), ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(aclrtMalloc(&best, sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
  aclDataBuffer *from = aclCreateDataBuffer(scores, aclGetTensorDescSize(floats));
  aclDataBuffer *middle = aclCreateDataBuffer(half, aclGetTensorDescSize(halves));
  aclDataBuffer *to = aclCreateDataBuffer(best, sizeof(int32_t));
  CHECK(aclopCast(floats, from, halves, middle, 0, stream));
  aclopAttr *attr = aclopCreateAttr();
  CHECK(aclopSetAttrInt(attr, "dimension", 0));
  CHECK(aclopExecuteV2("ArgMaxD", 1, &halves, &middle, 1, &index, &to, attr, stream));
  CHECK(aclrtSynchronizeStream(stream));
  int32_t digit = -1;
  CHECK(aclrtMemcpy(&digit, sizeof digit, best, sizeof digit, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("%d\n", digit);

  aclopDestroyAttr(attr);
  for (aclTensorDesc *tensor : {floats, halves, index})
    aclDestroyTensorDesc(tensor);
  CHECK(aclmdlDestroyDesc(desc));
  CHECK(aclmdlUnload(id));
  CHECK(aclmdlDestroyDataset(input));
  CHECK(aclmdlDestroyDataset(output));
  CHECK(aclrtResetDevice(0)); // with what the program has left
  CHECK(aclFinalize());
  return 0;
}
