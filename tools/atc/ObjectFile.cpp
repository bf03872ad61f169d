//===-- ObjectFile.cpp - models as object files ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/atc/ObjectFile.h"

#include "runtime-lite/abi/Architectures.h"
#include "runtime-lite/bare/Pieces.h"
#include "runtime-lite/src/Verify.h"
#include "support/ModelText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;
namespace fb = atc::om::fb;

namespace atc::tools {

namespace {
/// Returns a name as a C identifier.
std::string identifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += isAlnum(c) ? c : '_';
  return text.empty() || isDigit(text[0]) ? "model_" + text : text;
}

/// Returns the architecture of the code in a model; null after an error. A model without code is
/// data for any machine, and is given this one.
const abi::Architecture *architectureOf(const fb::Model &model, Diagnostics &diagnostics) {
  std::set<std::string> found;
  for (const fb::CodeImage *image : *model.images())
    found.insert(image->arch()->str());
  if (found.size() > 1) {
    diagnostics.error("E10001", "--emit=object writes code of one architecture, but --target_cpu "
                                "asks for " +
                                    join(found, " and ") + ": compile the model once for each");
    return nullptr;
  }
  const StringRef name = found.empty() ? StringRef(abi::kOwnArchitecture) : *found.begin();
  for (const abi::Architecture &row : abi::kArchitectures)
    if (name == row.name)
      return &row;
  return abi::kArchitectures;
}

/// The structures of ELF files for machines of 32 bits, and of 64.
struct Elf32 {
  using Symbol = ELF::Elf32_Sym;
  using Section = ELF::Elf32_Shdr;
  using Header = ELF::Elf32_Ehdr;
  static constexpr unsigned char fileClass = ELF::ELFCLASS32;
};
struct Elf64 {
  using Symbol = ELF::Elf64_Sym;
  using Section = ELF::Elf64_Shdr;
  using Header = ELF::Elf64_Ehdr;
  static constexpr unsigned char fileClass = ELF::ELFCLASS64;
};

/// Returns a relocatable ELF file for little-endian machines with the section of the model and its
/// symbols.
template <typename Elf>
std::string elfObject(const std::string &symbol, const abi::Architecture &architecture,
                      const ::om::Buffer &file) {
  constexpr uint64_t pageBytes = 4096;
  // The sections behind the empty one, by their index.
  enum { Model = 1, Symbols, Strings, SectionNames, Stack, Count };
  const std::string sectionName = ".text." + symbol;
  std::string names(1, '\0'), strings(1, '\0');
  auto add = [](std::string &table, const std::string &text) {
    const auto at = static_cast<uint32_t>(table.size());
    table.append(text.c_str(), text.size() + 1);
    return at;
  };
  typename Elf::Symbol symbols[2] = {};
  symbols[1].st_name = add(strings, symbol);
  symbols[1].setBindingAndType(ELF::STB_GLOBAL, ELF::STT_OBJECT);
  symbols[1].st_shndx = Model;
  symbols[1].st_size = file.size();

  typename Elf::Section sections[Count] = {};
  std::string bytes;
  auto append = [&](unsigned index, const std::string &name, uint32_t type, uint64_t alignment,
                    const void *data, size_t size) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    typename Elf::Section &section = sections[index];
    section.sh_name = add(names, name);
    section.sh_type = type;
    section.sh_addralign = alignment;
    section.sh_offset = bytes.size();
    section.sh_size = size;
    bytes.append(static_cast<const char *>(data), size);
  };
  bytes.resize(sizeof(typename Elf::Header));
  append(Model, sectionName, ELF::SHT_PROGBITS, pageBytes, file.data(), file.size());
  sections[Model].sh_flags = ELF::SHF_ALLOC | ELF::SHF_EXECINSTR;
  append(Symbols, ".symtab", ELF::SHT_SYMTAB, 8, symbols, sizeof(symbols));
  sections[Symbols].sh_link = Strings;
  sections[Symbols].sh_info = 1; // the first symbol that is not local
  sections[Symbols].sh_entsize = sizeof(typename Elf::Symbol);
  append(Strings, ".strtab", ELF::SHT_STRTAB, 1, strings.data(), strings.size());
  append(Stack, ".note.GNU-stack", ELF::SHT_PROGBITS, 1, "", 0);
  const uint32_t ownName = add(names, ".shstrtab");
  append(SectionNames, "", ELF::SHT_STRTAB, 1, names.data(), names.size());
  sections[SectionNames].sh_name = ownName;
  bytes.resize((bytes.size() + 7) / 8 * 8);

