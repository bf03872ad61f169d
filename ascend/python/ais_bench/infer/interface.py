# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""InferSession: a model on a device, fed with NumPy arrays."""

import re
import threading
import time

import numpy as np

import acl

from . import aipp
from .summary import MemorySummary, RunTimes
from .tensor import Tensor

_TYPES = {0: np.float32, 1: np.float16, 2: np.int8, 3: np.int32, 4: np.uint8, 6: np.int16,
          7: np.uint16, 8: np.uint32, 9: np.int64, 10: np.uint64, 11: np.float64, 12: np.bool_,
          16: np.complex64, 17: np.complex128, 27: np.uint16}
_FORMATS = {0: "NCHW", 1: "NHWC", 2: "ND", 30: "NCDHW", 27: "NDHWC"}
_SHAPE_INPUT = "ascend_mbatch_shape_data"
_AIPP_INPUT = re.compile(r"ascend_dynamic_aipp_data(_\d+)?")  # the first, and further images


def _must(code, what):
    if code != 0:
        raise RuntimeError(f"{what} failed with {code}: {acl.get_recent_err_msg() or 'no message'}")


def _start(path=None):
    """Starts AscendCL, unless a session or another library of the process has done so."""
    code = acl.init(path)
    if code != 100002:
        _must(code, "acl.init")


class TensorDesc:
    """An input or output of a model. `size` are elements, `realsize` bytes; both are 0
    where only a run knows them."""

    def __init__(self, name, datatype, shape, format, realsize):
        self.name, self.datatype, self.shape, self.format = name, datatype, shape, format
        self.realsize = realsize
        self.size = realsize // np.dtype(datatype).itemsize

    def __repr__(self):
        return (f"TensorDesc(name={self.name!r}, datatype={self.datatype}, shape={self.shape}, "
                f"format={self.format!r}, size={self.size}, realsize={self.realsize})")


