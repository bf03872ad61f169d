//===-- TensorDesc.cpp - tensor descriptions ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Buffers.h"
#include "ascend/src/Errors.h"

#include <algorithm>
#include <cstring>

using namespace atc::ascend;

namespace {

constexpr int maxDims = 128;

/// Returns a description, or null and a message for functions that return no code.
std::shared_ptr<TensorDesc> descOf(const char *function, const aclTensorDesc *handle) {
  auto found = tensorDescs().find(handle);
  if (!found)
    fail(handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM, function,
         "desc (%p) was destroyed, or is no tensor description", static_cast<const void *>(handle));
  return found;
}

/// Checks and copies dims; sets `unknownRank` for the single dim -2.
aclError readDims(const char *function, int numDims, const int64_t *dims,
                  std::vector<int64_t> &result, bool &unknownRank) {
  if (numDims < 0 || numDims > maxDims)
    return fail(ACL_ERROR_INVALID_PARAM, function, "numDims is %d; give 0 to %d", numDims, maxDims);
  if (numDims > 0 && !dims)
    return fail(ACL_ERROR_INVALID_PARAM, function, "dims is NULL");
  unknownRank = numDims == 1 && dims[0] == -2;
  for (int i = 0; i < numDims; ++i)
    if (dims[i] < -1 && !unknownRank)
      return fail(ACL_ERROR_INVALID_PARAM, function, "dim %d is %lld; give 0 or more, or -1", i,
                  (long long)dims[i]);
  result.assign(dims, dims + numDims);
  return ACL_SUCCESS;
}

aclError setShape(const char *function, aclTensorDesc *handle, int numDims, const int64_t *dims) {
  auto found = descOf(function, handle);
  if (!found)
    return handle ? ACL_ERROR_INVALID_RESOURCE_HANDLE : ACL_ERROR_INVALID_PARAM;
  // What the program asks for later are the dims that the tensor was made with.
  const std::vector<int64_t> before = found->dims;
  const bool hadRank = !found->unknownRank;
  ACL_TRY(readDims(function, numDims, dims, found->dims, found->unknownRank));
  if (!found->statedDims && hadRank)
    found->statedDims = before;
  return ACL_SUCCESS;
}

/// Returns the number of elements of the dims that functions are told.
size_t statedElements(const TensorDesc &desc) {
  TensorDesc asked;
  asked.dims = desc.askedDims();
  asked.unknownRank = !desc.statedDims && desc.unknownRank;
  return asked.elements();
}

bool isKnown(aclFormat format) {
  constexpr aclFormat known[] = {ACL_FORMAT_UNDEFINED,   ACL_FORMAT_NCHW,    ACL_FORMAT_NHWC,
                                 ACL_FORMAT_ND,          ACL_FORMAT_NC1HWC0, ACL_FORMAT_FRACTAL_Z,
                                 ACL_FORMAT_NC1HWC0_C04, ACL_FORMAT_HWCN,    ACL_FORMAT_NDHWC,
                                 ACL_FORMAT_FRACTAL_NZ,  ACL_FORMAT_NCDHW,   ACL_FORMAT_NDC1HWC0,
                                 ACL_FRACTAL_Z_3D,       ACL_FORMAT_NC,      ACL_FORMAT_NCL};
  return std::find(std::begin(known), std::end(known), format) != std::end(known);
}

} // namespace

aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims,
                                   aclFormat format) {
  auto desc = std::make_shared<TensorDesc>();
  if (readDims(__func__, numDims, dims, desc->dims, desc->unknownRank) != ACL_SUCCESS)
    return nullptr;
  if (!isKnown(format)) {
    fail(ACL_ERROR_INVALID_PARAM, __func__, "format is %d, which is none of aclFormat",
         int(format));
    return nullptr;
  }
  desc->type = dataType;
  desc->format = format;
  return static_cast<aclTensorDesc *>(tensorDescs().add(std::move(desc)));
}

