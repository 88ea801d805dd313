# SPDX-License-Identifier: MIT
"""TRL: QLoRA of a small Llama in 4 bits, packed texts, paged AdamW in 8 bits, the adapter saved at the end."""
import tempfile

import made
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer

torch.manual_seed(0)
tokenizer = made.tokenizer()
config = LlamaConfig(vocab_size=512, hidden_size=512, intermediate_size=2048, num_hidden_layers=2, num_attention_heads=8,
                     num_key_value_heads=2, max_position_embeddings=512, eos_token_id=tokenizer.eos_token_id)
folder = made.folder(LlamaForCausalLM(config).to(torch.bfloat16), tokenizer)

bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16,
                          bnb_4bit_use_double_quant=True)
model = AutoModelForCausalLM.from_pretrained(folder, quantization_config=bits, dtype=torch.bfloat16)
dataset = Dataset.from_list([{"text": text} for text in made.texts(64)])

trainer = SFTTrainer(
    model=model,
    args=SFTConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=2, max_steps=3, max_length=64, packing=True,
                   optim="paged_adamw_8bit", logging_steps=1, learning_rate=1e-4, save_strategy="no", report_to="none", seed=0,
                   use_cpu=not torch.cuda.is_available()),
    train_dataset=dataset,
    processing_class=tokenizer,
    peft_config=LoraConfig(r=64, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.train()
trainer.save_model()
print("optimizer states:", sum(len(state) for state in trainer.optimizer.state.values()))
