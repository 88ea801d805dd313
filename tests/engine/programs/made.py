# SPDX-License-Identifier: MIT
"""What programs would download, made in code: a tokenizer, texts, a folder with a model of random weights."""
import random
import tempfile

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

WORDS = ("a the river stone light carries answers question city model memory card measures peak winter small every train "
         "under seven green turn tells fits word how does far north old bridge open").split()
CHAT = ("{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}{{ eos_token }}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}")


def sentence(source: random.Random, n_words: int) -> str:
    return " ".join(source.choice(WORDS) for _ in range(n_words)).capitalize() + "."


def texts(n: int, least: int = 5, most: int = 40) -> list[str]:
    """Of differing lengths, the same in every run."""
    source = random.Random(n)
    return [sentence(source, source.randint(least, most)) for _ in range(n)]


def tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE of about 500 tokens with a chat template."""
    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<unk>", "<pad>", "<s>", "</s>", "<|user|>", "<|assistant|>", "<|system|>"]
    bpe.train_from_iterator(texts(400), trainers.BpeTrainer(vocab_size=501, special_tokens=special, show_progress=False,
                                                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
                                   padding_side="right", chat_template=CHAT, model_max_length=512)


def folder(model, words: PreTrainedTokenizerFast) -> str:
    """As it would lie in a cache of the hub."""
    path = tempfile.mkdtemp(prefix="made-")
    model.save_pretrained(path)
    words.save_pretrained(path)
    return path
