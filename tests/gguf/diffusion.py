# SPDX-License-Identifier: MIT
"""
Models that fill in a masked text step by step: the layers of a decoder, without its mask and its cache.
"""
from __future__ import annotations

from dense import llama_shape
from model import Hyper, Model


def diffusion_keys(m: Model) -> Model:
    m.key("attention.causal", False)
    m.key("diffusion.shift_logits", True)
    return m


def dream(h: Hyper) -> Model:
    return diffusion_keys(llama_shape("dream", h))


def llada(h: Hyper) -> Model:
    return diffusion_keys(llama_shape("llada", h))


def llada_moe(h: Hyper) -> Model:
    return diffusion_keys(llama_shape("llada-moe", h))


def rnd1(h: Hyper) -> Model:
    return diffusion_keys(llama_shape("rnd1", h))
