# pyACL has the functions of the vendor's package. Run with `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import pathlib
import subprocess
import sys

import pytest
from acl_begin import BEGUN

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, os.environ.get("OPENATC_ACL_PYTHON", str(BUILD / "python")))
sys.path.append(str(ROOT / "test/common"))
acl = pytest.importorskip("acl")

SUCCESS, INVALID_PARAM, NOT_SUPPORTED = 0, 100000, 200001
NAMES = {
    "": """init finalize finalize_reference get_version get_version_str get_cann_version get_soc_name
        float16_to_float float_to_float16 create_data_buffer destroy_data_buffer get_data_buffer_addr
        get_data_buffer_size get_data_buffer_size_v2 update_data_buffer data_type_size
        create_tensor_desc destroy_tensor_desc get_tensor_desc_type get_tensor_desc_format
        get_tensor_desc_size get_tensor_desc_element_count get_tensor_desc_num_dims
        get_tensor_desc_dim get_tensor_desc_dim_v2 get_tensor_desc_name set_tensor_desc_name
        trans_tensor_desc_format app_log set_tensor_storage_format set_tensor_storage_shape
        set_tensor_format set_tensor_shape set_tensor_origin_format set_tensor_origin_shape
        set_tensor_dynamic_input set_tensor_shape_range set_tensor_value_range
        get_tensor_desc_address get_tensor_desc_by_index get_tensor_desc_dim_range
        set_tensor_place_ment set_tensor_const get_recent_err_msg get_cann_attribute_list
        get_cann_attribute get_device_capability""",
    "rt": """set_device reset_device reset_device_force get_device set_device_sat_mode
        get_device_sat_mode get_run_mode set_ts_device get_device_count get_device_utilization_rate
        query_device_status device_task_abort get_device_info device_get_stream_priority_range
        get_device_capability get_device_res_limit set_device_res_limit reset_device_res_limit
        get_devices_topo get_logic_dev_id_by_user_dev_id get_user_dev_id_by_logic_dev_id
        get_logic_dev_id_by_phy_dev_id get_phy_dev_id_by_logic_dev_id device_get_uuid
        device_peer_access_status create_context destroy_context set_context get_context
        get_overflow_status reset_overflow_status ctx_set_sys_param_opt ctx_get_sys_param_opt
        set_sys_param_opt get_sys_param_opt ctx_get_current_default_stream get_primary_ctx_state
        create_stream create_stream_with_config destroy_stream destroy_stream_force
        set_stream_overflow_switch get_stream_overflow_switch set_stream_failure_mode stream_query
        stream_abort stream_get_id get_stream_available_num set_stream_attribute
        get_stream_attribute get_stream_res_limit set_stream_res_limit reset_stream_res_limit
        use_stream_res_in_current_thread unuse_stream_res_in_current_thread
        get_res_in_current_thread create_event create_event_with_flag create_event_ex_with_flag
        destroy_event synchronize_stream synchronize_stream_with_timeout process_report
        subscribe_report unsubscribe_report launch_callback synchronize_device record_event
        reset_event query_event query_event_status query_event_wait_status synchronize_event
        synchronize_event_with_timeout event_elapsed_time event_get_timestamp get_event_id
        get_event_avail_num stream_wait_event get_thread_last_task_id reduce_async
        set_exception_info_callback get_error_code_from_exception_info
        get_task_id_from_exception_info get_stream_id_from_exception_info
        get_thread_id_from_exception_info get_device_id_from_exception_info set_op_wait_timeout
        set_op_execute_timeout set_op_execute_timeout_v2 peek_at_last_error get_last_error
        synchronize_device_with_timeout cmo_async get_op_timeout_interval get_op_execute_timeout
        malloc malloc_align32 free malloc_host free_host memset memset_async memcpy memcpy_async
        malloc_cached mem_flush mem_invalidate device_can_access_peer device_enable_peer_access
        device_disable_peer_access get_mem_info memcpy2d memcpy2d_async reserve_mem_address
        release_mem_address malloc_physical free_physical malloc_with_cfg
        malloc_for_task_scheduler malloc_host_with_cfg map_mem unmap_mem
        mem_export_to_shareable_handle device_get_bare_tgid mem_set_pid_to_shareable_handle
        mem_import_from_shareable_handle mem_get_allocation_granularity get_mem_uce_info
        mem_uce_repair memcpy_async_with_condition pointer_get_attributes host_register
        host_register_v2 host_unregister host_get_device_pointer set_memcpy_desc
        get_memcpy_desc_size memcpy_async_with_desc ipc_mem_get_export_key ipc_mem_set_import_pid
        ipc_mem_import_by_key ipc_mem_close value_write value_wait create_notify destroy_notify
        record_notify wait_and_reset_notify get_notify_id notify_batch_reset
        notify_get_export_key notify_set_import_pid notify_import_by_key binary_load_from_file
        binary_load_from_data get_function_addr get_function_name register_cpu_func create_binary
        destroy_binary binary_load binary_unload binary_get_function launch_kernel
        kernel_args_init kernel_args_init_by_user_mem kernel_args_get_mem_size
        kernel_args_get_handle_mem_size kernel_args_append kernel_args_append_place_holder
        kernel_args_get_place_holder_buffer kernel_args_para_update kernel_args_finalize
        launch_kernel_with_config set_group get_group_count create_group_info destroy_group_info
        get_all_group_info get_group_info_detail""",
    "mdl": """load_from_file load_from_mem load_from_file_with_mem load_from_mem_with_mem
        load_from_file_with_q load_from_mem_with_q load_with_config create_config_handle
        destroy_config_handle set_config_opt unload query_size query_size_from_mem execute
        execute_async execute_v2 create_exec_config_handle destroy_exec_config_handle
        set_exec_config_opt get_dataset_buffer get_dataset_num_buffers add_dataset_buffer
        create_dataset destroy_dataset set_dataset_tensor_desc get_dataset_tensor_desc create_desc
        destroy_desc get_desc get_desc_from_file get_desc_from_mem get_num_inputs get_num_outputs
        get_input_size_by_index get_output_size_by_index get_input_dims get_input_dims_v2
        get_input_dims_range get_output_dims get_cur_output_dims get_input_name_by_index
        get_output_name_by_index get_input_format get_output_format get_input_data_type
        get_output_data_type get_input_index_by_name get_output_index_by_name
        get_tensor_real_name get_op_attr get_dynamic_batch get_dynamic_hw set_dynamic_batch_size
        set_dynamic_hw_size set_input_dynamic_dims get_input_dynamic_gear_count
        get_input_dynamic_dims create_aipp destroy_aipp get_aipp_data_size get_aipp_type
        get_first_aipp_info set_aipp_input_format set_aipp_csc_params set_aipp_rbuv_swap_switch
        set_aipp_ax_swap_switch set_aipp_src_image_size set_aipp_scf_params set_aipp_crop_params
        set_aipp_padding_params set_aipp_dtc_pixel_mean set_aipp_dtc_pixel_min
        set_aipp_pixel_var_reci set_input_aipp set_aipp_by_input_index create_and_get_op_desc
        init_dump set_dump finalize_dump dump_reg_callback dump_unreg_callback
        bundle_load_from_file bundle_load_from_mem bundle_unload bundle_get_model_id
        bundle_get_model_num""",
    "op": """set_model_dir load execute execute_v2 execute_with_handle cast create_handle_for_cast
        create_attr destroy_attr set_attr_bool set_attr_int set_attr_float set_attr_string
        set_attr_data_type set_attr_list_bool set_attr_list_int set_attr_list_float
        set_attr_list_string set_attr_list_list_int set_attr_list_data_type create_handle
        destroy_handle start_dump_args stop_dump_args register_compile_func
        unregister_compile_func create_kernel set_kernel_args set_kernel_workspace_sizes
        update_params infer_shape set_max_op_queue_num""",
    "util": """numpy_to_ptr numpy_contiguous_to_ptr ptr_to_numpy bytes_to_ptr ptr_to_bytes
        start_thread stop_thread""",
    "prof": """init finalize start stop create_config destroy_config set_config model_subscribe
        model_unsubscribe create_subscribe_config destroy_subscribe_config get_op_desc_size
        get_op_num get_op_type get_op_name get_op_type_v2 get_op_name_v2 get_op_start get_op_end
        get_op_duration get_model_id get_op_type_len get_op_name_len get_step_timestamp
        create_step_info destroy_step_info create_stamp destroy_stamp set_stamp_trace_message push
        pop mark mark_ex range_start range_stop""",
    "fv": """create_init_para destroy_init_para set_1n_top_num set_nm_top_num init release
        create_feature_info destroy_feature_info create_repo_range destroy_repo_range repo_add
        repo_del delete modify create_query_table destroy_query_table create_search_input
        destroy_search_input create_search_result destroy_search_result search""",
    "media": """dvpp_malloc dvpp_malloc_with_cfg dvpp_free dvpp_create_channel dvpp_destroy_channel
        dvpp_set_channel_desc_param dvpp_get_channel_desc_param dvpp_create_channel_desc
        dvpp_destroy_channel_desc dvpp_get_channel_desc_channel_id dvpp_set_channel_desc_mode
        dvpp_create_pic_desc dvpp_destroy_pic_desc dvpp_set_pic_desc_data dvpp_get_pic_desc_ret_code
        dvpp_create_stream_desc dvpp_set_stream_desc_eos dvpp_get_stream_desc_timestamp
        dvpp_create_batch_pic_desc dvpp_get_pic_desc dvpp_create_lut_map dvpp_destroy_lut_map
        dvpp_get_lut_map_data dvpp_get_lut_map_dims dvpp_create_border_config
        dvpp_destroy_border_config dvpp_get_border_config_value dvpp_get_border_config_border_type
        dvpp_get_border_config_top dvpp_get_border_config_bottom dvpp_get_border_config_left
        dvpp_get_border_config_right dvpp_set_border_config_value dvpp_set_border_config_border_type
        dvpp_set_border_config_top dvpp_set_border_config_bottom dvpp_set_border_config_left
        dvpp_set_border_config_right dvpp_create_hist dvpp_destroy_hist dvpp_clear_hist
        dvpp_get_hist_data dvpp_get_hist_dims dvpp_get_hist_ret_code dvpp_png_decode_async
        dvpp_png_get_image_info dvpp_png_predict_dec_size dvpp_jpeg_decode_async
        dvpp_jpeg_encode_async dvpp_vpc_resize_async dvpp_vpc_crop_async dvpp_vpc_batch_crop_async
        dvpp_vpc_crop_and_paste_async dvpp_vpc_batch_crop_and_paste_async
        dvpp_vpc_convert_color_async dvpp_vpc_pyr_down_async dvpp_vpc_equalize_hist_async
        dvpp_vpc_make_border_async dvpp_vpc_calc_hist_async dvpp_vpc_crop_resize_async
        dvpp_vpc_batch_crop_resize_async dvpp_vpc_crop_resize_paste_async
        dvpp_vpc_batch_crop_resize_paste_async dvpp_vpc_batch_crop_resize_make_border_async
        dvpp_create_roi_config dvpp_set_roi_config_left dvpp_create_resize_config
        venc_create_channel venc_send_frame venc_set_channel_desc_param venc_get_channel_desc_param
        venc_get_channel_desc_callback venc_set_channel_desc_buf_addr venc_get_channel_desc_buf_size
        vdec_create_channel vdec_send_frame vdec_send_skipped_frame""",
    "himpi": """sys_init sys_exit dvpp_malloc dvpp_free dvpp_get_version sys_create_epoll sys_ctl_epoll
        sys_wait_epoll sys_close_epoll sys_set_chn_csc_matrix sys_get_chn_csc_matrix
        sys_get_image_align_info vdec_create_chn vdec_destroy_chn vdec_get_chn_attr vdec_set_chn_attr
        vdec_start_recv_stream vdec_stop_recv_stream vdec_query_status vdec_reset_chn
        vdec_set_chn_param vdec_get_chn_param vdec_set_protocol_param vdec_get_protocol_param
        vdec_send_stream vdec_get_frame vdec_release_frame vdec_get_fd vdec_close_fd
        vdec_get_pic_buf_size vdec_get_tmv_buf_size dvpp_get_image_info
        vdec_set_jpegd_precision_mode vdec_get_jpegd_output_info vdec_set_display_mode
        vdec_get_display_mode pngd_create_chn pngd_destroy_chn pngd_send_stream
        pngd_get_image_data png_get_image_info vpc_create_chn vpc_destroy_chn vpc_resize vpc_crop
        vpc_crop_resize vpc_crop_resize_paste vpc_convert_color vpc_convert_color_v2
        vpc_convert_color_to_yuv420 vpc_copy_make_border vpc_pyrdown vpc_calc_hist vpc_calc_hist_v2
        vpc_equalize_hist vpc_get_process_result vpc_sys_create_chn vpc_crop_resize_make_border
        vpc_batch_crop_resize_paste vpc_batch_crop_resize_make_border vpc_crop_resize_resize_paste
        vpc_dilate vpc_draw_cover vpc_draw_line vpc_draw_mosaic vpc_draw_osd vpc_erode vpc_filter2d
        vpc_flip vpc_get_affine_lut vpc_get_lut_mem_size vpc_get_affine_transform
        vpc_get_perspective_lut vpc_get_remap_lut vpc_get_rotation_matrix vpc_lut_remap
        vpc_set_chn_workspace vpc_median_blur vpc_rotate vpc_warp_affine vpc_blur vpc_gaussian_blur
        vpc_set_chn_opt_attr venc_create_chn venc_destroy_chn venc_start_chn venc_stop_chn
        venc_query_status venc_get_stream venc_release_stream venc_send_frame venc_send_frame_ex
        venc_set_mod_param venc_get_mod_param venc_request_idr venc_get_fd venc_close_fd
        venc_set_jpeg_param venc_get_jpeg_param venc_set_chn_param venc_get_chn_param
        venc_get_chn_attr venc_set_chn_attr venc_set_scene_mode venc_get_scene_mode
        venc_set_rc_param venc_get_rc_param venc_set_jpeg_huffman_param
        venc_get_jpeg_huffman_param venc_compact_jpeg_tables venc_send_jpege_frame
        venc_get_jpege_predicted_size venc_set_cu_pred venc_get_cu_pred venc_set_h264_vui
        venc_get_h264_vui venc_set_h265_vui venc_get_h265_vui venc_set_intra_refresh
        venc_get_intra_refresh venc_set_ref_param venc_get_ref_param venc_set_roi_attr
        venc_get_roi_attr venc_set_slice_split venc_get_slice_split venc_get_qpmap_stride
        venc_get_qpmap_size venc_set_streamcopy_param venc_get_streamcopy_param""",
}


