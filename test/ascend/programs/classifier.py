#!/usr/bin/env python3
# A program of pyACL: pictures through callbacks, and through a video encoder.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Usage: classifier.py MODEL VIDEO PICTURE...
import sys
import time

import acl
import numpy as np

HOST_TO_DEVICE, DEVICE_TO_HOST, HUGE_FIRST = 1, 2, 0
NPY_FLOAT32 = 11


def check(name, ret):
    if ret != 0:
        raise RuntimeError(f"{name} returns {ret}: {acl.get_recent_err_msg()}")


class Device:
    def __init__(self, number):
        self.number = number
        check("acl.init", acl.init(""))
        check("acl.rt.set_device", acl.rt.set_device(number))
        self.context, ret = acl.rt.create_context(number)
        check("acl.rt.create_context", ret)
        self.stream, ret = acl.rt.create_stream()
        check("acl.rt.create_stream", ret)

    def close(self):
        check("acl.rt.destroy_stream", acl.rt.destroy_stream(self.stream))
        check("acl.rt.destroy_context", acl.rt.destroy_context(self.context))
        check("acl.rt.reset_device", acl.rt.reset_device(self.number))
        check("acl.finalize", acl.finalize())


class Classifier:
    """Executes a model asynchronously; a thread of its own looks at the results."""

    def __init__(self, device, path):
        self.device, self.results, self.running = device, [], True
        with open(path, "rb") as file:
            model = file.read()
        self.model, ret = acl.mdl.load_from_mem(acl.util.bytes_to_ptr(model), len(model))
        check("acl.mdl.load_from_mem", ret)
        self.desc = acl.mdl.create_desc()
        check("acl.mdl.get_desc", acl.mdl.get_desc(self.desc, self.model))
        assert acl.mdl.get_num_inputs(self.desc) == acl.mdl.get_num_outputs(self.desc) == 1
        self.thread, ret = acl.util.start_thread(self.report, [device.context, 20])
        check("acl.util.start_thread", ret)
        check("acl.rt.subscribe_report", acl.rt.subscribe_report(self.thread, device.stream))

    def report(self, arguments):
        context, timeout = arguments
        acl.rt.set_context(context)
        while self.running:
            acl.rt.process_report(timeout)

    def dataset(self, size, array=None):
        memory, ret = acl.rt.malloc(size, HUGE_FIRST)
        check("acl.rt.malloc", ret)
        if array is not None:
            if "bytes_to_ptr" in dir(acl.util):
                data = array.tobytes()
                source = acl.util.bytes_to_ptr(data)
            else:
                source = acl.util.numpy_to_ptr(array)
            check("acl.rt.memcpy", acl.rt.memcpy(memory, size, source, array.nbytes, HOST_TO_DEVICE))
        dataset = acl.mdl.create_dataset()
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
        check("acl.mdl.add_dataset_buffer", ret)
        return dataset

    def put(self, array):
        given = self.dataset(acl.mdl.get_input_size_by_index(self.desc, 0), array)
        wanted = self.dataset(acl.mdl.get_output_size_by_index(self.desc, 0))
        check("acl.mdl.execute_async",
              acl.mdl.execute_async(self.model, given, wanted, self.device.stream))
        check("acl.rt.launch_callback",
              acl.rt.launch_callback(self.look, (given, wanted), 1, self.device.stream))

    def look(self, datasets):
        given, wanted = datasets
        buffer = acl.mdl.get_dataset_buffer(wanted, 0)
        size = acl.get_data_buffer_size_v2(buffer)
        host, ret = acl.rt.malloc_host(size)
        check("acl.rt.malloc_host", ret)
        check("acl.rt.memcpy", acl.rt.memcpy(host, size, acl.get_data_buffer_addr(buffer), size,
                                             DEVICE_TO_HOST))
        dims, ret = acl.mdl.get_cur_output_dims(self.desc, 0)
        check("acl.mdl.get_cur_output_dims", ret)
        values = np.frombuffer(acl.util.ptr_to_bytes(host, size), np.float32).reshape(dims["dims"])
        assert (values == acl.util.ptr_to_numpy(host, tuple(dims["dims"]), NPY_FLOAT32)).all()
        self.results.append(int(values.argmax()))
        check("acl.rt.free_host", acl.rt.free_host(host))
        for dataset in (given, wanted):
            buffer = acl.mdl.get_dataset_buffer(dataset, 0)
            check("acl.rt.free", acl.rt.free(acl.get_data_buffer_addr(buffer)))
            check("acl.destroy_data_buffer", acl.destroy_data_buffer(buffer))
            check("acl.mdl.destroy_dataset", acl.mdl.destroy_dataset(dataset))

    def close(self):
        check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(self.device.stream))
        check("acl.rt.unsubscribe_report",
              acl.rt.unsubscribe_report(self.thread, self.device.stream))
        self.running = False
        check("acl.util.stop_thread", acl.util.stop_thread(self.thread))
        check("acl.mdl.unload", acl.mdl.unload(self.model))
        check("acl.mdl.destroy_desc", acl.mdl.destroy_desc(self.desc))


