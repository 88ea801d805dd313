# SPDX-License-Identifier: MIT
"""TRL: direct preference optimisation of a small Qwen2 with LoRA; the base model is the reference."""
import tempfile

import made
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import Qwen2Config, Qwen2ForCausalLM
from trl import DPOConfig, DPOTrainer

torch.manual_seed(0)
tokenizer = made.tokenizer()
config = Qwen2Config(vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8,
                     num_key_value_heads=2, max_position_embeddings=512, eos_token_id=tokenizer.eos_token_id)
model = Qwen2ForCausalLM(config).to(torch.bfloat16)

columns = zip(made.texts(24, 4, 12), made.texts(25, 5, 30), made.texts(26, 5, 30))
dataset = Dataset.from_list([{"prompt": prompt, "chosen": chosen, "rejected": rejected} for prompt, chosen, rejected in columns])

trainer = DPOTrainer(
    model=model,
    args=DPOConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, max_steps=3, max_length=64, logging_steps=1,
                   beta=0.1, learning_rate=1e-4, save_strategy="no", report_to="none", seed=0,
                   use_cpu=not torch.cuda.is_available()),
    train_dataset=dataset,
    processing_class=tokenizer,
    peft_config=LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
)
trainer.train()
print("optimizer states:", sum(len(state) for state in trainer.optimizer.state.values()))
