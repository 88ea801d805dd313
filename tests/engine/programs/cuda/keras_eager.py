# SPDX-License-Identifier: MIT
"""The same layers without XLA: the gradient of a bias is a sum of segments by CUB."""
import keras
import numpy as np

network = keras.Sequential([keras.layers.Input((32, 32, 3)), keras.layers.Conv2D(32, 3), keras.layers.Flatten(), keras.layers.Dense(10)])
network.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
history = network.fit(np.random.rand(32, 32, 32, 3).astype("float32"), np.random.randint(0, 10, 32), batch_size=16, epochs=1, verbose=0)
print("epochs:", len(history.epoch), "without XLA")
