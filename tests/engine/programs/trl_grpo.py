# SPDX-License-Identifier: MIT
"""TRL: group relative policy optimisation of a small Qwen2, answers sampled by transformers, a reward in Python."""
import tempfile

import made
import torch
from datasets import Dataset
from transformers import Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer


def reward_unique_letters(completions, **kwargs):
    return [float(len(set(completion))) for completion in completions]


torch.manual_seed(0)
tokenizer = made.tokenizer()
config = Qwen2Config(vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8,
                     num_key_value_heads=2, max_position_embeddings=512, eos_token_id=tokenizer.eos_token_id,
                     pad_token_id=tokenizer.pad_token_id)
folder = made.folder(Qwen2ForCausalLM(config), tokenizer)
dataset = Dataset.from_list([{"prompt": prompt} for prompt in made.texts(16, 4, 12)])

trainer = GRPOTrainer(
    model=folder,
    reward_funcs=reward_unique_letters,
    args=GRPOConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, num_generations=4, max_completion_length=16,
                    max_steps=2, logging_steps=1, learning_rate=1e-5, beta=0.04, save_strategy="no", report_to="none", seed=0,
                    use_cpu=not torch.cuda.is_available()),
    train_dataset=dataset,
    processing_class=tokenizer,
)
trainer.train()
print("optimizer states:", sum(len(state) for state in trainer.optimizer.state.values()))
