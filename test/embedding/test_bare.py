# The runtime without an operating system: models as object files, in the caller's memory. Run with
# `pytest test/embedding`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess
import sys

import pytest

from conftest import BUILD, DIGITS, EXAMPLES, ROOT, SYSTEM, compile_digits_for, emulator, need, run

INCLUDE = ROOT / "runtime-lite" / "include"
SOURCES = ["bare/Bare", "bare/BareSupport", "src/Hash", "src/Signature", "src/Tensor", "src/Verify",
           "src/VerifyLists"]
LIMIT = 250 * 1000

CALLER = r"""
#include "digits.h"
#include "openatc/bare.h"
#include "picture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t held;
static void *allocate(void *user, size_t bytes, size_t alignment) {
  held += bytes;
  return user ? NULL : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void release(void *user, void *memory, size_t bytes) {
  (void)user;
  held -= bytes;
  free(memory);
}
static unsigned char memory[DIGITS_OM_MEMORY_BYTES] __attribute__((aligned(64)));
static float scores[10] __attribute__((aligned(64)));

static int refused(om_status got, om_status wanted, const om_error *error) {
  printf("%d %s\n", got == wanted, error->message);
  return got != wanted;
}

int main(void) {
  om_error error;
  om_bare *model;
  const void *inputs[] = {picture_3}, *missing[] = {NULL};
  void *outputs[] = {scores};
  om_tensor_info info = OM_TENSOR_INFO_INIT;
  om_allocator allocator = {NULL, allocate, release};
  om_load_options level = OM_LOAD_OPTIONS_INIT;
  unsigned char *broken = aligned_alloc(4096, (DIGITS_OM_BYTES + 4095) / 4096 * 4096);
  int i, best = 0;
  if (om_bare_memory(digits_om, DIGITS_OM_BYTES, &error) != sizeof(memory))
    return 1;
  if (om_bare_open(digits_om, DIGITS_OM_BYTES, NULL, memory, sizeof(memory), &model, &error))
    return 2;
  if (om_bare_get_input(model, DIGITS_OM_INPUT_IMAGE, &info) ||
      info.bytes != DIGITS_OM_INPUT_IMAGE_BYTES || strcmp(info.name, "image") ||
      om_bare_get_output(model, 1, &info) != OM_ERROR_ARGUMENT)
    return 3;
  if (om_bare_run(model, inputs, outputs, &error))
    return 4;
  for (i = 1; i < 10; ++i)
    if (scores[i] > scores[best])
      best = i;
  printf("%d\n", best);
  refused(om_bare_run(model, missing, outputs, &error), OM_ERROR_ARGUMENT, &error);
  refused(om_bare_open(digits_om, DIGITS_OM_BYTES, NULL, memory, 64, &model, &error),
          OM_ERROR_ARGUMENT, &error);
  level.cpu_level = "armv8.2-a";
  refused(om_bare_open(digits_om, DIGITS_OM_BYTES, &level, memory, sizeof(memory), &model, &error),
          OM_ERROR_UNSUPPORTED, &error);
  memcpy(broken, digits_om, DIGITS_OM_BYTES);
  broken[DIGITS_OM_BYTES - 1] ^= 1;
  refused(om_bare_open(broken, DIGITS_OM_BYTES, NULL, memory, sizeof(memory), &model, &error),
          OM_ERROR_CORRUPT, &error);
  free(broken);
  if (om_bare_create(digits_om, DIGITS_OM_BYTES, NULL, &allocator, &model, &error) ||
      held != sizeof(memory) || om_bare_run(model, inputs, outputs, &error))
    return 5;
  om_bare_free(model);
  allocator.user = &held;
  held = 0;
  refused(om_bare_create(digits_om, DIGITS_OM_BYTES, NULL, &allocator, &model, &error),
          OM_ERROR_MEMORY, &error);
  return 0;
}
"""


def make_object(folder, level):
    """digits.o, digits.h and picture.h."""
    folder.mkdir(exist_ok=True)
    compile_digits_for(folder / "digits.om", "--target=cpu", f"--target_cpu={level}",
                       "--emit=object")
    picture = run(sys.executable, EXAMPLES / "embed-bare" / "picture.py",
                  DIGITS / "pictures" / "digit_3.npy", "picture_3")
    (folder / "picture.h").write_text(picture)
    return folder


