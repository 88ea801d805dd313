# SPDX-License-Identifier: MIT
"""A convolutional network with biases, trained by Keras on TensorFlow as it comes, which compiles it with XLA."""
import keras
import numpy as np

network = keras.Sequential([
    keras.layers.Input((32, 32, 3)),
    keras.layers.Conv2D(32, 3, activation="relu"),
    keras.layers.Conv2D(32, 3),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(10),
])
network.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images, labels = np.random.rand(64, 32, 32, 3).astype("float32"), np.random.randint(0, 10, 64)
history = network.fit(images, labels, batch_size=16, epochs=2, verbose=0)
print("epochs:", len(history.epoch), "on", keras.backend.backend())
