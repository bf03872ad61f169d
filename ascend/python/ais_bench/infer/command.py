# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands `python3 -m ais_bench` and `msame`."""

import argparse
import contextlib
import itertools
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

from openatc_toolkit import reason

from . import files
from .files import InputError
from .interface import InferSession, MemorySummary
from .summary import Report

# Sizes that --dymShape_range may stand for: the model runs at each of them.
MAX_SHAPES = 10000


def _flag(text):
    if text.lower() in ("1", "true"):
        return True
    if text.lower() in ("0", "false"):
        return False
    raise argparse.ArgumentTypeError(f"'{text}' must be 1, true, 0 or false")


def _positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 1")
    return int(text)


def _count(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 0")
    return int(text)


def _format(text):
    if text.upper() not in ("NPY", "BIN", "TXT"):
        raise argparse.ArgumentTypeError(f"'{text}' must be NPY, BIN or TXT")
    return text.upper()


def _devices(text):
    parts = text.split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' must be numbers from 0, separated by commas")
    return [int(part) for part in parts]


def _parser(name):
    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False,
                                     description="Runs an .om file and reports times.")
    msame = name == "msame"
    add = parser.add_argument
    add("--model", "-m", "--om", required=True, help="the .om file")
    add("--input", "-i", help="files or folders of .npy and .bin, one per input; without: zeros")
    add("--output", "-o", help="folder for outputs")
    add("--output_dirname", help="folder in --output instead of one named after the time")
    add("--outfmt", type=_format, default="TXT" if msame else "BIN", help="NPY, BIN or TXT")
    add("--loop", "-l", type=_positive, default=1, help="how often each set of inputs is run")
    add("--warmup_count", type=_count, default=0 if msame else 1, help="runs that are not counted")
    add("--device", "-d", type=_devices, default=[0], help="device, or several: 0,1")
    add("--debug", type=_flag, nargs="?", const=True, default=False)
    add("--display_all_summary", type=_flag, nargs="?", const=True, default=False,
        help="report times of copies, too")
    add("--batchsize", type=_positive, help="samples in a run, for the throughput")
    add("--pure_data_type", choices=("zero", "random"), default="zero",
        help="what inputs are without --input")
    add("--dymBatch", type=_positive, help="profile of --dynamic_batch_size")
    add("--dymHW", help="profile of --dynamic_image_size: H,W")
    add("--dymDims", help='profile of --dynamic_dims: "name:1,600;..."')
    add("--dymShape", help='shapes of dims of any size: "name:1,3,224,224;..."')
    add("--outputSize", help='bytes of outputs whose size only a run knows: "10000,10000"')
    add("--auto_set_dymshape_mode", type=_flag, nargs="?", const=True, default=False,
        help="shapes are those of the .npy files")
    add("--auto_set_dymdims_mode", type=_flag, nargs="?", const=True, default=False,
        help="profiles are those of the .npy files")
    add("--profiler", type=_flag, nargs="?", const=True, default=False)
    add("--dump", type=_flag, nargs="?", const=True, default=False)
    add("--acl_json_path", help="a JSON file for aclInit")
    add("--aipp_config", help="parameters of dynamic AIPP: a file with a section [aipp_op]")
    add("--dymShape_range", help='shapes one after the other: "name:1,3,200~210,224-256;..."')
    for name in ("--output_batchsize_axis", "--infer_queue_count", "--energy_consumption", "--npu_id", "--backend",
                 "--perf", "--pipeline", "--threads", "--profiler_rename", "--dump_npy", "--divide_input",
                 "--no_combine_tensor_mode"):
        add(name, nargs="?", help="has no meaning here")
    add("--run_mode", choices=("array", "files", "tensor", "full"), default="array",
        help="has no meaning here")
    return parser


def _with_underscores(arguments):
    """Writes options as they are declared: newer versions have dashes in them, too."""
    for text in arguments:
        name, *value = text.split("=", 1)
        yield "=".join(["--" + name[2:].replace("-", "_"), *value]) if name.startswith("--") else text