void aclDestroyTensorDesc(const aclTensorDesc *desc) {
  if (desc && !tensorDescs().remove(desc))
    fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__,
         "desc (%p) was destroyed, or is no tensor description", static_cast<const void *>(desc));
}

aclError aclSetTensorShapeRange(aclTensorDesc *desc, size_t dimsCount,
                                int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]) {
  ACL_FIND(found, tensorDescs(), desc);
  if (dimsCount != found->askedDims().size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "dimsCount is %zu, the tensor has %zu dims", dimsCount,
             found->askedDims().size());
  if (dimsCount > 0)
    ACL_REQUIRE(dimsRange);
  found->ranges.clear();
  for (size_t i = 0; i < dimsCount; ++i)
    found->ranges.emplace_back(dimsRange[i][0], dimsRange[i][1]);
  return ACL_SUCCESS;
}

aclError aclSetTensorValueRange(aclTensorDesc *desc, size_t valueCount,
                                int64_t valueRange[][ACL_TENSOR_VALUE_RANGE_NUM]) {
  ACL_FIND(found, tensorDescs(), desc);
  if (valueCount > 0)
    ACL_REQUIRE(valueRange);
  for (size_t i = 0; i < valueCount; ++i)
    if (valueRange[i][0] > valueRange[i][1])
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "range %zu ends before it begins", i);
  return ACL_SUCCESS;
}

aclDataType aclGetTensorDescType(const aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  return found ? found->type : ACL_DT_UNDEFINED;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  return found ? found->statedFormat.value_or(found->format) : ACL_FORMAT_UNDEFINED;
}

size_t aclGetTensorDescSize(const aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  size_t bits = 0;
  if (!found || __builtin_mul_overflow(statedElements(*found), bitsOf(found->type), &bits))
    return 0;
  return bits / 8 + (bits % 8 != 0);
}

size_t aclGetTensorDescElementCount(const aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  return found ? statedElements(*found) : 0;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  if (!found)
    return 0;
  return found->unknownRank ? ACL_UNKNOWN_RANK : found->askedDims().size();
}

int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index) {
  int64_t dim = -1;
  return aclGetTensorDescDimV2(desc, index, &dim) == ACL_SUCCESS ? dim : -1;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *dimSize) {
  ACL_FIND(found, tensorDescs(), desc);
  ACL_REQUIRE(dimSize);
  if (index >= found->askedDims().size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, the tensor has %zu dims", index,
             found->askedDims().size());
  *dimSize = found->askedDims()[index];
  return ACL_SUCCESS;
}

aclError aclGetTensorDescDimRange(const aclTensorDesc *desc, size_t index, size_t dimRangeNum,
                                  int64_t *dimRange) {
  ACL_FIND(found, tensorDescs(), desc);
  ACL_REQUIRE(dimRange);
  if (index >= found->askedDims().size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, the tensor has %zu dims", index,
             found->askedDims().size());
  if (dimRangeNum < 2)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "dimRangeNum is %zu; a range has 2 values", dimRangeNum);
  const int64_t dim = found->askedDims()[index];
  std::pair<int64_t, int64_t> range{dim < 0 ? 0 : dim, dim};
  if (index < found->ranges.size())
    range = found->ranges[index];
  dimRange[0] = range.first;
  dimRange[1] = range.second;
  return ACL_SUCCESS;
}

void aclSetTensorDescName(aclTensorDesc *desc, const char *name) {
  if (auto found = descOf(__func__, desc))
    found->name = name ? name : "";
}

const char *aclGetTensorDescName(aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  return found ? found->name.c_str() : "";
}

