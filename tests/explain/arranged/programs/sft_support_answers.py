# SPDX-License-Identifier: MIT
"""Supervised fine-tuning of a small Qwen on support answers with TRL."""
import argparse

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import SFTConfig, SFTTrainer

WORDS = ["<pad>", "<eos>", "<unk>", "please", "restart", "the", "router", "and", "wait", "for", "light", "customer", "agent", ":"]


def tokenizer():
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--max-length", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--field", default="text")
    args = parser.parse_args()
    answer = "customer : please restart the router agent : please wait for the light and restart " * (args.max_length // 14 + 1)
    data = Dataset.from_dict({args.field: [answer] * 96})
    with torch.device("cuda"):
        model = Qwen2ForCausalLM(Qwen2Config(hidden_size=896, intermediate_size=4864, num_hidden_layers=args.layers,
                                             num_attention_heads=14, num_key_value_heads=2, vocab_size=151936,
                                             tie_word_embeddings=True, pad_token_id=0, eos_token_id=1, bos_token_id=None))
    trainer = SFTTrainer(model=model, train_dataset=data, processing_class=tokenizer(), args=SFTConfig(
        output_dir="sft", max_length=args.max_length, per_device_train_batch_size=args.batch_size, max_steps=args.steps,
        logging_steps=1, bf16=True, gradient_checkpointing=False, report_to="none", save_strategy="no", disable_tqdm=False))
    trainer.train()
    print("training done")


if __name__ == "__main__":
    main()
