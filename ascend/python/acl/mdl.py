# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models: load, describe, execute."""

import ctypes

from . import _library
from ._library import LIBRARY, bind
from ._structures import define

_library.bind_all(globals(), LIBRARY, {
    "load_from_file": "aclmdlLoadFromFile e s >I",
    "load_from_mem": "aclmdlLoadFromMem e p N >I",
    "unload": "aclmdlUnload e I",
    "bundle_load_from_file": "aclmdlBundleLoadFromFile e s >I",
    "bundle_load_from_mem": "aclmdlBundleLoadFromMem e p N >I",
    "bundle_unload": "aclmdlBundleUnload e I",
    "bundle_get_model_num": "aclmdlBundleGetModelNum e I >N",
    "bundle_get_model_id": "aclmdlBundleGetModelId e I N >I",
    "bundle_create_query_info": "aclmdlBundleCreateQueryInfo p",
    "bundle_destroy_query_info": "aclmdlBundleDestroyQueryInfo e p",
    "bundle_query_info_from_file": "aclmdlBundleQueryInfoFromFile e s p",
    "bundle_query_info_from_mem": "aclmdlBundleQueryInfoFromMem e p N p",
    "bundle_get_query_model_num": "aclmdlBundleGetQueryModelNum e p >N",
    "bundle_get_var_weight_size": "aclmdlBundleGetVarWeightSize e p >N",
    "bundle_get_size": "aclmdlBundleGetSize e p N >N >N",
    "bundle_init_from_file": "aclmdlBundleInitFromFile e s p N >I",
    "bundle_init_from_mem": "aclmdlBundleInitFromMem e p N p N >I",
    "bundle_load_model": "aclmdlBundleLoadModel e I N >I",
    "bundle_load_model_with_mem": "aclmdlBundleLoadModelWithMem e I N p N p N >I",
    "bundle_load_model_with_config": "aclmdlBundleLoadModelWithConfig e I N p >I",
    "bundle_unload_model": "aclmdlBundleUnloadModel e I I",
    "set_external_weight_address": "aclmdlSetExternalWeightAddress e p s p N",
    "query_size": "aclmdlQuerySize e s >N >N",
    "query_size_from_mem": "aclmdlQuerySizeFromMem e p N >N >N",
    "create_desc": "aclmdlCreateDesc p",
    "destroy_desc": "aclmdlDestroyDesc e p",
    "get_desc": "aclmdlGetDesc e p I",
    "get_desc_from_file": "aclmdlGetDescFromFile e p s",
    "get_desc_from_mem": "aclmdlGetDescFromMem e p p N",
    "get_num_inputs": "aclmdlGetNumInputs N p",
    "get_num_outputs": "aclmdlGetNumOutputs N p",
    "get_input_size_by_index": "aclmdlGetInputSizeByIndex N p N",
    "get_output_size_by_index": "aclmdlGetOutputSizeByIndex N p N",
    "get_input_name_by_index": "aclmdlGetInputNameByIndex s p N",
    "get_output_name_by_index": "aclmdlGetOutputNameByIndex s p N",
    "get_input_index_by_name": "aclmdlGetInputIndexByName e p s >N",
    "get_output_index_by_name": "aclmdlGetOutputIndexByName e p s >N",
    "get_input_data_type": "aclmdlGetInputDataType i p N",
    "get_output_data_type": "aclmdlGetOutputDataType i p N",
    "get_input_format": "aclmdlGetInputFormat i p N",
    "get_output_format": "aclmdlGetOutputFormat i p N",
    "get_tensor_real_name": "aclmdlGetTensorRealName s p s",
    "get_op_attr": "aclmdlGetOpAttr s p s s",
    "create_dataset": "aclmdlCreateDataset p",
    "destroy_dataset": "aclmdlDestroyDataset e p",
    "get_dataset_num_buffers": "aclmdlGetDatasetNumBuffers N p",
    "get_dataset_buffer": "aclmdlGetDatasetBuffer p p N",
    "get_dataset_tensor_desc": "aclmdlGetDatasetTensorDesc p p N",
    "execute": "aclmdlExecute e I p p",
    "execute_async": "aclmdlExecuteAsync e I p p p",
    "set_dynamic_batch_size": "aclmdlSetDynamicBatchSize e I p N U",
    "set_dynamic_hw_size": "aclmdlSetDynamicHWSize e I p N U U",
    "get_input_dynamic_gear_count": "aclmdlGetInputDynamicGearCount e p N >N",
    "create_aipp": "aclmdlCreateAIPP p U",
    "destroy_aipp": "aclmdlDestroyAIPP e p",
    "get_aipp_data_size": "aclmdlGetAippDataSize e U >N",
    "set_aipp_input_format": "aclmdlSetAIPPInputFormat e p i",
    "set_aipp_csc_params": "aclmdlSetAIPPCscParams e p b" + " h" * 9 + " B" * 6,
    "set_aipp_rbuv_swap_switch": "aclmdlSetAIPPRbuvSwapSwitch e p b",
    "set_aipp_ax_swap_switch": "aclmdlSetAIPPAxSwapSwitch e p b",
    "set_aipp_src_image_size": "aclmdlSetAIPPSrcImageSize e p i i",
    "set_aipp_scf_params": "aclmdlSetAIPPScfParams e p b i i i i U",
    "set_aipp_crop_params": "aclmdlSetAIPPCropParams e p b i i i i U",
    "set_aipp_padding_params": "aclmdlSetAIPPPaddingParams e p b i i i i U",
    "set_aipp_dtc_pixel_mean": "aclmdlSetAIPPDtcPixelMean e p h h h h U",
    "set_aipp_dtc_pixel_min": "aclmdlSetAIPPDtcPixelMin e p f f f f U",
    "set_aipp_pixel_var_reci": "aclmdlSetAIPPPixelVarReci e p f f f f U",
    "set_input_aipp": "aclmdlSetInputAIPP e I p N p",
    "set_aipp_by_input_index": "aclmdlSetAIPPByInputIndex e I p N p",
    "get_aipp_type": "aclmdlGetAippType e I N >i >N",
    "create_config_handle": "aclmdlCreateConfigHandle p",
    "destroy_config_handle": "aclmdlDestroyConfigHandle e p",
    "load_with_config": "aclmdlLoadWithConfig e p >I",
    "load_from_file_with_q": "aclmdlLoadFromFileWithQ e s >I p N p N",
    "load_from_mem_with_q": "aclmdlLoadFromMemWithQ e p N >I p N p N",
    "create_exec_config_handle": "aclmdlCreateExecConfigHandle p",
    "destroy_exec_config_handle": "aclmdlDestroyExecConfigHandle e p",
    "execute_v2": "aclmdlExecuteV2 e I p p p p",
    "init_dump": "aclmdlInitDump e",
    "finalize_dump": "aclmdlFinalizeDump e",
})