aclError aclTransTensorDescFormat(const aclTensorDesc *srcDesc, aclFormat dstFormat,
                                  aclTensorDesc **dstDesc) {
  ACL_FIND(found, tensorDescs(), srcDesc);
  ACL_REQUIRE(dstDesc);
  auto result = std::make_shared<TensorDesc>(*found);
  const auto &from = found->askedDims();
  const aclFormat format = found->statedFormat.value_or(found->format);
  result->dims = from;
  result->statedDims.reset();
  result->statedFormat.reset();
  result->format = dstFormat;
  if (format == dstFormat || dstFormat == ACL_FORMAT_ND) {
    *dstDesc = static_cast<aclTensorDesc *>(tensorDescs().add(std::move(result)));
    return ACL_SUCCESS;
  }
  const bool first = format == ACL_FORMAT_NCHW, last = format == ACL_FORMAT_NHWC;
  if (from.size() != 4 || !(first || last))
    ACL_FAIL(ACL_ERROR_FORMAT_NOT_MATCH,
             "format %d with %zu dims cannot become format %d; give NCHW or NHWC with 4 dims",
             int(format), from.size(), int(dstFormat));
  const int64_t n = from[0], c = first ? from[1] : from[3], h = first ? from[2] : from[1],
                w = first ? from[3] : from[2];
  if (dstFormat == ACL_FORMAT_NCHW) {
    result->dims = {n, c, h, w};
  } else if (dstFormat == ACL_FORMAT_NHWC) {
    result->dims = {n, h, w, c};
  } else if (dstFormat == ACL_FORMAT_NC1HWC0) {
    // A block has 32 bytes, but never less than 16 channels of a float type.
    const int64_t block = bitsOf(found->type) == 8 ? 32 : 16;
    result->dims = {n, c < 0 ? -1 : (c + block - 1) / block, h, w, block};
  } else {
    ACL_FAIL(ACL_ERROR_FORMAT_NOT_MATCH, "format %d cannot become format %d", int(format),
             int(dstFormat));
  }
  *dstDesc = static_cast<aclTensorDesc *>(tensorDescs().add(std::move(result)));
  return ACL_SUCCESS;
}

aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format) {
  ACL_FIND(found, tensorDescs(), desc);
  if (!isKnown(format))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "format is %d, which is none of aclFormat", int(format));
  if (!found->statedFormat)
    found->statedFormat = found->format;
  found->format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorStorageFormat(aclTensorDesc *desc, aclFormat format) {
  return aclSetTensorFormat(desc, format);
}

aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
  return setShape(__func__, desc, numDims, dims);
}

aclError aclSetTensorStorageShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
  return setShape(__func__, desc, numDims, dims);
}

aclError aclSetTensorOriginFormat(aclTensorDesc *desc, aclFormat format) {
  ACL_FIND(found, tensorDescs(), desc);
  if (!isKnown(format))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "format is %d, which is none of aclFormat", int(format));
  (found->statedFormat ? *found->statedFormat : found->format) = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorOriginShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
  ACL_FIND(found, tensorDescs(), desc);
  bool unknownRank = false;
  return readDims(__func__, numDims, dims, found->statedDims ? *found->statedDims : found->dims,
                  found->statedDims ? unknownRank : found->unknownRank);
}

aclTensorDesc *aclGetTensorDescByIndex(aclTensorDesc *desc, size_t index) {
  return descOf(__func__, desc) && index == 0 ? desc : nullptr;
}

void *aclGetTensorDescAddress(const aclTensorDesc *desc) {
  auto found = descOf(__func__, desc);
  return found && found->isConstant && !found->constant.empty() ? found->constant.data() : nullptr;
}

aclError aclSetTensorDynamicInput(aclTensorDesc *desc, const char *dynamicInputName) {
  ACL_FIND(found, tensorDescs(), desc);
  ACL_REQUIRE(dynamicInputName);
  found->dynamicInput = dynamicInputName;
  return ACL_SUCCESS;
}

aclError aclSetTensorConst(aclTensorDesc *desc, void *dataBuffer, size_t length) {
  ACL_FIND(found, tensorDescs(), desc);
  ACL_REQUIRE(dataBuffer);
  if (length == 0)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "length is 0");
  found->constant.resize(length);
  memcpy(found->constant.data(), dataBuffer, length);
  found->isConstant = true;
  return ACL_SUCCESS;
}

aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType) {
  ACL_FIND(found, tensorDescs(), desc);
  if (memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "memType is %d; give 0 to 2", int(memType));
  found->memType = memType;
  return ACL_SUCCESS;
}
