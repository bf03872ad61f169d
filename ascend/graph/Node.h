//===-- Node.h - what operators, nodes and graphs consist of ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_GRAPH_NODE_H
#define ASCEND_GRAPH_NODE_H

#include "ge/ge_ir_build.h"

#include <optional>

namespace ge::detail {

struct Input {
  std::string name;
  std::shared_ptr<Node> source = nullptr; ///< null: not given
  std::string outputName = "";            ///< of the source; "": output `output`
  int32_t output = 0;
  std::optional<TensorDesc> desc = std::nullopt; ///< where the program has stated it
};

struct Output {
  std::string name;
  std::optional<TensorDesc> desc = std::nullopt;
};

struct GraphContent;

/// A graph that an operator calls.
struct Subgraph {
  std::string name;                              ///< of a list: with its number
  std::shared_ptr<GraphContent> graph = nullptr; ///< null: not given
};

/// An operator. It keeps those that it reads alive, not its readers.
struct Node {
  std::string name, type;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Subgraph> graphs; ///< in the order of their declarations
  std::map<std::string, AttrValue> attributes;
  std::vector<std::shared_ptr<Node>> before; ///< that run earlier
  std::vector<std::weak_ptr<Node>> readers;
  std::map<std::string, size_t> dynamicEnds; ///< of dynamic inputs: where the next one goes
  std::string error;                         ///< of calls that return no status; "": none

  Node() = default;
  Node(const Node &) = default;
  Node &operator=(const Node &) = default;
  /// Releases the nodes that only this one keeps alive without recursion: a chain may have any
  /// length.
  ~Node();

  /// Returns the number of an output by name; -1 where there is none.
  int32_t findOutput(const std::string &outputName) const;
  /// Returns the number of the output that an input reads; -1 where there is none.
  static int32_t outputOf(const Input &input) {
    if (input.outputName.empty())
      return input.output;
    return input.source->findOutput(input.outputName);
  }
};

/// The model file that a graph is read from.
struct GraphFile {
  int framework;       ///< as --framework
  std::string model;   ///< path; "": `bytes` are the file
  std::string bytes;   ///< of a file in memory
  std::string weights; ///< path, of Caffe
};

struct GraphContent {
  std::string name;
  std::vector<std::shared_ptr<Node>> nodes; ///< inputs first, in the order of SetInputs
  std::vector<std::pair<std::shared_ptr<Node>, int32_t>> outputs;
  std::optional<GraphFile> file;
  std::map<std::string, std::string> flags; ///< of atc, by name, for this graph
  std::vector<std::string> errors;          ///< of calls that return no status
};

/// Returns a graph of operators in the form of .air files, and "" where it is not complete: then
/// `error` says why.
std::string writeAir(const GraphContent &graph, std::string &error);

/// Keeps what went wrong for GEGetErrorMsg, and returns `status`.
uint32_t fail(uint32_t status, const char *function, const std::string &text);
/// Returns what the last failed call of this thread said.
const std::string &lastError();

/// Adds `options` to the flags of atc in `to`. Returns the name of an option that is not known; ""
/// where there is none.
std::string addFlags(const std::map<std::string, std::string> &options,
                     std::map<std::string, std::string> &to);

/// Compiles a graph with `options` and those of aclgrphBuildInitialize. Returns a status of
/// aclgrphBuildModel.
graphStatus build(const char *function, const Graph &graph,
                  const std::map<std::string, std::string> &options, ModelBufferData &model);

/// Returns a model of bytes, which it copies.
ModelBufferData bufferOf(const std::string &bytes);

/// Returns options with keys and values as std::string.
template <typename Map> std::map<std::string, std::string> plain(const Map &options) {
  std::map<std::string, std::string> result;
  for (const auto &[key, value] : options)
    result[key.GetString()] = value.GetString();
  return result;
}

} // namespace ge::detail

#endif
