/*===-- graph/operator_reg.h - declares operators -------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*
 * REG_OP(Name).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL())
 *     .ATTR(axis, Int, 0).OP_END_FACTORY_REG(Name)
 *
 * in the namespace ge makes a class ge::op::Name with a setter per input and attribute. Elsewhere
 * the class is in a namespace op of that place. Each part of the chain ends the member function
 * that is open, adds members, and opens the next one, which `declare_*` calls.
 */
#ifndef OPENATC_GRAPH_OPERATOR_REG_H
#define OPENATC_GRAPH_OPERATOR_REG_H

#include <initializer_list>

#include "graph/graph.h"
#include "graph/operator_factory.h"

namespace ge {

/** The element types of a tensor; written in declarations, and not checked. */
struct TensorType {
  TensorType() = default;
  TensorType(DataType) {}
  TensorType(std::initializer_list<DataType>) {}
#define OPENATC_TYPE_LIST(name)                                                                    \
  static TensorType name() { return {}; }
  OPENATC_TYPE_LIST(ALL)
  OPENATC_TYPE_LIST(BasicType)
  OPENATC_TYPE_LIST(FLOAT)
  OPENATC_TYPE_LIST(IndexNumberType)
  OPENATC_TYPE_LIST(IntegerDataType)
  OPENATC_TYPE_LIST(NumberType)
  OPENATC_TYPE_LIST(OrdinaryType)
  OPENATC_TYPE_LIST(QuantifiedType)
  OPENATC_TYPE_LIST(RealNumberType)
  OPENATC_TYPE_LIST(UnaryDataType)
#undef OPENATC_TYPE_LIST
};

namespace detail {
struct Chain {
  Chain &step() { return *this; }
};
} // namespace detail

} // namespace ge

#define OPENATC_NEXT(name)                                                                         \
private:                                                                                           \
  void declare_##name() {                                                                          \
    ge::detail::Chain()