@pytest.mark.parametrize("module", NAMES)
def test_every_name_is_there(module):
    owner = getattr(acl, module) if module else acl
    if owner is None:
        pytest.skip("this build has no pictures")
    missing = [name for name in NAMES[module].split() if not callable(getattr(owner, name, None))]
    assert not missing


@pytest.fixture(scope="module")
def stream():
    assert acl.init() in BEGUN
    assert acl.rt.set_device(0) == SUCCESS
    stream, ret = acl.rt.create_stream()
    assert ret == SUCCESS
    yield stream
    acl.rt.destroy_stream(stream)


def test_dictionaries_become_structures(stream):
    block, ret = acl.rt.malloc_with_cfg(64, 0, {"numAttrs": 1, "attrs": [
        {"attr": 2, "value": {"deviceId": 0}}]})
    assert ret == SUCCESS
    found, ret = acl.rt.pointer_get_attributes(block)
    assert ret == SUCCESS and found["location"] == {"id": 0, "type": 1}
    assert found["page_size"] >= 4096 and len(found["rsv"]) == 4
    with pytest.raises(KeyError):
        acl.rt.malloc_with_cfg(64, 0, {"numAttrs": 2, "attrs": []})
    assert acl.rt.free(block) == SUCCESS
    block, ret = acl.rt.malloc_host_with_cfg(64, {})
    assert ret == SUCCESS and acl.rt.free_host(block) == SUCCESS
    assert acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 7}) == SUCCESS
    assert acl.rt.get_stream_attribute(stream, 3) == ({"userCustomTag": 7}, SUCCESS)
    with pytest.raises(TypeError, match="dictionary"):
        acl.rt.set_stream_attribute(stream, 3, 7)
    uuid, ret = acl.rt.device_get_uuid(0)
    assert ret == SUCCESS and len(uuid["bytes"]) == 16
    version, ret = acl.get_cann_version(0)
    assert ret == SUCCESS
    assert version["version"].startswith(version["major_version"] + ".")
    assert acl.get_version_str("runtime") == (version["version"], SUCCESS)
    rate, ret = acl.rt.get_device_utilization_rate(0)
    assert ret == SUCCESS and 0 <= rate["cube_utilization"] <= 100
    names, count, ret = acl.get_cann_attribute_list()
    assert ret == SUCCESS and len(names) == count > 0


