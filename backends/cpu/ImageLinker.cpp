//===-- ImageLinker.cpp - links object code into one mappable image -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLD works on paths, so the objects are put into anonymous memory files and the result comes
// through a pipe, all reached through /proc/self/fd: nothing is written to a disk. (LLD writes
// regular files by way of a temporary file beside them, which /proc cannot hold.) Linking as a
// position-independent executable makes LLD turn every address that is only known at run time into
// a dynamic relocation, which is then detected.

#include "backends/cpu/ImageLinker.h"

#include "lld/Common/Driver.h"
#include "runtime-lite/abi/Architectures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace llvm::object;

namespace atc::cpu {

namespace {
constexpr uint64_t maxAlignment = 4096;
constexpr uint64_t maxImageBytes = uint64_t(1) << 31;

template <typename... Parts> Error failed(Parts &&...parts) {
  std::string text;
  raw_string_ostream stream(text);
  (stream << ... << parts);
  return createStringError(inconvertibleErrorCode(), "E19999: " + text);
}

std::string descriptorPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// An object in a file without a name.
class ObjectFile {
public:
  ObjectFile() : fd(memfd_create("openatc-object", MFD_CLOEXEC)), problem(fd < 0 ? errno : 0) {}
  ObjectFile(ObjectFile &&other) noexcept : fd(other.fd), problem(other.problem) { other.fd = -1; }
  ~ObjectFile() {
    if (fd >= 0)
      close(fd);
  }

  std::string path() const { return descriptorPath(fd); }

  Error write(StringRef bytes) {
    // Most of all the limit of open files (ulimit -n).
    if (fd < 0)
      return createStringError(inconvertibleErrorCode(),
                               "E13004: cannot make a file in memory for an object: %s.",
                               std::strerror(problem));
    while (!bytes.empty()) {
      ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        // Memory that has run out, or the limit of the size of files (ulimit -f), which counts
        // here.
        return createStringError(inconvertibleErrorCode(),
                                 "E13004: cannot write an object to a file in memory: %s.",
                                 std::strerror(errno));
      bytes = bytes.drop_front(written);
    }
    if (access(path().c_str(), R_OK))
      return createStringError(inconvertibleErrorCode(),
                               "E13004: the linker cannot reach an object in memory by %s: %s; it "
                               "needs the file system /proc, as every container has it.",
                               path().c_str(), std::strerror(errno));
    return Error::success();
  }

private:
  int fd;
  int problem; ///< why there is no file
};

/// Receives what is written to a path.
class ResultPipe {
public:
  Error open() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      return createStringError(inconvertibleErrorCode(), "E13004: cannot make a pipe: %s.",
                               std::strerror(errno));
    reader = std::thread([this] {
      char piece[65536];
      for (;;) {
        ssize_t got = read(ends[0], piece, sizeof(piece));
        if (got > 0)
          bytes.insert(bytes.end(), piece, piece + got);
        else if (got == 0 || errno != EINTR)
          return;
      }
    });
    return Error::success();
  }
  ~ResultPipe() { finish(); }

  std::string path() const { return descriptorPath(ends[1]); }

  /// Everything that came; nothing can come afterwards.
  std::vector<char> finish() {
    if (reader.joinable()) {
      close(ends[1]);
      reader.join();
      close(ends[0]);
    }
    return std::move(bytes);
  }

private:
  int ends[2] = {-1, -1};
  std::vector<char> bytes;
  std::thread reader;
};

/// Reads the headers of an ELF file of any class; the result refers to `bytes`.
Expected<std::unique_ptr<ELFObjectFileBase>> openElf(StringRef bytes) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "object"));
  if (!file)
    return file.takeError();
  return std::unique_ptr<ELFObjectFileBase>(cast<ELFObjectFileBase>(file->release()));
}