def _say(text):
    print(f"[INFO] {text}", flush=True)


def _numbers(option, text):
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option}: '{text}' must be numbers and commas") from None


def _set_profile(session, options):
    """Sets what --dym... says; returns the shapes it gives to inputs, by name."""
    given = [name for name in ("dymBatch", "dymHW", "dymDims", "dymShape")
             if getattr(options, name)]
    if len(given) > 1:
        raise InputError("--" + " and --".join(given) + " exclude each other")
    if options.outputSize:
        session.set_custom_outsize(_numbers("--outputSize", options.outputSize))
    shapes = {}
    if options.dymBatch:
        session.set_dynamic_batchsize(options.dymBatch)
        values = [options.dymBatch]
    elif options.dymHW:
        values = _numbers("--dymHW", options.dymHW)
        if len(values) != 2:
            raise InputError(f"--dymHW: '{options.dymHW}' must be H,W")
        session.set_dynamic_hw(*values)
    elif options.dymDims:
        session.set_dynamic_dims(options.dymDims)
        return session._gear[1]
    elif options.dymShape:
        session.set_dynamic_shape(options.dymShape)
        return session._shapes
    else:
        return shapes
    for port in session.get_inputs():
        rest = iter(values if options.dymHW else values * len(port.shape))
        shapes[port.name] = [next(rest, dim) if dim < 0 else dim for dim in port.shape]
    return shapes


def _made_inputs(session, shapes, kind):
    """Returns inputs of zeros or random values."""
    arrays, random = [], np.random.default_rng(0)
    for port in session.get_inputs():
        shape = shapes.get(port.name, port.shape)
        if any(dim < 0 for dim in shape):
            raise InputError(f"input '{port.name}' has shape {port.shape}; set it with --dymBatch, "
                             "--dymHW, --dymDims or --dymShape, or give --input")
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(port.datatype).itemsize
        # int32 and int64 may be indices, which a run refuses out of range: 0 is the only one that
        # every table has.
        zeros = kind == "zero" or np.dtype(port.datatype) in (np.int32, np.int64)
        data = np.zeros(size, np.uint8) if zeros else random.integers(0, 255, size, np.uint8)
        if kind == "random" and np.dtype(port.datatype).kind == "f":
            data = random.random(int(np.prod(shape, dtype=np.int64)), np.float32)
            data = data.astype(port.datatype).view(np.uint8)
        arrays.append(data.view(port.datatype).reshape(shape))
    return arrays


def _runs(session, options, shapes, joins):
    """Yields (arrays, paths of files, name of outputs) of each set of inputs, which are files that
    may be joined to a batch."""
    if not options.input:
        yield _made_inputs(session, shapes, options.pure_data_type), [], "pure_infer_data"
        return
    ports = session.get_inputs()
    groups = files.listed(options.input, len(ports))
    columns = []
    for port, group in zip(ports, groups):
        shape = shapes.get(port.name, port.shape)
        known = joins and all(dim >= 0 for dim in shape)
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(port.datatype).itemsize if known else 0
        columns.append(files.batches(group, size, shape[0] if known and len(shape) else 1))
    if len({len(column) for column in columns}) != 1:
        raise InputError("--input: the files of the inputs make different numbers of batches")
    for row in zip(*columns):
        arrays = [array for array, _ in row]
        paths = [str(path) for _, part in row for path in part]
        yield arrays, paths, row[0][1][0].stem


def _shaped(session, arrays, shapes):
    """Gives bytes of a file the type of their input, and its shape where that is known."""
    result = []
    for port, array in zip(session.get_inputs(), arrays):
        kind = np.dtype(port.datatype)
        if array.dtype == np.uint8 and kind != np.uint8 and array.nbytes % kind.itemsize == 0:
            array = array.reshape(-1).view(kind)
        shape = shapes.get(port.name, port.shape)
        if all(dim >= 0 for dim in shape) and array.size == int(np.prod(shape, dtype=np.int64)):
            array = array.reshape(shape)
        result.append(array)
    return result