def atc(output, *options):
    subprocess.run([BUILD / "bin/atc", "--framework=5", f"--output={output}", "--soc_version=Ascend310P3",
                    *options], check=True, capture_output=True)
    model, ret = acl.mdl.load_from_file(f"{output}.om")
    assert ret == SUCCESS
    return model


def test_static_aipp_is_described(stream, tmp_path):
    pytest.importorskip("onnx")
    import gear_models
    path = gear_models.one_conv(tmp_path / "m.onnx")
    fields = {"src_image_size_w": 32, "src_image_size_h": 40, "crop": "true", "load_start_pos_w": 4,
              "load_start_pos_h": 2, "crop_size_w": 24, "crop_size_h": 32, "csc_switch": "true", "matrix_r1c2": -88,
              "output_bias_1": 128, "rbuv_swap_switch": "true", "mean_chn_1": 7, "min_chn_2": 3.5, "var_reci_chn_0": 0.25}
    aipp = tmp_path / "a.cfg"
    aipp.write_text("aipp_op { aipp_mode: static input_format: YUV420SP_U8 "
                    + " ".join(f"{name}: {value}" for name, value in fields.items()) + " }")
    model = atc(tmp_path / "static", f"--model={path}", "--input_shape=x:-1,3,32,24", "--dynamic_batch_size=1,4",
                f"--insert_op_conf={aipp}")
    info, ret = acl.mdl.get_first_aipp_info(model, 0)
    assert ret == SUCCESS
    expected = {"inputFormat": 1, "srcImageSizeW": 32, "srcImageSizeH": 40, "cropSwitch": 1, "loadStartPosW": 4,
                "loadStartPosH": 2, "cropSizeW": 24, "cropSizeH": 32, "resizeSwitch": 0, "paddingSwitch": 0,
                "cscSwitch": 1, "rbuvSwapSwitch": 1, "axSwapSwitch": 0, "matrixR1C2": -88, "outputBias1": 128,
                "meanChn0": 0, "meanChn1": 7, "minChn2": 3.5, "varReciChn0": 0.25, "varReciChn1": 1.0,
                "srcFormat": 0, "srcDatatype": 0, "srcDimNum": 4, "shapeCount": 2}
    assert {name: info[name] for name in expected} == expected
    for batch, shapes in zip((1, 4), info["outDims"]):
        assert shapes["srcDims"]["dims"] == [batch, 60, 32, 1]
        assert shapes["srcSize"] == batch * 60 * 32
        assert shapes["aippOutdims"]["dims"] == [batch, 3, 32, 24]
        assert shapes["aippOutSize"] == batch * 3 * 32 * 24 * 4
    assert acl.mdl.get_first_aipp_info(model, 1) == (None, 145015)  # the batch
    assert acl.mdl.get_first_aipp_info(model, 2) == (None, INVALID_PARAM)
    acl.mdl.unload(model)

    aipp.write_text("aipp_op { aipp_mode: static input_format: YUV420SP_U8 padding: true right_padding_size: 8 }")
    model = atc(tmp_path / "sizes", f"--model={path}", "--input_shape=x:1,3,-1,-1", "--dynamic_image_size=32,24;16,40",
                f"--insert_op_conf={aipp}")
    info, ret = acl.mdl.get_first_aipp_info(model, 0)
    assert ret == SUCCESS and info["shapeCount"] == 2
    assert [shapes["srcDims"]["dims"] for shapes in info["outDims"]] == [[1, 48, 16, 1], [1, 24, 32, 1]]
    assert [shapes["aippOutdims"]["dims"] for shapes in info["outDims"]] == [[1, 3, 32, 24], [1, 3, 16, 40]]
    acl.mdl.unload(model)

    aipp.write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 8000 }")
    model = atc(tmp_path / "dynamic", f"--model={path}", "--input_shape=x:1,3,32,24", f"--insert_op_conf={aipp}")
    info, ret = acl.mdl.get_first_aipp_info(model, 0)
    assert ret == SUCCESS and info["inputFormat"] == 0 and info["shapeCount"] == 1
    assert info["outDims"][0]["srcDims"]["dims"] == [8000]
    assert info["outDims"][0]["aippOutdims"]["dims"] == [1, 3, 32, 24]
    acl.mdl.unload(model)


