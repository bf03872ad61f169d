/*===-- graph/graph.h - graphs of operators -------------------------*- C++ -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===--------------------------------------------------------------------------===*/
#ifndef OPENATC_GRAPH_GRAPH_H
#define OPENATC_GRAPH_GRAPH_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/gnode.h"

namespace ge {

namespace detail {
struct GraphContent;
}

/** A graph; copies are the same one. It consists of operators, or is a model file that
 * aclgrphParse... or LoadFromFile has read, whose nodes are not visible. */
class Graph {
public:
  Graph();
  explicit Graph(const std::string &name) : Graph(name.c_str()) {}
  explicit Graph(const char *name);
  ~Graph();
  Graph(const Graph &);
  Graph &operator=(const Graph &);

  /** Takes the operators that the inputs lead to, and those that they need. */
  Graph &SetInputs(const std::vector<Operator> &inputs);
  Graph &SetOutputs(const std::vector<Operator> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<Operator, std::vector<size_t>>> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<Operator, AscendString>> &outputs);
  Graph &SetOutputs(const std::vector<std::pair<Operator, std::string>> &outputs) {
    std::vector<std::pair<Operator, AscendString>> named;
    for (const auto &output : outputs)
      named.emplace_back(output.first, detail::ascendOf(output.second));
    return SetOutputs(named);
  }
  Graph &SetTargets(const std::vector<Operator> &targets);

  bool IsValid() const;
  std::string GetName() const {
    AscendString name;
    GetName(name);
    return detail::textOf(name);
  }
  graphStatus GetName(AscendString &name) const;
  graphStatus SetName(const char *name);

  graphStatus AddOp(const Operator &op);
  graphStatus FindOpByName(const char *name, Operator &op) const;
  graphStatus FindOpByName(const std::string &name, Operator &op) const {
    return FindOpByName(name.c_str(), op);
  }
  graphStatus GetAllOpName(std::vector<AscendString> &names) const;

  std::vector<GNode> GetAllNodes() const;
  std::vector<GNode> GetDirectNode() const;
  GNodePtr FindNodeByName(const AscendString &name) const;
  GNode AddNodeByOp(const Operator &op);
  graphStatus RemoveNode(GNode &node);
  graphStatus RemoveEdge(GNode &from, int32_t fromPort, GNode &to, int32_t toPort);
  graphStatus AddDataEdge(GNode &from, int32_t fromPort, GNode &to, int32_t toPort);
  graphStatus AddControlEdge(GNode &from, GNode &to);

  /** Write and read the form that `atc --framework=1` reads (.air). */
  graphStatus SaveToFile(const std::string &path) const { return SaveToFile(path.c_str()); }
  graphStatus SaveToFile(const char *path) const;
  graphStatus LoadFromFile(const std::string &path) { return LoadFromFile(path.c_str()); }
  graphStatus LoadFromFile(const char *path);

  const std::shared_ptr<detail::GraphContent> &content() const { return held; }

private:
  std::shared_ptr<detail::GraphContent> held;
};

} // namespace ge

#endif
