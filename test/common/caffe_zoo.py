"""Small nets with the layers and the wiring of classic Caffe models."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from caffe_nets import Net


def vgg():
    """VGG16 in the older form: 13 convolutions, five pools, three products."""
    net, channels = Net(1, old=True, data=(1, 3, 64, 64)), 3
    for stage, (count, outputs) in enumerate([(2, 8), (2, 16), (3, 24), (3, 32), (3, 32)], 1):
        for i in range(1, count + 1):
            net.conv(f"conv{stage}_{i}", outputs, channels, 3, pad=1)
            net.relu(f"relu{stage}_{i}")
            channels = outputs
        net.add("Pooling", f"pool{stage}",
                pooling_param={"pool": "MAX", "kernel_size": 2, "stride": 2})
    net.dense("fc6", 64, 32 * 4)
    net.relu("relu6")
    net.add("Dropout", "drop6", tops=[net.top], dropout_param={"dropout_ratio": 0.5})
    net.dense("fc7", 64, 64)
    net.relu("relu7")
    net.dense("fc8", 10, 64)
    net.add("Softmax", "prob")
    return net


def googlenet():
    """Inception modules, normalization across channels, pools that round up."""
    net = Net(2, data=(1, 3, 63, 63))
    net.conv("conv1/7x7_s2", 16, 3, 7, pad=3, stride=2)
    net.relu("conv1/relu_7x7")
    net.add("Pooling", "pool1/3x3_s2", pooling_param={"pool": "MAX", "kernel_size": 3, "stride": 2})
    net.add("LRN", "pool1/norm1", lrn_param={"local_size": 5, "alpha": 0.0001, "beta": 0.75})
    net.conv("conv2/3x3", 24, 16, 3, pad=1)
    net.relu("conv2/relu_3x3")
    net.add("LRN", "conv2/norm2", lrn_param={"local_size": 5, "alpha": 0.5, "beta": 0.75})
    base = net.add("Pooling", "pool2/3x3_s2",
                   pooling_param={"pool": "MAX", "kernel_size": 3, "stride": 2})
    channels = 24
    for module in ("3a", "3b", "4a"):
        name = f"inception_{module}/"
        ends = []
        for branch, sizes in {"1x1": [(1, 8)], "3x3": [(1, 8), (3, 12)],
                              "5x5": [(1, 4), (5, 6)]}.items():
            net.top, depth = base, channels
            for i, (kernel, outputs) in enumerate(sizes):
                net.conv(f"{name}{branch}_{i}", outputs, depth, kernel, pad=kernel // 2)
                net.relu(f"{name}relu_{branch}_{i}")
                depth = outputs
            ends.append(net.top)
        net.add("Pooling", name + "pool", [base], pooling_param={
            "pool": "MAX", "kernel_size": 3, "stride": 1, "pad": 1})
        net.conv(name + "pool_proj", 6, channels, 1)
        net.relu(name + "relu_pool_proj")
        base = net.add("Concat", name + "output", [*ends, net.top])
        channels = 8 + 12 + 6 + 6
        if module == "3b":
            base = net.add("Pooling", "pool3/3x3_s2",
                           pooling_param={"pool": "AVE", "kernel_size": 3, "stride": 2})
    net.add("Pooling", "pool5", pooling_param={"pool": "AVE", "kernel_size": 4, "stride": 1})
    net.add("Dropout", "pool5/drop", tops=[net.top], dropout_param={"dropout_ratio": 0.4})
    net.dense("loss3/classifier", 10, channels)
    net.add("Softmax", "prob")
    return net


def resnet():
    """Bottlenecks with BatchNorm and Scale in place, sums of two branches."""
    net, channels = Net(3, data=(2, 3, 64, 64)), 16
    net.conv("conv1", 16, 3, 7, pad=3, stride=2, bias=False)
    net.batch_norm("bn_conv1", 16)
    net.relu("conv1_relu")
    base = net.add("Pooling", "pool1",
                   pooling_param={"pool": "MAX", "kernel_size": 3, "stride": 2})
    for stage, width in enumerate((8, 12), 2):
        for block in "ab":
            name = f"res{stage}{block}_branch"
            stride = 2 if block == "a" and stage > 2 else 1
            shortcut = base
            if block == "a":
                net.conv(name + "1", 4 * width, channels, 1, stride=stride, bias=False,
                         bottoms=[base])
                shortcut = net.batch_norm(f"bn{stage}{block}_branch1", 4 * width)
            net.top, depth = base, channels
            for i, (outputs, kernel) in enumerate(((width, 1), (width, 3), (4 * width, 1))):
                net.conv(f"{name}2{'abc'[i]}", outputs, depth, kernel, pad=kernel // 2,
                         stride=stride if i == 0 else 1, bias=False)
                net.batch_norm(f"bn{stage}{block}_branch2{'abc'[i]}", outputs)
                if i < 2:
                    net.relu(f"{name}2{'abc'[i]}_relu")
                depth = outputs
            net.add("Eltwise", f"res{stage}{block}", [shortcut, net.top])
            base = net.relu(f"res{stage}{block}_relu")
            channels = 4 * width
    net.add("Pooling", "pool5", pooling_param={"pool": "AVE", "global_pooling": True})
    net.dense("fc1000", 10, channels)
    net.add("Softmax", "prob")
    return net


def mobilenet_ssd():
    """Depthwise convolutions; heads, priors and detections of an SSD."""
    net, channels = Net(4, data=(1, 3, 96, 96)), 8
    net.conv("conv0", 8, 3, 3, pad=1, stride=2)
    net.relu("conv0/relu")
    for i, (outputs, stride) in enumerate(((16, 1), (24, 2), (32, 2), (32, 2), (48, 2)), 1):
        net.conv(f"conv{i}/dw", channels, channels, 3, group=channels, pad=1, stride=stride)
        net.relu(f"conv{i}/dw/relu")
        net.conv(f"conv{i}", outputs, channels, 1)
        net.relu(f"conv{i}/relu")
        channels = outputs
    heads = {"loc": [], "conf": [], "prior": []}
    for source, depth, low, high in (("conv4", 32, 20, 35), ("conv5", 48, 35, 60)):
        for kind, values in (("loc", 4), ("conf", 3)):
            net.conv(f"{source}_{kind}", values * 6, depth, 1, bottoms=[source])
            net.add("Permute", f"{source}_{kind}_perm", permute_param={"order": [0, 2, 3, 1]})
            heads[kind].append(net.add("Flatten", f"{source}_{kind}_flat",
                                       flatten_param={"axis": 1}))
        heads["prior"].append(net.add("PriorBox", f"{source}_prior", [source, "data"],
                                      prior_box_param={
            "min_size": float(low), "max_size": float(high), "aspect_ratio": [2.0, 3.0],
            "flip": True, "clip": False, "variance": [0.1, 0.1, 0.2, 0.2], "offset": 0.5}))
    net.add("Concat", "mbox_loc", heads["loc"], concat_param={"axis": 1})
    net.add("Concat", "mbox_priorbox", heads["prior"], concat_param={"axis": 2})
    net.add("Concat", "mbox_conf", heads["conf"], concat_param={"axis": 1})
    net.add("Reshape", "mbox_conf_reshape", reshape_param={"shape": {"dim": [0, -1, 3]}})
    net.add("Softmax", "mbox_conf_softmax", softmax_param={"axis": 2})
    net.add("Flatten", "mbox_conf_flatten", flatten_param={"axis": 1})
    net.add("DetectionOutput", "detection_out", ["mbox_loc", "mbox_conf_flatten", "mbox_priorbox"],
            detection_output_param={
                "num_classes": 3, "share_location": True, "background_label_id": 0,
                "nms_param": {"nms_threshold": 0.45, "top_k": 40}, "code_type": "CENTER_SIZE",
                "keep_top_k": 25, "confidence_threshold": 0.25})
    return net


def yolov3():
    """Residual sums, leaky units, nearest upsampling, two heads."""
    net = Net(5, data=(1, 3, 64, 64))

    def unit(name, outputs, channels, kernel, stride=1, bottoms=None):
        net.conv(name, outputs, channels, kernel, pad=kernel // 2, stride=stride, bias=False,
                 bottoms=bottoms)
        net.batch_norm(name + "-bn", outputs)
        return net.relu(name + "-act", negative_slope=0.1)

    unit("layer1-conv", 8, 3, 3)
    unit("layer2-conv", 16, 8, 3, 2)
    for i, channels in enumerate((16, 24, 32)):
        base = net.top
        unit(f"res{i}a", channels // 2, channels, 1)
        unit(f"res{i}b", channels, channels // 2, 3)
        net.add("Eltwise", f"res{i}", [base, net.top], eltwise_param={"operation": "SUM"})
        route = net.top if i == 1 else route if i else None
        if i < 2:
            unit(f"down{i}", (24, 32)[i], channels, 3, 2)
    deep = unit("neck", 16, 32, 1)
    net.conv("head-large", 21, 16, 1)
    unit("lateral", 8, 16, 1, bottoms=[deep])
    net.add("Upsample", "upsample", upsample_param={"scale": 2})
    net.add("Concat", "route", [net.top, route])
    net.conv("head-small", 21, 32, 1)
    return net


ZOO = {build.__name__: build for build in (vgg, googlenet, resnet, mobilenet_ssd, yolov3)}