class InferSession:
    """Loads a model and executes it.

    `infer` takes one array per input, or a PyTorch tensor, or the bytes of one, and returns
    NumPy arrays. Modes: static, dymbatch, dymhw, dymdims and dymshape; the profile is taken
    from the shapes of the arrays."""

    def __init__(self, device_id, model_path, acl_json_path=None, debug=False, loop=1):
        self.device_id, self.model_path = int(device_id), str(model_path)
        self.debug, self.loop = debug, max(int(loop), 1)
        self._model = self._desc = None
        self._blocks = []  # device memory by input or output, grown when needed
        self._times = RunTimes()
        self._custom_sizes = None
        self._shapes = {}  # of inputs with dims of any size
        self._gear = None
        self._aipp = {}  # parameters of dynamic AIPP by their inputs
        self._lock = threading.RLock()  # threads may share a session: its memory is that of one run
        _start(acl_json_path)
        _must(acl.rt.set_device(self.device_id), "acl.rt.set_device")
        try:
            # A session may be used by any thread.
            self._context, code = acl.rt.create_context(self.device_id)
            _must(code, "acl.rt.create_context")
            self._model, code = acl.mdl.load_from_file(self.model_path)
            _must(code, f"loading {self.model_path}")
            self._desc = acl.mdl.create_desc()
            _must(acl.mdl.get_desc(self._desc, self._model), "acl.mdl.get_desc")
        except Exception:
            self.free_resource()
            raise
        self._read_ports()

    def _read_ports(self):
        desc, self._inputs, self._outputs = self._desc, [], []
        self._shape_index, self._aipp_indices = None, []
        for side, count in (("input", acl.mdl.get_num_inputs(desc)),
                            ("output", acl.mdl.get_num_outputs(desc))):
            ports = self._inputs if side == "input" else self._outputs
            for i in range(count):
                name = getattr(acl.mdl, f"get_{side}_name_by_index")(desc, i)
                dims, code = getattr(acl.mdl, f"get_{side}_dims")(desc, i)
                _must(code, f"the dims of {side} {i}")
                kind = _TYPES.get(getattr(acl.mdl, f"get_{side}_data_type")(desc, i))
                if kind is None:
                    raise RuntimeError(f"{side} '{name}' has a type that NumPy does not know")
                ports.append(TensorDesc(
                    name, np.dtype(kind).name, dims["dims"],
                    _FORMATS.get(getattr(acl.mdl, f"get_{side}_format")(desc, i), "ND"),
                    getattr(acl.mdl, f"get_{side}_size_by_index")(desc, i)))
                if side == "input" and name == _SHAPE_INPUT:
                    self._shape_index = i
                if side == "input" and _AIPP_INPUT.fullmatch(name):
                    self._aipp_indices.append(i)
        self._fed = [i for i in range(len(self._inputs))
                     if i not in (self._shape_index, *self._aipp_indices)]

    def get_inputs(self):
        """Returns the inputs that `infer` takes, as TensorDesc."""
        return [self._inputs[i] for i in self._fed]

    def get_outputs(self):
        """Returns the outputs as TensorDesc."""
        return list(self._outputs)

    # ---- profiles and shapes ----

    def set_dynamic_batchsize(self, dym_batch):
        """Sets the profile of --dynamic_batch_size for the next runs."""
        self._gear = ("batch", int(dym_batch))

    def set_dynamic_hw(self, w, h):
        """Sets the profile of --dynamic_image_size; the first argument is the one that comes
        first in that option."""
        self._gear = ("hw", int(w), int(h))

    def set_dynamic_dims(self, dym_dims):
        """Sets the profile of --dynamic_dims: "name:1,3,224,224;..."."""
        self._gear = ("dims", self._parse_shapes(dym_dims))

    def set_dynamic_shape(self, dym_shape):
        """Sets the shapes of inputs with dims of any size: "name:1,3,224,224;..."."""
        self._shapes = self._parse_shapes(dym_shape)

    def set_custom_outsize(self, custom_sizes):
        """Sets the bytes of output buffers, for outputs whose size only a run knows."""
        self._custom_sizes = list(custom_sizes)

    def load_aipp_config_file(self, config_file, batchsize=None):
        """Sets the parameters of dynamic AIPP, for all images of all inputs: a file with a section
        [aipp_op]."""
        if not self._aipp_indices:
            raise RuntimeError(f"{self.model_path} was compiled without dynamic AIPP")
        settings = aipp.read(config_file)
        for index in self._aipp_indices:
            most = (self._inputs[index].realsize - 64) // 96  # bytes of all, and of each image
            handle = aipp.create(settings, int(batchsize or most))
            if index in self._aipp:
                acl.mdl.destroy_aipp(self._aipp[index])
            self._aipp[index] = handle

    def _parse_shapes(self, text):
        known = [self._inputs[i].name for i in self._fed]
        shapes = {}
        for part in filter(None, (item.strip() for item in text.split(";"))):
            name, colon, dims = part.rpartition(":")
            if not colon or name not in known:
                raise ValueError(f"'{part}' names no input; write name:1,3,224,224 with one of "
                                 + ", ".join(known))
            try:
                shapes[name] = [int(dim) for dim in dims.split(",") if dim.strip()]
            except ValueError:
                raise ValueError(f"'{dims}' of input '{name}' must be numbers and commas") from None
        return shapes

    def _take_shapes(self, mode, arrays):
        """Chooses profile or shapes from the arrays."""
        ports = [self._inputs[i] for i in self._fed]
        if mode == "static":
            self._gear = None  # a profile of an earlier call is not meant
            return
        if mode == "dymhw":
            self._gear = ("hw", *self._image_size(ports, arrays))
            return
        if mode == "dymbatch":
            for port, array in zip(ports, arrays):
                dynamic = [i for i, dim in enumerate(port.shape) if dim < 0]
                if dynamic and dynamic[0] < array.ndim:
                    self._gear = ("batch", array.shape[dynamic[0]])
                    return
            raise RuntimeError(f"no input has a dim that mode {mode} sets")
        if mode == "dymdims":
            self._gear = ("dims", {port.name: list(array.shape)
                                   for port, array in zip(ports, arrays)})
        elif mode == "dymshape":
            self._shapes = {port.name: list(array.shape) for port, array in zip(ports, arrays)}
        else:
            raise ValueError(f"mode is '{mode}'; give static, dymbatch, dymhw, dymdims or dymshape")

    def _image_size(self, ports, arrays):
        """Returns height and width of the profile whose images the arrays are. The rows of a
        YUV420SP image are half as many again as its height."""
        sizes = acl.mdl.get_dynamic_hw(self._desc, -1)[0]["hw"]
        # A dim that all profiles have in common is not dynamic.
        varies = [len({size[i] for size in sizes}) > 1 for i in range(2)]
        for port, array in zip(ports, arrays):
            dynamic = [i for i, dim in enumerate(port.shape) if dim < 0]
            if len(dynamic) != sum(varies) or not dynamic:
                continue
            fixed = np.dtype(port.datatype).itemsize * int(np.prod(
                [dim for dim in port.shape if dim >= 0], dtype=np.int64))
            bytes_of = [fixed * int(np.prod([dim for dim, own in zip(size, varies) if own],
                                            dtype=np.int64)) for size in sizes]
            is_yuv = 2 * port.realsize == 3 * max(bytes_of)
            if array.ndim != len(port.shape):  # bytes of an image
                found = [size for size, own in zip(sizes, bytes_of)
                         if 2 * array.nbytes == own * (3 if is_yuv else 2)]
                if len(found) != 1:
                    raise RuntimeError(f"input '{port.name}' has {array.nbytes} bytes, which "
                                       f"{len(found)} profiles of {sizes} have; use "
                                       "set_dynamic_hw, or an array with dims")
                return found[0]
            given = iter(array.shape[i] for i in dynamic)
            height, width = (next(given) if own else sizes[0][i] for i, own in enumerate(varies))
            return height * 2 // 3 if is_yuv and varies[0] else height, width
        raise RuntimeError("no input has a height and a width that mode dymhw sets")

    def _apply_gear(self, dataset):
        if self._shape_index is None:
            if self._gear:
                raise RuntimeError(f"{self.model_path} has no profiles; it was compiled without "
                                   "--dynamic_batch_size, --dynamic_image_size and --dynamic_dims")
            return
        if not self._gear:
            raise RuntimeError(f"{self.model_path} has profiles; choose one by mode, or by "
                               "set_dynamic_batchsize, set_dynamic_hw or set_dynamic_dims")
        kind, *values = self._gear
        if kind == "batch":
            code = acl.mdl.set_dynamic_batch_size(self._model, dataset, self._shape_index, *values)
        elif kind == "hw":
            code = acl.mdl.set_dynamic_hw_size(self._model, dataset, self._shape_index, *values)
        else:
            dims = []
            for i in self._fed:
                port = self._inputs[i]
                dims += values[0].get(port.name, port.shape)
            code = acl.mdl.set_input_dynamic_dims(self._model, dataset, self._shape_index,
                                                  {"name": "", "dimCount": len(dims), "dims": dims})
        _must(code, "choosing the profile")

    # ---- runs ----

    @staticmethod
    def _as_array(feed):
        if isinstance(feed, (bytes, bytearray, memoryview)):
            return np.frombuffer(feed, dtype=np.uint8)
        if hasattr(feed, "detach"):  # PyTorch
            feed = feed.detach().cpu().numpy()
        if not isinstance(feed, np.ndarray):
            feed = np.asarray(feed)
        return np.ascontiguousarray(feed).reshape(feed.shape)

    def _memory(self, index, size):
        """Returns device memory of at least `size` bytes that belongs to a port."""
        while len(self._blocks) <= index:
            self._blocks.append((0, 0))
        address, have = self._blocks[index]
        if have < size:
            if address:
                acl.rt.free(address)
                self._blocks[index] = (0, 0)
            address, code = acl.rt.malloc(size, 0)
            _must(code, "acl.rt.malloc")
            self._blocks[index] = (address, size)
        return address

    def _bytes_of(self, port, array):
        """Returns the bytes that a port takes in this run; where only the execution knows them,
        those of the array."""
        if all(dim >= 0 for dim in port.shape):
            return port.realsize
        dims = self._shapes.get(port.name)
        if dims is None and self._gear and self._gear[0] == "dims":
            dims = self._gear[1].get(port.name)
        if dims is None and array.ndim == len(port.shape):
            # Bytes have one dim, and a port of one dim has the size of the batch.
            is_batch = array.ndim == 1 and self._gear and self._gear[0] == "batch"
            dims = [self._gear[1]] if is_batch else array.shape
        # Bytes of an image, or one whose rows are those of YUV.
        if dims is None or array.dtype == port.datatype == "uint8":
            return array.nbytes
        return int(np.prod(dims, dtype=np.int64)) * np.dtype(port.datatype).itemsize

    def _fill(self, arrays):
        """Copies arrays to the device; returns addresses and sizes of all inputs."""
        places = []
        rest = iter(arrays)
        start = time.perf_counter()
        for i, port in enumerate(self._inputs):
            if i not in self._fed:
                places.append((self._memory(i, port.realsize), port.realsize))
                continue
            array = next(rest)
            takes = self._bytes_of(port, array)
            if array.nbytes != takes:
                raise RuntimeError(
                    f"input '{port.name}' takes {takes} bytes ({port.datatype} "
                    f"{port.shape}); {array.nbytes} were given ({array.dtype.name} "
                    f"{list(array.shape)})")
            place = self._memory(i, max(array.nbytes, 1))
            if array.nbytes:
                _must(acl.rt.memcpy(place, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes,
                                    1), "copying to the device")
            places.append((place, array.nbytes))
        MemorySummary.h2d.append((time.perf_counter() - start) * 1000)
        return places

    def _output_places(self, custom_sizes):
        places = []
        for i, port in enumerate(self._outputs):
            size = port.realsize
            custom = self._custom_sizes or custom_sizes
            if custom is not None and (size == 0 or self._custom_sizes):
                size = int(custom if isinstance(custom, int) else
                           custom[min(i, len(custom) - 1)])
            # Without a size the execution allocates what it needs.
            places.append((self._memory(len(self._inputs) + i, size) if size else 0, size))
        return places

    def _datasets(self, inputs, outputs):
        made, buffers = [], []
        for places in (inputs, outputs):
            dataset = acl.mdl.create_dataset()
            made.append(dataset)
            for address, size in places:
                buffer = acl.create_data_buffer(address, size)
                buffers.append(buffer)
                _must(acl.mdl.add_dataset_buffer(dataset, buffer)[1], "acl.mdl.add_dataset_buffer")
        return made, buffers

    def _set_descs(self, dataset):
        for i in self._fed:
            shape = self._shapes.get(self._inputs[i].name)
            if shape is None:
                continue
            kind = next(n for n, t in _TYPES.items() if np.dtype(t).name == self._inputs[i].datatype)
            desc = acl.create_tensor_desc(kind, shape, 2)
            code = acl.mdl.set_dataset_tensor_desc(dataset, desc, i)[1]
            acl.destroy_tensor_desc(desc)
            _must(code, "acl.mdl.set_dataset_tensor_desc")

    def _fetch(self, outputs):
        start = time.perf_counter()
        results = []
        for i, (port, (address, _)) in enumerate(zip(self._outputs, outputs)):
            dims, code = acl.mdl.get_cur_output_dims(self._desc, i)
            _must(code, f"the dims of output {i}")
            array = np.empty(dims["dims"], dtype=port.datatype)
            if array.nbytes:
                _must(acl.rt.memcpy(acl.util.numpy_to_ptr(array), array.nbytes, address,
                                    array.nbytes, 2), "copying from the device")
            results.append(array)
        MemorySummary.d2h.append((time.perf_counter() - start) * 1000)
        return results

    def _run(self, arrays, custom_sizes, times=1):
        if self._model is None:
            raise RuntimeError("the session was freed")
        if len(arrays) != len(self._fed):
            names = ", ".join(self._inputs[i].name for i in self._fed)
            raise RuntimeError(f"the model takes {len(self._fed)} inputs ({names}), "
                               f"{len(arrays)} were given")
        _must(acl.rt.set_context(self._context), "acl.rt.set_context")
        inputs = self._fill(arrays)
        outputs = self._output_places(custom_sizes)
        (given, wanted), buffers = self._datasets(inputs, outputs)
        try:
            self._apply_gear(given)
            if self._aipp_indices and not self._aipp:
                raise RuntimeError(f"{self.model_path} has dynamic AIPP; set its parameters "
                                   "with load_aipp_config_file (--aipp_config)")
            for index, handle in self._aipp.items():
                _must(acl.mdl.set_input_aipp(self._model, given, index, handle),
                      "setting the parameters of AIPP")
            self._set_descs(given)
            for _ in range(times):
                start = time.perf_counter()
                code = acl.mdl.execute(self._model, given, wanted)
                self._times.exec_time_list.append((time.perf_counter() - start) * 1000)
                _must(code, f"executing {self.model_path}")
            made = [acl.get_data_buffer_addr(buffer) for buffer in buffers[len(inputs):]]
            return self._fetch([(address, size) for address, (_, size) in zip(made, outputs)])
        finally:
            for (address, _), buffer in zip(outputs, buffers[len(inputs):]):
                if not address and (own := acl.get_data_buffer_addr(buffer)):
                    acl.rt.free(own)
            acl.mdl.destroy_dataset(given)
            acl.mdl.destroy_dataset(wanted)
            for buffer in buffers:
                acl.destroy_data_buffer(buffer)

    def infer(self, feeds, mode="static", custom_sizes=100000, out_array=True, **_):
        """Executes the model once (`loop` times where the session was made with that). Without
        `out_array` results are Tensors, which stay on the device."""
        arrays = [self._as_array(feed) for feed in feeds]
        with self._lock:
            self._take_shapes(mode, arrays)
            return self._given(self._run(arrays, custom_sizes, self.loop), out_array)

    def run(self, feeds, out_array=False):
        """Executes the model with the profile or shapes that were set."""
        arrays = [self._as_array(feed) for feed in feeds]
        with self._lock:
            return self._given(self._run(arrays, None, self.loop), out_array)

    @staticmethod
    def _given(arrays, out_array):
        return arrays if out_array else [Tensor.of(array) for array in arrays]

    def create_tensor_from_arrays_to_device(self, arrays):
        """Returns an array as a Tensor on the device."""
        return Tensor.of(self._as_array(arrays))

    def convert_tensors_to_host(self, tensors):
        """Has Tensors come to the host."""
        for tensor in tensors:
            tensor.to_host()

    def convert_tensors_to_arrays(self, tensors):
        """Returns the values of Tensors as arrays."""
        return [np.array(tensor) for tensor in tensors]

    def infer_pipeline(self, feeds_list, mode="static", custom_sizes=100000, **_):
        """Executes the model on each of several sets of inputs; returns a list of results."""
        return [self.infer(feeds, mode, custom_sizes) for feeds in feeds_list]

    def infer_iteration(self, feeds, in_out_list=None, iteration_times=1, mode="static",
                        custom_sizes=100000, mem_copy=True):
        """Executes the model several times; an input whose entry of `in_out_list` is n >= 0
        gets output n of the execution before."""
        arrays = [self._as_array(feed) for feed in feeds]
        links = list(in_out_list) if in_out_list else [-1] * len(arrays)
        if len(links) != len(arrays) or any(not -1 <= n < len(self._outputs) for n in links):
            raise ValueError(f"in_out_list must have an output or -1 for each of {len(arrays)} "
                             "inputs")
        outputs = []
        for _ in range(max(int(iteration_times), 1)):
            outputs = self.infer(arrays, mode, custom_sizes)
            arrays = [array if n < 0 else outputs[n] for array, n in zip(arrays, links)]
        return outputs

    def summary(self):
        """Returns the times of all runs: `exec_time_list`, in milliseconds."""
        return self._times

    def reset_summaryinfo(self):
        """Forgets the times."""
        self._times.exec_time_list.clear()

    sumary, reset_sumaryinfo = summary, reset_summaryinfo  # as older versions write them

    def free_resource(self):
        """Unloads the model and frees its memory; the session cannot be used again. A run of another thread ends first."""
        lock = getattr(self, "_lock", None)  # missing where the constructor failed early, as all that is freed
        if lock is None:
            return
        with lock:
            self._free()

    def _free(self):
        context = getattr(self, "_context", None)
        if context is None:
            return
        self._context = None
        acl.rt.set_context(context)
        for address, _ in self._blocks:
            if address:
                acl.rt.free(address)
        self._blocks = []
        for handle in self._aipp.values():
            acl.mdl.destroy_aipp(handle)
        self._aipp = {}
        if self._desc:
            acl.mdl.destroy_desc(self._desc)
        if self._model is not None:
            acl.mdl.unload(self._model)
        self._desc = self._model = None
        acl.rt.destroy_context(context)
        acl.rt.reset_device(self.device_id)

    free_device = free_resource

    @staticmethod
    def finalize():
        """Ends AscendCL for the process."""
        acl.finalize()

    def __del__(self):
        try:
            self.free_resource()
        except Exception:  # the interpreter may be ending
            pass


