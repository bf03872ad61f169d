//===-- Einsum.cpp - sums of products by index labels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/Einsum.h"

#include "dialects/graph/ops/ConvOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace atc {
namespace {

/// Holds a label for each dim; those of an ellipsis are negative, the last dim is -1.
using Labels = SmallVector<int>;

struct Operand {
  Value value;
  Labels labels;
};

/// "ij", "b...k"; nothing after an error. An ellipsis stands for `dots` dims.
std::optional<Labels> readTerm(NodeBuilder &n, StringRef term, int64_t dots) {
  Labels labels;
  bool hasDots = false;
  for (; !term.empty(); term = term.drop_front()) {
    if (term.consume_front("...")) {
      if (hasDots)
        break;
      hasDots = true;
      for (int64_t dim = dots; dim > 0; --dim)
        labels.push_back(-static_cast<int>(dim));
      if (term.empty())
        return labels;
    }
    if (!llvm::isAlpha(term.front()))
      break;
    if (llvm::is_contained(labels, term.front())) {
      n.leaveToHost();
      n.failAttribute("equation", "names '" + Twine(term.front()) +
                                      "' twice in one term; diagonals are not supported");
      return std::nullopt;
    }
    labels.push_back(term.front());
  }
  if (term.empty())
    return labels;
  n.failAttribute("equation", "has the term '" + term + "', which cannot be read");
  return std::nullopt;
}

/// The dims in the order of `to`, with 1 for labels that the operand lacks.
Value arrange(NodeBuilder &n, const Operand &operand, ArrayRef<int> to) {
  SmallVector<int64_t> permutation, shape;
  for (int label : to) {
    auto found = llvm::find(operand.labels, label);
    if (found == operand.labels.end()) {
      shape.push_back(1);
      continue;
    }
    permutation.push_back(found - operand.labels.begin());
    shape.push_back(n.shape(operand.value)[permutation.back()]);
  }
  Value value = operand.value;
  if (!llvm::is_sorted(permutation))
    value = n.transpose(value, permutation);
  return n.reshape(value, shape);
}

/// Sums over the labels that neither `kept` names.
Operand sumOut(NodeBuilder &n, Operand operand, ArrayRef<int> kept, ArrayRef<int> alsoKept) {
  SmallVector<int64_t> axes;
  Labels rest;
  for (auto [axis, label] : llvm::enumerate(operand.labels)) {
    if (llvm::is_contained(kept, label) || llvm::is_contained(alsoKept, label))
      rest.push_back(label);
    else
      axes.push_back(axis);
  }
  Value value = n.reduce(graph::ReduceKind::Sum, operand.value, axes, /*keepdims=*/false);
  return {value, rest};
}

/// The product of two operands, summed over what only they have: a matrix product
/// [batch..., rows, sum] x [batch..., sum, columns].
Operand contract(NodeBuilder &n, Operand lhs, Operand rhs, ArrayRef<int> kept) {
  lhs = sumOut(n, lhs, kept, rhs.labels);
  rhs = sumOut(n, rhs, kept, lhs.labels);
  if (n.failed())
    return {};
  Labels batch, rows, columns, sum;
  for (int label : lhs.labels) {
    if (!llvm::is_contained(rhs.labels, label))
      rows.push_back(label);
    else
      (llvm::is_contained(kept, label) ? batch : sum).push_back(label);
  }
  for (int label : rhs.labels)
    if (!llvm::is_contained(lhs.labels, label))
      columns.push_back(label);
  auto asMatrices = [&](const Operand &operand, ArrayRef<int> first, ArrayRef<int> second,
                        SmallVector<int64_t> &dims) {
    Labels order(batch);
    order.append(first.begin(), first.end());
    order.append(second.begin(), second.end());
    Value value = arrange(n, operand, order);
    dims.assign(n.shape(value).begin(), n.shape(value).end());
    SmallVector<int64_t> shape(ArrayRef(dims).take_front(batch.size()));
    for (auto [from, count] :
         {std::pair(batch.size(), first.size()), {batch.size() + first.size(), second.size()}}) {
      int64_t size = 1;
      for (int64_t dim : ArrayRef(dims).slice(from, count))
        size *= dim;
      shape.push_back(size);
    }
    return n.reshape(value, shape);
  };
  SmallVector<int64_t> lhsDims, rhsDims;
  Value left = asMatrices(lhs, rows, sum, lhsDims), right = asMatrices(rhs, sum, columns, rhsDims);
  if (n.failed())
    return {};
  Value product = n.create<graph::MatMulOp>(left, right);
  if (n.failed())
    return {};
  Labels labels(batch);
  labels.append(rows);
  labels.append(columns);
  SmallVector<int64_t> shape(n.shape(product).take_front(batch.size()));
  ArrayRef<int64_t> rowDims = ArrayRef(lhsDims).slice(batch.size(), rows.size());
  ArrayRef<int64_t> columnDims = ArrayRef(rhsDims).take_back(columns.size());
  shape.append(rowDims.begin(), rowDims.end());
  shape.append(columnDims.begin(), columnDims.end());
  return {n.reshape(product, shape), labels};
}

} // namespace

