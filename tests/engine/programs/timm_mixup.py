# SPDX-License-Identifier: MIT
"""timm: a small vision transformer with Mixup, label smoothing, EMA and a loss scaler."""
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3, NativeScaler, accuracy

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

model = timm.create_model("vit_tiny_patch16_224", img_size=64, num_classes=10, drop_path_rate=0.1).to(device)
ema = ModelEmaV3(model, decay=0.99)
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
scheduler = CosineLRScheduler(optimizer, t_initial=4, warmup_t=1, warmup_lr_init=1e-5)
mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=10)
criterion, scaler = SoftTargetCrossEntropy().to(device), NativeScaler(device.type)

for step in range(3):
    pictures, labels = torch.randn(8, 3, 64, 64).to(device), torch.randint(0, 10, (8,)).to(device)
    pictures, soft = mixup(pictures, labels)
    with torch.autocast(device.type, torch.float16 if device.type == "cuda" else torch.bfloat16):
        loss = criterion(model(pictures), soft)
    optimizer.zero_grad()
    scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
    ema.update(model, step=step)
    scheduler.step(step)
    print("loss:", loss.item())

ema.eval()
with torch.no_grad():
    top1, top5 = accuracy(ema(pictures), labels, topk=(1, 5))
print("top-1:", top1.item(), "top-5:", top5.item())
