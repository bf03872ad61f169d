/*===-- graph/operator_factory.h - operators by their type ----------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_OPERATOR_FACTORY_H
#define OPENATC_GRAPH_OPERATOR_FACTORY_H

#include <functional>

#include "graph/operator.h"

namespace ge {

using OpCreatorV2 = std::function<Operator(const AscendString &)>;

class OperatorFactory {
public:
  /** Returns an empty operator for a type that no included header and no program declares. */
  static Operator CreateOperator(const char *name, const char *type);
  static Operator CreateOperator(const std::string &name, const std::string &type) {
    return CreateOperator(name.c_str(), type.c_str());
  }
  static graphStatus GetOpsTypeList(std::vector<AscendString> &types);
  static bool IsExistOp(const char *type);
  static bool IsExistOp(const std::string &type) { return IsExistOp(type.c_str()); }
};

/** Declares an operator; `OP_END_FACTORY_REG` makes one. */
class OperatorCreatorRegister {
public:
  OperatorCreatorRegister(const char *type, OpCreatorV2 creator);
};

} // namespace ge

#endif