#define REG_OP(name)                                                                               \
  namespace op {                                                                                   \
  using namespace ::ge;                                                                            \
  class name : public ::ge::Operator {                                                             \
    using Self = name;                                                                             \
                                                                                                   \
  public:                                                                                          \
    explicit name(const char *label) : Operator(label, #name) { declare(); }                       \
    explicit name(const std::string &label) : Operator(label.c_str(), #name) { declare(); }        \
    explicit name(const AscendString &label) : Operator(label.GetString(), #name) { declare(); }   \
    name() : Operator(#name) { declare(); }                                                        \
                                                                                                   \
  private:                                                                                         \
    void declare() {                                                                               \
      ge::detail::Chain()

#define OPENATC_INPUT(x, call)                                                                     \
  step();                                                                                          \
  call(#x);                                                                                        \
  declare_in_##x();                                                                                \
  }                                                                                                \
                                                                                                   \
public:                                                                                            \
  static const char *name_in_##x() { return #x; }                                                  \
  Self &set_input_##x(const Operator &source) {                                                    \
    SetInput(#x, source);                                                                          \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_input_##x(const Operator &source, const char *output) {                                \
    SetInput(#x, source, output);                                                                  \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_input_##x(const Operator &source, const std::string &output) {                         \
    SetInput(#x, source, output.c_str());                                                          \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_input_##x(const Operator &source, uint32_t output) {                                   \
    SetInput(#x, source, output);                                                                  \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_input_##x##_by_name(const Operator &source, const char *output) {                      \
    SetInput(#x, source, output);                                                                  \
    return *this;                                                                                  \
  }                                                                                                \
  TensorDesc get_input_desc_##x() const { return GetInputDescByName(#x); }                         \
  graphStatus update_input_desc_##x(const TensorDesc &desc) { return UpdateInputDesc(#x, desc); }  \
  OPENATC_NEXT(in_##x)

#define INPUT(x, type) OPENATC_INPUT(x, InputRegister)
#define OPTIONAL_INPUT(x, type) OPENATC_INPUT(x, OptionalInputRegister)

#define DYNAMIC_INPUT(x, type)                                                                     \
  step();                                                                                          \
  DynamicInputRegister(#x, 0);                                                                     \
  declare_in_##x();                                                                                \
  }                                                                                                \
                                                                                                   \
public:                                                                                            \
  static const char *name_in_##x() { return #x; }                                                  \
  Self &create_dynamic_input_##x(uint32_t count, bool = true) {                                    \
    DynamicInputRegister(#x, count);                                                               \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_dynamic_input_##x(uint32_t index, const Operator &source) {                            \
    SetInput((#x + std::to_string(index)).c_str(), source);                                        \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_dynamic_input_##x(uint32_t index, const Operator &source, const char *output) {        \
    SetInput((#x + std::to_string(index)).c_str(), source, output);                                \
    return *this;                                                                                  \
  }                                                                                                \
  graphStatus update_dynamic_input_desc_##x(uint32_t index, const TensorDesc &desc) {              \
    return UpdateInputDesc((#x + std::to_string(index)).c_str(), desc);                            \
  }                                                                                                \
  OPENATC_NEXT(in_##x)

#define OUTPUT(y, type)                                                                            \
  step();                                                                                          \
  OutputRegister(#y);                                                                              \
  declare_out_##y();                                                                               \
  }                                                                                                \
                                                                                                   \
public:                                                                                            \
  static const char *name_out_##y() { return #y; }                                                 \
  TensorDesc get_output_desc_##y() const { return GetOutputDescByName(#y); }                       \
  graphStatus update_output_desc_##y(const TensorDesc &desc) {                                     \
    return UpdateOutputDesc(#y, desc);                                                             \
  }                                                                                                \
  OPENATC_NEXT(out_##y)

#define DYNAMIC_OUTPUT(y, type)                                                                    \
  step();                                                                                          \
  declare_out_##y();                                                                               \
  }                                                                                                \
                                                                                                   \
public:                                                                                            \
  static const char *name_out_##y() { return #y; }                                                 \
  Self &create_dynamic_output_##y(uint32_t count, bool = true) {                                   \
    DynamicOutputRegister(#y, count);                                                              \
    return *this;                                                                                  \
  }                                                                                                \
  graphStatus update_dynamic_output_desc_##y(uint32_t index, const TensorDesc &desc) {             \
    return UpdateOutputDesc((#y + std::to_string(index)).c_str(), desc);                           \
  }                                                                                                \
  OPENATC_NEXT(out_##y)

#define GRAPH(x)                                                                                   \
  step();                                                                                          \
  SubgraphRegister(#x, false);                                                                     \
  declare_graph_##x();                                                                             \
  }                                                                                                \
                                                                                                   \
public:                                                                                            \
  static const char *name_graph_##x() { return #x; }                                               \
  Self &set_subgraph_builder_##x(const ::ge::SubgraphBuilder &builder) {                           \
    SetSubgraphBuilder(#x, 0, builder);                                                            \
    return *this;                                                                                  \
  }                                                                                                \
  ::ge::Graph get_subgraph_##x() const { return GetSubgraph(#x); }                                 \
  OPENATC_NEXT(graph_##x)

#define DYNAMIC_GRAPH(x)                                                                           \
  step();                                                                                          \
  SubgraphRegister(#x, true);                                                                      \
  declare_graph_##x();                                                                             \
  }                                                                                                \
                                                                                                   \
public:                                                                                            \
  static const char *name_graph_##x() { return #x; }                                               \
  Self &create_dynamic_subgraph_##x(uint32_t count) {                                              \
    SubgraphCountRegister(#x, count);                                                              \
    return *this;                                                                                  \
  }                                                                                                \
  Self &set_dynamic_subgraph_builder_##x(uint32_t index, const ::ge::SubgraphBuilder &builder) {   \
    SetSubgraphBuilder(#x, index, builder);                                                        \
    return *this;                                                                                  \
  }                                                                                                \
  ::ge::Graph get_dynamic_subgraph_##x(uint32_t index) const {                                     \
    return GetDynamicSubgraph(#x, index);                                                          \
  }                                                                                                \
  OPENATC_NEXT(graph_##x)

#define OPENATC_ATTR_SETTER(x, type)                                                               \
public:                                                                                            \
  static const char *name_attr_##x() { return #x; }                                                \
  Self &set_attr_##x(const Op##type &value) {                                                      \
    SetAttr(#x, value);                                                                            \
    return *this;                                                                                  \
  }                                                                                                \
  Op##type get_attr_##x() const {                                                                  \
    Op##type value{};                                                                              \
    GetAttr(#x, value);                                                                            \
    return value;                                                                                  \
  }                                                                                                \
  OPENATC_NEXT(attr_##x)

#define ATTR(x, type, ...)                                                                         \
  step();                                                                                          \
  SetAttr(#x, Op##type(__VA_ARGS__));                                                              \
  declare_attr_##x();                                                                              \
  }                                                                                                \
  OPENATC_ATTR_SETTER(x, type)

#define REQUIRED_ATTR(x, type)                                                                     \
  step();                                                                                          \
  declare_attr_##x();                                                                              \
  }                                                                                                \
  OPENATC_ATTR_SETTER(x, type)

#define DATATYPE(x, type) step()
#define INFER_SHAPE_AND_TYPE() step()

#define OP_END()                                                                                   \
  step();                                                                                          \
  }                                                                                                \
  }                                                                                                \
  ;                                                                                                \
  }

#define OP_END_FACTORY_REG(name)                                                                   \
  step();                                                                                          \
  }                                                                                                \
  }                                                                                                \
  ;                                                                                                \
  static const OperatorCreatorRegister registered_##name(                                          \
      #name, [](const AscendString &label) { return Operator(name(label)); });                     \
  }

#endif
