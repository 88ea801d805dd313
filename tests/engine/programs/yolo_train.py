# SPDX-License-Identifier: MIT
"""Ultralytics YOLO: train on eight pictures that are made here, validate, predict."""
import os
import tempfile

import numpy as np
from PIL import Image

folder = tempfile.mkdtemp()
os.environ["YOLO_CONFIG_DIR"] = folder
os.environ["YOLO_OFFLINE"] = "true"

import torch
from ultralytics import YOLO

random = np.random.default_rng(0)
for part in ("train", "val"):
    for kind in ("images", "labels"):
        os.makedirs(f"{folder}/data/{kind}/{part}")
    for i in range(8 if part == "train" else 4):
        Image.fromarray(random.integers(0, 255, (160, 160, 3), dtype=np.uint8)).save(f"{folder}/data/images/{part}/{i}.png")
        with open(f"{folder}/data/labels/{part}/{i}.txt", "w", encoding="utf-8") as file:
            for _ in range(i % 4):  # some pictures have none
                x, y = random.uniform(0.3, 0.7, 2)
                file.write(f"{random.integers(0, 2)} {x:.4f} {y:.4f} 0.3 0.4\n")
with open(f"{folder}/data.yaml", "w", encoding="utf-8") as file:
    file.write(f"path: {folder}/data\ntrain: images/train\nval: images/val\nnames: {{0: ship, 1: buoy}}\n")

model = YOLO("yolo11n.yaml")
model.train(data=f"{folder}/data.yaml", imgsz=160, epochs=2, batch=4, workers=0, plots=False, amp=False,
            device=0 if torch.cuda.is_available() else "cpu", project=folder, name="run", deterministic=False)
result = model.predict(np.zeros((160, 160, 3), dtype=np.uint8), imgsz=160, verbose=False)
print("boxes:", len(result[0].boxes))
