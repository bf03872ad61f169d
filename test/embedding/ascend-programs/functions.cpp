// Operators as functions: a matrix product of a transposed view, a sum, softmax of each row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/level2/aclnn_matmul.h"

typedef aclnnStatus (*Execute)(void *, uint64_t, aclOpExecutor *, aclrtStream);

static void run(Execute execute, uint64_t size, aclOpExecutor *executor, aclrtStream stream) {
  void *workspace = nullptr;
  if (size > 0)
    CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(execute(workspace, size, executor, stream));
  CHECK(aclrtSynchronizeStream(stream));
  if (workspace)
    CHECK(aclrtFree(workspace));
}

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclnnInit(nullptr));
  aclrtStream stream = nullptr;
  CHECK(aclrtCreateStream(&stream));
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {0.5f, -0.5f};
  std::vector<float> c(4);
  void *left = toDevice(a.data(), 24), *right = toDevice(b.data(), 8),
       *out = toDevice(c.data(), 16);
  const int64_t dims[] = {2, 3}, turned[] = {3, 2}, columns[] = {1, 3}, square[] = {2, 2},
                row[] = {2};
  aclTensor *x = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, left);
  aclTensor *xT = aclCreateTensor(turned, 2, ACL_FLOAT, columns, 0, ACL_FORMAT_ND, dims, 2, left);
  aclTensor *bias = aclCreateTensor(row, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, row, 1, right);
  aclTensor *y = aclCreateTensor(square, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, square, 2, out);
  float factor = 2;
  aclScalar *alpha = aclCreateScalar(&factor, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(aclnnMatmulGetWorkspaceSize(x, xT, y, 1, &size, &executor));
  run(aclnnMatmul, size, executor, stream);
  CHECK(aclnnInplaceAddGetWorkspaceSize(y, bias, alpha, &size, &executor));
  run(aclnnInplaceAdd, size, executor, stream);
  CHECK(aclrtMemcpy(c.data(), 16, out, 16, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]); // 14 32 32 77 and 1 -1
  CHECK(aclnnSoftmaxGetWorkspaceSize(y, 1, y, &size, &executor));
  run(aclnnSoftmax, size, executor, stream);
  CHECK(aclrtMemcpy(c.data(), 16, out, 16, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("%.3f %.3f\n", c[0] + c[1], c[3]);
  for (aclTensor *tensor : {x, xT, bias, y})
    CHECK(aclDestroyTensor(tensor));
  CHECK(aclDestroyScalar(alpha));
  for (void *memory : {left, right, out})
    CHECK(aclrtFree(memory));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclnnFinalize());
  CHECK(aclFinalize());
  return 0;
}
