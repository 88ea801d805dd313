# SPDX-License-Identifier: MIT
"""Caption live video for several viewers: an ONNX decoder whose past keys and values stay on the GPU."""
import argparse
import logging

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

logging.basicConfig(level=logging.INFO, format="%(asctime)s [captions] %(message)s")
HEADS, HEAD = 16, 64


def make_decoder():
    width = HEADS * HEAD
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT16, ["n", width]) for name in "xy")
    weight = numpy_helper.from_array(np.zeros((width, width), np.float16), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "decoder", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=8)
    parser.add_argument("--window", type=int, default=1024, help="tokens that a caption can look back")
    parser.add_argument("--layers", type=int, default=24)
    args = parser.parse_args()
    model = make_decoder()
    session = ort.InferenceSession(model, providers=["CUDAExecutionProvider"])
    shape = (args.viewers, HEADS, args.window, HEAD)
    logging.info("past of a layer %s float16, %d layers", list(shape), args.layers)
    past = {}
    for layer in range(args.layers):
        for kind in ("key", "value"):
            past[f"past.{layer}.{kind}"] = ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float16, "cuda", 0)
        if layer % 6 == 5:
            logging.info("layers 0 to %d have %d MiB", layer, 2 * (layer + 1) * np.prod(shape) * 2 >> 20)
    binding = session.io_binding()
    binding.bind_cpu_input("x", np.zeros((args.viewers, HEADS * HEAD), np.float16))
    binding.bind_output("y", "cuda")
    session.run_with_iobinding(binding)
    logging.info("ready: %d viewers, %d tensors of the past", args.viewers, len(past))


if __name__ == "__main__":
    main()
