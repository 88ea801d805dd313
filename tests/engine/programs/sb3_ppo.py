# SPDX-License-Identifier: MIT
"""stable-baselines3: PPO on a task of gymnasium, evaluated, saved and loaded."""
import os
import tempfile

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

tasks = make_vec_env("CartPole-v1", n_envs=2, seed=0)
model = PPO("MlpPolicy", tasks, n_steps=32, batch_size=16, n_epochs=2, target_kl=0.5, seed=0, device="auto", verbose=1)
model.learn(total_timesteps=128)

reward, _ = evaluate_policy(model, tasks, n_eval_episodes=2, deterministic=True)
print("reward is positive:", reward > 0)

path = os.path.join(tempfile.mkdtemp(), "ppo")
model.save(path)
again = PPO.load(path, device="auto")
action, _ = again.predict(tasks.reset(), deterministic=True)
print("actions:", action.shape, "on", again.device.type, torch.__version__.split("+")[0] != "")
