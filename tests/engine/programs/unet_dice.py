# SPDX-License-Identifier: MIT
"""segmentation-models-pytorch: a U-Net with Dice and focal loss, and its intersection over union."""
import segmentation_models_pytorch as smp
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

model = smp.Unet("resnet18", encoder_weights=None, in_channels=3, classes=4).to(device)
dice = smp.losses.DiceLoss(mode="multiclass", ignore_index=255)
focal = smp.losses.FocalLoss(mode="multiclass", ignore_index=255)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

seen = []
for _ in range(2):
    pictures, masks = torch.randn(2, 3, 96, 96).to(device), torch.randint(0, 3, (2, 96, 96)).to(device)
    masks[:, :8] = 255
    scores = model(pictures)
    loss = dice(scores, masks) + focal(scores, masks)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
    optimizer.step()
    print("loss:", loss.item())
    seen.append(smp.metrics.get_stats(scores.argmax(1), masks, mode="multiclass", num_classes=4, ignore_index=255))

tp, fp, fn, tn = (torch.cat(column) for column in zip(*seen))
print("iou:", smp.metrics.iou_score(tp, fp, fn, tn, reduction="micro").item())
