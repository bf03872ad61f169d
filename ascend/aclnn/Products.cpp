//===-- Products.cpp - aclnn functions of matrices and images -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace atc::ascend {

View product(Plan &plan, const View &left, const View &right) {
  if (!plan.isGood())
    return {};
  if (left.dims.empty() || right.dims.empty()) {
    plan.reject("a matrix product takes tensors with at least 1 dim");
    return {};
  }
  const bool isRow = left.dims.size() == 1, isColumn = right.dims.size() == 1;
  const aclDataType type = promoted(left.type, right.type);
  View a = plan.dense(left, type), b = plan.dense(right, type);
  if (isRow)
    a = plan.reshaped(a, {1, a.dims[0]});
  if (isColumn)
    b = plan.reshaped(b, {b.dims[0], 1});
  const int64_t depth = a.dims.back(), other = b.dims[b.dims.size() - 2];
  auto dims =
      broadcastDims(Dims(a.dims.begin(), a.dims.end() - 2), Dims(b.dims.begin(), b.dims.end() - 2));
  if (depth != other || !dims) {
    plan.reject("%s and %s cannot be multiplied", textOf(left.dims).c_str(),
                textOf(right.dims).c_str());
    return {};
  }
  dims->push_back(a.dims[a.dims.size() - 2]);
  dims->push_back(b.dims.back());
  View result =
      plan.apply(dims->size() > 2 ? "BatchMatMulV2" : "MatMulV2", {a, b}, {{type, *dims}})[0];
  Dims shown = *dims;
  if (isColumn)
    shown.pop_back();
  if (isRow)
    shown.erase(shown.end() - (isColumn ? 1 : 2));
  return plan.isGood() ? plan.reshaped(result, shown) : result;
}

View unblocked(Plan &plan, View blocks, int64_t rows, int64_t columns, const char *name) {
  if (!plan.isGood())
    return {};
  // Blocks: those of the columns first, in each the blocks of the rows.
  const Dims dims = blocks.dims, steps = blocks.strides;
  blocks.dims = {dims[1], dims[2], dims[0], dims[3]};
  blocks.strides = {steps[1], steps[2], steps[0], steps[3]};
  blocks = plan.dense(blocks, blocks.type);
  if (plan.isGood())
    blocks = plan.reshaped(blocks, {dims[1] * dims[2], dims[0] * dims[3]});
  if (plan.isGood() && (blocks.dims[0] < rows || blocks.dims[1] < columns))
    plan.reject("%s holds %s in FRACTAL_NZ, which is less than [%lld, %lld]", name,
                textOf(blocks.dims).c_str(), (long long)rows, (long long)columns);
  if (plan.isGood())
    blocks.dims = {rows, columns}; // blocks at the ends are filled up
  return blocks;
}

} // namespace atc::ascend

namespace {

void checkCubeMathType(Plan &plan, int8_t type) {
  if (type < 0 || type > 3)
    plan.reject("cubeMathType is %d; give 0 to 3", int(type));
}

aclnnStatus productPlan(const char *function, const aclTensor *self, const aclTensor *mat2,
                        aclTensor *out, int8_t cubeMathType, size_t rank, uint64_t *size,
                        aclOpExecutor **executor) {
  Plan plan(function);
  const View left = plan.input(self, "self"), right = plan.input(mat2, "mat2");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && rank && (left.dims.size() != rank || right.dims.size() != rank))
    plan.reject("self and mat2 must have %zu dims", rank);
  plan.write(product(plan, left, right), plan.output(out, "out"));
  return plan.finish(size, executor);
}

} // namespace

#define ACLNN_PRODUCT(name, rank)                                                                  \
  aclnnStatus aclnn##name##GetWorkspaceSize(const aclTensor *self, const aclTensor *mat2,          \
                                            aclTensor *out, int8_t cubeMathType, uint64_t *size,   \
                                            aclOpExecutor **executor) {                            \
    return productPlan(__func__, self, mat2, out, cubeMathType, rank, size, executor);             \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_PRODUCT(Matmul, 0)

aclnnStatus aclnnMatmulWeightNzGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2,
                                                aclTensor *out, int8_t cubeMathType, uint64_t *size,
                                                aclOpExecutor **executor) {
  Plan plan(__func__);
  const View left = plan.input(self, "self"), result = plan.output(out, "out");
  View right = plan.input(mat2, "mat2");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && left.dims.size() != 2 && right.dims.size() == 4)
    plan.reject("self %s must have 2 dims where mat2 has the 4 of FRACTAL_NZ",
                textOf(left.dims).c_str());
  if (plan.isGood() && right.dims.size() == 4)
    right =
        unblocked(plan, right, left.dims[1],
                  result.dims.size() == 2 ? result.dims[1] : right.dims[0] * right.dims[3], "mat2");
  plan.write(product(plan, left, right), result);
  return plan.finish(size, executor);
}
ACLNN_RUN(MatmulWeightNz)

ACLNN_PRODUCT(Mm, 2)
ACLNN_PRODUCT(BatchMatMul, 3)