Value makeEinsum(NodeBuilder &n, std::string equation, ArrayRef<Value> inputs) {
  if (n.failed())
    return {};
  auto refuse = [&](const Twine &reason) {
    n.failAttribute("equation", reason);
    return Value();
  };
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != inputs.size())
    return refuse("has " + Twine(terms.size()) + " terms for " + Twine(inputs.size()) + " inputs");
  SmallVector<Operand> operands;
  Labels counted;
  int64_t maxDots = 0;
  for (auto [index, term] : llvm::enumerate(terms)) {
    bool hasDots = term.contains("...");
    int64_t named = static_cast<int64_t>(term.size()) - (hasDots ? 3 : 0);
    int64_t dots = n.rank(inputs[index]) - named;
    if (dots < 0 || (dots > 0 && !hasDots))
      return refuse("has the term '" + term + "' for a tensor of rank " +
                    Twine(n.rank(inputs[index])));
    maxDots = std::max(maxDots, dots);
    std::optional<Labels> labels = readTerm(n, term, dots);
    if (!labels)
      return {};
    counted.append(*labels);
    operands.push_back({inputs[index], *labels});
  }
  // Equal labels have equal sizes; only an ellipsis broadcasts.
  llvm::DenseMap<int, int64_t> sizes;
  for (const Operand &operand : operands)
    for (auto [label, dim] : llvm::zip(operand.labels, n.shape(operand.value))) {
      auto [known, isNew] = sizes.try_emplace(label, dim);
      if (isNew || known->second == dim)
        continue;
      if (label < 0)
        n.leaveToHost();
      std::string which = label < 0 ? "ellipsis" : std::string(1, static_cast<char>(label));
      return refuse("gives '" + which + "' dims of " + Twine(known->second) + " and of " +
                    Twine(dim) + " elements");
    }
  Labels result;
  if (StringRef(equation).contains("->")) {
    std::optional<Labels> labels = readTerm(n, right, maxDots);
    if (!labels)
      return {};
    result = *labels;
  } else {
    // By default: the ellipsis, then what is named once, sorted.
    for (int64_t dim = maxDots; dim > 0; --dim)
      result.push_back(-static_cast<int>(dim));
    Labels once;
    for (int label : counted)
      if (label > 0 && llvm::count(counted, label) == 1)
        once.push_back(label);
    llvm::sort(once);
    result.append(once);
  }
  for (int label : result)
    if (!sizes.contains(label))
      return refuse("the result has a label that no input has");
  Operand all = operands.front();
  for (size_t next = 1; next < operands.size() && !n.failed(); ++next) {
    Labels kept(result);
    for (const Operand &later : ArrayRef(operands).drop_front(next + 1))
      kept.append(later.labels);
    all = contract(n, all, operands[next], kept);
  }
  if (n.failed())
    return {};
  return arrange(n, sumOut(n, all, result, {}), result);
}

} // namespace atc
