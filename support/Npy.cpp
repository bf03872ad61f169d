//===-- Npy.cpp - reads and writes NumPy's .npy files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/Npy.h"

#include "support/ElementTypes.h"
#include "support/ErrorCodes.h"
#include "support/InputText.h"
#include "support/ModelText.h"
#include "support/OutputFile.h"

#include "runtime-lite/src/Hash.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>

namespace atc {

namespace {
constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicBytes = 6;

/// Less than a byte.
bool isPacked(om_dtype dtype) { return om_dtype_bits(dtype) - 1 < 7; }

/// Returns the bytes of a tensor's elements in a .npy file.
uint64_t npyBytes(const ::om::Tensor &tensor) {
  return isPacked(tensor.dtype) ? tensor.elements : tensor.bytes;
}

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> dims;
  size_t dataOffset = 0;
};

/// Reads the header's dictionary as NumPy writes it: the three keys, each once, in any order.
class DictionaryReader {
public:
  DictionaryReader(const char *begin, const char *end) : at(begin), end(end) {}

  bool read(Header &header) {
    unsigned met = 0;
    if (!take('{'))
      return false;
    while (!take('}')) {
      std::string key;
      if (!quoted(key) || !take(':'))
        return false;
      const unsigned bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
      const bool isRead = bit == 1   ? quoted(header.descr)
                          : bit == 2 ? truth(header.fortran)
                                     : bit == 4 && shape(header.dims);
      if (!isRead || met & bit)
        return false;
      met |= bit;
      if (!take(',')) {
        if (!take('}'))
          return false;
        break;
      }
    }
    skipSpace();
    return at == end && met == 7;
  }

private:
  void skipSpace() {
    while (at < end && (*at == ' ' || *at == '\n'))
      ++at;
  }
  bool take(std::string_view text) {
    skipSpace();
    const bool is =
        std::string_view(at, static_cast<size_t>(end - at)).substr(0, text.size()) == text;
    at += is ? text.size() : 0;
    return is;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  /// Reads a text. NumPy's keys and names of scalar types are short; longer ones are none.
  bool quoted(std::string &text) {
    constexpr size_t longest = 16;
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"' && !take('"'))
      return false;
    const char *close =
        std::find(at, std::min(end, at + std::min<size_t>(longest, end - at)), quote);
    if (close == end || *close != quote)
      return false;
    text.assign(at, close);
    at = close + 1;
    return true;
  }
  bool truth(bool &value) {
    value = take("True");
    return value || take("False");
  }
  /// Reads (), (3,) or (3, 4); a long integer of Python 2 ends in L.
  bool shape(std::vector<int64_t> &dims) {
    if (!take('('))
      return false;
    while (!take(')')) {
      int64_t dim;
      skipSpace();
      auto [next, status] = std::from_chars(at, end, dim);
      if (status != std::errc())
        return false;
      dims.push_back(dim);
      at = next;
      (void)take('L');
      if (!take(','))
        return take(')');
    }
    return true;
  }

  const char *at, *end;
};

bool parseHeader(const std::string &file, Header &header) {
  if (file.size() < magicBytes + 6 || std::memcmp(file.data(), magic, magicBytes) != 0)
    return false;
  // Version 1 has a 16-bit length, versions 2 and 3 have a 32-bit one; there are no others.
  if (const auto version = static_cast<unsigned char>(file[magicBytes]); version < 1 || version > 3)
    return false;
  const bool wide = file[magicBytes] > 1;
  const size_t start = magicBytes + 2 + (wide ? 4 : 2);
  uint32_t length = 0;
  std::memcpy(&length, file.data() + magicBytes + 2, wide ? 4 : 2);
  if (file.size() < start || file.size() - start < length)
    return false;
  header.dataOffset = start + length;
  return DictionaryReader(file.data() + start, file.data() + header.dataOffset).read(header);
}

bool sameType(om_dtype dtype, std::string descr) {
  // Byte order is meaningless for single bytes, and raw 16-bit data may be bf16, too.
  if (!descr.empty() && (descr[0] == '=' || (descr[0] == '|' && descr.substr(1) == "V2")))
    descr[0] = '<';
  if (descr.size() == 3 && descr[2] == '1')
    descr[0] = '|';
  return descr == npyType(dtype) || (dtype == OM_BF16 && descr == "<u2");
}

bool failed(std::string &error, ErrorCode code, const std::string &sentence) {
  error = codedLine(code, sentence);
  return false;
}
} // namespace

static std::string nameOf(const ::om::Tensor &tensor) {
  return (tensor.space == OM_INPUT ? "input '" : "tensor '") + printable(tensor.name) + "'";
}

static std::string inFortranOrder(const std::string &path, const std::string &what) {
  return "the file '" + path + "' for " + what +
         " is in Fortran order: save numpy.ascontiguousarray of it.";
}

static bool readFile(const std::string &path, const std::string &what, std::string &file,
                     std::string &error) {
  std::error_code status;
  if (!std::filesystem::exists(path, status))
    return failed(error, "E10410", "the file '" + path + "' for " + what + " does not exist.");
  const std::string reason = readInputText(path, file, /*most=*/UINT64_MAX);
  if (!reason.empty())
    return failed(error, "E13001",
                  "the file '" + path + "' for " + what + " cannot be opened: " + reason + ".");
  return true;
}

static void addUtf8(std::string &text, uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | c >> (6 * more));
  for (int i = more; i-- > 0;)
    text += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
}