_ALL = ctypes.c_size_t(-1).value  # what -1 is as an index


define("""
aclmdlIODims: c name*128, N dimCount, L dims*128
aclAippDims: aclmdlIODims srcDims, N srcSize, aclmdlIODims aippOutdims, N aippOutSize
aclAippInfo: i inputFormat, i srcImageSizeW, i srcImageSizeH, b cropSwitch, i loadStartPosW, i loadStartPosH, i cropSizeW, i cropSizeH, b resizeSwitch, i resizeOutputW, i resizeOutputH, b paddingSwitch, i leftPaddingSize, i rightPaddingSize, i topPaddingSize, i bottomPaddingSize, b cscSwitch, b rbuvSwapSwitch, b axSwapSwitch, b singleLineMode, i matrixR0C0, i matrixR0C1, i matrixR0C2, i matrixR1C0, i matrixR1C1, i matrixR1C2, i matrixR2C0, i matrixR2C1, i matrixR2C2, i outputBias0, i outputBias1, i outputBias2, i inputBias0, i inputBias1, i inputBias2, i meanChn0, i meanChn1, i meanChn2, i meanChn3, f minChn0, f minChn1, f minChn2, f minChn3, f varReciChn0, f varReciChn1, f varReciChn2, f varReciChn3, i srcFormat, i srcDatatype, N srcDimNum, N shapeCount, aclAippDims outDims*128, p aippExtend
aclmdlIODimsRange: N rangeCount, L range*128*2
""")


