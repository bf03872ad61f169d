/*===-- graph/attr_value.h - a value of an attribute ----------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_ATTR_VALUE_H
#define OPENATC_GRAPH_ATTR_VALUE_H

#include "graph/tensor.h"

namespace ge {

/** A value of one of the types below, or none. */
class AttrValue {
public:
  using INT = int64_t;
  using FLOAT = float;
  using STR = std::string;

  enum Kind {
    NONE,
    INTEGER,
    REAL,
    TRUTH,
    TEXT,
    TYPE,
    TENSOR,
    INTEGERS,
    REALS,
    TRUTHS,
    TEXTS,
    TYPES,
    INTEGER_LISTS
  };
  Kind kind() const { return held; }

  template <typename T, typename U> static T CreateFrom(U &&from) {
    return T(std::forward<U>(from));
  }

/* A constructor and a getter per type; the getter returns GRAPH_FAILED for a value of another. */
#define OPENATC_ATTR_KIND(kind, type, member)                                                      \
  explicit AttrValue(const type &value) : held(kind), member(value) {}                             \
  graphStatus GetValue(type &value) const {                                                        \
    if (held != kind)                                                                              \
      return GRAPH_FAILED;                                                                         \
    value = member;                                                                                \
    return GRAPH_SUCCESS;                                                                          \
  }
  OPENATC_ATTR_KIND(INTEGER, int64_t, integer)
  OPENATC_ATTR_KIND(REAL, float, real)
  OPENATC_ATTR_KIND(TRUTH, bool, truth)
  OPENATC_ATTR_KIND(TEXT, AscendString, text)
  OPENATC_ATTR_KIND(TYPE, DataType, dataType)
  OPENATC_ATTR_KIND(TENSOR, Tensor, tensor)
  OPENATC_ATTR_KIND(INTEGERS, std::vector<int64_t>, integers)
  OPENATC_ATTR_KIND(REALS, std::vector<float>, reals)
  OPENATC_ATTR_KIND(TRUTHS, std::vector<bool>, truths)
  OPENATC_ATTR_KIND(TEXTS, std::vector<AscendString>, texts)
  OPENATC_ATTR_KIND(TYPES, std::vector<DataType>, dataTypes)
  OPENATC_ATTR_KIND(INTEGER_LISTS, std::vector<std::vector<int64_t>>, integerLists)
#undef OPENATC_ATTR_KIND
  AttrValue() {}
  explicit AttrValue(const char *value) : AttrValue(AscendString(value)) {}
  explicit AttrValue(const std::string &value) : AttrValue(detail::ascendOf(value)) {}
  explicit AttrValue(const std::vector<std::string> &value) : AttrValue(detail::ascendOf(value)) {}
  graphStatus GetValue(std::string &value) const {
    if (held != TEXT)
      return GRAPH_FAILED;
    value = detail::textOf(text);
    return GRAPH_SUCCESS;
  }
  graphStatus GetValue(std::vector<std::string> &value) const {
    if (held != TEXTS)
      return GRAPH_FAILED;
    value.clear();
    for (const AscendString &each : texts)
      value.push_back(detail::textOf(each));
    return GRAPH_SUCCESS;
  }

private:
  Kind held = NONE;
  int64_t integer = 0;
  float real = 0;
  bool truth = false;
  DataType dataType = DT_UNDEFINED;
  AscendString text;
  Tensor tensor;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<bool> truths;
  std::vector<AscendString> texts;
  std::vector<DataType> dataTypes;
  std::vector<std::vector<int64_t>> integerLists;
};

} // namespace ge

#endif
