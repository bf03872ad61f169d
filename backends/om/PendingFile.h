//===-- PendingFile.h - an .om file that appears with others ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_PENDINGFILE_H
#define OPENATC_BACKENDS_OM_PENDINGFILE_H

#include "backends/om/OmSink.h"

#include <utility>

namespace atc::om {

/// Receives an .om file that has its name only once its owner commits it, together with the other
/// results of a command.
class PendingFile : public OmFileSink {
public:
  using OmFileSink::OmFileSink;

  bool commit() override { return flush() && file.finish(); }

  /// Hands over the file, which commitAll() gives its name.
  OutputFile take() { return std::move(file); }
};

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_PENDINGFILE_H
