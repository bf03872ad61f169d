//===-- OmSink.h - receives the bytes of an .om file ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_OMSINK_H
#define OPENATC_BACKENDS_OM_OMSINK_H

#include "openatc/om.hpp"
#include "support/OutputFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace atc::om {

/// Receives the bytes of one file in any order. Each function returns false on failure; a file that
/// was not committed is discarded.
class OmSink {
public:
  virtual ~OmSink() = default;

  /// Sets the size of the file; must come before the first write. All bytes are zero then.
  bool setSize(uint64_t bytes) {
    fileBytes = bytes;
    return allocate(bytes);
  }
  /// Writes `bytes` bytes at `offset`, within the size.
  virtual bool write(uint64_t offset, const void *data, uint64_t bytes) = 0;
  /// Makes the file visible under its name.
  virtual bool commit() = 0;
  /// Returns the first error, a line with an error code.
  virtual std::string errorLine() const = 0;

  /// Returns the size of the file in bytes.
  uint64_t size() const { return fileBytes; }

private:
  virtual bool allocate(uint64_t bytes) = 0;
  uint64_t fileBytes = 0;
};

/// Writes to a file at a path, which is either complete or does not exist.
///
/// Bytes that are written in ascending order reach the file in pieces of several megabytes, at
/// multiples of their size: the system then keeps it in large pages, which a loader maps and reads
/// in a tenth of the time that single pages take.
class OmFileSink : public OmSink {
public:
  explicit OmFileSink(const std::string &path) : file(path) {}

  bool write(uint64_t offset, const void *data, uint64_t bytes) override;
  bool commit() override { return flush() && file.commit(); }
  std::string errorLine() const override { return file.errorLine(); }

protected:
  /// Writes what is not yet in the file.
  bool flush();

  OutputFile file;

private:
  bool allocate(uint64_t bytes) override { return file.setSize(bytes); }

  std::vector<char> piece; ///< what comes next in the file, from pieceAt on
  uint64_t pieceAt = 0;
};

/// Writes to memory.
class OmMemorySink : public OmSink {
public:
  bool write(uint64_t offset, const void *data, uint64_t bytes) override;
  bool commit() override { return true; }
  std::string errorLine() const override;

  /// Returns the file, aligned for om_model_load_memory. The sink is empty afterwards.
  ::om::Buffer take() { return std::move(buffer); }

private:
  bool allocate(uint64_t bytes) override;

  ::om::Buffer buffer;
};

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_OMSINK_H
