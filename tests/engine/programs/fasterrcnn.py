# SPDX-License-Identifier: MIT
"""A step of training torchvision's Faster R-CNN, as in its detection reference."""
import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

model = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=3)
model.to(device)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.005, momentum=0.9)

images = [torch.rand(3, 240, 320), torch.rand(3, 256, 256)]
targets = [
    {"boxes": torch.tensor([[20.0, 30.0, 120.0, 160.0], [150.0, 40.0, 300.0, 200.0]]), "labels": torch.tensor([1, 2])},
    {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64)},  # a picture without an object
]

model.train()
for _ in range(2):
    on_device = [image.to(device) for image in images]
    told = [{name: value.to(device) for name, value in target.items()} for target in targets]
    losses = model(on_device, told)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print({name: value.item() for name, value in losses.items()})

model.eval()
with torch.no_grad():
    found = model([images[0].to(device)])[0]
print("boxes:", len(found["boxes"]))
