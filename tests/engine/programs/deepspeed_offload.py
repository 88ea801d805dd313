# SPDX-License-Identifier: MIT
"""DeepSpeed ZeRO-3 with parameters and optimizer states on the host, under the Trainer of transformers"""
import tempfile

import made
import torch
from datasets import Dataset
from transformers import DataCollatorForLanguageModeling, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(0)
words = made.tokenizer()
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(), per_device_train_batch_size=2, max_steps=3, bf16=True, logging_steps=1, learning_rate=1e-5,
    max_grad_norm=1.0, save_strategy="no", report_to="none", seed=0, optim="adamw_torch",
    deepspeed={"bf16": {"enabled": True}, "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
               "gradient_clipping": "auto", "zero_force_ds_cpu_optimizer": False,
               "zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}, "offload_optimizer": {"device": "cpu"}}})
config = LlamaConfig(vocab_size=512, hidden_size=1024, intermediate_size=2048, num_hidden_layers=4, num_attention_heads=16,
                     num_key_value_heads=4, max_position_embeddings=512, eos_token_id=words.eos_token_id)
model = LlamaForCausalLM(config)
dataset = Dataset.from_list([dict(words(text, truncation=True, max_length=64)) for text in made.texts(32)])
trainer = Trainer(model=model, args=arguments, train_dataset=dataset, data_collator=DataCollatorForLanguageModeling(words, mlm=False))
trainer.train()
engine = trainer.model_wrapped
print("steps skipped:", engine.skipped_steps)
states = [value for state in engine.optimizer.optimizer.state.values() for value in state.values() if torch.is_tensor(value) and value.numel() > 1]
print("optimizer states:", len(states), "on", {value.device.type for value in states})