def test_mapped_memory():
    place = {"handleType": 0, "allocationType": 0, "memAttr": 3, "reserve": 0,
             "location": {"id": 0, "type": 1}}
    size, ret = acl.rt.mem_get_allocation_granularity(place, 0)
    assert ret == SUCCESS and size > 0
    address, ret = acl.rt.reserve_mem_address(size, 0, 0, 0)
    assert ret == SUCCESS
    handle, ret = acl.rt.malloc_physical(size, place, 0)
    assert ret == SUCCESS
    assert acl.rt.map_mem(address, size, 0, handle, 0) == SUCCESS
    data = np.arange(16, dtype=np.float32)
    assert acl.rt.memcpy(address, 64, acl.util.numpy_to_ptr(data), 64, 1) == SUCCESS
    back = bytes(64)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), 64, address, 64, 2) == SUCCESS
    assert np.array_equal(np.frombuffer(back, np.float32), data)
    assert acl.rt.unmap_mem(address) == acl.rt.free_physical(handle) == SUCCESS
    assert acl.rt.release_mem_address(address) == SUCCESS


def test_values_and_notifies_order_streams(stream):
    other, ret = acl.rt.create_stream()
    assert ret == SUCCESS
    block, ret = acl.rt.malloc(8, 0)
    assert ret == acl.rt.memset(block, 8, 0, 8) == SUCCESS
    notify, ret = acl.rt.create_notify(0)
    assert ret == SUCCESS
    assert acl.rt.value_wait(block, 5, 1, other) == SUCCESS  # until it is 5
    assert acl.rt.record_notify(notify, other) == SUCCESS
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == SUCCESS
    assert acl.rt.value_write(block, 5, 0, None) == SUCCESS
    assert acl.rt.synchronize_stream(stream) == SUCCESS
    assert acl.rt.notify_batch_reset([notify]) == SUCCESS
    with pytest.raises(TypeError, match="list"):
        acl.rt.notify_batch_reset(notify)
    assert acl.rt.destroy_notify(notify) == acl.rt.free(block) == SUCCESS
    assert acl.rt.destroy_stream(other) == SUCCESS


