//===-- FeatureVectors.cpp - descriptions of a search -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/src/Handles.h"

#include "acl/ops/acl_fv.h"

using namespace atc::ascend;

namespace {

/// Stands for a description: the search that would read it is not simulated.
struct Description {};

enum Kind { InitPara, FeatureInfo, RepoRange, QueryTable, SearchInput, SearchResult };

HandleTable<Description> &descriptions(Kind kind) {
  static auto *tables = [] {
    auto *made = new std::vector<std::unique_ptr<HandleTable<Description>>>;
    for (int each = InitPara; each <= SearchResult; ++each)
      made->push_back(std::make_unique<HandleTable<Description>>(
          uint8_t(uint8_t(HandleKind::FeatureObject) + each)));
    return made;
  }();
  return *(*tables)[kind];
}

/// Creates a description where `valid` holds; NULL with a message otherwise.
template <typename T> T *create(const char *function, Kind kind, bool valid, const char *wanted) {
  if (valid)
    return static_cast<T *>(descriptions(kind).add(std::make_shared<Description>()));
  fail(ACL_ERROR_INVALID_PARAM, function, "%s", wanted);
  return nullptr;
}

aclError destroy(const char *function, Kind kind, const void *handle) {
  if (!handle)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the handle is NULL");
  if (!descriptions(kind).remove(handle))
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "the handle (%p) was destroyed, or is of another kind", handle);
  return ACL_SUCCESS;
}

aclError noSearch(const char *function) {
  return fail(ACL_ERROR_API_NOT_SUPPORT, function,
              "the search for feature vectors is not simulated");
}

} // namespace

aclfvInitPara *aclfvCreateInitPara(uint64_t fsNum) {
  return create<aclfvInitPara>(__func__, InitPara, fsNum > 0, "fsNum is 0");
}
aclError aclfvDestroyInitPara(aclfvInitPara *initPara) {
  return destroy(__func__, InitPara, initPara);
}
aclError aclfvSet1NTopNum(aclfvInitPara *initPara, uint32_t maxTopNumFor1N) {
  ACL_FIND(found, descriptions(InitPara), initPara);
  return ACL_SUCCESS;
}
aclError aclfvSetNMTopNum(aclfvInitPara *initPara, uint32_t maxTopNumForNM) {
  ACL_FIND(found, descriptions(InitPara), initPara);
  return ACL_SUCCESS;
}

aclfvFeatureInfo *aclfvCreateFeatureInfo(uint32_t id0, uint32_t id1, uint32_t offset,
                                         uint32_t featureLen, uint32_t featureCount,
                                         uint8_t *featureData, uint32_t featureDataLen) {
  return create<aclfvFeatureInfo>(
      __func__, FeatureInfo,
      featureData && featureLen > 0 && uint64_t(featureLen) * featureCount <= featureDataLen,
      "featureData is NULL or shorter than featureLen x featureCount bytes");
}
aclError aclfvDestroyFeatureInfo(aclfvFeatureInfo *featureInfo) {
  return destroy(__func__, FeatureInfo, featureInfo);
}

aclfvRepoRange *aclfvCreateRepoRange(uint32_t id0Min, uint32_t id0Max, uint32_t id1Min,
                                     uint32_t id1Max) {
  return create<aclfvRepoRange>(__func__, RepoRange, id0Min <= id0Max && id1Min <= id1Max,
                                "a minimum is greater than its maximum");
}
aclError aclfvDestroyRepoRange(aclfvRepoRange *repoRange) {
  return destroy(__func__, RepoRange, repoRange);
}

aclfvQueryTable *aclfvCreateQueryTable(uint32_t queryCnt, uint32_t tableLen, uint8_t *tableData,
                                       uint32_t tableDataLen) {
  return create<aclfvQueryTable>(__func__, QueryTable,
                                 tableData && queryCnt > 0 &&
                                     uint64_t(queryCnt) * tableLen <= tableDataLen,
                                 "tableData is NULL or shorter than queryCnt x tableLen bytes");
}
aclError aclfvDestroyQueryTable(aclfvQueryTable *queryTable) {
  return destroy(__func__, QueryTable, queryTable);
}

aclfvSearchInput *aclfvCreateSearchInput(aclfvQueryTable *queryTable, aclfvRepoRange *repoRange,
                                         uint32_t topk) {
  return create<aclfvSearchInput>(__func__, SearchInput,
                                  descriptions(QueryTable).find(queryTable) &&
                                      descriptions(RepoRange).find(repoRange) && topk > 0,
                                  "queryTable or repoRange is no handle of its kind, or topk is 0");
}
aclError aclfvDestroySearchInput(aclfvSearchInput *searchInput) {
  return destroy(__func__, SearchInput, searchInput);
}

aclfvSearchResult *aclfvCreateSearchResult(uint32_t queryCnt, uint32_t *resultNum,
                                           uint32_t resultNumDataLen, uint32_t *id0, uint32_t *id1,
                                           uint32_t *resultOffset, float *resultDistance,
                                           uint32_t dataLen) {
  return create<aclfvSearchResult>(__func__, SearchResult,
                                   resultNum && id0 && id1 && resultOffset && resultDistance &&
                                       uint64_t(queryCnt) * 4 <= resultNumDataLen,
                                   "a list is NULL or shorter than queryCnt values");
}
aclError aclfvDestroySearchResult(aclfvSearchResult *searchResult) {
  return destroy(__func__, SearchResult, searchResult);
}

aclError aclfvInit(aclfvInitPara *) { return noSearch(__func__); }
aclError aclfvRelease() { return noSearch(__func__); }
aclError aclfvRepoAdd(aclfvSearchType, aclfvFeatureInfo *, aclrtStream) {
  return noSearch(__func__);
}
aclError aclfvRepoDel(aclfvSearchType, aclfvRepoRange *, aclrtStream) { return noSearch(__func__); }
aclError aclfvDel(aclfvFeatureInfo *, aclrtStream) { return noSearch(__func__); }
aclError aclfvModify(aclfvFeatureInfo *, aclrtStream) { return noSearch(__func__); }
aclError aclfvSearch(aclfvSearchType, aclfvSearchInput *, aclfvSearchResult *, aclrtStream) {
  return noSearch(__func__);
}