bool readStrings(const std::string &path, const ::om::Tensor &tensor,
                 std::vector<std::string> &texts, std::string &error) {
  const std::string what = nameOf(tensor);
  std::string file;
  Header header;
  if (!readFile(path, what, file, error))
    return false;
  if (!parseHeader(file, header) || header.descr.size() < 3 ||
      (header.descr[1] != 'S' && header.descr[1] != 'U') || header.descr[0] == '>')
    return failed(error, "E13005",
                  "the file '" + path + "' for " + what +
                      " is no .npy file of strings (types 'S' and 'U').");
  if (header.fortran && header.dims.size() > 1)
    return failed(error, "E10014", inFortranOrder(path, what));
  const bool wide = header.descr[1] == 'U';
  size_t width = 0;
  std::from_chars(header.descr.data() + 2, header.descr.data() + header.descr.size(), width);
  width *= wide ? 4 : 1;
  uint64_t count = 1;
  for (int64_t dim : header.dims)
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count))
      count = UINT64_MAX;
  if (count > file.size() || count * width != file.size() - header.dataOffset)
    return failed(error, "E10014",
                  "the file '" + path + "' for " + what + " is not as long as its header says.");
  texts.assign(count, "");
  const char *at = file.data() + header.dataOffset;
  for (std::string &text : texts) {
    if (wide)
      for (size_t c = 0; c < width; c += 4) {
        uint32_t code;
        std::memcpy(&code, at + c, 4);
        if (code)
          addUtf8(text, code & 0x1FFFFF);
      }
    else
      // Zeros at the end fill a text up; those in front of other bytes are its own.
      text.assign(at, std::string_view(at, width).find_last_not_of('\0') + 1);
    at += width;
  }
  return true;
}

bool readTensor(const std::string &path, const ::om::Tensor &tensor, void *data,
                std::string &error) {
  const std::string what = nameOf(tensor);
  std::string file;
  if (!readFile(path, what, file, error))
    return false;

  if (std::filesystem::path(path).extension() == ".npz")
    return failed(error, "E13005",
                  "the file '" + path + "' for " + what +
                      " is an archive of arrays: save each array as a .npy file of its own.");

  size_t offset = 0;
  uint64_t wanted = tensor.bytes;
  const bool npy = file.size() >= magicBytes && std::memcmp(file.data(), magic, magicBytes) == 0;
  if (npy || std::filesystem::path(path).extension() == ".npy") {
    Header header;
    if (!parseHeader(file, header))
      return failed(error, "E13005", "the file '" + path + "' for " + what + " is no .npy file.");
    if (!sameType(tensor.dtype, header.descr))
      return failed(error, "E10014",
                    "the file '" + path + "' has element type '" + header.descr + "', but " + what +
                        " is " + typeText(tensor.dtype, tensor.dims) + " ('" +
                        npyType(tensor.dtype) + "'): convert it with numpy.astype.");
    if (header.dims.size() != tensor.dims.size())
      return failed(error, "E10049",
                    "the file '" + path + "' has " + std::to_string(header.dims.size()) + " dims " +
                        dimsText(header.dims) + ", but " + what + " has " +
                        std::to_string(tensor.dims.size()) + " " + dimsText(tensor.dims) + ".");
    if (header.dims != tensor.dims)
      return failed(error, "E10014",
                    "the file '" + path + "' has shape " + dimsText(header.dims) + ", but " + what +
                        " has shape " + dimsText(tensor.dims) + ".");
    if (header.fortran && header.dims.size() > 1)
      return failed(error, "E10014", inFortranOrder(path, what));
    offset = header.dataOffset;
    wanted = npyBytes(tensor);
  }
  if (file.size() - offset != wanted)
    return failed(error, "E10014",
                  "the file '" + path + "' has " + std::to_string(file.size() - offset) +
                      " bytes of data, but " + what + " is " + typeText(tensor.dtype, tensor.dims) +
                      " and needs " + std::to_string(wanted) + ".");
  const char *from = file.data() + offset;
  if (offset && isPacked(tensor.dtype)) {
    auto *to = static_cast<unsigned char *>(data);
    const uint32_t bits = om_dtype_bits(tensor.dtype), each = 8 / bits;
    for (uint64_t i = 0; i < tensor.elements; ++i)
      to[i / each] |= (from[i] & ((1 << bits) - 1)) << (i % each * bits);
  } else if (wanted) {
    std::memcpy(data, from, wanted);
  }
  return true;
}

