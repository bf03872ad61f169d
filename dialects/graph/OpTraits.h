//===-- OpTraits.h - facts about ops that passes ask for --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fact that several passes ask for is a trait that an op states once, and not a list of ops in
// each pass: op->hasTrait<graph::IsContraction>(). GraphTraits.td makes them known to the
// descriptions of ops.
//
//===----------------------------------------------------------------------===//

#ifndef OPENATC_DIALECTS_GRAPH_OPTRAITS_H
#define OPENATC_DIALECTS_GRAPH_OPTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace atc::graph {

/// Marks ops that multiply elements of operand 0 by elements of operand 1, which are the weights of
/// a layer, and accumulate the products: convolutions and matrix products of floats.
template <typename ConcreteOp>
class IsContraction : public mlir::OpTrait::TraitBase<ConcreteOp, IsContraction> {};

/// Marks contractions with an optional bias per output channel.
template <typename ConcreteOp>
class AddsBias : public mlir::OpTrait::TraitBase<ConcreteOp, AddsBias> {};

/// Marks ops each element of whose result is an element of operand 0, unchanged. What other
/// operands there are only select elements. An elementwise op of one operand computes the same
/// values before such an op as behind it.
template <typename ConcreteOp>
class OnlyMovesElements : public mlir::OpTrait::TraitBase<ConcreteOp, OnlyMovesElements> {};

/// Marks ops whose result has the shape of operand 0, and an element type or a layout that the op
/// states, so that it cannot be inferred.
template <typename ConcreteOp>
class KeepsShape : public mlir::OpTrait::TraitBase<ConcreteOp, KeepsShape> {};

/// Marks ops between a quantized tensor and its real values or its integers. They stay apart from
/// constants until a pass has used their parameters.
template <typename ConcreteOp>
class ConvertsQuantized : public mlir::OpTrait::TraitBase<ConcreteOp, ConvertsQuantized> {};

/// Marks ops of dynamic schedules: host calls and control flow, which the machine of the runtime
/// runs one after another.
template <typename ConcreteOp>
class RunsOnHost : public mlir::OpTrait::TraitBase<ConcreteOp, RunsOnHost> {};

} // namespace atc::graph

#endif // OPENATC_DIALECTS_GRAPH_OPTRAITS_H