def test_lists_of_pairs():
    desc = acl.create_tensor_desc(0, [2, 3], 2)
    assert acl.set_tensor_value_range(desc, [[0, 5]] * 6) == SUCCESS
    assert acl.destroy_tensor_desc(desc) is None


def test_contiguous_copies_are_held():
    array = np.arange(12, dtype=np.float32).reshape(3, 4).T
    address, held = acl.util.numpy_contiguous_to_ptr(array)
    assert held.flags["C_CONTIGUOUS"]
    assert np.array_equal(acl.util.ptr_to_numpy(address, (4, 3), 11), array)


def test_compile_functions_are_called():
    calls = []
    given, wanted = acl.create_tensor_desc(0, [4], 2), acl.create_tensor_desc(0, [4], 2)
    attr = acl.op.create_attr()
    assert acl.op.set_attr_data_type(attr, "T", 0) == (attr, SUCCESS)
    assert acl.op.register_compile_func("Mine", lambda *call: calls.append(call)) == SUCCESS
    assert acl.op.update_params("Mine", [given], [wanted], attr) != SUCCESS  # it has no kernel
    assert len(calls) == 1 and calls[0][:4] == (1, [given], 1, [wanted])
    assert acl.op.unregister_compile_func("Mine") == SUCCESS
    acl.op.destroy_attr(attr)
    acl.destroy_tensor_desc(given)
    acl.destroy_tensor_desc(wanted)


