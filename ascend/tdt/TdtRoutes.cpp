//===-- TdtRoutes.cpp - descriptions of queues and routes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/src/Errors.h"
#include "ascend/tdt/TdtQueue.h"

#include <cstring>

namespace atc::ascend {

#define TDT_TABLE(Type, function)                                                                  \
  HandleTable<Type> &function() {                                                                  \
    static auto &table = *new HandleTable<Type>(HandleKind::Type);                                 \
    return table;                                                                                  \
  }

TDT_TABLE(TdtQueueAttr, tdtQueueAttrs)
TDT_TABLE(TdtRoute, tdtRoutes)
TDT_TABLE(TdtRouteList, tdtRouteLists)
TDT_TABLE(TdtRouteQuery, tdtRouteQueries)

} // namespace atc::ascend

using namespace atc::ascend;

namespace {

/// Reads a parameter of a fixed size that a program points at.
template <typename T>
aclError readParameter(const char *function, size_t length, const void *from, T &to) {
  if (!from)
    return fail(ACL_ERROR_INVALID_PARAM, function, "the value is NULL");
  if (length != sizeof(T))
    return fail(ACL_ERROR_INVALID_PARAM, function, "len is %zu; the value has %zu bytes", length,
                sizeof(T));
  memcpy(&to, from, sizeof(T));
  return ACL_SUCCESS;
}

/// Writes a parameter where a program has room for it.
template <typename T>
aclError writeParameter(const char *function, size_t length, size_t *bytes, void *to,
                        const T &value) {
  if (!bytes || !to)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", bytes ? "param" : "paramRetSize");
  if (length < sizeof(T))
    return fail(ACL_ERROR_INVALID_PARAM, function, "len is %zu; the value has %zu bytes", length,
                sizeof(T));
  memcpy(to, &value, sizeof(T));
  *bytes = sizeof(T);
  return ACL_SUCCESS;
}

} // namespace

acltdtQueueAttr *acltdtCreateQueueAttr() {
  return static_cast<acltdtQueueAttr *>(
      static_cast<void *>(tdtQueueAttrs().add(std::make_shared<TdtQueueAttr>())));
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr) {
  ACL_FIND(found, tdtQueueAttrs(), attr);
  tdtQueueAttrs().remove(attr);
  return ACL_SUCCESS;
}

aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
                            const void *param) {
  ACL_FIND(found, tdtQueueAttrs(), attr);
  if (type == ACL_TDT_QUEUE_NAME_PTR) {
    const char *name = nullptr;
    ACL_TRY(readParameter(__func__, len, param, name));
    if (!name || strnlen(name, 128) == 128)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the name is NULL or longer than 127 characters");
    found->name = name;
    return ACL_SUCCESS;
  }
  if (type != ACL_TDT_QUEUE_DEPTH_UINT32)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "type is %d, which is no attribute of a queue", int(type));
  uint32_t depth = 0;
  ACL_TRY(readParameter(__func__, len, param, depth));
  if (depth == 0 || depth > 8192)
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the depth is %u; give 1 to 8192", depth);
  found->depth = depth;
  return ACL_SUCCESS;
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len,
                            size_t *paramRetSize, void *param) {
  ACL_FIND(found, tdtQueueAttrs(), attr);
  if (type == ACL_TDT_QUEUE_NAME_PTR)
    return writeParameter(__func__, len, paramRetSize, param, found->name.c_str());
  if (type == ACL_TDT_QUEUE_DEPTH_UINT32)
    return writeParameter(__func__, len, paramRetSize, param, found->depth);
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "type is %d, which is no attribute of a queue", int(type));
}

acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId) {
  return static_cast<acltdtQueueRoute *>(
      tdtRoutes().add(std::make_shared<TdtRoute>(TdtRoute{srcId, dstId, 0})));
}

aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route) {
  ACL_FIND(found, tdtRoutes(), route);
  tdtRoutes().remove(route);
  return ACL_SUCCESS;
}

aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route, acltdtQueueRouteParamType type,
                                  size_t len, size_t *paramRetSize, void *param) {
  ACL_FIND(found, tdtRoutes(), route);
  switch (type) {
  case ACL_TDT_QUEUE_ROUTE_SRC_UINT32:
    return writeParameter(__func__, len, paramRetSize, param, found->source);
  case ACL_TDT_QUEUE_ROUTE_DST_UINT32:
    return writeParameter(__func__, len, paramRetSize, param, found->target);
  case ACL_TDT_QUEUE_ROUTE_STATUS_INT32:
    return writeParameter(__func__, len, paramRetSize, param, found->status);
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "type is %d, which is no parameter of a route", int(type));
}

acltdtQueueRouteList *acltdtCreateQueueRouteList() {
  return static_cast<acltdtQueueRouteList *>(tdtRouteLists().add(std::make_shared<TdtRouteList>()));
}

aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList) {
  ACL_FIND(found, tdtRouteLists(), routeList);
  tdtRouteLists().remove(routeList);
  return ACL_SUCCESS;
}

aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList, const acltdtQueueRoute *route) {
  ACL_FIND(list, tdtRouteLists(), routeList);
  ACL_FIND(found, tdtRoutes(), route);
  std::lock_guard lock(list->mutex);
  list->routes.push_back(*found);
  return ACL_SUCCESS;
}

aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList, size_t index,
                             acltdtQueueRoute *route) {
  ACL_FIND(list, tdtRouteLists(), routeList);
  ACL_FIND(found, tdtRoutes(), route);
  std::lock_guard lock(list->mutex);
  if (index >= list->routes.size())
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "index is %zu, the list has %zu routes", index,
             list->routes.size());
  *found = list->routes[index];
  return ACL_SUCCESS;
}

size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList) {
  auto list = tdtRouteLists().find(routeList);
  if (!list)
    return 0;
  std::lock_guard lock(list->mutex);
  return list->routes.size();
}

acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo() {
  return static_cast<acltdtQueueRouteQueryInfo *>(
      tdtRouteQueries().add(std::make_shared<TdtRouteQuery>()));
}

aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info) {
  ACL_FIND(found, tdtRouteQueries(), info);
  tdtRouteQueries().remove(info);
  return ACL_SUCCESS;
}

aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param,
                                      acltdtQueueRouteQueryInfoParamType type, size_t len,
                                      const void *value) {
  ACL_FIND(query, tdtRouteQueries(), param);
  switch (type) {
  case ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM: {
    uint32_t mode = 0;
    ACL_TRY(readParameter(__func__, len, value, mode));
    if (mode > ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST)
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "the mode is %u; give 0, 1 or 2", mode);
    query->mode = acltdtQueueRouteQueryMode(mode);
    return ACL_SUCCESS;
  }
  case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32:
    return readParameter(__func__, len, value, query->source);
  case ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32:
    return readParameter(__func__, len, value, query->target);
  }
  ACL_FAIL(ACL_ERROR_INVALID_PARAM, "type is %d, which is no parameter of a query", int(type));
}
