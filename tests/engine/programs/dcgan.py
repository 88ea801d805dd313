# SPDX-License-Identifier: MIT
"""DCGAN, as in PyTorch's examples: two optimizers, a generator and a discriminator, spectral norm, a grid of pictures."""
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


def start(module):
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0.0, 0.02)


generator = nn.Sequential(
    nn.ConvTranspose2d(32, 64, 4, 1, 0, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
    nn.ConvTranspose2d(32, 3, 4, 2, 1, bias=False), nn.Tanh()).to(device).apply(start)
critic = nn.Sequential(
    nn.Conv2d(3, 32, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True), spectral_norm(nn.Conv2d(32, 64, 4, 2, 1, bias=False)),
    nn.BatchNorm2d(64), nn.LeakyReLU(0.2, True), nn.Conv2d(64, 1, 4, 1, 0, bias=False), nn.Flatten()).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizers = [torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (critic, generator)]
fixed = torch.randn(16, 32, 1, 1, device=device)

for step in range(3):
    real = torch.rand(8, 3, 16, 16).to(device) * 2 - 1
    ones, zeros = torch.full((8, 1), 0.9, device=device), torch.zeros(8, 1, device=device)
    fake = generator(torch.randn(8, 32, 1, 1, device=device))
    optimizers[0].zero_grad()
    loss_critic = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
    loss_critic.backward()
    optimizers[0].step()
    optimizers[1].zero_grad()
    loss_generator = criterion(critic(fake), ones)
    loss_generator.backward()
    optimizers[1].step()
    print("critic:", loss_critic.item(), "generator:", loss_generator.item())

with torch.no_grad():
    pictures = generator(fixed).cpu()
print("pictures:", tuple(pictures.shape), "in range:", bool((pictures.abs() <= 1).all()))
