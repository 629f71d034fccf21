#!/usr/bin/env python3
"""The same training step in PyTorch, for comparison: forward, backward, clipping and AdamW of the shakespeare preset.

    /usr/bin/python3 tests/bench/pytorch_step.py [--threads N] [--steps N]      (Debian: apt-get install python3-torch)

Prints milliseconds per step, the best of five rounds, as `bin/bench --benchmark_filter=training_step` does for ours.
"""
import argparse
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

V, C, L, H, T, B = 256, 128, 4, 4, 64, 12
D, HIDDEN = C // H, 384


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(C))

    def forward(self, x):
        return self.gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


def rope(x, cosine, sine):  # (B, H, T, D), half pairing
    first, second = x.chunk(2, -1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(), RMSNorm()
        self.query, self.key = nn.Linear(C, C, bias=False), nn.Linear(C, C, bias=False)
        self.value, self.output = nn.Linear(C, C, bias=False), nn.Linear(C, C, bias=False)
        self.gate, self.up = nn.Linear(C, HIDDEN, bias=False), nn.Linear(C, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, C, bias=False)

    def forward(self, x, cosine, sine, mask):
        n = self.norm1(x)
        q, k, v = (p(n).view(-1, T, H, D).transpose(1, 2) for p in (self.query, self.key, self.value))
        q, k = rope(q, cosine, sine), rope(k, cosine, sine)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(D) + mask).softmax(-1)
        x = x + self.output((weights @ v).transpose(1, 2).reshape(-1, T, C))
        n = self.norm2(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, C)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.layers = nn.ModuleList(Block() for _ in range(L))
        self.norm = RMSNorm()
        angles = torch.outer(torch.arange(T), 10000.0 ** (-2 * torch.arange(D // 2) / D))
        self.cosine, self.sine = angles.cos(), angles.sin()
        self.mask = torch.full((T, T), float("-inf")).triu(1)

    def forward(self, ids, targets):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, self.cosine, self.sine, self.mask)
        logits = self.norm(x) @ self.embedding.weight.T
        return F.cross_entropy(logits.view(-1, V), targets.view(-1))


parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=torch.get_num_threads())
parser.add_argument("--steps", type=int, default=40)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(1)
model = Decoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
ids, targets = torch.randint(V, (B, T)), torch.randint(V, (B, T))


def step():
    loss = model(ids, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


step()
rounds = []
for _ in range(5):
    start = time.perf_counter()
    for _ in range(options.steps):
        step()
    rounds.append((time.perf_counter() - start) / options.steps * 1e3)
print(f"torch {torch.__version__}, {options.threads} threads: {min(rounds):.2f} ms per step "
      f"(rounds {', '.join(f'{r:.2f}' for r in rounds)}), {B * T / min(rounds) * 1e3:.0f} tokens/s")