class _IODims(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 128), ("dimCount", ctypes.c_size_t),
                ("dims", ctypes.c_int64 * 128)]

    def read(self):
        return {"name": self.name.decode(errors="replace"), "dimCount": self.dimCount,
                "dims": list(self.dims[:self.dimCount])}


class _Batch(ctypes.Structure):
    _fields_ = [("batchCount", ctypes.c_size_t), ("batch", ctypes.c_uint64 * 128)]

    def read(self):
        return {"batchCount": self.batchCount, "batch": list(self.batch[:self.batchCount])}


class _HW(ctypes.Structure):
    _fields_ = [("hwCount", ctypes.c_size_t), ("hw", (ctypes.c_uint64 * 2) * 128)]

    def read(self):
        return {"hwCount": self.hwCount, "hw": [list(pair) for pair in self.hw[:self.hwCount]]}


def _index(value):
    return _ALL if value == -1 else value


def _asking(c_name, structure, with_index=True):
    function = bind(LIBRARY, f"{c_name} e p N p" if with_index else f"{c_name} e p p")

    def ask(desc, *index):
        answer = structure()
        code = function(desc, *map(_index, index), ctypes.addressof(answer))
        return answer.read(), code

    ask.__name__ = ask.__qualname__ = c_name
    return ask


get_input_dims = _asking("aclmdlGetInputDims", _IODims)
get_input_dims_v2 = _asking("aclmdlGetInputDimsV2", _IODims)
get_output_dims = _asking("aclmdlGetOutputDims", _IODims)
get_cur_output_dims = _asking("aclmdlGetCurOutputDims", _IODims)
get_dynamic_batch = _asking("aclmdlGetDynamicBatch", _Batch, with_index=False)
get_dynamic_hw = _asking("aclmdlGetDynamicHW", _HW)

_gear_count = get_input_dynamic_gear_count
_dynamic_dims = bind(LIBRARY, "aclmdlGetInputDynamicDims e p N p N")
_set_dynamic_dims = bind(LIBRARY, "aclmdlSetInputDynamicDims e I p N p")
_add_buffer = bind(LIBRARY, "aclmdlAddDatasetBuffer e p p")
_set_desc = bind(LIBRARY, "aclmdlSetDatasetTensorDesc e p p N")
_load_file_mem = bind(LIBRARY, "aclmdlLoadFromFileWithMem e s >I p N p N")
_load_mem_mem = bind(LIBRARY, "aclmdlLoadFromMemWithMem e p N >I p N p N")
_set_config = bind(LIBRARY, "aclmdlSetConfigOpt e p i p N")


def get_input_dynamic_gear_count(desc, index=-1):
    """Returns how many profiles of --dynamic_dims there are."""
    return _gear_count(desc, _index(index))


def get_input_dynamic_dims(desc, index, gear_count):
    """Returns the profiles: the dims of all inputs, one input behind the other."""
    gears = (_IODims * max(gear_count, 1))()
    code = _dynamic_dims(desc, _index(index), ctypes.addressof(gears), gear_count)
    return [gear.read() for gear in gears[:gear_count]], code


def set_input_dynamic_dims(model_id, dataset, index, dims):
    """Sets the profile; `dims` is a dictionary with dimCount and dims."""
    given = _IODims()
    values = list(dims["dims"])[:dims.get("dimCount", len(dims["dims"]))]
    given.name = str(dims.get("name", "")).encode()[:127]
    given.dimCount = len(values)
    for i, value in enumerate(values[:128]):
        given.dims[i] = value
    return _set_dynamic_dims(model_id, dataset, index, ctypes.addressof(given))


def add_dataset_buffer(dataset, data_buffer):
    """Adds a buffer; returns the dataset and the code."""
    return dataset, _add_buffer(dataset, data_buffer)