class MultiDeviceSession:
    """Executes a model on several devices at once, one thread per set of inputs.

    `infer` takes {device: [inputs, ...]} and returns {device: [results, ...]}."""

    def __init__(self, model_path, acl_json_path=None, debug=False, loop=1):
        self._arguments = (model_path, acl_json_path, debug, loop)
        self._times = {}

    def _run(self, device_feeds, call):
        results, errors, threads = {}, [], []

        def work(device, index, feeds):
            try:
                session = InferSession(device, *self._arguments)
                results[device][index] = call(session, feeds)
                self._times.setdefault(device, []).append(list(session.summary().exec_time_list))
                session.free_resource()
            except Exception as error:
                errors.append(error)

        for device, groups in device_feeds.items():
            results[device] = [None] * len(groups)
            for index, feeds in enumerate(groups):
                threads.append(threading.Thread(target=work, args=(device, index, feeds)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return results

    def infer(self, device_feeds, mode="static", custom_sizes=100000):
        return self._run(device_feeds, lambda session, feeds: session.infer(feeds, mode,
                                                                            custom_sizes))

    def infer_pipeline(self, device_feeds_list, mode="static", custom_sizes=100000):
        return self._run(device_feeds_list, lambda session, feeds: session.infer_pipeline(
            feeds, mode, custom_sizes))

    def infer_iteration(self, device_feeds, in_out_list=None, iteration_times=1, mode="static",
                        custom_sizes=100000, mem_copy=True):
        return self._run(device_feeds, lambda session, feeds: session.infer_iteration(
            feeds, in_out_list, iteration_times, mode, custom_sizes))

    def summary(self):
        """Returns the times of all runs by device."""
        return self._times