def _msame_lines(times):
    """Prints the averages that scripts around msame look for."""
    _say("output data success")
    print(f"Inference average time: {sum(times) / len(times):.3f} ms")
    if len(times) > 1:
        rest = times[1:]
        print(f"Inference average time without first time: {sum(rest) / len(rest):.3f} ms")


@contextlib.contextmanager
def _kept_if_used(folder):
    """Removes a folder that is still empty when what should fill it has failed."""
    try:
        yield
    except BaseException:
        if folder:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _run_on(device, options, name):
    """Runs the model on a device as the options say; returns the samples per second."""
    session = InferSession(device, options.model, options.acl_json_path, options.debug)
    _say("acl init success")
    _say(f"open device {device} success")
    _say(f"load model {options.model} success")
    _say("create model description success")
    if options.debug:
        for side, ports in (("input", session.get_inputs()), ("output", session.get_outputs())):
            for i, port in enumerate(ports):
                _say(f"{side} {i}: {port}")
    shapes = _set_profile(session, options)
    if options.aipp_config:
        session.load_aipp_config_file(options.aipp_config)
    batch = options.batchsize
    if batch is None:
        first = session.get_inputs()[0] if session.get_inputs() else None
        shape = shapes.get(first.name, first.shape) if first else []
        batch = shape[0] if len(shape) > 1 and shape[0] > 0 else 1
    folder = None
    if options.output:
        folder = pathlib.Path(options.output) / (options.output_dirname or
                                                 time.strftime("%Y_%m_%d-%H_%M_%S"))
        folder.mkdir(parents=True, exist_ok=True)
        _say(f"output path:{folder}")

    mode = ("dymshape" if options.auto_set_dymshape_mode else
            "dymdims" if options.auto_set_dymdims_mode else None)

    def infer(arrays):
        return session.infer(arrays, mode) if mode else session.run(arrays)

    warm = options.warmup_count
    report = None
    with _kept_if_used(folder):
        for arrays, paths, stem in _runs(session, options, shapes, joins=name != "msame"):
            arrays = _shaped(session, arrays, shapes)
            if report is None:
                for _ in range(warm):
                    infer(arrays)
                if warm:
                    _say(f"warm up {warm} done")
                session.reset_summaryinfo()
                MemorySummary.reset()
                report = Report(session.summary().exec_time_list, batch)
            for _ in range(options.loop):
                outputs = infer(arrays)
            written = []
            if folder:
                middle = "output_" if name == "msame" else ""
                written = [str(files.write(array, folder / f"{stem}_{middle}{i}", options.outfmt))
                           for i, array in enumerate(outputs)]
            report.add_files(paths, written)
    if name == "msame":
        _msame_lines(report.runs)
    else:
        for line in report.lines(options.display_all_summary):
            _say(line)
    if folder:
        report.write(folder.with_name(folder.name + "_summary.json"))
    session.free_resource()
    _say("unload model success, model Id is 1")
    _say(f"end to reset device {device}")
    return report.throughput() if report else 0


def _shapes_of_range(text):
    """Returns the texts for --dymShape that a range stands for: a~b counts from a to b, a-b are
    both sizes."""
    tensors, count = [], 1
    for part in filter(None, text.split(";")):
        name, _, dims = part.rpartition(":")
        choices = []
        for dim in dims.split(","):
            low, tilde, high = dim.partition("~")
            words = (low, high) if tilde else dim.split("-")
            if not all(word.strip().isdigit() for word in words):
                raise InputError(f"--dymShape_range: '{dim}' must be a number, a~b or a-b")
            count *= max(int(high) - int(low) + 1, 0) if tilde else len(words)
            choices.append(range(int(low), int(high) + 1) if tilde else [int(word) for word in words])
        if count > MAX_SHAPES:
            raise InputError(f"--dymShape_range stands for {count} shapes, at most {MAX_SHAPES} are possible")
        tensors.append([f"{name}:{','.join(map(str, dims))}" for dims in itertools.product(*choices)])
    return [";".join(parts) for parts in itertools.product(*tensors)]


