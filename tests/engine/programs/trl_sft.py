# SPDX-License-Identifier: MIT
"""TRL: supervised fine-tuning of a small Qwen2 with LoRA, prompts and completions, gradient checkpointing."""
import tempfile

import made
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import Qwen2Config, Qwen2ForCausalLM
from trl import SFTConfig, SFTTrainer

torch.manual_seed(0)
tokenizer = made.tokenizer()
config = Qwen2Config(vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=3, num_attention_heads=8,
                     num_key_value_heads=2, max_position_embeddings=512, eos_token_id=tokenizer.eos_token_id)
model = Qwen2ForCausalLM(config).to(torch.bfloat16)

prompts, answers = made.texts(32, 4, 12), made.texts(33, 5, 40)
dataset = Dataset.from_list([{"prompt": prompt, "completion": answer} for prompt, answer in zip(prompts, answers)])

trainer = SFTTrainer(
    model=model,
    args=SFTConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, max_steps=3, max_length=64, logging_steps=1,
                   gradient_checkpointing=True, learning_rate=1e-4, save_strategy="no", report_to="none", seed=0,
                   use_cpu=not torch.cuda.is_available()),
    train_dataset=dataset,
    processing_class=tokenizer,
    peft_config=LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
)
trainer.train()
print("optimizer states:", sum(len(state) for state in trainer.optimizer.state.values()))
print("logged:", [sorted(entry) for entry in trainer.state.log_history][0])
