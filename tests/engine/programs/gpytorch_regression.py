# SPDX-License-Identifier: MIT
"""GPyTorch: an exact Gaussian process, trained and asked for its confidence region."""
import gpytorch
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


x = torch.linspace(0, 1, 60).to(device)
y = torch.sin(x * 6.2832) + 0.1 * torch.randn(60).to(device)
likelihood = gpytorch.likelihoods.GaussianLikelihood().to(device)
model = Process(x, y, likelihood).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

model.train()
likelihood.train()
for _ in range(4):
    optimizer.zero_grad()
    loss = -objective(model(x), y)
    loss.backward()
    optimizer.step()
    print("loss:", loss.item(), "length:", model.covar_module.base_kernel.lengthscale.item())

model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    said = likelihood(model(torch.linspace(0, 1, 25).to(device)))
    low, high = said.confidence_region()
print("region:", len(low), "ordered:", bool((low <= high).all()))