class Recorder:
    """Encodes gray pictures as a video of H.265, by a channel that knows their size."""

    def __init__(self, path, side):
        self.path, self.side, self.running, self.count = path, side, True, 0
        open(path, "wb").close()
        self.desc = acl.media.venc_create_channel_desc()
        self.thread, ret = acl.util.start_thread(self.report, None)
        check("acl.util.start_thread", ret)
        for name, value in (("thread_id", self.thread), ("callback", self.write), ("entype", 0),
                            ("pic_format", 1), ("key_frame_interval", 16), ("pic_width", side),
                            ("pic_height", side)):
            getattr(acl.media, f"venc_set_channel_desc_{name}")(self.desc, value)
        check("acl.media.venc_create_channel", acl.media.venc_create_channel(self.desc))
        self.config = acl.media.venc_create_frame_config()
        self.size = side * side * 3 // 2
        self.memory, ret = acl.media.dvpp_malloc(self.size)
        check("acl.media.dvpp_malloc", ret)
        self.picture = acl.media.dvpp_create_pic_desc()  # the channel says the rest
        acl.media.dvpp_set_pic_desc_data(self.picture, self.memory)
        acl.media.dvpp_set_pic_desc_size(self.picture, self.size)

    def report(self, _):
        context, ret = acl.rt.create_context(0)
        check("acl.rt.create_context", ret)
        while self.running:
            acl.rt.process_report(20)
        acl.rt.destroy_context(context)

    def write(self, _, part, name):
        check("encoder", acl.media.dvpp_get_stream_desc_ret_code(part))
        size = acl.media.dvpp_get_stream_desc_size(part)
        data = bytes(size)
        check("acl.rt.memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(data), size,
                                             acl.media.dvpp_get_stream_desc_data(part), size,
                                             DEVICE_TO_HOST))
        with open(self.path, "ab") as file:
            file.write(data)
        assert name == f"picture {self.count}"
        self.count += 1

    def put(self, gray):
        zoomed = np.kron(gray, np.ones((self.side // 28, self.side // 28)))
        canvas = np.full((self.side * 3 // 2, self.side), 128, np.uint8)
        canvas[:zoomed.shape[0], :zoomed.shape[1]] = 16 + 219 * zoomed
        check("acl.rt.memcpy", acl.rt.memcpy(self.memory, self.size, acl.util.numpy_to_ptr(canvas),
                                             self.size, HOST_TO_DEVICE))
        acl.media.venc_set_frame_config_eos(self.config, 0)
        acl.media.venc_set_frame_config_force_i_frame(self.config, 0)
        name = f"picture {self.count}"
        check("acl.media.venc_send_frame",
              acl.media.venc_send_frame(self.desc, self.picture, 0, self.config, name))
        acl.media.venc_set_frame_config_eos(self.config, 1)  # waits for the picture
        check("acl.media.venc_send_frame",
              acl.media.venc_send_frame(self.desc, 0, 0, self.config, None))

    def close(self):
        check("acl.media.venc_destroy_channel", acl.media.venc_destroy_channel(self.desc))
        self.running = False
        check("acl.util.stop_thread", acl.util.stop_thread(self.thread))
        acl.media.venc_destroy_channel_desc(self.desc)
        acl.media.venc_destroy_frame_config(self.config)
        acl.media.dvpp_destroy_pic_desc(self.picture)
        acl.media.dvpp_free(self.memory)


def main(model, video, *pictures):
    device = Device(0)
    classifier = Classifier(device, model)
    recorder = Recorder(video, 64) if video != "-" else None
    begin = time.time()
    for path in pictures:
        picture = np.load(path)
        classifier.put(np.ascontiguousarray(picture, np.float32))
        if recorder:
            recorder.put(np.clip(picture.reshape(28, 28), 0, 1))
    classifier.close()
    if recorder:
        recorder.close()
    device.close()
    print(*classifier.results)
    print(f"{time.time() - begin:.3f} s", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