  typename Elf::Header header = {};
  std::memcpy(header.e_ident, ELF::ElfMagic, 4);
  header.e_ident[ELF::EI_CLASS] = Elf::fileClass;
  header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  header.e_type = ELF::ET_REL;
  header.e_machine = architecture.machine;
  header.e_flags = architecture.flags;
  header.e_version = ELF::EV_CURRENT;
  header.e_shoff = bytes.size();
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(typename Elf::Section);
  header.e_shnum = Count;
  header.e_shstrndx = SectionNames;
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.append(reinterpret_cast<const char *>(sections), sizeof(sections));
  return bytes;
}

/// Writes the C header of a model.
class HeaderWriter {
public:
  HeaderWriter(const fb::Model &model, std::string symbol)
      : model(model), symbol(std::move(symbol)), prefix(StringRef(this->symbol).upper()) {}

  std::string text(size_t fileBytes) {
    os << "/* The model '" << comment(model.name()->str()) << "', which the linker puts at '"
       << symbol << "'; written by atc --emit=object. */\n"
       << "#ifndef " << prefix << "_H\n#define " << prefix << "_H\n\n"
       << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << "/* The .om file, for om_model_load_memory and om_bare_open. */\n"
       << "extern const unsigned char " << symbol << "[];\n"
       << "#define " << prefix << "_BYTES " << fileBytes << "u\n\n";
    const bool isStatic = !model.host() && !model.gears() &&
                          (!model.npu_programs() || model.npu_programs()->size() == 0);
    if (isStatic)
      os << "/* The memory that om_bare_open needs. */\n#define " << prefix << "_MEMORY_BYTES "
         << rt::barePiecesOf(model).all() << "u\n\n";
    ports("INPUT", isStatic);
    ports("OUTPUT", isStatic);
    os << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return std::move(result);
  }

private:
  /// Returns a text without the end of a comment.
  static std::string comment(const std::string &name) {
    std::string safe = printable(name);
    for (size_t at; (at = safe.find("*/")) != std::string::npos;)
      safe.replace(at, 2, "* /");
    return safe;
  }

  void port(const std::string &word, unsigned index, const std::string &name,
            const std::string &type, std::optional<uint64_t> bytes) {
    std::string macro = prefix + "_" + word + "_" + StringRef(identifier(name)).upper();
    if (!macros.insert(macro).second)
      macro += "_" + std::to_string(index);
    os << "/* '" << comment(name) << "', " << comment(type) << " */\n#define " << macro << " "
       << index << "\n";
    if (bytes)
      os << "#define " << macro << "_BYTES " << *bytes << "u\n";
  }

  void ports(const std::string &word, bool isStatic) {
    const bool isInput = word == "INPUT";
    if (isStatic) {
      const auto &list = isInput ? *model.inputs() : *model.outputs();
      for (unsigned i = 0; i < list.size(); ++i) {
        const fb::Tensor &tensor = *model.tensors()->Get(list.Get(i));
        port(word, i, tensor.name()->str(),
             typeText(static_cast<om_dtype>(tensor.dtype()), *tensor.dims()),
             tensor.place()->size());
      }
    } else if (model.host() || model.gears()) {
      auto pick = [&](const auto &table) { return isInput ? table.inputs() : table.outputs(); };
      const auto &list = model.host() ? *pick(*model.host()) : *pick(*model.gears());
      for (unsigned i = 0; i < list.size(); ++i)
        port(word, i, list.Get(i)->name()->str(),
             om_dtype_name(static_cast<om_dtype>(list.Get(i)->dtype())), std::nullopt);
    }
    os << "\n";
  }

  const fb::Model &model;
  std::string symbol, prefix, result;
  raw_string_ostream os{result};
  std::set<std::string> macros;
};

void addFile(const std::string &path, const std::string &bytes, std::vector<OutputFile> &files,
             Diagnostics &diagnostics) {
  OutputFile &file = files.emplace_back(path);
  if (!file.write(bytes))
    diagnostics.error("E13004", "the file \"" + path + "\" cannot be written: " + file.reason());
}
} // namespace

void writeObject(const ::om::Buffer &file, const std::string &path, std::vector<OutputFile> &files,
                 Diagnostics &diagnostics) {
  const fb::Model *model = nullptr;
  om_error error;
  if (rt::verifyFile(file.data<char>(), file.size(), &model, &error) != OM_OK) {
    diagnostics.error("E19999", error.message);
    return;
  }
  const abi::Architecture *architecture = architectureOf(*model, diagnostics);
  if (!architecture)
    return;
  const std::string symbol = identifier(sys::path::stem(path)) + "_om";
  SmallString<128> header(path);
  sys::path::replace_extension(header, "h");
  const std::string object = architecture->bits == 32
                                 ? elfObject<Elf32>(symbol, *architecture, file)
                                 : elfObject<Elf64>(symbol, *architecture, file);
  addFile(path, object, files, diagnostics);
  addFile(header.str().str(), HeaderWriter(*model, symbol).text(file.size()), files, diagnostics);
}

} // namespace atc::tools
