//===-- OmSink.h - where the bytes of an .om file go ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_BACKENDS_OM_OMSINK_H
#define OPENATC_BACKENDS_OM_OMSINK_H

#include "openatc/om.hpp"

#include <cstdint>
#include <string>

namespace atc::om {

/// Takes the bytes of one file in any order. Each function returns false, with errno set,
/// when it fails; what was not committed leaves nothing behind.
class OmSink {
public:
  virtual ~OmSink() = default;

  /// Returns what messages call the file.
  virtual std::string name() const = 0;
  virtual bool open() = 0;
  /// Sets the size of the file; comes before the first write. All bytes are zero then.
  virtual bool setSize(uint64_t bytes) = 0;
  /// Writes `bytes` bytes at `offset`, within the size.
  virtual bool write(uint64_t offset, const void *data, uint64_t bytes) = 0;
  /// Makes the file visible.
  virtual bool commit() = 0;

  /// Returns the bytes of the file.
  uint64_t size() const { return fileBytes; }

protected:
  uint64_t fileBytes = 0;
};

/// A file beside its path, which it replaces on commit.
class OmFileSink : public OmSink {
public:
  explicit OmFileSink(const std::string &path) : path(path), temporary(path + ".XXXXXX") {}
  ~OmFileSink() override;
  OmFileSink(const OmFileSink &) = delete;
  OmFileSink &operator=(const OmFileSink &) = delete;

  std::string name() const override { return path; }
  bool open() override;
  bool setSize(uint64_t bytes) override;
  bool write(uint64_t offset, const void *data, uint64_t bytes) override;
  bool commit() override;

private:
  std::string path, temporary;
  int fd = -1;
  bool committed = false;
};

/// A file in memory.
class OmMemorySink : public OmSink {
public:
  std::string name() const override { return "the model in memory"; }
  bool open() override { return true; }
  bool setSize(uint64_t bytes) override;
  bool write(uint64_t offset, const void *data, uint64_t bytes) override;
  bool commit() override { return true; }

  /// Returns the file, aligned for om_model_load_memory. The sink is empty afterwards.
  ::om::Buffer take() { return std::move(buffer); }

private:
  ::om::Buffer buffer;
};

} // namespace atc::om

#endif // OPENATC_BACKENDS_OM_OMSINK_H