/// Collects the symbols that the objects define and the ones that they need but an image cannot
/// provide.
class ObjectCheck {
public:
  Error add(StringRef object) {
    auto opened = openElf(object);
    if (!opened)
      return failed("the object is not ELF: ", toString(opened.takeError()), ".");
    const ELFObjectFileBase &file = **opened;
    Triple::ArchType itsArch = file.getArch();
    if (!file.isRelocatableObject() || !file.isLittleEndian() ||
        none_of(abi::kArchitectures, [&](auto &row) {
          return row.machine == file.getEMachine() && row.bits == 8 * file.getBytesInAddress();
        }))
      return failed("the object is not x86-64, AArch64, RISC-V or ARMv7 ELF code to be linked.");
    if (arch != Triple::UnknownArch && arch != itsArch)
      return failed("the objects are of different architectures: ", Triple::getArchTypeName(arch),
                    " and ", Triple::getArchTypeName(itsArch), ".");
    arch = itsArch;
    for (const ELFSectionRef section : file.sections())
      if (Error error = addSection(file, section))
        return error;
    for (const ELFSymbolRef symbol : file.symbols())
      if (Error error = addSymbol(symbol))
        return error;
    return Error::success();
  }

  Error finish() const {
    std::vector<std::string> errorLines(sectionErrors);
    for (const std::string &name : undefined)
      if (!defined.count(name))
        errorLines.push_back("it calls or reads '" + name + "', which no object defines");
    if (errorLines.empty())
      return Error::success();
    return failed("the code cannot become an image: ", join(errorLines, "; "), ".");
  }

private:
  Error addSection(const ELFObjectFileBase &file, ELFSectionRef section) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if (!(section.getFlags() & ELF::SHF_ALLOC) || section.getSize() == 0)
      return Error::success();
    if (section.getAlignment().value() > maxAlignment)
      sectionErrors.push_back(
          ("section '" + *name + "' wants more than 4096-byte alignment").str());
    if (!(section.getFlags() & ELF::SHF_WRITE))
      return Error::success();
    SmallVector<std::string> owners;
    for (const ELFSymbolRef symbol : file.symbols()) {
      auto home = symbol.getSection();
      auto owner = symbol.getName();
      if (!home || !owner) {
        consumeError(home.takeError());
        consumeError(owner.takeError());
        continue;
      }
      if (*home != file.section_end() && **home == section && !owner->empty() && *owner != *name)
        owners.push_back("'" + owner->str() + "'");
    }
    sectionErrors.push_back(("section '" + *name + "' must be written to at run time").str() +
                            (owners.empty() ? "" : " (" + join(owners, ", ") + ")"));
    return Error::success();
  }

  Error addSymbol(ELFSymbolRef symbol) {
    auto name = symbol.getName();
    auto flags = symbol.getFlags();
    if (!name)
      return name.takeError();
    if (!flags)
      return flags.takeError();
    if (name->empty() || *name == "_GLOBAL_OFFSET_TABLE_")
      return Error::success();
    if (*flags & SymbolRef::SF_Common)
      sectionErrors.push_back("'" + name->str() + "' must be written to at run time");
    (*flags & SymbolRef::SF_Undefined ? undefined : defined).insert(name->str());
    return Error::success();
  }

  std::vector<std::string> sectionErrors;
  std::set<std::string> defined, undefined;
  Triple::ArchType arch = Triple::UnknownArch;
};

