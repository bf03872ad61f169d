//===-- Histogram.cpp - histograms of pictures, tables of values --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/dvpp/Planes.h"
#include "ascend/src/Context.h"

using namespace atc::ascend;

namespace {

constexpr uint32_t numChannels = 3, numValues = 256;

/// How often each value occurs, per channel. The program reads it where it is: a task writes it
/// while nobody waits for its stream.
struct Histogram {
  uint32_t counts[numChannels][numValues] = {};
  uint32_t retCode = 0;
};

/// The value that replaces each value, per channel; the program writes it.
struct ValueMap {
  uint8_t values[numChannels][numValues] = {};
};

DVPP_TABLE(Histogram, histograms, Histogram)
DVPP_TABLE(ValueMap, valueMaps, ValueMap)

Area wholePicture(const Picture &picture) { return {0, picture.width - 1, 0, picture.height - 1}; }

/// A picture of a call, whose memory stays while a task uses it.
struct Used {
  std::shared_ptr<PicDesc> desc;
  Picture picture;
  std::shared_ptr<Block> block;
};

aclError use(const char *function, const char *what, const acldvppPicDesc *handle, Used &used) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", what);
  if (!(used.desc = picDescs().find(handle)))
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "%s (%p) was destroyed, or is no picture", what, static_cast<const void *>(handle));
  used.picture = used.desc->get();
  return checkPicture(function, what, used.picture, used.block);
}

aclError checkChannelOf(const char *function, uint32_t dim) {
  return dim < numChannels ? ACL_SUCCESS
                           : fail(ACL_ERROR_INVALID_PARAM, function, "dim is %u; give 0 to 2", dim);
}

} // namespace

acldvppHist *acldvppCreateHist() {
  return static_cast<acldvppHist *>(histograms().add(std::make_shared<Histogram>()));
}

aclError acldvppDestroyHist(acldvppHist *hist) {
  return destroyObject(__func__, histograms(), hist);
}

uint32_t acldvppGetHistDims(acldvppHist *hist) {
  if (histograms().find(hist))
    return numChannels;
  fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__, "hist (%p) is no histogram",
       static_cast<const void *>(hist));
  return 0;
}

aclError acldvppGetHistData(acldvppHist *hist, uint32_t dim, uint32_t **data, uint16_t *len) {
  ACL_FIND(found, histograms(), hist);
  ACL_REQUIRE(data);
  ACL_REQUIRE(len);
  ACL_TRY(checkChannelOf(__func__, dim));
  *data = found->counts[dim];
  *len = numValues;
  return ACL_SUCCESS;
}

uint32_t acldvppGetHistRetCode(acldvppHist *hist) {
  const auto found = histograms().find(hist);
  if (found)
    return found->retCode;
  return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__, "hist (%p) is no histogram",
              static_cast<const void *>(hist));
}

aclError acldvppClearHist(acldvppHist *hist) {
  ACL_FIND(found, histograms(), hist);
  *found = {};
  return ACL_SUCCESS;
}

aclError acldvppVpcCalcHistAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *srcPicDesc,
                                 acldvppHist *hist, void *reserve, aclrtStream stream) {
  Channel channel;
  ACL_TRY(findChannel(__func__, channelDesc, channel));
  ACL_FIND(found, histograms(), hist);
  if (reserve)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
  Used source;
  ACL_TRY(use(__func__, "srcPicDesc", srcPicDesc, source));
  return enqueue(__func__, stream, [source, result = found] {
    *result = {};
    const Planes planes = loadPlanes(source.picture, wholePicture(source.picture));
    for (size_t i = 0; i < planes.channels.size(); ++i)
      for (uint8_t value : planes.channels[i].data)
        ++result->counts[i][value];
    return ACL_SUCCESS;
  });
}

acldvppLutMap *acldvppCreateLutMap() {
  return static_cast<acldvppLutMap *>(valueMaps().add(std::make_shared<ValueMap>()));
}

aclError acldvppDestroyLutMap(acldvppLutMap *lutMap) {
  return destroyObject(__func__, valueMaps(), lutMap);
}

uint32_t acldvppGetLutMapDims(const acldvppLutMap *lutMap) {
  if (valueMaps().find(lutMap))
    return numChannels;
  fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__, "lutMap (%p) is no table of values",
       static_cast<const void *>(lutMap));
  return 0;
}

aclError acldvppGetLutMapData(const acldvppLutMap *lutMap, uint32_t dim, uint8_t **data,
                              uint32_t *len) {
  ACL_FIND(found, valueMaps(), lutMap);
  ACL_REQUIRE(data);
  ACL_REQUIRE(len);
  ACL_TRY(checkChannelOf(__func__, dim));
  *data = found->values[dim];
  *len = numValues;
  return ACL_SUCCESS;
}

aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc *channelDesc,
                                     const acldvppPicDesc *inputDesc, acldvppPicDesc *outputDesc,
                                     const acldvppLutMap *lutMap, aclrtStream stream) {
  Channel channel;
  ACL_TRY(findChannel(__func__, channelDesc, channel));
  ACL_FIND(found, valueMaps(), lutMap);
  Used source, target;
  ACL_TRY(use(__func__, "inputDesc", inputDesc, source));
  ACL_TRY(use(__func__, "outputDesc", outputDesc, target));
  if (source.picture.width != target.picture.width ||
      source.picture.height != target.picture.height)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the input has %u x %u pixels, the output %u x %u",
             source.picture.width, source.picture.height, target.picture.width,
             target.picture.height);
  return enqueue(__func__, stream, [source, target, table = found, matrix = channel.matrix] {
    Planes planes = loadPlanes(source.picture, wholePicture(source.picture));
    for (size_t i = 0; i < planes.channels.size(); ++i)
      for (uint8_t &value : planes.channels[i].data)
        value = table->values[i][value];
    planes = resizePlanes(planes, target.picture.width, target.picture.height,
                          *factsOf(target.picture.format), 0, matrix);
    storePlanes(planes, target.picture, wholePicture(target.picture));
    target.desc->change([](Picture &picture) { picture.retCode = 0; });
    return ACL_SUCCESS;
  });
}