/// Reads the header of a .npy file. Returns false for any other file.
static bool readHeader(const std::string &path, Header &header) {
  std::string start;
  // A longer header cannot be that of a tensor.
  readInputText(path, start, 4096, /*isPart=*/true);
  return parseHeader(start, header);
}

bool readNpyDims(const std::string &path, std::vector<int64_t> &dims) {
  Header header;
  if (!readHeader(path, header))
    return false;
  dims = std::move(header.dims);
  return true;
}

bool npyHasType(const std::string &path, om_dtype dtype) {
  Header header;
  return readHeader(path, header) && sameType(dtype, header.descr);
}

std::string fileNameOf(const std::string &tensor) {
  // Leaves room for a number and the endings of files, also of those that are not complete.
  constexpr size_t maxBytes = 200;
  std::string name;
  size_t kept = 0; // bytes of whole characters within the limit
  forEachStep(tensor, [&](const rt::TextStep &step, std::string_view bytes) {
    const bool legal = step.valid && rt::isPrintable(step.code) &&
                       std::strchr("/\\:*?\"<>|", static_cast<int>(bytes[0])) == nullptr;
    name.append(legal ? bytes : "_");
    kept = name.size() <= maxBytes ? name.size() : kept;
  });
  if (kept < name.size()) {
    char hash[18];
    std::snprintf(hash, sizeof hash, "~%016llx",
                  static_cast<unsigned long long>(rt::hash64(tensor.data(), tensor.size())));
    return name.substr(0, kept) + hash;
  }
  return name.empty() || name == "." || name == ".." ? "_" + name : name;
}

static std::string headerOf(const std::string &descr, const ::om::Tensor &tensor) {
  std::string dims;
  for (int64_t dim : tensor.dims)
    dims += std::to_string(dim) + ", ";
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  // The values start at a multiple of 64.
  const size_t prefix = magicBytes + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  std::string start(magic, magicBytes);
  start.append("\x01\x00", 2).append(reinterpret_cast<const char *>(&length), 2);
  return start + header;
}

/// Writes a header and the elements after it. Not durable: such files are many and quickly made
/// again.
static bool writeParts(const std::string &path, const std::string &header, const void *data,
                       uint64_t bytes, std::string &error) {
  OutputFileOptions options;
  options.durable = false;
  OutputFile file(path, options);
  if (file.write(header) && file.write(data, bytes) && file.commit())
    return true;
  error = file.errorLine();
  return false;
}

bool writeStrings(const std::string &path, const ::om::Tensor &tensor,
                  const std::vector<std::string> &texts, std::string &error) {
  size_t width = 1;
  for (const std::string &text : texts)
    width = std::max(width, text.size());
  std::string data;
  for (std::string text : texts) {
    text.resize(width, '\0');
    data += text;
  }
  return writeParts(path, headerOf("|S" + std::to_string(width), tensor), data.data(), data.size(),
                    error);
}

bool writeNpy(const std::string &path, const ::om::Tensor &tensor, const void *data,
              std::string &error) {
  const std::string header = headerOf(npyType(tensor.dtype), tensor);
  if (!isPacked(tensor.dtype))
    return writeParts(path, header, data, tensor.bytes, error);
  const auto *from = static_cast<const unsigned char *>(data);
  const int bits = static_cast<int>(om_dtype_bits(tensor.dtype)), each = 8 / bits;
  const bool isSigned = tensor.dtype == OM_I4 || tensor.dtype == OM_I2;
  std::string values;
  for (uint64_t i = 0; i < tensor.elements; ++i) {
    const int value = from[i / each] >> (i % each * bits) & ((1 << bits) - 1);
    values += static_cast<char>(isSigned && value >> (bits - 1) ? value - (1 << bits) : value);
  }
  return writeParts(path, header, values.data(), values.size(), error);
}

} // namespace atc
