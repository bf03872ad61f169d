# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python tools share: files that are complete or not there, ends by signals, printable text."""

import contextlib
import os
import secrets
import signal
import stat
import sys


def printable(text):
    """Returns a text in which nothing acts on a terminal: control characters and marks of direction
    are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


@contextlib.contextmanager
def new_file(path, mode="wb", **options):
    """Opens a file for writing whose name leads to the old content until all of the new one is
    written. A symbolic link is kept; devices and pipes are written directly. `options` are those
    of open(); an OSError names `path`."""
    target = os.path.realpath(path)
    temporary = None
    try:
        old = os.stat(target).st_mode if os.path.exists(target) else None
        if old is not None and not stat.S_ISREG(old):
            with open(target, mode, **options) as file:
                yield file
            return
        folder, name = os.path.split(target)
        temporary = os.path.join(folder, f"{name[:40]}.{secrets.token_hex(3)}.part")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(descriptor, mode, **options) as file:
            if old is not None:
                os.fchmod(descriptor, stat.S_IMODE(old))
            yield file
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def write_file(path, content):
    """Writes a whole file: bytes, or a text as UTF-8."""
    with new_file(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))


def reason(error):
    """Returns what a person is told about an error; of a file, its name and what is wrong with it."""
    if not isinstance(error, OSError) or error.filename is None or not error.strerror:
        return printable(error)
    return printable(f"'{error.filename}': {error.strerror}")


class Ended(BaseException):
    """A signal has ended the tool; raised so that files and processes are given up in order."""


def end_on_signals(name):
    """From now on SIGINT, SIGTERM and SIGHUP end the tool `name` with a sentence, and then as
    signals do, so that a shell sees it. Ignored signals stay ignored."""
    def stop(number, _):
        # A second one, and one that arrives where nothing can be raised, ends it at once.
        signal.signal(number, signal.SIG_DFL)
        raise Ended(number)

    def tell(kind, value, trace):
        if not issubclass(kind, Ended):
            sys.__excepthook__(kind, value, trace)
            return
        number = signal.Signals(value.args[0])
        with contextlib.suppress(OSError):
            print(f"E19998: {name} was ended by {number.name}: every file is as it was, or is complete.",
                  file=sys.stderr, flush=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    sys.excepthook = tell
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)

