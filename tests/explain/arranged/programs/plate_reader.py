# SPDX-License-Identifier: MIT
"""Read number plates from frames of traffic cameras with an ONNX model."""
import argparse
import logging
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s %(message)s")


def make_detector():
    weights = {"stem": (32, 3, 3, 3), "mid": (64, 32, 3, 3), "head": (6, 64, 1, 1)}
    nodes = [helper.make_node("Conv", ["frames", "stem"], ["a"], pads=[1, 1, 1, 1], name="stem"),
             helper.make_node("Sigmoid", ["a"], ["b"], name="gate"),
             helper.make_node("Mul", ["a", "b"], ["c"], name="swish"),
             helper.make_node("Conv", ["c", "mid"], ["d"], pads=[1, 1, 1, 1], strides=[2, 2], name="mid"),
             helper.make_node("Relu", ["d"], ["e"], name="act"),
             helper.make_node("Conv", ["e", "head"], ["f"], name="head"),
             helper.make_node("GlobalMaxPool", ["f"], ["g"], name="best"),
             helper.make_node("Flatten", ["g"], ["plates"], name="flat")]
    graph = helper.make_graph(nodes, "plates", [helper.make_tensor_value_info("frames", TensorProto.FLOAT, ["n", 3, "h", "w"])],
                              [helper.make_tensor_value_info("plates", TensorProto.FLOAT, ["n", 6])],
                              [numpy_helper.from_array(np.zeros(shape, np.float32), name) for name, shape in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--grey", action="store_true", help="frames of one channel")
    parser.add_argument("--log-memory", action="store_true")
    args = parser.parse_args()
    session = ort.InferenceSession(make_detector(), providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
    width = args.height * 16 // 9
    provider = session.get_providers()[0]
    logging.info("%d frames of %d x %d in batches of %d on %s", args.frames, width, args.height, args.batch, provider)
    for start in range(0, args.frames, args.batch):
        begin = time.time()
        count = min(args.batch, args.frames - start)
        frames = np.zeros((count, args.height, width) if args.grey else (count, 3, args.height, width), np.float32)
        if args.log_memory:
            logging.info("batch in RAM %.1f MiB", frames.nbytes / 2**20)
        plates, = session.run(["plates"], {"frames": frames})
        found = int((plates[:, 0] > 0.5).sum())
        logging.info("frames %d to %d: %d plates, %.2f s", start, start + count - 1, found, time.time() - begin)


if __name__ == "__main__":
    main()
