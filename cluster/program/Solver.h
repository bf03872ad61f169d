//===-- Solver.h - mixed integer programs -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_CLUSTER_PROGRAM_SOLVER_H
#define OPENATC_CLUSTER_PROGRAM_SOLVER_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace atc::cluster {

/// A linear program some of whose variables are integers. Its objective is made as small as
/// possible.
class IntegerProgram {
public:
  using Variable = uint32_t;
  using Terms = std::vector<std::pair<Variable, double>>;

  /// Adds a variable and its factor in the objective.
  Variable addVariable(double low, double high, bool isInteger, double cost = 0);
  /// Adds a constraint on a sum of terms.
  void addAtMost(const Terms &terms, double bound) { rows.push_back({terms, 'L', bound}); }
  void addAtLeast(const Terms &terms, double bound) { rows.push_back({terms, 'G', bound}); }
  void addEqual(const Terms &terms, double value) { rows.push_back({terms, 'E', value}); }

  uint32_t size() const { return static_cast<uint32_t>(columns.size()); }

  /// Returns the values of the variables in a solution whose objective is at most the share `gap`
  /// above the smallest one, or the best that is found within `nodes` nodes of the search; nothing
  /// where there is none.
  std::optional<std::vector<double>> solve(int nodes, double gap) const;

  /// Returns whether solve() can find anything.
  static bool hasSolver();

private:
  struct Column {
    double low, high;
    bool isInteger;
    double cost;
  };
  struct Row {
    Terms terms;
    char sense;
    double bound;
  };
  std::vector<Column> columns;
  std::vector<Row> rows;
};

} // namespace atc::cluster

#endif // OPENATC_CLUSTER_PROGRAM_SOLVER_H
