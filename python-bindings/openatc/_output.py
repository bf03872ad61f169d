# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are the old ones or the new ones, whatever ends the program."""

from __future__ import annotations

import os
import stat
import tempfile


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a whole file. Its name leads to the content that was there, or to all of `data`; a
    symbolic link is kept. Devices and pipes are written directly."""
    target = os.path.realpath(path)
    mode = None
    if os.path.exists(target):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            with open(target, "wb") as file:
                file.write(data)
            return
    folder, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(".part", name + ".", folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if mode is None:
                mask = os.umask(0)
                os.umask(mask)
                mode = 0o666 & ~mask
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
