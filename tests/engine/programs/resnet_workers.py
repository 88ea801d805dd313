# SPDX-License-Identifier: MIT
"""ResNet-50 in fp32, batch 128, pictures from the workers of a DataLoader through pinned memory"""
import torch
import torchvision
from torch.utils.data import DataLoader

if __name__ == "__main__":
    pictures = torchvision.datasets.FakeData(384, (3, 224, 224), 1000, torchvision.transforms.ToTensor())
    loader = DataLoader(pictures, batch_size=128, shuffle=True, num_workers=2, pin_memory=True, drop_last=True)
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for images, labels in loader:
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("optimizer states:", len(optimizer.state))
