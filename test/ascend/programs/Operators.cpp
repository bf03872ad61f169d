//===-- Operators.cpp - operators one by one ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes a small classifier without a model: operators that are compiled when they are called
// for the first time, operators of a folder of files, functions of aclnnop/ and a product of
// acl_cblas. Every part computes the same, and must agree. Usage: operators FOLDER

#include "acl/acl_op_compiler.h"
#include "acl/ops/acl_cblas.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_softmax.h"
#include "test/ascend/programs/Program.h"

#include <cmath>
#include <memory>

namespace {

constexpr int64_t rows = 16, depth = 32, columns = 16;

/// A tensor of halves on the device, with a description and a buffer.
struct Tensor {
  explicit Tensor(std::vector<int64_t> dims, aclDataType type = ACL_FLOAT16)
      : dims(std::move(dims)), type(type) {
    desc = aclCreateTensorDesc(type, int(this->dims.size()), this->dims.data(), ACL_FORMAT_ND);
    EXPECT(desc);
    bytes = aclGetTensorDescSize(desc);
    CHECK_ACL(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    buffer = aclCreateDataBuffer(data, bytes);
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() {
    aclDestroyTensorDesc(desc);
    CHECK_ACL(aclDestroyDataBuffer(buffer));
    CHECK_ACL(aclrtFree(data));
  }
  void set(const std::vector<float> &values) {
    std::vector<aclFloat16> halves;
    for (float value : values)
      halves.push_back(aclFloatToFloat16(value));
    EXPECT(halves.size() * sizeof(aclFloat16) == bytes);
    CHECK_ACL(aclrtMemcpy(data, bytes, halves.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<float> get() const {
    std::vector<aclFloat16> halves(bytes / sizeof(aclFloat16));
    CHECK_ACL(aclrtMemcpy(halves.data(), bytes, data, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    std::vector<float> values;
    for (aclFloat16 half : halves)
      values.push_back(aclFloat16ToFloat(half));
    return values;
  }
  /// Returns the same memory as a tensor of the functions of aclnnop/.
  aclTensor *view() const {
    return aclCreateTensor(dims.data(), dims.size(), type, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                           dims.size(), data);
  }

  const std::vector<int64_t> dims;
  const aclDataType type;
  aclTensorDesc *desc = nullptr;
  aclDataBuffer *buffer = nullptr;
  void *data = nullptr;
  size_t bytes = 0;
};

/// Attributes of an operator.
using Attributes = std::unique_ptr<aclopAttr, void (*)(const aclopAttr *)>;
Attributes attributes() { return {aclopCreateAttr(), aclopDestroyAttr}; }

void compileAndExecute(const char *type, const std::vector<const Tensor *> &given, Tensor &wanted,
                       const aclopAttr *attr, aclrtStream stream) {
  std::vector<const aclTensorDesc *> descs;
  std::vector<const aclDataBuffer *> buffers;
  for (const Tensor *tensor : given) {
    descs.push_back(tensor->desc);
    buffers.push_back(tensor->buffer);
  }
  const aclTensorDesc *outputDescs[] = {wanted.desc};
  aclDataBuffer *outputs[] = {wanted.buffer};
  CHECK_ACL(aclopCompileAndExecute(type, int(given.size()), descs.data(), buffers.data(), 1,
                                   outputDescs, outputs, attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS,
                                   nullptr, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
}

/// Executes an operator that a file of the folder of aclopSetModelDir has.
void execute(const char *type, std::vector<Tensor *> given, Tensor &wanted, aclopAttr *attr,
             aclrtStream stream) {
  std::vector<aclTensorDesc *> descs;
  std::vector<aclDataBuffer *> buffers;
  for (Tensor *tensor : given) {
    descs.push_back(tensor->desc);
    buffers.push_back(tensor->buffer);
  }
  CHECK_ACL(aclopExecuteV2(type, int(given.size()), descs.data(), buffers.data(), 1, &wanted.desc,
                           &wanted.buffer, attr, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
}

/// Runs the second half of a function of aclnnop/.
template <typename Function>
void finish(Function function, uint64_t workspaceBytes, aclOpExecutor *executor,
            aclrtStream stream) {
  void *workspace = nullptr;
  if (workspaceBytes > 0)
    CHECK_ACL(aclrtMalloc(&workspace, workspaceBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(function(workspace, workspaceBytes, executor, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
  if (workspace)
    CHECK_ACL(aclrtFree(workspace));
}

double difference(const std::vector<float> &a, const std::vector<float> &b) {
  EXPECT(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, double(std::abs(a[i] - b[i])));
  return largest;
}

} // namespace

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  Resource resource;
  const aclrtStream stream = resource.stream;
  Tensor x({rows, depth}), w({depth, columns}), products({rows, columns}), positive(products.dims),
      shares(products.dims);
  std::vector<float> xs, ws, wanted(size_t(rows * columns));
  for (int64_t i = 0; i < rows * depth; ++i)
    xs.push_back(float(i * 7 % 17 - 8) / 8);
  for (int64_t i = 0; i < depth * columns; ++i)
    ws.push_back(float(i * 5 % 13 - 6) / 8);
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int64_t column = 0; column < columns; ++column) {
      float product = 0;
      for (int64_t k = 0; k < depth; ++k)
        product += xs[size_t(row * depth + k)] * ws[size_t(k * columns + column)];
      sum += wanted[size_t(row * columns + column)] = std::exp(std::max(product, 0.f));
    }
    for (int64_t column = 0; column < columns; ++column)
      wanted[size_t(row * columns + column)] /= sum;
  }
  x.set(xs);
  w.set(ws);

  // Compiled when they are called.
  {
    Attributes product = attributes(), none = attributes(), along = attributes();
    CHECK_ACL(aclopSetAttrBool(product.get(), "transpose_x1", 0));
    CHECK_ACL(aclopSetAttrBool(product.get(), "transpose_x2", 0));
    const int64_t axes[] = {-1};
    CHECK_ACL(aclopSetAttrListInt(along.get(), "axes", 1, axes));
    compileAndExecute("MatMul", {&x, &w}, products, product.get(), stream);
    compileAndExecute("Relu", {&products}, positive, none.get(), stream);
    compileAndExecute("SoftmaxV2", {&positive}, shares, along.get(), stream);
    printf("compiled %.4f\n", difference(shares.get(), wanted));
  }
  // Of a folder: half of the floats, and the largest share of each row.
  CHECK_ACL(aclopSetModelDir(argv[1]));
  {
    Tensor floats({rows * columns}, ACL_FLOAT), halves({rows * columns}), best({rows}, ACL_INT32);
    CHECK_ACL(aclrtMemcpy(floats.data, floats.bytes, wanted.data(), floats.bytes,
                          ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_ACL(aclopCast(floats.desc, floats.buffer, halves.desc, halves.buffer, 0, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    printf("cast %.4f\n", difference(halves.get(), wanted));
    Attributes along = attributes();
    CHECK_ACL(aclopSetAttrInt(along.get(), "dimension", 1));
    execute("ArgMaxD", {&shares}, best, along.get(), stream);
    std::vector<int32_t> indices(rows);
    CHECK_ACL(
        aclrtMemcpy(indices.data(), best.bytes, best.data, best.bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    const std::vector<float> values = shares.get();
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        EXPECT(values[size_t(row * columns + column)] <=
               values[size_t(row * columns + indices[size_t(row)])]);
    printf("best %d\n", indices[0]);
  }
  // Functions.
  {
    aclTensor *a = x.view(), *b = w.view(), *c = products.view(), *d = positive.view(),
              *e = shares.view();
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    CHECK_ACL(aclrtMemset(shares.data, shares.bytes, 0, shares.bytes));
    CHECK_ACL(aclnnMatmulGetWorkspaceSize(a, b, c, /*cubeMathType=*/1, &bytes, &executor));
    finish(aclnnMatmul, bytes, executor, stream);
    CHECK_ACL(aclnnReluGetWorkspaceSize(c, d, &bytes, &executor));
    finish(aclnnRelu, bytes, executor, stream);
    CHECK_ACL(aclnnSoftmaxGetWorkspaceSize(d, -1, e, &bytes, &executor));
    finish(aclnnSoftmax, bytes, executor, stream);
    printf("functions %.4f\n", difference(shares.get(), wanted));
    for (aclTensor *tensor : {a, b, c, d, e})
      CHECK_ACL(aclDestroyTensor(tensor));
  }
  // The product of acl_cblas, with factors on the device.
  {
    Tensor alpha({1}), beta({1});
    alpha.set({2});
    beta.set({0});
    CHECK_ACL(aclblasGemmEx(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, int(rows), int(columns),
                            int(depth), alpha.data, x.data, -1, ACL_FLOAT16, w.data, -1,
                            ACL_FLOAT16, beta.data, positive.data, -1, ACL_FLOAT16,
                            ACL_COMPUTE_HIGH_PRECISION, stream));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    std::vector<float> twice = products.get();
    for (float &value : twice)
      value *= 2;
    printf("product %.4f\n", difference(positive.get(), twice));
  }
  return 0;
}
