/*===-- graph/gnode.h - an operator in its graph --------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_GNODE_H
#define OPENATC_GRAPH_GNODE_H

#include <utility>

#include "graph/operator.h"

namespace ge {

class GNode;
using GNodePtr = std::shared_ptr<GNode>;

/** A node; copies are the same one. Ports count from 0, and -1 is an order of execution. */
class GNode {
public:
  GNode() = default;
  explicit GNode(std::shared_ptr<detail::Node> node) : held(std::move(node)) {}

  graphStatus GetName(AscendString &name) const;
  graphStatus GetType(AscendString &type) const;
  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;
  /** Returns the producer of an input and its port; {null, -1} where the input is not given. */
  std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(int32_t index) const;
  graphStatus GetInputDesc(int32_t index, TensorDesc &desc) const;
  graphStatus UpdateInputDesc(int32_t index, const TensorDesc &desc);
  graphStatus GetOutputDesc(int32_t index, TensorDesc &desc) const;
  graphStatus UpdateOutputDesc(int32_t index, const TensorDesc &desc);
  /** Returns the value of a Const that is read at an input. */
  graphStatus GetInputConstData(int32_t index, Tensor &data) const;

  template <typename T> graphStatus GetAttr(const AscendString &name, T &value) const {
    return held ? Operator(held).GetAttr(name.GetString(), value) : GRAPH_FAILED;
  }
  template <typename T> graphStatus SetAttr(const AscendString &name, const T &value) {
    if (!held)
      return GRAPH_FAILED;
    Operator(held).SetAttr(name.GetString(), value);
    return GRAPH_SUCCESS;
  }

  const std::shared_ptr<detail::Node> &node() const { return held; }

private:
  std::shared_ptr<detail::Node> held;
};

} // namespace ge

#endif
