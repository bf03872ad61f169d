# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m openatc.serve FOLDER: serves the models of a folder."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

_USAGE = """\
Serves the .om files of FOLDER (NAME.om, NAME/model.om, NAME/VERSION/model.om) over the Open
Inference Protocol v2. A model with a model-settings.json of MLServer is served as that says."""


def _arguments(line: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m openatc.serve", description=_USAGE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--http_port", type=int, default=8080, help="REST (default: %(default)s)")
    parser.add_argument("--grpc_port", type=int, default=8081, help="gRPC (default: %(default)s)")
    parser.add_argument("--metrics_port", type=int, default=8082,
                        help="Prometheus, at /metrics (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=0,
                        help="processes that run inferences and are restarted when they die "
                             "(default: 0, inferences run in threads of the server)")
    parser.add_argument("--sessions", type=int, default=0,
                        help="inferences at a time per model (default: one per core)")
    parser.add_argument("--threads", type=int, default=1, help="threads per inference (default: 1)")
    parser.add_argument("--max_batch", type=int, default=1,
                        help="join concurrent requests into batches of up to so many rows; for "
                             "models whose rows do not depend on each other (default: 1)")
    parser.add_argument("--max_wait_ms", type=float, default=0.0,
                        help="time in which an idle session waits for more rows (default: 0)")
    parser.add_argument("--max_seconds", type=float, default=0.0,
                        help="limit of one inference (default: none)")
    return parser.parse_args(line)


def workers_refused() -> str:
    """Returns why MLServer cannot start worker processes here, or nothing."""
    try:
        from uvloop import __version__ as version  # pylint: disable=import-outside-toplevel
    except ImportError:
        return ""
    if tuple(int(part) for part in version.split(".")[:2]) < (0, 22):
        return ""
    return (f"--workers: MLServer's workers do not start with uvloop {version}: "
            'pip install "uvloop<0.22"')


async def _serve(arguments: argparse.Namespace) -> int:
    from mlserver import MLServer, Settings

    from ._repository import FolderRepository

    extra = {"sessions": arguments.sessions, "threads": arguments.threads,
             "max_batch": arguments.max_batch, "max_wait_ms": arguments.max_wait_ms,
             "max_seconds": arguments.max_seconds}
    models = await FolderRepository(arguments.folder, extra).list()
    if not models:
        print(f"openatc.serve: no .om file and no model-settings.json in '{arguments.folder}'",
              file=sys.stderr)
        return 1
    settings = Settings(
        debug=False, host=arguments.host, http_port=arguments.http_port,
        grpc_port=arguments.grpc_port, metrics_port=arguments.metrics_port,
        parallel_workers=arguments.workers, server_name="openatc",
        model_repository_root=arguments.folder,
        model_repository_implementation="openatc.serve.FolderRepository",
        model_repository_implementation_args={"extra": extra})
    server = MLServer(settings)
    await server.start(models)
    return 0


def main(line: list[str] | None = None) -> int:
    """Serves until SIGINT or SIGTERM; requests in progress are answered before it ends."""
    arguments = _arguments(line)
    if not Path(arguments.folder).is_dir():
        print(f"openatc.serve: '{arguments.folder}' is not a folder", file=sys.stderr)
        return 1
    try:
        import mlserver  # noqa: F401, pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        print("openatc.serve: needs MLServer: pip install mlserver", file=sys.stderr)
        return 1
    if arguments.workers and workers_refused():
        print(f"openatc.serve: {workers_refused()}", file=sys.stderr)
        return 1
    return asyncio.run(_serve(arguments))


if __name__ == "__main__":
    sys.exit(main())
