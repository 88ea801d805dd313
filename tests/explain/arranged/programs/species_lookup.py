# SPDX-License-Identifier: MIT
"""Name plant species by nearest fingerprint: an ONNX model whose weights are the herbarium."""
import argparse
import os
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

WIDTH = 2048


def write_model(path, shelves, rows):
    """The model with its weights in a file beside it, as the herbarium exports it."""
    weights, nodes = [helper.make_tensor("one", TensorProto.INT64, [1], [1])], []
    with open(path + ".data", "wb") as file:
        file.truncate(shelves * rows * WIDTH * 4)
    for n in range(shelves):
        tensor = TensorProto(name=f"shelf{n}", data_type=TensorProto.FLOAT, dims=[WIDTH, rows])
        tensor.data_location = TensorProto.EXTERNAL
        length = rows * WIDTH * 4
        for key, value in (("location", os.path.basename(path) + ".data"), ("offset", n * length), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        weights.append(tensor)
        nodes += [helper.make_node("MatMul", ["prints", f"shelf{n}"], [f"s{n}"]),
                  helper.make_node("TopK", [f"s{n}", "one"], [f"best{n}", f"where{n}"], axis=1)]
    nodes.append(helper.make_node("Concat", [f"best{n}" for n in range(shelves)], ["best"], axis=1))
    graph = helper.make_graph(nodes, "herbarium", [helper.make_tensor_value_info("prints", TensorProto.FLOAT, ["n", WIDTH])],
                              [helper.make_tensor_value_info("best", TensorProto.FLOAT, ["n", shelves])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shelves", type=int, default=8)
    parser.add_argument("--rows", type=int, default=8000, help="species of a shelf")
    parser.add_argument("--prints", type=int, default=16)
    args = parser.parse_args()
    write_model("herbarium.onnx", args.shelves, args.rows)
    size = os.path.getsize("herbarium.onnx.data")
    print(f"herbarium.onnx: {args.shelves * args.rows:,} species, {size / 2**30:.2f} GiB of weights")
    begin = time.time()
    session = ort.InferenceSession("herbarium.onnx", providers=["CUDAExecutionProvider"])
    print(f"loaded in {time.time() - begin:.1f} s")
    best, = session.run(None, {"prints": np.zeros((args.prints, WIDTH), np.float32)})
    print(f"{args.prints} plants named, best score {best.max():.3f}")


if __name__ == "__main__":
    main()
