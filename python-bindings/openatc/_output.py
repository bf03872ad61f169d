# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are the old ones or the new ones, whatever ends the program."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time

_SECONDS_FOR_A_READER = 3


def _open_directly(path: str) -> int:
    """Opens a device or a pipe to write. A pipe without a reader would wait for one for ever: a
    reader that starts together with this program gets some seconds."""
    end = time.monotonic() + _SECONDS_FOR_A_READER
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
            if time.monotonic() > end:
                raise OSError(errno.ENXIO, "no program reads from this pipe", path) from None
            time.sleep(0.01)
        else:
            os.set_blocking(descriptor, True)  # writes wait
            return descriptor


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a whole file. Its name leads to the content that was there, or to all of `data`; a
    symbolic link is kept. Devices and pipes are written directly."""
    target = os.path.realpath(path)
    mode = None
    if os.path.exists(target):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            with open(_open_directly(target), "wb") as file:
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
