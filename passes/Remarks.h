//===-- Remarks.h - what passes decide, and why ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass that decides says so with a remark, in the category of its own name:
//
//   remarkPassed(kPass, op.getLoc(), "Fused") << "the addition becomes the residual";
//
// `atc --remarks` prints them, and `atc-opt --remarks-filter=<pass> --remark-format=emitRemark`.
// Where nobody listens nothing is emitted, but the arguments of << are computed: text that is not
// constant belongs into remark::add("{0} parts", count), which formats it later.

#ifndef OPENATC_PASSES_REMARKS_H
#define OPENATC_PASSES_REMARKS_H

#include "mlir/IR/Remarks.h"

namespace atc {

/// While one exists, remarks of its thread are dropped: those of passes that run on a copy of the
/// model to find out what they would do. Contexts with remarks have one thread.
class SilentRemarks {
public:
  SilentRemarks() { ++count; }
  ~SilentRemarks() { --count; }
  SilentRemarks(const SilentRemarks &) = delete;
  SilentRemarks &operator=(const SilentRemarks &) = delete;

  static bool any() { return count > 0; }

private:
  static inline thread_local unsigned count = 0;
};

/// Begins the remark that `pass` has changed the code at `location`. `name` is what it did in one
/// word. Both must outlive the remark.
inline mlir::remark::detail::InFlightRemark
remarkPassed(llvm::StringRef pass, mlir::Location location, llvm::StringRef name) {
  if (SilentRemarks::any())
    return {};
  return mlir::remark::passed(location, mlir::remark::RemarkOpts::name(name).category(pass));
}

/// Begins the remark that `pass` has left the code at `location` as it is, to be followed by the
/// reason; as remarkPassed otherwise.
inline mlir::remark::detail::InFlightRemark
remarkMissed(llvm::StringRef pass, mlir::Location location, llvm::StringRef name) {
  if (SilentRemarks::any())
    return {};
  return mlir::remark::missed(location, mlir::remark::RemarkOpts::name(name).category(pass));
}

/// Begins a remark with figures that explain decisions; as remarkPassed otherwise.
inline mlir::remark::detail::InFlightRemark
remarkAnalysis(llvm::StringRef pass, mlir::Location location, llvm::StringRef name) {
  if (SilentRemarks::any())
    return {};
  return mlir::remark::analysis(location, mlir::remark::RemarkOpts::name(name).category(pass));
}

} // namespace atc

#endif // OPENATC_PASSES_REMARKS_H
