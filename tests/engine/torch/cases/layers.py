# SPDX-License-Identifier: MIT
"""Layers that cuDNN computes: a convolutional network's training step, recurrent layers, sampling, attention."""
import told
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel


def convolutions() -> None:
    """With and without channels last, groups, a transposed one, and a choice of the fastest."""
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(16, 32, 3, groups=4), nn.ConvTranspose2d(32, 8, 2, stride=2), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(8, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for layout in torch.contiguous_format, torch.channels_last:
        for torch.backends.cudnn.benchmark in (False, True):
            net(torch.randn(4, 3, 32, 32, device="cuda").to(memory_format=layout)).sum().backward()
            optimizer.step()
    nn.Conv3d(3, 8, 3).cuda()(torch.randn(2, 3, 8, 16, 16, device="cuda")).sum().backward()
    with torch.autocast("cuda", torch.float16):
        nn.Conv1d(8, 16, 3, dilation=2).cuda()(torch.randn(2, 8, 64, device="cuda")).sum().backward()


def recurrent() -> None:
    outputs, _ = nn.LSTM(32, 64, 2, dropout=0.1, bidirectional=True, batch_first=True).cuda()(torch.randn(4, 10, 32, device="cuda"))
    outputs.sum().backward()
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(10, 4, 32, device="cuda"), [10, 8, 6, 2])
    outputs, _ = nn.GRU(32, 64, 2).cuda()(packed)
    outputs.data.sum().backward()
    outputs, _ = nn.LSTM(32, 64, proj_size=16).cuda()(torch.randn(10, 4, 32, device="cuda"))
    assert outputs.shape == (10, 4, 16)
    outputs.sum().backward()


def sampling() -> None:
    image = torch.randn(2, 3, 8, 8, device="cuda", requires_grad=True)
    grid = nn.functional.affine_grid(torch.eye(2, 3, device="cuda").repeat(2, 1, 1), (2, 3, 8, 8), align_corners=True)
    nn.functional.grid_sample(image, grid, align_corners=True).sum().backward()


def attention() -> None:
    for backend in SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH:
        with sdpa_kernel(backend):
            query, key, value = (torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.half, requires_grad=True) for _ in range(3))
            nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True).sum().backward()


for part in convolutions, recurrent, sampling, attention:
    part()
torch.cuda.synchronize()
told.reserved()
