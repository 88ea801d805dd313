# SPDX-License-Identifier: MIT
"""Translate messages for many tenants, each with a vocabulary model of its own, behind one ONNX Runtime process."""
import argparse
import functools

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

TENANT_CHOICE = 17


def build_model(rows, width):
    table = numpy_helper.from_array(np.zeros((rows, width), np.float32), "table")
    scale = numpy_helper.from_array(np.ones((width, width), np.float32), "scale")
    nodes = [helper.make_node("Gather", ["table", "words"], ["x"]), helper.make_node("MatMul", ["x", "scale"], ["y"])]
    graph = helper.make_graph(nodes, "tenant", [helper.make_tensor_value_info("words", TensorProto.INT64, ["n"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", width])], [table, scale])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, default=40)
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--warm", type=int, default=None, help="tenants to keep ready; all unless given")
    parser.add_argument("--words", type=int, default=50)
    args = parser.parse_args()
    model = build_model(args.rows, 1024)
    print(f"model of one tenant: {len(model) / 1e6:.0f} MB", flush=True)

    @functools.lru_cache(maxsize=args.warm)
    def session_for(tenant):
        return ort.InferenceSession(model, providers=["CUDAExecutionProvider"])

    for request in range(args.tenants):
        tenant = request * TENANT_CHOICE % args.tenants
        session = session_for(tenant)
        result, = session.run(None, {"words": np.zeros(args.words, np.int64)})
        ready = session_for.cache_info().currsize
        print(f"request {request:3d} tenant-{tenant:02d} ok, {len(result)} words, {ready} sessions ready", flush=True)
    print("all tenants served")


if __name__ == "__main__":
    main()
