# SPDX-License-Identifier: MIT
"""A variational autoencoder with torch.distributions: reparametrised samples, the divergence of two normals."""
import torch
from torch import nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

encoder = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 2 * 16)).to(device)
decoder = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 784)).to(device)
optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
prior = Independent(Normal(torch.zeros(16, device=device), torch.ones(16, device=device)), 1)

for step in range(3):
    pictures = (torch.rand(64, 784) > 0.5).float().to(device)
    mean, spread = encoder(pictures).chunk(2, dim=1)
    posterior = Independent(Normal(mean, nn.functional.softplus(spread) + 1e-4), 1)
    latent = posterior.rsample()
    likelihood = Independent(Bernoulli(logits=decoder(latent)), 1).log_prob(pictures)
    loss = (kl_divergence(posterior, prior) - likelihood).mean()
    if not torch.isfinite(loss):
        raise SystemExit("the loss is not finite")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss:", loss.item())

with torch.no_grad():
    print("sampled:", tuple(Bernoulli(logits=decoder(prior.sample((8,)))).sample().shape))