def set_dataset_tensor_desc(dataset, tensor_desc, index):
    """Sets the shape of an input with dims of any size."""
    return dataset, _set_desc(dataset, tensor_desc, index)


def load_from_file_with_mem(path, work_ptr, work_size, weight_ptr, weight_size):
    """Loads with the caller's memory; returns the id and the code."""
    return _load_file_mem(path, work_ptr, work_size, weight_ptr, weight_size)


def load_from_mem_with_mem(model, model_size, work_ptr, work_size, weight_ptr, weight_size):
    """Loads from memory with the caller's memory; returns the id and the code."""
    return _load_mem_mem(model, model_size, work_ptr, work_size, weight_ptr, weight_size)


def set_config_opt(handle, attribute, value):
    """Sets an option of a load; `value` is a number, an address or a path."""
    if attribute == 0:
        cell = ctypes.c_int32(value)
    elif isinstance(value, (str, bytes)):
        cell = ctypes.c_char_p(value.encode() if isinstance(value, str) else value)
    else:
        cell = ctypes.c_uint64(value)
    return _set_config(handle, attribute, ctypes.addressof(cell), ctypes.sizeof(cell))


_set_exec_config = bind(LIBRARY, "aclmdlSetExecConfigOpt e p i p N")
_exec_sizes = {2: 8, 3: 8}  # bytes of the options that are no timeouts
_set_dump = bind(LIBRARY, "aclmdlSetDump e s")
_op_desc = bind(LIBRARY, "aclmdlCreateAndGetOpDesc e I I I p N >p >N >p >N")
_first_aipp = bind(LIBRARY, "aclmdlGetFirstAippInfo e I N >aclAippInfo")
_dims_range = bind(LIBRARY, "aclmdlGetInputDimsRange e p N >aclmdlIODimsRange")
_register_dump = bind(LIBRARY, "acldumpRegCallback e p i")
_unregister_dump = bind(LIBRARY, "acldumpUnregCallback -")
_NAME_LIMIT = 4096


def set_exec_config_opt(handle, attribute, value):
    """Sets an option of an execution, such as its timeout in milliseconds."""
    cell = ctypes.c_int64(value)
    return _set_exec_config(handle, attribute, ctypes.addressof(cell), _exec_sizes.get(attribute, 4))


def set_dump(config_path=None):
    """Dumps what a file says, from now on."""
    return _set_dump(config_path)


def create_and_get_op_desc(device_id, stream_id, task_id, name_length):
    """Returns name, descriptions of inputs, their number, those of outputs, their number, code."""
    if not 0 <= name_length <= _NAME_LIMIT:
        return "", 0, 0, 0, 0, 100000
    name = ctypes.create_string_buffer(name_length + 1)
    found = _op_desc(device_id, stream_id, task_id, ctypes.addressof(name), name_length)
    return name.value.decode(errors="replace"), *found


def _short(dims):
    return {**dims, "dims": dims["dims"][:dims["dimCount"]]}


def get_first_aipp_info(model_id, index):
    """Returns how an image is preprocessed, a dictionary with the names of aclAippInfo, and the
    code; None where it is not."""
    found, code = _first_aipp(model_id, index)
    if code != _library.SUCCESS:
        return None, code
    found["outDims"] = [{**item, "srcDims": _short(item["srcDims"]),
                         "aippOutdims": _short(item["aippOutdims"])}
                        for item in found["outDims"][:found["shapeCount"]]]
    return found, code


def get_input_dims_range(desc, index):
    """Returns the [min, max] of each dim in a dictionary with rangeCount and range, and the code."""
    found, code = _dims_range(desc, index)
    return {"rangeCount": found["rangeCount"],
            "range": found["range"][:found["rangeCount"]]}, code


def dump_reg_callback(function, flag):
    """Has a function get the parts of dumps; that is not supported, as the code says."""
    return _register_dump(None, flag)


def dump_unreg_callback():
    """Ends what dump_reg_callback began."""
    _unregister_dump()
