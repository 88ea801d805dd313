# SPDX-License-Identifier: MIT
"""Unsloth: a small Llama in 4 bits with its own LoRA kernels and loss, trained by TRL, the adapter saved at the end."""
import tempfile

from unsloth import FastLanguageModel  # before everything else: it changes the others
import made
import torch
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer

torch.manual_seed(0)
words = made.tokenizer()
config = LlamaConfig(vocab_size=512, hidden_size=512, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=8,
                     num_key_value_heads=2, max_position_embeddings=512, eos_token_id=words.eos_token_id)
folder = made.folder(LlamaForCausalLM(config).to(torch.bfloat16), words)

model, tokenizer = FastLanguageModel.from_pretrained(folder, max_seq_length=128, dtype=torch.bfloat16, load_in_4bit=True)
model = FastLanguageModel.get_peft_model(model, r=16, lora_alpha=16, lora_dropout=0, bias="none", use_gradient_checkpointing="unsloth",
                                         target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])
dataset = Dataset.from_list([{"text": text} for text in made.texts(64)])

trainer = SFTTrainer(
    model=model,
    processing_class=tokenizer,
    train_dataset=dataset,
    args=SFTConfig(output_dir=tempfile.mkdtemp(), dataset_text_field="text", max_length=128, per_device_train_batch_size=2, max_steps=3,
                   optim="adamw_8bit", logging_steps=1, learning_rate=2e-4, save_strategy="no", report_to="none", seed=0),
)
trainer.train()
trainer.save_model()
print("optimizer states:", sum(len(state) for state in trainer.optimizer.state.values()))
