//===-- PendingFile.h - an .om file that appears with others ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_PENDINGFILE_H
#define OPENATC_BACKENDS_OM_PENDINGFILE_H

#include "backends/om/OmSink.h"

#include <utility>

namespace atc::om {

/// Receives an .om file that has its name only once its owner commits it, together with the other
/// results of a command.
class PendingFile : public OmSink {
public:
  explicit PendingFile(const std::string &path) : file(path) {}

  bool write(uint64_t offset, const void *data, uint64_t bytes) override {
    return file.writeAt(offset, data, bytes);
  }
  bool commit() override { return file.finish(); }
  std::string errorLine() const override { return file.errorLine(); }

  /// Hands over the file, which commitAll() gives its name.
  OutputFile take() { return std::move(file); }

private:
  bool allocate(uint64_t bytes) override { return file.setSize(bytes); }

  OutputFile file;
};

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_PENDINGFILE_H
