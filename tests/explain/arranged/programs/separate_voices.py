# SPDX-License-Identifier: MIT
"""Separate the voices of a meeting's recording with an attention network in ONNX Runtime."""
import argparse
import sys
import warnings

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FRAMES_PER_SECOND = 62.5
CHANNELS = 256


def export_network(path, voices, ir_version):
    rng = np.random.default_rng(1)
    weights = [numpy_helper.from_array(rng.standard_normal((CHANNELS, n), np.float32) * 0.01, name)
               for name, n in (("wq", CHANNELS), ("wk", CHANNELS), ("wv", CHANNELS), ("masks", voices * CHANNELS))]
    nodes = [
        helper.make_node("MatMul", ["spectrum", "wq"], ["query"]),
        helper.make_node("MatMul", ["spectrum", "wk"], ["key"]),
        helper.make_node("MatMul", ["spectrum", "wv"], ["value"]),
        helper.make_node("Transpose", ["key"], ["key_t"], perm=[1, 0]),
        helper.make_node("MatMul", ["query", "key_t"], ["scores"], "attention/scores"),
        helper.make_node("Softmax", ["scores"], ["seen"], "attention/softmax", axis=-1),
        helper.make_node("MatMul", ["seen", "value"], ["context"], "attention/context"),
        helper.make_node("MatMul", ["context", "masks"], ["voices"], "masks"),
    ]
    spectrum = helper.make_tensor_value_info("spectrum", TensorProto.FLOAT, ["frames", CHANNELS])
    separated = helper.make_tensor_value_info("voices", TensorProto.FLOAT, ["frames", voices * CHANNELS])
    graph = helper.make_graph(nodes, "voices", [spectrum], [separated], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="voices")
    model.ir_version = ir_version
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--chunk-seconds", type=float, default=0, help="separate so much at a time; 0: the recording as one")
    parser.add_argument("--voices", type=int, default=4)
    parser.add_argument("--ir-version", type=int, default=9)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    export_network("voices.onnx", args.voices, args.ir_version)
    cuda = ("CUDAExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})
    session = ort.InferenceSession("voices.onnx", providers=[cuda])
    print("onnxruntime", ort.__version__, "with", session.get_providers()[0])
    n_frames = int(args.minutes * 60 * FRAMES_PER_SECOND)
    chunk = int(args.chunk_seconds * FRAMES_PER_SECOND) or n_frames
    spectrum = np.zeros((n_frames, CHANNELS), np.float32)
    print(f"meeting.flac: {args.minutes:g} min, {n_frames} frames, {-(-n_frames // chunk)} chunk(s) of at most {chunk} frames")
    for start in range(0, n_frames, chunk):
        separated, = session.run(None, {"spectrum": spectrum[start:start + chunk]})
        print(f"{start / FRAMES_PER_SECOND:8.1f} s: {separated.shape[0]} frames x {args.voices} voices")
    for voice in range(args.voices):
        print(f"wrote voice-{voice + 1}.wav")
    return 0


if __name__ == "__main__":
    sys.exit(main())