@pytest.mark.parametrize("arch, level", [("", "x86-64-v2"), ("armv7", "armv7")])
def test_an_object_runs_in_the_caller_s_memory(cross_trees, tmp_path, arch, level):
    """Objects are ELF files of 64 bits, or of 32."""
    compiler, tree = (f"{SYSTEM[arch]}-gcc", cross_trees(arch)) if arch else ("cc", BUILD)
    need(compiler)
    folder = make_object(tmp_path / "native", level)
    (folder / "caller.c").write_text(CALLER)
    run(compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", folder / "caller.c",
        folder / "digits.o", tree / "lib" / "libopenatc_bare.a", f"-I{INCLUDE}", f"-I{folder}",
        "-o", folder / "caller")
    digit, *lines = run(*(emulator(arch) if arch else []), folder / "caller").splitlines()
    assert digit == "3"
    assert [line[0] for line in lines] == ["1"] * 5, lines
    assert lines[0] == "1 input 0 ('image') is null or not at a multiple of 64."
    assert "needs" in lines[1] and "not 64." in lines[1]
    assert "armv8.2-a" in lines[2] and "damaged" in lines[3]
    assert lines[4].startswith("1 there is no memory for ")
    # It calls no allocator, and nothing else of an operating system.
    needed = run("nm", "-u", BUILD / "lib" / "libopenatc_bare.a").split()
    assert not {"malloc", "calloc", "free", "mmap", "open", "pthread_create",
                "posix_memalign"} & set(needed)


# How programs for each bare processor are made and run, as embedding.md shows it.
FLAGS = {"aarch64": [], "riscv64": ["-mcmodel=medany"]}
RAM = {"aarch64": "0x40080000", "riscv64": "0x80000000"}


@pytest.fixture(scope="module")
def bare_libraries(tmp_path_factory):
    """{architecture: the library without an operating system}, made when it is asked for."""
    made = {}

    def make(arch):
        if arch in made:
            return made[arch]
        need(f"{arch}-linux-gnu-g++", f"{arch}-linux-gnu-ar")
        folder = tmp_path_factory.mktemp("bare")
        for source in SOURCES:
            run(f"{arch}-linux-gnu-g++", "-std=c++17", "-Os", "-DNDEBUG", "-DOPENATC_STATIC_MODELS_ONLY",
                *FLAGS[arch], "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-ffunction-sections",
                "-fdata-sections", "-fno-asynchronous-unwind-tables", "-I", ROOT, "-I", BUILD, "-I",
                INCLUDE, "-c", ROOT / "runtime-lite" / f"{source}.cpp", "-o",
                folder / f"{source.split('/')[1]}.o")
        run(f"{arch}-linux-gnu-ar", "rcs", folder / "libopenatc_bare.a", *folder.glob("*.o"))
        made[arch] = folder / "libopenatc_bare.a"
        return made[arch]
    return make


@pytest.mark.parametrize("arch, level, machine", [
    ("aarch64", "aarch64", ["-cpu", "cortex-a53"]),
    ("riscv64", "rv64gc", ["-bios", "none"]),
    ("riscv64", "rv64gcv", ["-bios", "none", "-cpu", "rv64,v=true,vlen=128"]),
    ("riscv64", "rv64gcv", ["-bios", "none", "-cpu", "rv64,v=true,vlen=256"])])
def test_a_program_without_an_operating_system(bare_libraries, tmp_path, arch, level, machine):
    library = bare_libraries(arch)
    folder, example = make_object(tmp_path / "object", level), EXAMPLES / "embed-bare"
    program = folder / "digits.elf"
    run(f"{arch}-linux-gnu-gcc", "-Os", "-ffreestanding", "-fno-builtin", "-nostdlib", "-static", *FLAGS[arch],
        "-Wall", "-Wextra", "-Werror", "-Wl,--gc-sections", "-Wl,--build-id=none", "-T",
        example / "virt.ld", f"-Wl,--defsym=RAM={RAM[arch]}", example / "start.S", example / "classify.c",
        example / "memory.c", folder / "digits.o", library, f"-I{INCLUDE}", f"-I{folder}", "-o", program)
    sizes = dict(line.split()[:2] for line in
                 run(f"{arch}-linux-gnu-size", "-A", program).splitlines() if line.startswith("."))
    loaded = sum(int(sizes[name]) for name in (".text", ".data") if name in sizes)
    assert loaded <= LIMIT, f"{loaded} bytes of code, weights and data"
    need(f"qemu-system-{arch}")
    result = subprocess.run(
        [f"qemu-system-{arch}", "-M", "virt", *machine, "-net", "none", "-nographic", "-semihosting",
         "-kernel", str(program)], capture_output=True, text=True, timeout=60,
        stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "the picture is a 3" in result.stdout + result.stderr
