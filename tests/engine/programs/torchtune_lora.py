# SPDX-License-Identifier: MIT
"""torchtune's own recipe: LoRA of Llama 3.2 1B at its real size, on one card"""
import recipes

recipes.run("lora_finetune_single_device", "llama3_2/1B_lora_single_device")
