# SPDX-License-Identifier: MIT
"""Embed full texts of patents and print the closest pairs."""
import argparse
import pathlib
import random
import string

import torch
from sentence_transformers import SentenceTransformer, models, util
from transformers import BertConfig, BertModel, BertTokenizerFast

MODEL = pathlib.Path("patent-encoder")
WORDS = ["valve", "a", "the", "housing", "claim", "wherein", "signal", "rotor", "polymer", "circuit", "comprising", "lens", "first", "second"]


def write_encoder(positions):
    MODEL.mkdir(exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *string.ascii_lowercase, *("##" + c for c in string.ascii_lowercase)]
    (MODEL / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(str(MODEL / "vocab.txt"), model_max_length=positions).save_pretrained(MODEL)
    BertModel(BertConfig(vocab_size=len(vocabulary), hidden_size=512, num_hidden_layers=6, num_attention_heads=8, intermediate_size=2048,
                         max_position_embeddings=positions)).save_pretrained(MODEL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patents", type=int, default=64)
    parser.add_argument("--words", type=int, default=1500)
    parser.add_argument("--batch-size", type=int, default=8)
    args = parser.parse_args()
    write_encoder(4096)
    words = models.Transformer(str(MODEL), max_seq_length=4096)
    encoder = SentenceTransformer(modules=[words, models.Pooling(words.get_word_embedding_dimension())], device="cuda")
    print(f"Encoder: {sum(p.numel() for p in encoder.parameters()) / 1e6:.1f} M parameters on {encoder.device}")
    random.seed(5)
    texts = [" ".join(random.choices(WORDS, k=args.words)) for _ in range(args.patents)]
    print(f"{len(texts)} patents of about {args.words} words, {args.batch_size} at once")
    vectors = encoder.encode(texts, batch_size=args.batch_size, convert_to_tensor=True, show_progress_bar=True, normalize_embeddings=True)
    scores = util.cos_sim(vectors, vectors).fill_diagonal_(0)
    print(f"Closest pair scores {scores.max().item():.3f}, peak memory {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
