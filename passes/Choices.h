//===-- Choices.h - decisions of passes as attributes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that decides by a cost model reads the decision from a table where somebody has set it: a
// person, or the tuner `aoe` from measurements. The table is an attribute of the module, a
// dictionary from keys to choices, both text:
//
//   module attributes {tuning.choices = {
//     "npu-select-tiles|Ascend310P3|npu.conv2d|1x4x56x56x16xf16,...|3f0c..." = "64,64,..."}}
//
// A key has five parts: pass, target (the SoC, or the CPU level), op, types of the operands, and
// a hash of all that the types do not say. docs/tuning.md lists the passes and their choices.

#ifndef OPENATC_PASSES_CHOICES_H
#define OPENATC_PASSES_CHOICES_H

#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace atc {

/// The table, on the module: a dictionary of strings by key.
inline constexpr llvm::StringLiteral kChoicesAttr = "tuning.choices";
/// The maximum number of alternatives that each pass notes, on the module (integer); without it
/// passes note none.
inline constexpr llvm::StringLiteral kProposalsAttr = "tuning.proposals";
/// The decisions of passes, on kernel functions, programs and @main: an array of dictionaries with
/// `key`, `choice` and `proposals`.
inline constexpr llvm::StringLiteral kChosenAttr = "tuning.chosen";
/// The last three parts of the keys of a kernel function or program (string).
inline constexpr llvm::StringLiteral kKernelAttr = "tuning.kernel";

/// The number of a kernel among those that npu-split-batch divides into groups, on the kernel and
/// on its launches (integer): the launches of all parts of the batch have the same one.
inline constexpr llvm::StringLiteral kKernelNumberAttr = "tuning.kernel_number";

/// Returns whether somebody reads or sets choices in the module of `op`: a table, a wish for
/// alternatives or a receiver of remarks. Otherwise no key needs to be computed.
bool usesChoices(mlir::Operation *op);

/// Returns how many alternatives a pass is to note; 0: none.
int64_t wantedProposals(mlir::Operation *op);

/// Returns the last three parts of the keys of an operation: its name, the types of its operands,
/// and a hash of its attributes, regions and types and of `more`. Locations and names of values do
/// not count. `tile` and discardable attributes that begin with "tuning." do not count either.
std::string identify(mlir::Operation *op, llvm::StringRef more = "");

/// Returns the last three parts of a key from their contents; `text` is hashed.
std::string identify(llvm::StringRef name, mlir::TypeRange operands, llvm::StringRef text);

/// Returns a key.
std::string choiceKey(llvm::StringRef pass, llvm::StringRef target, llvm::StringRef identity);

/// Returns what the table of the module of `op` has for a key; nothing where it has no entry.
std::optional<llvm::StringRef> givenChoice(mlir::Operation *op, llvm::StringRef key);

/// Says a decision in a remark of `pass` at `location`.
void remarkChoice(llvm::StringRef pass, mlir::Location location, llvm::StringRef key,
                  llvm::StringRef choice);

/// Notes a decision on `holder` and says it in a remark of `pass` at `location`. Does nothing
/// unless the choices are used. The literal of `pass` must outlive the context.
void noteChoice(llvm::StringRef pass, mlir::Location location, mlir::Operation *holder,
                llvm::StringRef key, llvm::StringRef choice,
                llvm::ArrayRef<std::string> proposals = {});

/// Copies what was noted on a kernel function to what replaces it.
void copyChosen(mlir::Operation *from, mlir::Operation *to);

/// Warns that an entry of the table cannot be followed and is ignored. `why` is the end of a
/// sentence.
void reportUnfit(mlir::Operation *op, llvm::StringRef key, llvm::StringRef choice,
                 const llvm::Twine &why);

} // namespace atc

#endif // OPENATC_PASSES_CHOICES_H
