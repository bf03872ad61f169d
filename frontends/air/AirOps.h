//===-- AirOps.h - an operator of a file as a single operator -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_FRONTENDS_AIR_AIROPS_H
#define OPENATC_FRONTENDS_AIR_AIROPS_H

#include "frontends/air/schema/air.pb.h"
#include "frontends/onnx/singleop/SingleOp.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace atc::air {

/// Returns AscendCL's number of an element type, of the file's; nullopt for types that tensors
/// cannot have here.
std::optional<int> typeOf(int32_t fileType);

/// Returns AscendCL's number of a format: NHWC is 1; ND where the name is not known.
int formatOf(llvm::StringRef layout);

/// Returns the size in bytes of an element; 0 where the type has no whole bytes.
int64_t elementBytes(int type);

/// Returns the attributes of an operator, sorted by name. Those that only the toolchain itself
/// reads (graphs, tensors) are left out.
std::vector<SingleOpAttribute> attributesOf(const pb::Op &op);

/// Returns the values of a constant of integers or floats with at most `limit` elements; nullopt
/// where it has more, its bytes are not those of its shape, or an integer has no double.
std::optional<std::vector<double>> valuesOf(const pb::Tensor &tensor, int64_t limit);

/// Returns whether one of the dims is of any size (negative).
bool isDynamic(llvm::ArrayRef<int64_t> dims);

/// Returns whether the nodes of an operator are made of the dims of its output.
bool readsOutputShape(llvm::StringRef type);

/// Sets the dims of the output of an operator for which readsOutputShape is true to those that its
/// input, constants and attributes imply. Returns false, without a change, for all others.
bool inferMovedShape(SingleOp &op);

} // namespace atc::air

#endif // OPENATC_FRONTENDS_AIR_AIROPS_H
