# SPDX-License-Identifier: MIT
"""A matrix product and a convolution with ONNX Runtime's CUDA provider."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["r"]), helper.make_node("Flatten", ["r"], ["f"]),
     helper.make_node("MatMul", ["f", "m"], ["y"])], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 34, 34])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
    [helper.make_tensor("w", TensorProto.FLOAT, [8, 3, 3, 3], np.ones(216, np.float32)),
     helper.make_tensor("m", TensorProto.FLOAT, [8192, 10], np.ones(81920, np.float32))])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CUDAExecutionProvider"])
for _ in range(3):
    out, = session.run(None, {"x": np.ones((1, 3, 34, 34), np.float32)})
print("out:", out.shape, session.get_providers()[0])
