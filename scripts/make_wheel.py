#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a wheel of a finished build: make_wheel.py <build folder> <folder for the wheel>

The component `wheel` of the build is what it holds. Name, version and scripts come from pyproject.toml; the platform tag follows from
the symbols that the binaries need. `pip wheel .` makes the same from the source alone.
"""
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

import dist_info

ROOT = pathlib.Path(__file__).resolve().parents[1]

# The C++ library's versions and the first release of the C library that came beside each.
CXX_ERA = {"3.4.30": 35, "3.4.31": 38, "3.4.32": 39}


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def platform_tag(binaries):
    """manylinux_2_<minor version of the C library that the symbols need>."""
    minor = 17
    for binary in binaries:
        text = run("objdump", "-T", binary)
        minor = max([minor, *(int(word) for word in re.findall(r"GLIBC_2\.(\d+)", text))])
        for version in re.findall(r"GLIBCXX_(3\.4\.\d+)", text):
            minor = max(minor, CXX_ERA.get(version, 0))
    return f"manylinux_2_{minor}_x86_64"


def record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def main():
    build, output = map(pathlib.Path, sys.argv[1:])
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.MULTILINE)[1]
    project = dist_info.PROJECT
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        run(cmake, "--install", build, "--component", "wheel", "--prefix", tree)
        package = tree / "openatc"
        binaries = [*package.glob("*.so"), *package.glob("lib/*"), *package.glob("bin/*")]
        for binary in binaries:
            binary.chmod(0o755)
            run("strip", "--strip-unneeded", binary)

        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        assert sysconfig.get_config_var("SOABI").startswith(f"cpython-{python[2:]}")
        tag = f"{python}-{python}-{platform_tag(binaries)}"
        info = tree / f"{project['name']}-{project['version']}.dist-info"
        (info / "licenses").mkdir(parents=True)
        for name in ("LICENSE", "THIRD-PARTY-NOTICES.md"):
            shutil.copy(ROOT / name, info / "licenses" / name)
        (info / "METADATA").write_text(dist_info.metadata(), encoding="utf-8")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: openatc make_wheel.py\n"
                                    f"Root-Is-Purelib: false\nTag: {tag}\n")
        (info / "entry_points.txt").write_text(dist_info.entry_points(commands=True))

        output.mkdir(parents=True, exist_ok=True)
        for old in output.glob(f"{project['name']}-*.whl"):
            old.unlink()
        wheel = output / f"{project['name']}-{project['version']}-{tag}.whl"
        rows = ""
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(path for path in tree.rglob("*") if path.is_file()):
                name, content = str(path.relative_to(tree)), path.read_bytes()
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same input, the same bytes
                entry.external_attr = (0o100755 if path in binaries else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content, compresslevel=9)
                rows += record(name, content)
            rows += f"{info.name}/RECORD,,\n"
            archive.writestr(zipfile.ZipInfo(f"{info.name}/RECORD", (1980, 1, 1, 0, 0, 0)), rows)
            sizes = sorted(((entry.compress_size, entry.file_size, entry.filename)
                            for entry in archive.infolist()), reverse=True)
        for compressed, size, name in sizes[:8]:
            print(f"{compressed / 1e6:8.2f} MB of {size / 1e6:8.2f} MB  {name}")
        print(f"{wheel.stat().st_size / 1e6:8.2f} MB  {wheel}")


if __name__ == "__main__":
    main()