def test_what_cannot_be_done_says_so(stream):
    assert acl.rt.binary_load_from_file("k.o", [])[1] == NOT_SUPPORTED
    assert acl.rt.launch_kernel(0, 1, 0, 0, stream) == NOT_SUPPORTED
    assert acl.rt.ipc_mem_get_export_key(0, 8, 65, 0)[1] == NOT_SUPPORTED
    assert acl.fv.init(0) in (INVALID_PARAM, NOT_SUPPORTED)
    if acl.himpi:
        assert acl.himpi.vpc_dilate(0, {}, -1) == (0, 0xA0078008)
        assert acl.himpi.vdec_set_display_mode(0, 0) == 0xA0058008


@pytest.fixture
def channels(stream):
    if acl.himpi is None:
        pytest.skip("this build has no pictures")
    assert acl.himpi.sys_init() == SUCCESS
    yield acl.himpi
    assert acl.himpi.sys_exit() == SUCCESS


def picture(himpi, pixels, width, height, pixel_format, blocks):
    """Returns the dictionary of a picture in device memory, with rows of `width` pixels."""
    data = np.ascontiguousarray(pixels).tobytes()
    address, ret = himpi.dvpp_malloc(0, len(data))
    assert ret == SUCCESS
    blocks.append(address)
    ctypes.memmove(address, data, len(data))
    return {"picture_address": address, "picture_buffer_size": len(data), "picture_width": width,
            "picture_height": height, "picture_width_stride": width * pixels.shape[-1],
            "picture_height_stride": height, "picture_format": pixel_format}


