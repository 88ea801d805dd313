# SPDX-License-Identifier: MIT
"""Upscale the pictures of an order queue four times with ONNX Runtime."""
import argparse
import json
import sys

import numpy as np
import onnxruntime as ort
from loguru import logger
from onnx import TensorProto, helper, numpy_helper

logger.remove()
logger.add(sys.stderr, format="{time:HH:mm:ss.SSS} {level: <8} {message}")
SIZES = [(320, 240), (640, 480), (1280, 720), (1920, 1080), (2560, 1440)]


def make_network(width, depth):
    nodes, weights, last, channels = [], [], "picture", 3
    for n in range(depth):
        out = width if n < depth - 1 else 48
        weights.append(numpy_helper.from_array(np.zeros((out, channels, 3, 3), np.float32), f"w{n}"))
        nodes.append(helper.make_node("Conv", [last, f"w{n}"], [f"c{n}"], pads=[1, 1, 1, 1], name=f"conv{n}"))
        nodes.append(helper.make_node("Relu", [f"c{n}"], [f"r{n}"], name=f"relu{n}"))
        last, channels = f"r{n}", out
    nodes.append(helper.make_node("DepthToSpace", [last], ["large"], blocksize=4, name="shuffle"))
    graph = helper.make_graph(nodes, "upscale", [helper.make_tensor_value_info("picture", TensorProto.FLOAT, [1, 3, "h", "w"])],
                              [helper.make_tensor_value_info("large", TensorProto.FLOAT, [1, 3, "H", "W"])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def upscale(session, picture, tiles):
    rows = [session.run(None, {"picture": part})[0] for part in np.array_split(picture, tiles, axis=2)]
    return np.concatenate(rows, axis=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arena-mib", type=int, default=4096)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--orders", type=int, default=len(SIZES))
    parser.add_argument("--tile-when-full", action="store_true")
    args = parser.parse_args()
    cuda = {"gpu_mem_limit": args.arena_mib << 20, "arena_extend_strategy": "kSameAsRequested",
            "cudnn_conv_algo_search": "HEURISTIC"}
    session = ort.InferenceSession(make_network(args.width, 5), providers=[("CUDAExecutionProvider", cuda)])
    logger.info("providers {}, options {}", session.get_providers(), json.dumps(cuda))
    for order, (width, height) in enumerate(SIZES[:args.orders]):
        picture, tiles = np.zeros((1, 3, height, width), np.float32), 1
        while True:
            try:
                large = upscale(session, picture, tiles)
                break
            except Exception as error:
                if not args.tile_when_full or tiles > 32:
                    logger.error("order {} ({} x {}) failed", order, width, height)
                    raise
                tiles *= 2
                logger.warning("order {}: {} ... now in {} tiles", order, str(error)[:200], tiles)
        logger.info("order {}: {} x {} -> {} x {}", order, width, height, large.shape[3], large.shape[2])
    logger.info("queue is empty")


if __name__ == "__main__":
    main()
