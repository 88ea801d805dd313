# SPDX-License-Identifier: MIT
"""torchtune's own recipe: QLoRA (nf4 of torchao) of Llama 3.2 1B at its real size, on one card"""
import recipes

recipes.run("lora_finetune_single_device", "llama3_2/1B_qlora_single_device", "save_adapter_weights_only=True")
