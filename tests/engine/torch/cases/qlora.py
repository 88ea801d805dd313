# SPDX-License-Identifier: MIT
# card: RTX 3090
# needs: transformers peft bitsandbytes accelerate
"""QLoRA: a hollow Llama in 4 bits (bitsandbytes), adapters from peft, a step."""
import hollow
import told
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16,
                          bnb_4bit_use_double_quant=True)
with hollow.llama(hidden_size=4096, intermediate_size=14336, num_hidden_layers=8, num_attention_heads=32,
                  num_key_value_heads=8, vocab_size=32000) as folder:
    model = AutoModelForCausalLM.from_pretrained(folder, quantization_config=bits, device_map={"": 0},
                                                 dtype=torch.bfloat16)
model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "v_proj"],
                                         task_type="CAUSAL_LM"))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
tokens = torch.randint(0, 1000, (1, 256), device="cuda")
model(input_ids=tokens, labels=tokens).loss.backward()
optimizer.step()
told.reserved()