/// Adds a product, times alpha, to beta times a tensor that is broadcast.
static View addedProduct(Plan &plan, const View &base, const View &given, double beta,
                         double alpha) {
  View result = given;
  if (plan.isGood() && alpha != 1)
    result = plan.map("Mul", {result, plan.constant(alpha, result.type)});
  if (plan.isGood() && beta != 0) {
    View scaled = plan.dense(base, result.type);
    if (beta != 1)
      scaled = plan.map("Mul", {scaled, plan.constant(beta, result.type)});
    result = plan.map("Add", {result, scaled});
  }
  return result;
}

/// Makes the plan of beta * self + alpha * left x right, of which each has so many dims.
static aclnnStatus addedProductPlan(const char *function, const aclTensor *self,
                                    const aclTensor *left, const aclTensor *right,
                                    const aclScalar *beta, const aclScalar *alpha, aclTensor *out,
                                    int8_t cubeMathType, size_t leftRank, size_t rightRank,
                                    bool isSum, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(function);
  const View base = plan.input(self, "self"), a = plan.input(left, "the first factor"),
             b = plan.input(right, "the second factor"), y = plan.output(out, "out");
  checkCubeMathType(plan, cubeMathType);
  const double byBase = plan.number(beta, "beta"), byProduct = plan.number(alpha, "alpha");
  if (plan.isGood() && (a.dims.size() != leftRank || b.dims.size() != rightRank))
    plan.reject("the factors must have %zu and %zu dims", leftRank, rightRank);
  View result = product(plan, a, b);
  if (isSum)
    result = reduced(plan, "ReduceSumD", result, {0}, false, result.type);
  plan.write(addedProduct(plan, base, result, byBase, byProduct), y);
  return plan.finish(size, executor);
}

aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor *self, const aclTensor *mat1,
                                       const aclTensor *mat2, const aclScalar *beta,
                                       const aclScalar *alpha, aclTensor *out, int8_t cubeMathType,
                                       uint64_t *size, aclOpExecutor **executor) {
  return addedProductPlan(__func__, self, mat1, mat2, beta, alpha, out, cubeMathType, 2, 2, false,
                          size, executor);
}
ACLNN_RUN(Addmm)
aclnnStatus aclnnAddmvGetWorkspaceSize(const aclTensor *self, const aclTensor *mat,
                                       const aclTensor *vec, const aclScalar *alpha,
                                       const aclScalar *beta, aclTensor *out, int8_t cubeMathType,
                                       uint64_t *size, aclOpExecutor **executor) {
  return addedProductPlan(__func__, self, mat, vec, beta, alpha, out, cubeMathType, 2, 1, false,
                          size, executor);
}
ACLNN_RUN(Addmv)
aclnnStatus aclnnInplaceAddmmGetWorkspaceSize(aclTensor *selfRef, const aclTensor *mat1,
                                              const aclTensor *mat2, const aclScalar *beta,
                                              const aclScalar *alpha, int8_t cubeMathType,
                                              uint64_t *size, aclOpExecutor **executor) {
  return addedProductPlan(__func__, selfRef, mat1, mat2, beta, alpha, selfRef, cubeMathType, 2, 2,
                          false, size, executor);
}
ACLNN_RUN(InplaceAddmm)
aclnnStatus aclnnInplaceBaddbmmGetWorkspaceSize(aclTensor *selfRef, const aclTensor *batch1,
                                                const aclTensor *batch2, const aclScalar *beta,
                                                const aclScalar *alpha, int8_t cubeMathType,
                                                uint64_t *size, aclOpExecutor **executor) {
  return addedProductPlan(__func__, selfRef, batch1, batch2, beta, alpha, selfRef, cubeMathType, 3,
                          3, false, size, executor);
}
ACLNN_RUN(InplaceBaddbmm)

aclnnStatus aclnnGemmGetWorkspaceSize(const aclTensor *A, const aclTensor *B, const aclTensor *C,
                                      float alpha, float beta, int64_t transA, int64_t transB,
                                      aclTensor *out, int8_t cubeMathType, uint64_t *size,
                                      aclOpExecutor **executor) {
  Plan plan(__func__);
  const View left = plan.input(A, "A"), right = plan.input(B, "B"), base = plan.input(C, "C"),
             y = plan.output(out, "out");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && (left.dims.size() != 2 || right.dims.size() != 2))
    plan.reject("A and B must have 2 dims");
  if (plan.isGood())
    plan.write(addedProduct(plan, base,
                            product(plan, transA ? permuted(left, {1, 0}) : left,
                                    transB ? permuted(right, {1, 0}) : right),
                            beta, alpha),
               y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Gemm)

