# Shapes of the results of single operators, and which operators a folder replaces. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import json
import subprocess

import pytest

np = pytest.importorskip("numpy")

from aclnn_calls import BUILD, LONG, POINTER, TYPES, Tensor, acl  # noqa: E402, F401


class Call:
    """The arguments of a call: inputs are arrays, or dims of float16."""

    def __init__(self, acl, inputs, outputs, **attributes):
        acl.aclCreateTensorDesc.restype = acl.aclCreateDataBuffer.restype = acl.aclopCreateAttr.restype = POINTER
        acl.aclGetTensorDescNumDims.restype = ctypes.c_size_t
        self.acl, self.kept = acl, []
        self.descs = [self.desc(item) for item in inputs]
        self.results = [self.desc(item) for item in outputs]
        self.buffers = [self.buffer(item) for item in inputs]
        self.attr = POINTER(acl.aclopCreateAttr())
        for name, value in attributes.items():
            numbers = (LONG * len(value))(*value)
            assert acl.aclopSetAttrListInt(self.attr, name.encode(), len(value), numbers) == 0

    def desc(self, item):
        dims = item.shape if isinstance(item, np.ndarray) else item
        kind = TYPES[item.dtype.name] if isinstance(item, np.ndarray) else TYPES["float16"]
        return POINTER(self.acl.aclCreateTensorDesc(kind, len(dims), (LONG * max(len(dims), 1))(*dims), 2))

    def buffer(self, item):
        if not isinstance(item, np.ndarray):
            return None
        self.kept.append(Tensor(self.acl, item))
        return POINTER(self.acl.aclCreateDataBuffer(self.kept[-1].data, ctypes.c_size_t(item.nbytes)))

    def infer(self, kind):
        """Returns the dims of the results, or the message where there are none."""
        def array(items):
            return (POINTER * len(items))(*items)
        buffers = array(self.buffers) if all(self.buffers) else None
        code = self.acl.aclopInferShape(kind.encode(), len(self.descs), array(self.descs), buffers,
                                        len(self.results), array(self.results), self.attr)
        if code:
            return self.acl.aclGetRecentErrMsg().decode()
        dims = []
        for desc in self.results:
            size, found = LONG(), []
            for i in range(self.acl.aclGetTensorDescNumDims(desc)):
                assert self.acl.aclGetTensorDescDimV2(desc, ctypes.c_size_t(i), ctypes.byref(size)) == 0
                found.append(size.value)
            dims.append(found)
        return dims


HALVES = np.ones((4, 6), np.float16)


@pytest.mark.parametrize("kind, inputs, attributes, dims", [
    ("Add", [[2, 3], [3]], {}, [[2, 3]]), ("Add", [[-1, 3], [3]], {}, [[-1, 3]]),
    ("Add", [[7, 3], [3]], {}, [[7, 3]]),  # not by the operator for any number of rows above
    ("MatMul", [[5, 16], [16, 7]], {}, [[5, 7]]),
    ("Conv2D", [[1, 3, 16, 16], [4, 3, 3, 3]], {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1]}, [[1, 4, 8, 8]]),
    ("Reshape", [HALVES, np.array([3, -1])], {}, [[3, 8]]),
    ("ReduceSum", [HALVES, np.array([0], np.int32)], {}, [[6]]), ("TopK", [HALVES, np.array(2, np.int32)], {}, [[4, 2], [4, 2]])])
def test_shapes_are_inferred(acl, kind, inputs, attributes, dims):
    outputs = [[]] * len(dims)
    if kind == "TopK":
        outputs = [[], np.zeros((), np.int32)]
    call = Call(acl, inputs, outputs, **attributes)
    assert call.infer(kind) == dims


@pytest.mark.parametrize("kind, inputs, said", [
    ("Add", [[2, 3], [4]], "do not broadcast"), ("NoSuchOp", [[2]], "not supported"), ("Reshape", [[4, 6], [2]], "constant"),
    ("Abs", [[-2]], "-2")])
def test_what_has_no_shape(acl, kind, inputs, said):
    assert said in Call(acl, inputs, [[]]).infer(kind)


def test_a_folder_replaces_those_of_folders_only(acl, tmp_path):
    def describe(dims):
        return [{"op": "Abs", "name": "abs", "input_desc": [{"format": "ND", "type": "float16", "shape": dims}],
                 "output_desc": [{"format": "ND", "type": "float16", "shape": dims}]}]
    for folder, dims in (("a", [31]), ("b", [32])):
        (tmp_path / f"{folder}.json").write_text(json.dumps(describe(dims)))
        subprocess.run([BUILD / "bin/atc", f"--singleop={tmp_path / folder}.json", "--soc_version=Ascend310P3",
                        f"--output={tmp_path / folder}"], check=True, capture_output=True)

    def has(size):
        call = Call(acl, [np.ones(size, np.float16)], [np.ones(size, np.float16)])
        one, buffers = POINTER * 1, POINTER * 1
        return acl.aclopExecuteV2(b"Abs", 1, one(*call.descs), buffers(*call.buffers), 1, one(*call.results),
                                  buffers(*call.buffers), call.attr, None) == 0 and acl.aclrtSynchronizeStream(None) == 0

    own = Call(acl, [[33]], [[33]])
    assert acl.aclopCompile(b"Abs", 1, (POINTER * 1)(*own.descs), 1, (POINTER * 1)(*own.results), own.attr, 0, 0, None) == 0
    assert acl.aclopSetModelDir(str(tmp_path / "a").encode()) == 0
    assert [has(31), has(32), has(33)] == [True, False, True]
    assert acl.aclopSetModelDir(str(tmp_path / "b").encode()) == 0
    assert [has(31), has(32), has(33)] == [False, True, True]


def test_attributes_of_compiled_operators(acl):
    # A call without an attribute is another operator than one with it, whichever comes first.
    without, with_axis = Call(acl, [[5, 7]], [[]]), Call(acl, [[5, 7]], [[]], axes=[1])
    assert without.infer("ReduceSumD") == [[]] and with_axis.infer("ReduceSumD") == [[5]]
    assert without.infer("ReduceSumD") == [[]]

    def product(**attributes):
        x = np.arange(9, dtype=np.float16).reshape(3, 3)
        call, one = Call(acl, [x, x], [x], **attributes), POINTER * 1
        two, out = POINTER * 2, Tensor(acl, np.zeros_like(x))
        buffer = POINTER(acl.aclCreateDataBuffer(out.data, ctypes.c_size_t(x.nbytes)))
        if attributes:
            assert acl.aclopSetAttrBool(call.attr, b"transpose_x2", 1) == 0
        assert acl.aclopCompileAndExecute(b"MatMul", 2, two(*call.descs), two(*call.buffers), 1, one(*call.results),
                                          one(buffer), call.attr, 0, 0, None, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        return x, out.read()

    for attributes in ({}, {"_unused": [1]}):
        x, result = product(**attributes)
        np.testing.assert_array_equal(result, x @ (x.T if attributes else x))