Error runLinker(ArrayRef<ObjectFile> objects, const std::string &result) {
  // LLD keeps its state in globals and reports when it must not be called again.
  static std::mutex oneAtATime;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(oneAtATime);
  if (!usable)
    return failed("the linker failed before and cannot be used again in this process.");

  std::vector<std::string> args = {"ld.lld",
                                   "-pie",
                                   "--no-dynamic-linker",
                                   "--image-base=0",
                                   "--entry=0",
                                   "--no-rosegment",
                                   "--build-id=none",
                                   "--strip-debug",
                                   "--hash-style=gnu",
                                   "--threads=1",
                                   "--color-diagnostics=never",
                                   "--no-mmap-output-file",
                                   "-z",
                                   "text",
                                   "-z",
                                   "rodynamic",
                                   "-z",
                                   "norelro",
                                   "-z",
                                   "max-page-size=4096",
                                   "-o",
                                   result};
  for (const ObjectFile &object : objects)
    args.push_back(object.path());
  SmallVector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());

  std::string output;
  raw_string_ostream stream(output);
  // With this, a fatal error inside LLD comes back here and does not end the
  // process.
  CrashRecoveryContext::Enable();
  lld::Result outcome = lld::lldMain(pointers, stream, stream, {{lld::Gnu, &lld::elf::link}});
  CrashRecoveryContext::Disable();
  usable = outcome.canRunAgain;
  if (outcome.retCode == 0)
    return Error::success();
  // Where memory has ended, a tool ends as it does where an allocation fails.
  if (std::new_handler handler = std::get_new_handler();
      handler && StringRef(output).contains(std::strerror(ENOMEM)))
    handler();
  if (StringRef(output).contains(std::strerror(EMFILE)))
    return createStringError(inconvertibleErrorCode(), "E13004: cannot link the code: %s.",
                             std::strerror(EMFILE));
  for (char &c : output)
    c = c == '\n' ? ' ' : c;
  return failed("the code cannot become an image: ", StringRef(output).trim());
}

/// Copies the loaded segments of the executable `bytes` to where they are mapped in `image`.
template <typename ElfType>
Error copySegments(const ELFFile<ElfType> &file, StringRef bytes, std::vector<char> &image) {
  auto headers = file.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    const uint64_t end = uint64_t(header.p_vaddr) + header.p_memsz;
    if (end > maxImageBytes || uint64_t(header.p_offset) + header.p_filesz > bytes.size())
      return failed("the linked code is too large.");
    if (image.size() < end)
      image.resize(end);
    std::memcpy(image.data() + header.p_vaddr, bytes.data() + header.p_offset, header.p_filesz);
  }
  return Error::success();
}

/// Makes one flat image of the executable.
Expected<LinkedImage> flatten(StringRef executable) {
  auto opened = openElf(executable);
  if (!opened)
    return opened.takeError();
  const ELFObjectFileBase *file = opened->get();
  // Relocations, and the tables of addresses they would fill, are what a
  // dynamic loader is for; there is none where the image runs.
  for (const ELFSectionRef section : file->sections()) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if ((section.getFlags() & ELF::SHF_ALLOC) && section.getSize() &&
        (section.getType() == ELF::SHT_RELA || section.getType() == ELF::SHT_REL ||
         section.getType() == ELF::SHT_RELR || (section.getFlags() & ELF::SHF_WRITE)))
      return failed("the linked code needs section '", *name,
                    "', which only a dynamic loader could use.");
  }

  LinkedImage image;
  Error copied =
      isa<ELF32LEObjectFile>(file)
          ? copySegments(cast<ELF32LEObjectFile>(file)->getELFFile(), executable, image.bytes)
          : copySegments(cast<ELF64LEObjectFile>(file)->getELFFile(), executable, image.bytes);
  if (copied)
    return std::move(copied);
  for (const ELFSymbolRef symbol : file->symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name)
      return name.takeError();
    if (!address)
      return address.takeError();
    if (symbol.getELFType() == ELF::STT_FUNC)
      image.functions.emplace(*name, *address);
  }
  return image;
}
} // namespace

Expected<LinkedImage> linkImage(ArrayRef<StringRef> objects) {
  ObjectCheck check;
  std::vector<ObjectFile> inputs;
  for (StringRef object : objects) {
    if (Error error = check.add(object))
      return std::move(error);
    inputs.emplace_back();
    if (Error error = inputs.back().write(object))
      return std::move(error);
  }
  if (Error error = check.finish())
    return std::move(error);
  ResultPipe result;
  if (Error error = result.open())
    return std::move(error);
  if (Error error = runLinker(inputs, result.path()))
    return std::move(error);
  std::vector<char> executable = result.finish();
  return flatten(StringRef(executable.data(), executable.size()));
}

} // namespace atc::cpu
