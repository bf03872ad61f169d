//===-- OpAttributes.cpp - attributes of single operators ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ascend/operators/Operator.h"
#include "ascend/src/Errors.h"

using namespace atc::ascend;

HandleTable<OpAttributes> &atc::ascend::opAttributes() {
  static auto &table = *new HandleTable<OpAttributes>(HandleKind::OpAttr);
  return table;
}

namespace {

using OrderedJson = nlohmann::ordered_json;

aclError set(const char *function, aclopAttr *handle, const char *name, const char *type,
             OrderedJson value) {
  if (!handle || !name)
    return fail(ACL_ERROR_INVALID_PARAM, function, "%s is NULL", handle ? "attrName" : "attr");
  auto attributes = opAttributes().find(handle);
  if (!attributes)
    return fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, function,
                "attr (%p) was destroyed, or is no set of attributes", static_cast<void *>(handle));
  attributes->byName[name] = {{"name", name}, {"type", type}, {"value", std::move(value)}};
  return ACL_SUCCESS;
}

/// Sets a list; `convert` makes an element of JSON of one of the program.
template <typename T, typename Convert>
aclError setList(const char *function, aclopAttr *handle, const char *name, const char *type,
                 int count, const T *values, const Convert &convert) {
  if (count < 0)
    return fail(ACL_ERROR_INVALID_PARAM, function, "numValues is %d", count);
  if (count > 0 && !values)
    return fail(ACL_ERROR_INVALID_PARAM, function, "values is NULL");
  OrderedJson list = OrderedJson::array();
  for (int i = 0; i < count; ++i)
    list.push_back(convert(values[i]));
  return set(function, handle, name, type, std::move(list));
}

} // namespace

aclopAttr *aclopCreateAttr() {
  return static_cast<aclopAttr *>(opAttributes().add(std::make_shared<OpAttributes>()));
}

void aclopDestroyAttr(const aclopAttr *attr) {
  if (attr && !opAttributes().remove(attr))
    fail(ACL_ERROR_INVALID_RESOURCE_HANDLE, __func__,
         "attr (%p) was destroyed, or is no set of attributes", static_cast<const void *>(attr));
}

aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue) {
  return set(__func__, attr, attrName, "bool", attrValue != 0);
}

aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue) {
  return set(__func__, attr, attrName, "int", attrValue);
}

aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue) {
  return set(__func__, attr, attrName, "float", attrValue);
}

aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue) {
  ACL_REQUIRE(attrValue);
  return set(__func__, attr, attrName, "string", attrValue);
}

aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName, aclDataType attrValue) {
  return set(__func__, attr, attrName, "data_type", nameOf(attrValue));
}

aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName, int numValues,
                                  const aclDataType values[]) {
  return setList(__func__, attr, attrName, "list_data_type", numValues, values, nameOf);
}

aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues,
                              const uint8_t *values) {
  return setList(__func__, attr, attrName, "list_bool", numValues, values,
                 [](uint8_t value) { return value != 0; });
}

aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues,
                             const int64_t *values) {
  return setList(__func__, attr, attrName, "list_int", numValues, values,
                 [](int64_t value) { return value; });
}

aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues,
                               const float *values) {
  return setList(__func__, attr, attrName, "list_float", numValues, values,
                 [](float value) { return value; });
}

aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues,
                                const char **values) {
  for (int i = 0; values && i < numValues; ++i)
    if (!values[i])
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "values[%d] is NULL", i);
  return setList(__func__, attr, attrName, "list_string", numValues, values,
                 [](const char *value) { return std::string(value); });
}

aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
                                 const int *numValues, const int64_t *const values[]) {
  if (numLists < 0 || (numLists > 0 && (!numValues || !values)))
    ACL_FAIL(ACL_ERROR_INVALID_PARAM, "numLists is %d, or values or numValues is NULL", numLists);
  OrderedJson lists = OrderedJson::array();
  for (int i = 0; i < numLists; ++i) {
    if (numValues[i] < 0 || (numValues[i] > 0 && !values[i]))
      ACL_FAIL(ACL_ERROR_INVALID_PARAM, "list %d has %d values, or is NULL", i, numValues[i]);
    lists.push_back(std::vector<int64_t>(values[i], values[i] + numValues[i]));
  }
  return set(__func__, attr, attrName, "list_list_int", std::move(lists));
}
