# SPDX-License-Identifier: MIT
"""The Trainer of transformers: all weights of a small Llama in bf16, AdamW in 8 bits, gradient checkpointing, evaluation, checkpoints"""
import tempfile

import made
import torch
from datasets import Dataset
from transformers import DataCollatorForLanguageModeling, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(0)
words = made.tokenizer()
config = LlamaConfig(vocab_size=512, hidden_size=1024, intermediate_size=2048, num_hidden_layers=3, num_attention_heads=16,
                     num_key_value_heads=4, max_position_embeddings=512, eos_token_id=words.eos_token_id)
model = LlamaForCausalLM(config).to(torch.bfloat16)
dataset = Dataset.from_list([{"text": text} for text in made.texts(40)]).map(lambda row: words(row["text"]), remove_columns="text")
parts = dataset.train_test_split(test_size=8, seed=0)

trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, max_steps=4, bf16=True, optim="adamw_8bit",
                           gradient_checkpointing=True, train_sampling_strategy="group_by_length", eval_strategy="steps", eval_steps=2, save_steps=2,
                           logging_steps=1, learning_rate=1e-5, report_to="none", seed=0),
    train_dataset=parts["train"],
    eval_dataset=parts["test"],
    data_collator=DataCollatorForLanguageModeling(words, mlm=False),
)
trainer.train()
print("optimizer states:", sum(len(state) for state in trainer.optimizer.state.values()))
