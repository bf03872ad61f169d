#!/usr/bin/env python3
"""Caffe's classic nets at their full size, with seeded weights: what atc compiles beside what OpenCV's DNN computes.

    test/conformance/caffe_full_size.py [--build build] [--soc_version Ascend310P3] [NET...]

Prints for each net and output the largest difference divided by the largest value, and the cosine; for detections the
share of OpenCV's that have one of the same class and score at the same place. Needs opencv-python-headless 4.x (version 5
reads no Caffe models) and NumPy. The memory of vgg16 is 2 GB.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from caffe_nets import Net  # noqa: E402


def pool(net, name, kind, kernel, stride, bottoms=None, **more):
    return net.add("Pooling", name, bottoms, pooling_param={"pool": kind, "kernel_size": kernel, "stride": stride, **more})


def vgg16():
    net, channels = Net(1, old=True, data=(1, 3, 224, 224)), 3
    for stage, (count, outputs) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        for i in range(1, count + 1):
            net.conv(f"conv{stage}_{i}", outputs, channels, 3, pad=1)
            net.relu(f"relu{stage}_{i}")
            channels = outputs
        pool(net, f"pool{stage}", "MAX", 2, 2)
    for i, depth in ((6, 512 * 49), (7, 4096)):
        net.dense(f"fc{i}", 4096, depth)
        net.relu(f"relu{i}")
        net.add("Dropout", f"drop{i}", tops=[net.top], dropout_param={"dropout_ratio": 0.5})
    net.dense("fc8", 1000, 4096)
    net.add("Softmax", "prob")
    return net


def resnet50():
    net, channels = Net(2, data=(1, 3, 224, 224)), 64
    net.conv("conv1", 64, 3, 7, pad=3, stride=2, bias=False)
    net.batch_norm("bn_conv1", 64)
    net.relu("conv1_relu")
    base = pool(net, "pool1", "MAX", 3, 2)
    for stage, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512)), 2):
        for block in "abcdef"[:blocks]:
            name, stride = f"res{stage}{block}_branch", 2 if block == "a" and stage > 2 else 1
            shortcut = base
            if block == "a":
                net.conv(name + "1", 4 * width, channels, 1, stride=stride, bias=False, bottoms=[base])
                shortcut = net.batch_norm(f"bn{stage}a_branch1", 4 * width)
            net.top, depth = base, channels
            for i, (outputs, kernel) in enumerate(((width, 1), (width, 3), (4 * width, 1))):
                net.conv(f"{name}2{'abc'[i]}", outputs, depth, kernel, pad=kernel // 2, stride=stride if i == 0 else 1, bias=False)
                net.batch_norm(f"bn{stage}{block}_branch2{'abc'[i]}", outputs)
                if i < 2:
                    net.relu(f"{name}2{'abc'[i]}_relu")
                depth = outputs
            net.add("Eltwise", f"res{stage}{block}", [shortcut, net.top])
            base, channels = net.relu(f"res{stage}{block}_relu"), 4 * width
    pool(net, "pool5", "AVE", 7, 1)
    net.dense("fc1000", 1000, channels)
    net.add("Softmax", "prob")
    return net


def googlenet():
    net = Net(3, data=(1, 3, 224, 224))
    net.conv("conv1/7x7_s2", 64, 3, 7, pad=3, stride=2)
    net.relu("conv1/relu_7x7")
    pool(net, "pool1/3x3_s2", "MAX", 3, 2)
    net.add("LRN", "pool1/norm1", lrn_param={"local_size": 5, "alpha": 0.0001, "beta": 0.75})
    net.conv("conv2/3x3_reduce", 64, 64, 1)
    net.relu("conv2/relu_3x3_reduce")
    net.conv("conv2/3x3", 192, 64, 3, pad=1)
    net.relu("conv2/relu_3x3")
    net.add("LRN", "conv2/norm2", lrn_param={"local_size": 5, "alpha": 0.0001, "beta": 0.75})
    base, channels = pool(net, "pool2/3x3_s2", "MAX", 3, 2), 192
    for module, one, three, five, projected in (
            ("3a", 64, (96, 128), (16, 32), 32), ("3b", 128, (128, 192), (32, 96), 64), ("4a", 192, (96, 208), (16, 48), 64),
            ("4b", 160, (112, 224), (24, 64), 64), ("4c", 128, (128, 256), (24, 64), 64), ("4d", 112, (144, 288), (32, 64), 64),
            ("4e", 256, (160, 320), (32, 128), 128), ("5a", 256, (160, 320), (32, 128), 128), ("5b", 384, (192, 384), (48, 128), 128)):
        name, ends = f"inception_{module}/", []
        for branch, sizes in {"1x1": [(1, one)], "3x3": [(1, three[0]), (3, three[1])], "5x5": [(1, five[0]), (5, five[1])]}.items():
            net.top, depth = base, channels
            for i, (kernel, outputs) in enumerate(sizes):
                net.conv(f"{name}{branch}_{i}", outputs, depth, kernel, pad=kernel // 2)
                net.relu(f"{name}relu_{branch}_{i}")
                depth = outputs
            ends.append(net.top)
        pool(net, name + "pool", "MAX", 3, 1, [base], pad=1)
        net.conv(name + "pool_proj", projected, channels, 1)
        net.relu(name + "relu_pool_proj")
        base = net.add("Concat", name + "output", [*ends, net.top])
        channels = one + three[1] + five[1] + projected
        if module in ("3b", "4e"):
            base = pool(net, f"pool{module[0]}/3x3_s2", "MAX", 3, 2)
    pool(net, "pool5/7x7_s1", "AVE", 7, 1)
    net.add("Dropout", "pool5/drop_7x7_s1", tops=[net.top], dropout_param={"dropout_ratio": 0.4})
    net.dense("loss3/classifier", 1000, channels)
    net.add("Softmax", "prob")
    return net


def mobilenet_ssd():
    net, channels = Net(4, data=(1, 3, 300, 300)), 32
    net.conv("conv0", 32, 3, 3, pad=1, stride=2)
    net.relu("conv0/relu")
    for i, (outputs, stride) in enumerate(((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2),
                                           (1024, 1)), 1):
        net.conv(f"conv{i}/dw", channels, channels, 3, group=channels, pad=1, stride=stride)
        net.relu(f"conv{i}/dw/relu")
        net.conv(f"conv{i}", outputs, channels, 1)
        net.relu(f"conv{i}/relu")
        channels = outputs
    for i, (narrow, outputs) in enumerate(((256, 512), (128, 256), (128, 256), (64, 128)), 14):
        for part, (kernel, count) in enumerate(((1, narrow), (3, outputs)), 1):
            net.conv(f"conv{i}_{part}", count, channels, kernel, pad=kernel // 2, stride=part)
            net.relu(f"conv{i}_{part}/relu")
            channels = count
    heads = {"loc": [], "conf": [], "prior": []}
    for source, depth, low, high in (("conv11", 512, 60, 0), ("conv13", 1024, 105, 150), ("conv14_2", 512, 150, 195),
                                     ("conv15_2", 256, 195, 240), ("conv16_2", 256, 240, 285), ("conv17_2", 128, 285, 300)):
        for kind, values in (("loc", 4), ("conf", 21)):
            net.conv(f"{source}_mbox_{kind}", values * (6 if high else 3), depth, 1, bottoms=[source])
            net.add("Permute", f"{source}_mbox_{kind}_perm", permute_param={"order": [0, 2, 3, 1]})
            heads[kind].append(net.add("Flatten", f"{source}_mbox_{kind}_flat", flatten_param={"axis": 1}))
        heads["prior"].append(net.add("PriorBox", f"{source}_mbox_priorbox", [source, "data"], prior_box_param={
            "min_size": float(low), **({"max_size": float(high)} if high else {}), "aspect_ratio": [2.0, 3.0] if high else [2.0],
            "flip": True, "clip": False, "variance": [0.1, 0.1, 0.2, 0.2], "offset": 0.5}))
    net.add("Concat", "mbox_loc", heads["loc"], concat_param={"axis": 1})
    net.add("Concat", "mbox_conf", heads["conf"], concat_param={"axis": 1})
    net.add("Concat", "mbox_priorbox", heads["prior"], concat_param={"axis": 2})
    net.add("Reshape", "mbox_conf_reshape", ["mbox_conf"], reshape_param={"shape": {"dim": [0, -1, 21]}})
    net.add("Softmax", "mbox_conf_softmax", softmax_param={"axis": 2})
    net.add("Flatten", "mbox_conf_flatten", flatten_param={"axis": 1})
    net.add("DetectionOutput", "detection_out", ["mbox_loc", "mbox_conf_flatten", "mbox_priorbox"], detection_output_param={
        "num_classes": 21, "share_location": True, "background_label_id": 0, "nms_param": {"nms_threshold": 0.45, "top_k": 100},
        "code_type": "CENTER_SIZE", "keep_top_k": 100, "confidence_threshold": 0.25})
    return net


def yolov3():
    net = Net(5, data=(1, 3, 416, 416))
    count = 0

    def unit(outputs, channels, kernel, stride=1, bottoms=None):
        nonlocal count
        count += 1
        net.conv(f"layer{count}-conv", outputs, channels, kernel, pad=kernel // 2, stride=stride, bias=False, bottoms=bottoms)
        net.batch_norm(f"layer{count}-bn", outputs)
        return net.relu(f"layer{count}-act", negative_slope=0.1)

    unit(32, 3, 3)
    routes, channels = [], 32
    for repeats in (1, 2, 8, 8, 4):
        unit(2 * channels, channels, 3, 2)
        channels *= 2
        for _ in range(repeats):
            base = net.top
            unit(channels // 2, channels, 1)
            unit(channels, channels // 2, 3)
            # Sums of many layers of random weights would grow without a limit.
            net.add("Eltwise", f"layer{count}-sum", [base, net.top], eltwise_param={"operation": "SUM", "coeff": [0.7, 0.7]})
        routes.append(net.top)
    depth = 1024
    for level, width in enumerate((512, 256, 128)):
        for i in range(5):
            unit(width if i % 2 == 0 else 2 * width, depth, 1 if i % 2 == 0 else 3)
            depth = width if i % 2 == 0 else 2 * width
        neck = net.top
        unit(2 * width, width, 3)
        net.conv(f"head{level}", 255, 2 * width, 1)
        if level < 2:
            unit(width // 2, width, 1, bottoms=[neck])
            up = net.add("Deconvolution", f"upsample{level}", blobs=[np.ones((width // 2, 1, 2, 2), "f4")], convolution_param={
                "num_output": width // 2, "kernel_size": 2, "stride": 2, "group": width // 2, "bias_term": False})
            net.add("Concat", f"route{level}", [up, routes[3 - level]])
            depth = width // 2 + (512, 256)[level]
    return net


NETS = {build.__name__: build for build in (resnet50, vgg16, googlenet, mobilenet_ssd, yolov3)}


def read(net, folder, image):
    model = cv2.dnn.readNetFromCaffe(*map(str, net.save(folder)))
    model.setInput(image)
    return model


def calm(net, folder, image):
    """Has scores be 5 and offsets of boxes 1 at most: a softmax of larger ones is 0 and 1, whatever was before it."""
    most = {layer[1]: 1 if layer[1].endswith("_loc") else 5 for layer in net.layers
            if layer[1].endswith(("_mbox_loc", "_mbox_conf")) or layer[1] in ("fc8", "fc1000", "loss3/classifier")}
    if not most:
        return
    model = read(net, folder, image)
    for name, value in zip(most, model.forward(list(most)), strict=True):
        blobs = next(layer[4] for layer in net.layers if layer[1] == name)
        blobs[:] = [blob * np.float32(most[name] / np.abs(value).max()) for blob in blobs]


def matched(ours, theirs):
    """The share of detections [image, class, score, box] of one that the other has."""
    ours, theirs = ours.reshape(-1, 7), theirs.reshape(-1, 7)
    return np.mean([any(each[1] == own[1] and np.abs(each[2:] - own[2:]).max() < 1e-2 for own in ours) for each in theirs])


def compare(net, build, target):
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        image = np.random.default_rng(0).uniform(-1, 1, net.inputs["data"]).astype("f4")
        np.save(folder / "data.npy", image)
        calm(net, folder, image)
        model = read(net, folder, image)
        prototxt, weights = net.save(folder)
        names = list(model.getUnconnectedOutLayersNames())
        theirs = dict(zip(names, model.forward(names), strict=True))
        subprocess.run([build / "bin/atc", f"--model={prototxt}", f"--weight={weights}", "--framework=0",
                        f"--output={folder / 'net'}", target], check=True, capture_output=True)
        subprocess.run([build / "bin/om-run", folder / "net.om", "--input", folder / "data.npy", "--output", folder / "out"],
                       check=True, capture_output=True)
        for name, want in theirs.items():
            got = np.load(folder / "out" / f"{name}.npy")
            if name == "detection_out":
                yield name, f"{want.size // 7} detections, {matched(got, want):.1%} found"
                continue
            a, b = got.astype("f8").ravel(), want.astype("f8").ravel()
            cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
            yield name, f"largest difference {np.abs(a - b).max() / np.abs(b).max():.2g} of the largest, cosine {cosine:.7f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=HERE.parents[1] / "build", type=pathlib.Path)
    parser.add_argument("--soc_version", help="an NPU; without it the CPU")
    parser.add_argument("nets", nargs="*", metavar="NET", help=", ".join(NETS))
    options = parser.parse_args()
    target = f"--soc_version={options.soc_version}" if options.soc_version else "--target=cpu"
    for name in options.nets or NETS:
        for output, text in compare(NETS[name](), options.build, target):
            print(f"{name} {output}: {text}", flush=True)


if __name__ == "__main__":
    main()
