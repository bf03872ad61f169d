/*===-- graph/operator.h - an operator of a graph -------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_OPERATOR_H
#define OPENATC_GRAPH_OPERATOR_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/attr_value.h"

namespace ge {

namespace detail {
struct Node;
}

class Graph;
/** Makes a graph that an operator calls: a branch, or the body of a loop. */
using SubgraphBuilder = std::function<Graph()>;

class Operator;
using OperatorPtr = std::shared_ptr<Operator>;

/** An operator; copies are the same one. */
class Operator {
public:
  using OpInt = int64_t;
  using OpFloat = float;
  using OpString = std::string;
  using OpAscendString = AscendString;
  using OpBool = bool;
  using OpTensor = Tensor;
  using OpType = DataType;
  using OpListInt = std::vector<int64_t>;
  using OpListFloat = std::vector<float>;
  using OpListString = std::vector<std::string>;
  using OpListBool = std::vector<bool>;
  using OpListType = std::vector<DataType>;
  using OpListListInt = std::vector<std::vector<int64_t>>;

  Operator();
  explicit Operator(const std::string &type) : Operator(type.c_str()) {}
  explicit Operator(const char *type);
  Operator(const std::string &name, const std::string &type)
      : Operator(name.c_str(), type.c_str()) {}
  Operator(const char *name, const char *type);
  Operator(const AscendString &name, const AscendString &type);
  virtual ~Operator();
  Operator(const Operator &);
  Operator &operator=(const Operator &);

  bool IsEmpty() const;
  std::string GetName() const {
    AscendString name;
    GetName(name);
    return detail::textOf(name);
  }
  graphStatus GetName(AscendString &name) const;
  std::string GetOpType() const {
    AscendString type;
    GetOpType(type);
    return detail::textOf(type);
  }
  graphStatus GetOpType(AscendString &type) const;

  /** Connect an input by name or number to the first, a named or a numbered output of `source`.
   * What is not there makes aclgrphBuildModel fail. */
  Operator &SetInput(const std::string &name, const Operator &source) {
    return SetInput(name.c_str(), source);
  }
  Operator &SetInput(const char *name, const Operator &source);
  Operator &SetInput(const std::string &name, const Operator &source, const std::string &output) {
    return SetInput(name.c_str(), source, output.c_str());
  }
  Operator &SetInput(const char *name, const Operator &source, const char *output);
  Operator &SetInput(const std::string &name, const Operator &source, uint32_t output) {
    return SetInput(name.c_str(), source, output);
  }
  Operator &SetInput(const char *name, const Operator &source, uint32_t output);
  Operator &SetInput(uint32_t index, const Operator &source, uint32_t output);
  Operator &AddControlInput(const Operator &source);

  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;
  TensorDesc GetInputDesc(const std::string &name) const {
    return GetInputDescByName(name.c_str());
  }
  TensorDesc GetInputDesc(uint32_t index) const;
  TensorDesc GetInputDescByName(const char *name) const;
  TensorDesc GetOutputDesc(const std::string &name) const {
    return GetOutputDescByName(name.c_str());
  }
  TensorDesc GetOutputDesc(uint32_t index) const;
  TensorDesc GetOutputDescByName(const char *name) const;
  graphStatus UpdateInputDesc(const std::string &name, const TensorDesc &desc) {
    return UpdateInputDesc(name.c_str(), desc);
  }
  graphStatus UpdateInputDesc(const char *name, const TensorDesc &desc);
  graphStatus UpdateInputDesc(uint32_t index, const TensorDesc &desc);
  graphStatus UpdateOutputDesc(const std::string &name, const TensorDesc &desc) {
    return UpdateOutputDesc(name.c_str(), desc);
  }
  graphStatus UpdateOutputDesc(const char *name, const TensorDesc &desc);
  graphStatus UpdateOutputDesc(uint32_t index, const TensorDesc &desc);
  graphStatus TryGetInputDesc(const char *name, TensorDesc &desc) const;

  Operator &SetAttr(const char *name, const AttrValue &value);
  Operator &SetAttr(const char *name, int64_t value);
  Operator &SetAttr(const char *name, int32_t value);
  Operator &SetAttr(const char *name, uint32_t value);
  Operator &SetAttr(const char *name, float value);
  Operator &SetAttr(const char *name, bool value);
  Operator &SetAttr(const char *name, const char *value);
  Operator &SetAttr(const char *name, const std::string &value) {
    return SetAttr(name, detail::ascendOf(value));
  }
  Operator &SetAttr(const char *name, const AscendString &value);
  Operator &SetAttr(const char *name, const Tensor &value);
  Operator &SetAttr(const char *name, const DataType &value);
  Operator &SetAttr(const char *name, const std::vector<int64_t> &value);
  Operator &SetAttr(const char *name, const std::vector<int32_t> &value);
  Operator &SetAttr(const char *name, std::initializer_list<int64_t> value);
  Operator &SetAttr(const char *name, const std::vector<float> &value);
  Operator &SetAttr(const char *name, const std::vector<bool> &value);
  Operator &SetAttr(const char *name, const std::vector<std::string> &value) {
    return SetAttr(name, detail::ascendOf(value));
  }
  Operator &SetAttr(const char *name, const std::vector<AscendString> &value);
  Operator &SetAttr(const char *name, const std::vector<DataType> &value);
  Operator &SetAttr(const char *name, const std::vector<std::vector<int64_t>> &value);
  template <typename T> Operator &SetAttr(const std::string &name, const T &value) {
    return SetAttr(name.c_str(), value);
  }
  /** Returns GRAPH_FAILED where the attribute is not set or is of another type. */
  template <typename T> graphStatus GetAttr(const char *name, T &value) const {
    return attribute(name).GetValue(value);
  }
  template <typename T> graphStatus GetAttr(const std::string &name, T &value) const {
    return attribute(name.c_str()).GetValue(value);
  }
  graphStatus GetAllAttrNamesAndTypes(std::map<AscendString, AscendString> &names) const;

  /** Makes `count` inputs NAME0, NAME1 ... of a dynamic input, where it was declared with 0. */
  void DynamicInputRegister(const char *name, uint32_t count, bool = true);
  void DynamicOutputRegister(const char *name, uint32_t count, bool = true);

  /** Makes NAME0, NAME1 ... of a list of graphs. */
  void SubgraphCountRegister(const char *name, uint32_t count);
  /** Calls `builder`, and keeps its graph as number `index` of a list, or as the graph NAME. */
  void SetSubgraphBuilder(const char *name, uint32_t index, const SubgraphBuilder &builder);
  /** Return the graph; one without operators where it was not set. */
  Graph GetSubgraph(const char *name) const;
  Graph GetDynamicSubgraph(const char *name, uint32_t index) const;
  size_t GetSubgraphNamesCount() const;

  const std::shared_ptr<detail::Node> &node() const { return held; }
  explicit Operator(std::shared_ptr<detail::Node> node);

protected:
  void InputRegister(const char *name);
  void OptionalInputRegister(const char *name);
  void OutputRegister(const char *name);
  void SubgraphRegister(const char *name, bool isDynamic);

private:
  AttrValue attribute(const char *name) const;

  std::shared_ptr<detail::Node> held;
};

} // namespace ge

#endif
