//===-- MixedGraph.h - makes random models of all element types -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class behind makeMixedGraph. A value knows whether its elements are exact: then every way
// to compute it gives the same numbers, even in float16, and it may be compared, rounded or cast.

#ifndef OPENATC_TEST_FUZZ_RANDOM_MIXEDGRAPH_H
#define OPENATC_TEST_FUZZ_RANDOM_MIXEDGRAPH_H

#include "test/fuzz/random/RandomGraph.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace atc::fuzz {

class MixedMaker {
public:
  MixedMaker(uint64_t seed, bool dynamicDims);
  RandomGraph run();

private:
  using Dims = std::vector<int64_t>;
  using Names = std::vector<std::string>;

  struct Value {
    std::string name;
    int type; ///< onnx::TensorProto::DataType
    Dims dims;
    /// The largest magnitude of elements that are multiples of `grain`; a grain of 0 says that
    /// elements are rounded somewhere.
    double largest = 0, grain = 0;
  };

  // Random choices.
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T, size_t n> T oneOf(const T (&list)[n]) { return list[below(n)]; }
  Dims randomDims();

  // Properties of values.
  static int64_t count(const Dims &dims);
  static bool isFloat(int type);
  static bool isExact(const Value &value);
  static double limitOf(int type);

  // Parts of the graph.
  onnx::GraphProto &graph() { return *current; }
  onnx::NodeProto &node(const char *type, const Names &inputs);
  const Value &result(onnx::NodeProto &made, int type, const Dims &dims, double largest = 0,
                      double grain = 0);
  std::string newName() { return "v" + std::to_string(++names); }
  /// Adds a constant of random multiples of `grain` up to `largest`.
  Value constant(int type, const Dims &dims, double largest, double grain, bool positive = false);
  std::string numbers(int type, const Dims &dims, const std::vector<double> &list);
  std::string integers(const Dims &list);
  static void setInt(onnx::NodeProto &made, const char *name, int64_t value);
  static void setFloat(onnx::NodeProto &made, const char *name, float value);
  static void setInts(onnx::NodeProto &made, const char *name, const Dims &list);
  static void setText(onnx::NodeProto &made, const char *name, const char *text);
  void addPort(onnx::ValueInfoProto &port, const Value &value, bool isInput);
  static Dims broadcast(const Dims &a, const Dims &b);
  static bool canBroadcast(const Dims &a, const Dims &b);
  /// Returns an operand that is broadcast with x: a value or a constant.
  Value other(const Value &x, int type, bool positive = false);
  /// Returns a value to read; recent ones are read more often.
  Value pick();

  // Nodes: arithmetic.
  void addNode();
  void addUnary(const Value &x);
  void addBinary(const Value &x);
  void addCompare(const Value &x);
  void addCast(const Value &x);
  void addReduction(const Value &x);
  void addVariadic(const Value &x);
  void addQuantized(const Value &x);
  // Nodes: movement of elements.
  void addMovement(const Value &x);
  void addReshape(const Value &x);
  void addSlice(const Value &x);
  void addPad(const Value &x);
  void addGather(const Value &x);
  void addScatter(const Value &x);
  void addJoin(const Value &x);
  void addSplit(const Value &x);
  void addOrder(const Value &x);
  // Nodes: windows, products, norms.
  void addProduct(const Value &x);
  void addConv(const Value &x);
  void addPool(const Value &x);
  void addNorm(const Value &x);
  // Nodes: control flow and sequences.
  void addIf(const Value &x);
  void addLoop(const Value &x);
  void addScan(const Value &x);
  void addSequence(const Value &x);

  std::mt19937_64 random;
  const bool dynamicDims;
  onnx::ModelProto model;
  onnx::GraphProto *current;
  int opset;
  int names = 0;
  std::vector<Value> values;
  std::set<std::string> read;
};

} // namespace atc::fuzz

#endif // OPENATC_TEST_FUZZ_RANDOM_MIXEDGRAPH_H