def pixels_of(given):
    """Returns the RGB pixels of such a picture."""
    text = ctypes.string_at(given["picture_address"], given["picture_buffer_size"])
    return np.frombuffer(text, np.uint8).reshape(given["picture_height"], -1, 3)


def test_pictures_by_channels(channels):
    blocks = []
    rgb = np.random.default_rng(3).integers(0, 256, (32, 64, 3), np.uint8)
    source = picture(channels, rgb, 64, 32, 12, blocks)
    target = picture(channels, np.zeros((16, 32, 3), np.uint8), 32, 16, 12, blocks)
    channel, ret = channels.vpc_sys_create_chn({"attr": 0, "pic_width": 0, "pic_height": 0})
    assert ret == SUCCESS
    area = {"top_offset": 8, "left_offset": 16, "crop_width": 32, "crop_height": 16}
    task, ret = channels.vpc_crop(channel, source, [{"dest_pic_info": target, "crop_region": area}],
                                  1, -1)
    assert ret == channels.vpc_get_process_result(channel, task, -1) == SUCCESS
    assert np.array_equal(pixels_of(target), rgb[8:24, 16:48])
    # The same area, through the functions of several pictures and of borders.
    resize = {"resize_width": 32, "resize_height": 16, "interpolation": 0}
    region = {"dest_pic_info": target, "crop_region": area, "resize_info": resize,
              "dest_top_offset": 0, "dest_left_offset": 0}
    ctypes.memset(target["picture_address"], 0, target["picture_buffer_size"])
    task, ret = channels.vpc_batch_crop_resize_paste(channel, [source], 1, [region], [1], -1)
    assert ret == channels.vpc_get_process_result(channel, task, -1) == SUCCESS
    assert np.array_equal(pixels_of(target), rgb[8:24, 16:48])
    framed = picture(channels, np.zeros((36, 80, 3), np.uint8), 80, 36, 12, blocks)
    border = {"top": 2, "bottom": 2, "left": 8, "right": 8, "border_type": 0,
              "scalar_value": {"val": [1, 2, 3, 0]}}
    task, ret = channels.vpc_copy_make_border(channel, source, framed, border, -1)
    assert ret == channels.vpc_get_process_result(channel, task, -1) == SUCCESS
    assert np.array_equal(pixels_of(framed)[2:34, 8:72], rgb)
    assert pixels_of(framed)[0, 0].tolist() == [1, 2, 3]
    counts, task, ret = channels.vpc_calc_hist(channel, source, -1)
    assert ret == SUCCESS
    assert counts["histogram_y_or_r"] == np.bincount(rgb[..., 0].ravel(), minlength=256).tolist()
    # Bad arguments are codes or Python's own errors.
    with pytest.raises(TypeError, match="2"):
        channels.vpc_crop(channel, source, [], 2, -1)
    assert channels.vpc_resize(channel, source, dict(target, picture_width=0), 0, 0, 0,
                               -1)[1] == 0xA0078003
    assert channels.vpc_destroy_chn(channel) == SUCCESS
    for block in blocks:
        assert channels.dvpp_free(block) == SUCCESS


