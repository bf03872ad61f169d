# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aclruntime: what ais_bench is made of elsewhere, and programs call directly: sessions that take
and return Tensors. Here it is made of ais_bench's InferSession."""

import ctypes
import enum
import os
import pathlib

import numpy as np

from ais_bench.infer import interface, tensor

dtype = enum.Enum("dtype", {name: name for name in (
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bool",
    "complex64", "complex128")}, type=str, module=__name__)
dtype.__doc__ = """The types of elements; a member equals its name."""

summary = sumary = interface.RunTimes  # what summary() of a session returns


class tensor_desc(interface.TensorDesc):
    """An input or output of a model."""

    def __init__(self, name="", datatype="uint8", shape=(), format="ND", realsize=0):
        super().__init__(name, datatype, list(shape), format, realsize)
        self.datatype = dtype(datatype)


class session_options:
    """`loop`: executions per run; `acl_json_path`: the file for acl.init; `log_level` has no effect."""

    def __init__(self):
        self.loop, self.log_level, self.acl_json_path = 1, 2, ""


class Tensor(tensor.Tensor):
    """The values of an array, for a run; np.array(tensor) returns them."""

    def __new__(cls, array):
        return cls.of(np.asarray(array))


class BaseTensor:
    """Bytes at an address of the program's memory."""

    def __init__(self, buf, size):
        self.buf, self.size = buf, size

    def __array__(self, dtype=None, copy=None):
        data = (ctypes.c_ubyte * self.size).from_address(self.buf)
        return np.frombuffer(data, dtype=np.uint8).astype(dtype or np.uint8)


class InferenceSession(interface.InferSession):
    """A model on a device: run(names of outputs, [Tensor, ...] or {name: Tensor})."""

    def __init__(self, model_path, device_id=0, options=None):
        self._options = options or session_options()
        super().__init__(device_id, model_path, self._options.acl_json_path or None, loop=self._options.loop)

    def options(self):
        return self._options

    def get_inputs(self):
        return [self._described(port) for port in super().get_inputs()]

    def get_outputs(self):
        return [self._described(port) for port in super().get_outputs()]

    @staticmethod
    def _described(port):
        return tensor_desc(port.name, port.datatype, port.shape, port.format, port.realsize)

    def set_staticbatch(self):
        """Takes back the profile that was set."""
        self._gear = None

    def create_tensor_from_fileslist(self, desc, files):
        """Returns the bytes of files, one behind the other, as the Tensor of an input."""
        data = b"".join(open(file, "rb").read() for file in files)
        array = np.frombuffer(data, dtype=np.uint8)
        whole = len(data) == desc.realsize and all(dim >= 0 for dim in desc.shape)
        return Tensor(array.view(desc.datatype.value).reshape(desc.shape) if whole else array)

    def run(self, output_names, feeds):
        """Executes the model; returns the named outputs as Tensors. A feed may be an array, too."""
        inputs, outputs = [port.name for port in super().get_inputs()], [port.name for port in self._outputs]
        if isinstance(feeds, dict):
            if unknown := set(feeds) - set(inputs):
                raise RuntimeError(f"the model has no input {sorted(unknown)}; it has: {', '.join(inputs)}")
            if missing := [name for name in inputs if name not in feeds]:
                raise RuntimeError(f"no values were given for {', '.join(missing)}")
            feeds = [feeds[name] for name in inputs]
        if unknown := [name for name in output_names or () if name not in outputs]:
            raise RuntimeError(f"the model has no output {unknown}; it has: {', '.join(outputs)}")
        results = dict(zip(outputs, super().run(list(feeds), out_array=True)))
        return [Tensor(results[name]) for name in output_names or outputs]

    def run_pipeline(self, first, second, *options):
        """Executes the model once for each of several sets of inputs: (outputs, sets, shapes, auto_shape, auto_dims)
        returns a list of Tensors per set of BaseTensors, Tensors or arrays, and
        (files, folder, auto_shape, auto_dims, format, without_data, threads) reads a file per input, each set in a
        list of its own, and writes <the first file's name>_<output>.<format>."""
        if isinstance(second, (str, os.PathLike)):
            return self._run_files(first, pathlib.Path(second), *options)
        shapes, auto_shape, auto_dims = (*options, None, None, None)[:3]
        results = []
        for index, feeds in enumerate(second):
            if shapes and (auto_shape or auto_dims):
                self._set_shapes(shapes[index], auto_shape)
            results.append(self.run(first, feeds))
        return results

    def _set_shapes(self, shapes, are_open):
        """Sets the dims of inputs: where they are open, or as one of the profiles."""
        names = [port.name for port in super().get_inputs()]
        text = ";".join(f"{name}:{','.join(map(str, dims))}" for name, dims in zip(names, shapes))
        (self.set_dynamic_shape if are_open else self.set_dynamic_dims)(text)

    def _run_files(self, sets, folder, auto_shape=False, auto_dims=False, outfmt="BIN", without_data=False, threads=1):
        if outfmt not in ("BIN", "NPY", "TXT"):
            raise RuntimeError(f"the format {outfmt!r} must be BIN, NPY or TXT")
        names = [port.name for port in self._outputs]
        for files in sets:
            feeds = [np.load(file) if str(file).endswith(".npy") else np.fromfile(file, dtype=np.uint8) for file in files]
            if auto_shape or auto_dims:
                self._set_shapes([feed.shape for feed in feeds], auto_shape)
            for index, result in enumerate(self.run(names, feeds)):
                if without_data:
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                path = folder / f"{pathlib.Path(files[0]).stem}_{index}.{outfmt.lower()}"
                array = np.array(result)
                if outfmt == "NPY":
                    np.save(path, array)
                elif outfmt == "TXT":
                    np.savetxt(path, array.reshape(-1, array.shape[-1] if array.ndim else 1), fmt="%f")
                else:
                    array.tofile(path)

    def finalize(self):
        """Frees the session."""
        self.free_resource()

    def __repr__(self):
        ports = [f"{side} {i}: {port}" for side, ports in (("input", self.get_inputs()), ("output", self.get_outputs()))
                 for i, port in enumerate(ports)]
        return "\n".join([f"<Model> {self.model_path}, device {self.device_id}", *ports])


def model(modelPath, deviceId=0, options=None):
    """Returns a session."""
    return InferenceSession(modelPath, deviceId, options)