#define ACLNN_ADDED_BATCHES(name, isSum)                                                           \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2,                     \
      const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType,          \
      uint64_t *size, aclOpExecutor **executor) {                                                  \
    return addedProductPlan(__func__, self, batch1, batch2, beta, alpha, out, cubeMathType, 3, 3,  \
                            isSum, size, executor);                                                \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_ADDED_BATCHES(Baddbmm, false)
ACLNN_ADDED_BATCHES(Addbmm, true)

aclnnStatus aclnnMvGetWorkspaceSize(const aclTensor *self, const aclTensor *vec, aclTensor *out,
                                    int8_t cubeMathType, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View matrix = plan.input(self, "self"), vector = plan.input(vec, "vec"),
             y = plan.output(out, "out");
  checkCubeMathType(plan, cubeMathType);
  if (plan.isGood() && (matrix.dims.size() != 2 || vector.dims.size() != 1))
    plan.reject("self must have 2 dims, and vec 1");
  plan.write(product(plan, matrix, vector), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(Mv)

static View innerProduct(Plan &plan, const View &left, const View &right) {
  if (plan.isGood() && (left.dims.size() != 1 || left.dims != right.dims))
    plan.reject("self and tensor must be vectors of one length");
  const View products = combined(plan, "Mul", left, right);
  return reduced(plan, "ReduceSumD", products, {0}, false, products.type);
}
ACLNN_FUNCTION(Dot, (const aclTensor *self, const aclTensor *tensor, aclTensor *out), out,
               innerProduct(plan, IN(self), IN(tensor)))

static View outerProduct(Plan &plan, const View &left, const View &right) {
  if (plan.isGood() && (left.dims.size() != 1 || right.dims.size() != 1))
    plan.reject("what is multiplied must be vectors");
  if (!plan.isGood())
    return {};
  return combined(plan, "Mul", plan.reshaped(plan.dense(left, left.type), {left.dims[0], 1}),
                  right);
}
ACLNN_FUNCTION(Ger, (const aclTensor *self, const aclTensor *vec2, aclTensor *out), out,
               outerProduct(plan, IN(self), IN(vec2)))
static View addedOuterProduct(Plan &plan, const View &self, const View &left, const View &right,
                              const aclScalar *beta, const aclScalar *alpha) {
  auto factorOf = [&](const aclScalar *handle, const char *name) {
    return handle ? plan.number(handle, name) : 1;
  };
  const double byBase = factorOf(beta, "betaOptional"),
               byProduct = factorOf(alpha, "alphaOptional");
  return addedProduct(plan, self, outerProduct(plan, left, right), byBase, byProduct);
}
ACLNN_FUNCTION(Addr,
               (const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2,
                const aclScalar *betaOptional, const aclScalar *alphaOptional, aclTensor *out),
               out,
               addedOuterProduct(plan, IN(self), IN(vec1), IN(vec2), betaOptional, alphaOptional))
ACLNN_FUNCTION(InplaceAddr,
               (aclTensor * selfRef, const aclTensor *vec1, const aclTensor *vec2,
                const aclScalar *betaOptional, const aclScalar *alphaOptional),
               selfRef,
               addedOuterProduct(plan, IN(selfRef), IN(vec1), IN(vec2), betaOptional,
                                 alphaOptional))

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType,
                                             uint64_t *weightTensorSize) {
  auto shape = tensorShape ? intArrays().find(tensorShape) : nullptr;
  if (!tensorShape || !weightTensorSize)
    return fail(aclnnIsNull, __func__, "%s is NULL",
                tensorShape ? "weightTensorSize" : "tensorShape");
  if (!shape || shape->values.size() < 2 || bitsOf(dataType) % 8 || !bitsOf(dataType))
    return fail(aclnnIsInvalid, __func__,
                "tensorShape must have 2 dims or more, and dataType %d "
                "be of whole bytes",
                int(dataType));
  // Blocks of 32 bytes by 16 rows.
  const int64_t bytes = int64_t(bitsOf(dataType) / 8), wide = 32 / std::min<int64_t>(bytes, 32);
  uint64_t count = uint64_t(bytes);
  for (size_t i = 0; i < shape->values.size(); ++i) {
    const int64_t block = i + 1 == shape->values.size()   ? wide
                          : i + 2 == shape->values.size() ? 16
                                                          : 1;
    if (shape->values[i] < 0 || shape->values[i] > (int64_t{1} << 30))
      return fail(aclnnIsInvalid, __func__, "tensorShape has %lld", (long long)shape->values[i]);
    count *= uint64_t((shape->values[i] + block - 1) / block * block);
  }
  *weightTensorSize = count;
  return 0;
}

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape,
                                           uint64_t *weightTensorSize) {
  return aclnnCalculateMatmulWeightSizeV2(tensorShape, ACL_FLOAT16, weightTensorSize);
}

aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(aclTensor *mmWeightRef, uint64_t *size,
                                                   aclOpExecutor **executor) {
  Plan plan(__func__);
  const View weight = plan.output(mmWeightRef, "mmWeightRef");
  if (plan.isGood() && weight.dims.size() < 2)
    plan.reject("mmWeightRef must have 2 dims or more");
  return plan.finish(size, executor); // products read weights as they are
}
ACLNN_RUN(TransMatmulWeight)
