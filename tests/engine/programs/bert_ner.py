# SPDX-License-Identifier: MIT
"""BERT marks names: the Trainer of transformers with evaluation, a padding collator and a metric."""
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments

torch.manual_seed(0)
np.random.seed(0)


def collate(rows):
    longest = max(len(row["input_ids"]) for row in rows)
    def padded(name, value):
        return torch.tensor([list(row[name]) + [value] * (longest - len(row[name])) for row in rows])
    ids = padded("input_ids", 0)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": padded("labels", -100)}


def metrics(result):
    said, truth = result.predictions.argmax(-1), result.label_ids
    kept = truth != -100
    return {"accuracy": float((said[kept] == truth[kept]).mean())}


rows = []
for _ in range(24):
    length = np.random.randint(5, 20)
    rows.append({"input_ids": np.random.randint(1, 200, length).tolist(), "labels": np.random.randint(0, 5, length).tolist()})

model = BertForTokenClassification(BertConfig(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                              intermediate_size=128, num_labels=5))
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, num_train_epochs=1, eval_strategy="epoch",
    save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="accuracy", logging_steps=2, report_to=[],
    learning_rate=5e-5, weight_decay=0.01, disable_tqdm=True)
trainer = Trainer(model=model, args=arguments, train_dataset=rows[:16], eval_dataset=rows[16:], data_collator=collate,
                  compute_metrics=metrics)
trainer.train()
print("evaluated:", sorted(trainer.evaluate()))
