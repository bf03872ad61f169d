//===-- Solver.cpp - mixed integer programs -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cluster/program/Solver.h"

#ifdef OPENATC_HAS_CBC
#include <Cbc_C_Interface.h>

#include <memory>
#endif

namespace atc::cluster {

IntegerProgram::Variable IntegerProgram::addVariable(double low, double high, bool isInteger,
                                                     double cost) {
  columns.push_back({low, high, isInteger, cost});
  return size() - 1;
}

#ifdef OPENATC_HAS_CBC

bool IntegerProgram::hasSolver() { return true; }

std::optional<std::vector<double>> IntegerProgram::solve(int nodes, double gap) const {
  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> model(Cbc_newModel(),
                                                                     &Cbc_deleteModel);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setMaximumNodes(model.get(), nodes);
  Cbc_setAllowableFractionGap(model.get(), gap);
  for (const Column &column : columns)
    Cbc_addCol(model.get(), "", column.low, column.high, column.cost, column.isInteger, 0, nullptr,
               nullptr);
  for (const Row &row : rows) {
    std::vector<int> indices;
    std::vector<double> factors;
    for (const auto &[variable, factor] : row.terms) {
      indices.push_back(static_cast<int>(variable));
      factors.push_back(factor);
    }
    Cbc_addRow(model.get(), "", static_cast<int>(indices.size()), indices.data(), factors.data(),
               row.sense, row.bound);
  }
  Cbc_solve(model.get());
  // Null where there is no solution, or none within the bounds.
  const double *best = Cbc_bestSolution(model.get());
  if (!best || Cbc_isProvenInfeasible(model.get()))
    return std::nullopt;
  return std::vector<double>(best, best + columns.size());
}

#else

bool IntegerProgram::hasSolver() { return false; }

std::optional<std::vector<double>> IntegerProgram::solve(int, double) const { return std::nullopt; }

#endif

} // namespace atc::cluster