def _run_range(options, name):
    """Runs each shape of --dymShape_range, and prints how fast each is. A range has every combination
    of its dims: those that the model does not take are named, and the others run."""
    results = []
    for device, shape in itertools.product(options.device, _shapes_of_range(options.dymShape_range)):
        options.dymShape = shape
        try:
            results.append((shape, _run_on(device, options, name)))
        except (InputError, RuntimeError, ValueError) as error:
            print(f"[ERROR] {shape}: {reason(error)}", file=sys.stderr)
            results.append((shape, None))
    good = [throughput for _, throughput in results if throughput is not None]
    _say("-----------------dymshape_range Performance Summary------------------")
    _say(f"run_count:{len(results)} success_count:{len(good)} avg_throughput:{np.mean(good or [0]):.3f}")
    for i, (shape, throughput) in enumerate(sorted(results, key=lambda result: -(result[1] or 0))):
        state = "Failed" if throughput is None else "OK"
        _say(f"{i} dymshape:{shape} result:{state} throughput:{throughput or 0:.3f}")
    if not good:
        raise InputError("--dymShape_range: the model runs at none of these shapes")


def _profiled(arguments, options):
    """Runs the command without --profiler under msprof; returns its exit code."""
    if not options.output:
        raise InputError("--profiler needs --output, the folder of the profile")
    folder = pathlib.Path(__file__).resolve().parents[2]
    places = [folder, *(above / "bin" for above in folder.parents[:4])]
    msprof = next((str(place / "msprof") for place in places if (place / "msprof").is_file()), None)
    msprof = msprof or shutil.which("msprof")
    if not msprof:
        raise InputError("--profiler: there is no msprof beside this package, or on PATH")
    given = list(sys.argv[1:] if arguments is None else arguments)
    kept, skip = [], False
    for i, word in enumerate(given):
        if skip:
            skip = False
        elif word == "--profiler":
            skip = i + 1 < len(given) and not given[i + 1].startswith("-")
        elif not word.startswith("--profiler="):
            kept.append(word)
    command = shlex.join([sys.executable, "-m", "ais_bench", *kept])
    return subprocess.call([sys.executable, msprof, f"--output={pathlib.Path(options.output) / 'profiler'}",
                            f"--application={command}"])


def _dump_settings(options):
    """Returns the path of a file for aclInit that asks for all tensors of the model."""
    if not options.output:
        raise InputError("--dump needs --output, the folder of the tensors")
    folder = pathlib.Path(options.output) / "dump"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        try:
            json.dump({"dump": {"dump_path": str(folder), "dump_mode": "all", "dump_list": [{}]}}, file)
            file.flush()
        except BaseException:
            pathlib.Path(file.name).unlink()
            raise
    return file.name


def main(arguments=None, name="ais_bench"):
    """Runs the command; returns its exit code."""
    options = _parser(name).parse_args(_with_underscores(sys.argv[1:] if arguments is None else arguments))
    settings = None
    try:
        if options.profiler and options.dump:
            raise InputError("--profiler and --dump exclude each other")
        if options.profiler:
            return _profiled(arguments, options)
        if options.dump and not options.acl_json_path:
            options.acl_json_path = settings = _dump_settings(options)
        if options.dymShape_range:
            _run_range(options, name)
        else:
            for device in options.device:
                _run_on(device, options, name)
    except (InputError, RuntimeError, ValueError, OSError) as error:
        print(f"[ERROR] {reason(error)}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"[ERROR] there is not enough memory: {reason(error)}", file=sys.stderr)
        return 1
    finally:
        if settings:
            pathlib.Path(settings).unlink()
    InferSession.finalize()
    _say("end to finalize acl")
    return 0
