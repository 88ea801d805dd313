# SPDX-License-Identifier: MIT
"""PPO with torch.distributions, in the style of CleanRL: discrete and continuous actions on a problem made here."""
import torch
from torch import nn
from torch.distributions import Categorical, Normal

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
N_STEPS, N_WORLDS, N_SEEN = 16, 8, 6


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(N_SEEN, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(N_SEEN, 64), nn.Tanh(), nn.Linear(64, 4))
        self.mean = nn.Linear(N_SEEN, 2)
        self.log_std = nn.Parameter(torch.zeros(2))

    def act(self, seen, choice=None, force=None):
        which = Categorical(logits=self.actor(seen))
        how = Normal(self.mean(seen), self.log_std.exp().expand(seen.shape[0], 2))
        choice = which.sample() if choice is None else choice
        force = how.sample() if force is None else force
        log_probability = which.log_prob(choice) + how.log_prob(force).sum(1)
        return choice, force, log_probability, which.entropy() + how.entropy().sum(1), self.critic(seen).flatten()


agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
for update in range(2):
    seen = torch.randn(N_STEPS, N_WORLDS, N_SEEN).to(device)
    rewards = torch.randn(N_STEPS, N_WORLDS).to(device)
    dones = (torch.rand(N_STEPS, N_WORLDS) < 0.1).float().to(device)
    with torch.no_grad():
        rows = [agent.act(now) for now in seen]
        choices, forces, log_probabilities, _, values = (torch.stack(column) for column in zip(*rows))
        advantages, last = torch.zeros_like(rewards), 0
        for t in reversed(range(N_STEPS - 1)):
            delta = rewards[t] + 0.99 * values[t + 1] * (1 - dones[t + 1]) - values[t]
            advantages[t] = last = delta + 0.99 * 0.95 * (1 - dones[t + 1]) * last
        returns = advantages + values
    flat = [x.flatten(0, 1) for x in (seen, choices, forces, log_probabilities, advantages, returns)]
    for part in torch.randperm(N_STEPS * N_WORLDS).to(device).split(32):
        s, c, f, old, advantage, wanted = (x[part] for x in flat)
        _, _, new, entropy, value = agent.act(s, c, f)
        ratio = (new - old).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
        loss = loss - 0.01 * entropy.mean() + 0.5 * ((value - wanted) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    print("loss:", loss.item())
