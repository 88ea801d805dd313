# SPDX-License-Identifier: MIT
"""Pyro: variational inference of a linear regression with an automatic guide, then samples of the posterior."""
import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoDiagonalNormal
from pyro.nn import PyroModule, PyroSample

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
pyro.set_rng_seed(0)
zero, one = torch.tensor(0.0, device=device), torch.tensor(1.0, device=device)


class Regression(PyroModule):
    def __init__(self):
        super().__init__()
        self.linear = PyroModule[torch.nn.Linear](3, 1)
        self.linear.weight = PyroSample(dist.Normal(zero, one).expand([1, 3]).to_event(2))
        self.linear.bias = PyroSample(dist.Normal(zero, one * 10).expand([1]).to_event(1))

    def forward(self, x, y=None):
        sigma = pyro.sample("sigma", dist.Uniform(zero, one * 10))
        mean = self.linear(x).squeeze(-1)
        with pyro.plate("data", x.shape[0]):
            pyro.sample("obs", dist.Normal(mean, sigma), obs=y)
        return mean


x = torch.randn(64, 3).to(device)
y = x @ torch.tensor([1.0, -2.0, 0.5], device=device) + 0.1
model = Regression().to(device)
guide = AutoDiagonalNormal(model).to(device)
svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.03}), loss=Trace_ELBO())
pyro.clear_param_store()
for _ in range(4):
    print("loss:", svi.step(x, y) / len(x))

samples = Predictive(model, guide=guide, num_samples=8, return_sites=("linear.weight", "obs"))(x)
print("weights:", tuple(samples["linear.weight"].shape), "seen:", tuple(samples["obs"].shape))