def test_jpeg_files_by_channels(channels):
    """Encodes a picture with a channel of one kind and decodes it with one of the other."""
    blocks = []
    ramp = np.tile(np.arange(64, dtype=np.uint8) * 4, (96, 1))
    ramp[64:] = 128  # no colour
    source = picture(channels, ramp[..., None], 64, 64, 1, blocks)
    frame = {"pool_id": 0, "mod_id": 0, "v_frame": {
        "width": 64, "height": 64, "pixel_format": 1, "width_stride": [64, 64, 0],
        "height_stride": [64, 64, 0], "virt_addr": [source["picture_address"], 0, 0], "pts": 77}}
    channel, ret = channels.venc_sys_create_chn({
        "venc_attr": {"type": 26, "max_pic_width": 128, "max_pic_height": 128, "buf_size": 65536,
                      "profile": 0, "is_by_frame": 1, "pic_width": 64, "pic_height": 64,
                      "jpeg_attr": {}},
        "rc_attr": {"rc_mode": 0}, "gop_attr": {"gop_mode": 0}})
    assert ret == SUCCESS
    assert channels.venc_start_chn(channel, {"recv_pic_num": -1}) == SUCCESS
    attributes, ret = channels.venc_get_chn_attr(channel)
    assert ret == SUCCESS and attributes["venc_attr"]["max_pic_width"] == 128
    rate, ret = channels.venc_get_rc_param(channel)
    assert ret == SUCCESS and rate["first_frame_start_qp"] == -1 and len(rate["threshold_p"]) == 16
    assert channels.venc_set_rc_param(channel, rate) == SUCCESS
    assert channels.venc_set_scene_mode(channel, 0) == SUCCESS
    assert channels.venc_get_scene_mode(channel) == (0, SUCCESS)
    settings, ret = channels.venc_get_chn_param(channel)
    assert ret == SUCCESS and settings["crop_info"]["rect"]["width"] == 0
    assert channels.venc_set_chn_param(channel, settings | {"priority": 1}) == SUCCESS
    assert channels.venc_get_chn_param(channel)[0]["priority"] == 1
    assert channels.venc_get_ref_param(channel) == ({"base": 1, "enhance": 0, "pred_en": 1},
                                                    SUCCESS)
    module, ret = channels.venc_get_mod_param({"mod_type": 4})
    assert ret == SUCCESS and module["jpeg_mod_param"]["one_stream_buf"] == 0
    assert channels.venc_set_mod_param(module) == SUCCESS
    file = channels.venc_get_fd(channel)
    epoll, ret = channels.sys_create_epoll(10)
    assert ret == SUCCESS and file > 0
    event = {"events": 1, "data": file}
    assert channels.sys_ctl_epoll(epoll, 1, file, event) == SUCCESS
    assert channels.sys_wait_epoll(epoll, 3, 0) == ([], 0, SUCCESS)
    assert channels.venc_send_frame(channel, frame, -1) == SUCCESS
    assert channels.sys_wait_epoll(epoll, 3, 1000) == ([event], 1, SUCCESS)
    assert channels.sys_ctl_epoll(epoll, 3, file, event) == SUCCESS
    assert channels.sys_close_epoll(epoll) == channels.venc_close_fd(channel) == SUCCESS
    stream, ret = channels.venc_get_stream(channel, {"pack_cnt": 1}, 1000)
    assert ret == SUCCESS and stream["pack_cnt"] == 1 and stream["pack"][0]["pts"] == 77
    pack = stream["pack"][0]
    file = ctypes.string_at(pack["addr"] + pack["offset"], pack["len"] - pack["offset"])
    assert file[:2] == b"\xff\xd8"
    assert channels.venc_release_stream(channel, stream) == SUCCESS
    assert channels.venc_stop_chn(channel) == channels.venc_destroy_chn(channel) == SUCCESS

    address, ret = channels.dvpp_malloc(0, len(file))
    blocks.append(address)
    ctypes.memmove(address, file, len(file))
    given = {"end_of_frame": 1, "end_of_stream": 0, "need_display": 1, "pts": 5, "private_data": 9,
             "len": len(file), "addr": address}
    info, ret = channels.dvpp_get_image_info(26, given)
    assert ret == SUCCESS and (info["width"], info["height"], info["pixel_format"]) == (64, 64, 2)
    channel, ret = channels.vdec_sys_create_chn({
        "type": 26, "mode": 1, "pic_width": 128, "pic_height": 128, "stream_buf_size": 65536,
        "frame_buf_size": 0, "frame_buf_cnt": 0, "video_attr": {}})
    assert ret == channels.vdec_start_recv_stream(channel) == SUCCESS
    wanted = picture(channels, np.zeros((96, 128, 1), np.uint8), 128, 96, 1, blocks)
    assert channels.vdec_send_stream(channel, given, {
        "width": 0, "height": 0, "width_stride": 0, "height_stride": 0, "pixel_format": 1,
        "vir_addr": wanted["picture_address"], "buffer_size": wanted["picture_buffer_size"]},
        -1) == SUCCESS
    found, supplement, back, ret = channels.vdec_get_frame(channel, 1000)
    assert ret == SUCCESS and found["v_frame"]["frame_flag"] == 0
    assert (back["private_data"], supplement["type"]) == (9, 26)
    stride = found["v_frame"]["width_stride"][0]
    luma = np.frombuffer(ctypes.string_at(found["v_frame"]["virt_addr"][0], stride * 64), np.uint8)
    assert np.abs(luma.reshape(64, stride)[:, :64].astype(int) - ramp[:64]).max() <= 8
    assert channels.vdec_release_frame(channel, found) == SUCCESS
    assert channels.vdec_stop_recv_stream(channel) == channels.vdec_destroy_chn(channel) == SUCCESS
    for block in blocks:
        assert channels.dvpp_free(block) == SUCCESS
