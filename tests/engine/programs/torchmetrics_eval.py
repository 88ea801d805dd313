# SPDX-License-Identifier: MIT
"""An evaluation with torchmetrics: a collection over batches, then curves, a confusion matrix, mean IoU, regression."""
import torch
from torchmetrics import MeanSquaredError, MetricCollection, PearsonCorrCoef, R2Score
from torchmetrics.classification import (BinaryAUROC, BinaryPrecisionRecallCurve, MulticlassAccuracy, MulticlassAUROC,
                                         MulticlassConfusionMatrix, MulticlassF1Score, MulticlassJaccardIndex)
from torchmetrics.text import Perplexity

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

metrics = MetricCollection({
    "accuracy": MulticlassAccuracy(5), "f1": MulticlassF1Score(5), "auroc": MulticlassAUROC(5, thresholds=None),
    "confusion": MulticlassConfusionMatrix(5), "iou": MulticlassJaccardIndex(5)}).to(device)
curve, area = BinaryPrecisionRecallCurve().to(device), BinaryAUROC(thresholds=20).to(device)
regression = MetricCollection([MeanSquaredError(), PearsonCorrCoef(), R2Score()]).to(device)
perplexity = Perplexity(ignore_index=-100).to(device)

for _ in range(3):
    scores, labels = torch.randn(32, 5).softmax(1).to(device), torch.randint(0, 5, (32,)).to(device)
    metrics.update(scores, labels)
    curve.update(scores[:, 0], (labels == 0).int())
    area.update(scores[:, 0], (labels == 0).int())
    regression.update(scores[:, 1], scores[:, 2])
    words = torch.randint(0, 40, (4, 12)).to(device)
    words[:, 9:] = -100
    perplexity.update(torch.randn(4, 12, 40).to(device), words)

for name, value in {**metrics.compute(), **regression.compute()}.items():
    print(name, value.tolist())
precision, recall, thresholds = curve.compute()
print("curve:", len(precision), len(thresholds), "area:", area.compute().item(), "perplexity:", perplexity.compute().item())
