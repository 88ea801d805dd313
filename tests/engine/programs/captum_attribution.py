# SPDX-License-Identifier: MIT
"""Captum: attributions of a small network by integrated gradients, occlusion, and layer activations."""
import torch
from captum.attr import DeepLift, IntegratedGradients, LayerGradCam, Occlusion, Saliency, visualization
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 5)).to(device).eval()
pictures = torch.rand(2, 3, 32, 32).to(device)
target = model(pictures).argmax(1)

integrated, delta = IntegratedGradients(model).attribute(
    pictures, baselines=torch.zeros_like(pictures), target=target, n_steps=10, return_convergence_delta=True)
print("integrated:", tuple(integrated.shape), "delta is finite:", bool(torch.isfinite(delta).all()))
print("saliency:", tuple(Saliency(model).attribute(pictures, target=target).shape))
print("deep lift:", tuple(DeepLift(model).attribute(pictures, target=target).shape))
print("occlusion:", tuple(Occlusion(model).attribute(pictures, (3, 8, 8), strides=(3, 8, 8), target=target).shape))
activation = LayerGradCam(model, model[3]).attribute(pictures, target=target)
print("grad-cam:", tuple(LayerGradCam.interpolate(activation, (32, 32)).shape))
strongest = integrated.abs().flatten(1).topk(5).indices
print("strongest:", strongest.shape[1])
