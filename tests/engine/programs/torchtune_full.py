# SPDX-License-Identifier: MIT
"""torchtune's own recipe: all weights of Llama 3.2 1B at its real size, on one card"""
import recipes

recipes.run("full_finetune_single_device", "llama3_2/1B_full_single_device")
