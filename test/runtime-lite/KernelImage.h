//===-- KernelImage.h - test kernels as a code image ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host compiler links kernels.c into a shared object that needs nothing from
// outside; laid out flat, that is a code image. So the runtime's tests need no
// part of the compiler.

#ifndef OPENATC_TEST_RUNTIME_KERNELIMAGE_H
#define OPENATC_TEST_RUNTIME_KERNELIMAGE_H

#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

struct KernelImage {
  std::vector<char> bytes;
  std::map<std::string, uint64_t> functions;
};

inline std::vector<char> readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline KernelImage readKernelImage(const std::string &path) {
  const std::vector<char> file = readBytes(path);
  KernelImage image;
  if (file.size() < sizeof(Elf64_Ehdr))
    return image;
  const auto *header = reinterpret_cast<const Elf64_Ehdr *>(file.data());
  const auto *programs = reinterpret_cast<const Elf64_Phdr *>(file.data() + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i)
    if (programs[i].p_type == PT_LOAD) {
      if (image.bytes.size() < programs[i].p_vaddr + programs[i].p_memsz)
        image.bytes.resize(programs[i].p_vaddr + programs[i].p_memsz);
      std::memcpy(image.bytes.data() + programs[i].p_vaddr, file.data() + programs[i].p_offset,
                  programs[i].p_filesz);
    }
  const auto *sections = reinterpret_cast<const Elf64_Shdr *>(file.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type == SHT_DYNSYM) {
      const auto *symbols =
          reinterpret_cast<const Elf64_Sym *>(file.data() + sections[i].sh_offset);
      const char *names = file.data() + sections[sections[i].sh_link].sh_offset;
      for (size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s)
        if (ELF64_ST_TYPE(symbols[s].st_info) == STT_FUNC && symbols[s].st_shndx != SHN_UNDEF)
          image.functions[names + symbols[s].st_name] = symbols[s].st_value;
    }
  return image;
}

#endif
