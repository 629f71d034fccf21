"""Compares the tool with Hugging Face's own library, both ways, on models with random weights.

    pip install torch transformers
    python3 tests/parity/hugging_face.py build/release/bin/gradus

There:  transformers saves a model of each architecture; `gradus generate` writes with it and hands out its logits.
Back:   `gradus convert` makes each of them a folder of ours and that a Hugging Face folder again, which transformers loads.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch
import transformers

TOLERANCE = 1e-4  # of logits around 5, in float
PROMPT = "The quick brown fox jumps over the lazy dog, and"
SIZES = dict(vocab_size=256, hidden_size=64, intermediate_size=100, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=128, bos_token_id=1, eos_token_id=2)
GPT2 = dict(vocab_size=256, n_embd=64, n_layer=3, n_head=4, n_positions=128, bos_token_id=1, eos_token_id=2)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=32)
CASES = {
    "llama": ("Llama", {**SIZES, "tie_word_embeddings": True}),
    "llama, untied": ("Llama", {**SIZES, "tie_word_embeddings": False, "rope_theta": 5e5}),
    "llama, linear": ("Llama", {**SIZES, "rope_scaling": {"type": "linear", "factor": 2.0}}),
    "llama, llama3": ("Llama", {**SIZES, "rope_scaling": LLAMA3}),
    "llama, yarn": ("Llama", {**SIZES, "max_position_embeddings": 32, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}),
    "mistral": ("Mistral", {**SIZES, "sliding_window": None}),
    "qwen2": ("Qwen2", {**SIZES, "use_sliding_window": False}),
    "qwen3": ("Qwen3", {**SIZES, "head_dim": 16}),
    "gpt2": ("GPT2", GPT2),
    "gpt2, exact gelu": ("GPT2", {**GPT2, "activation_function": "gelu"}),
}


def random_model(architecture, settings):
    causal = "LMHeadModel" if architecture == "GPT2" else "ForCausalLM"
    model = getattr(transformers, architecture + causal)(getattr(transformers, architecture + "Config")(**settings))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            gain = name.endswith("weight") and ("norm" in name or "ln_" in name)
            parameter.copy_(torch.randn_like(parameter) * 0.15 + (1 if gain else 0))
    model.tie_weights()
    return model.eval()


def run(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def difference(tool, ours, theirs, scratch):
    """The largest one between the logits of the tool's new tokens and those of a folder that transformers loads."""
    lines = run(tool, "generate", "--model", ours, "--tokenizer", "bytes", "--prompt", PROMPT, "--tokens", 60, "--temperature", 0,
                "--ignore-end", "--dump-ids", "--dump-logits", scratch / "logits").splitlines()
    prompt, new = [[int(word) for word in line.split()] for line in lines[:2]]
    logits = numpy.fromfile(scratch / "logits", dtype=numpy.float32).reshape(len(new), -1)
    model = transformers.AutoModelForCausalLM.from_pretrained(theirs, torch_dtype=torch.float64).eval()
    with torch.no_grad():
        expected = model(torch.tensor([prompt + new])).logits[0, len(prompt) - 1:-1].numpy()
    return abs(logits - expected).max()


def main(tool):
    transformers.logging.set_verbosity_error()
    torch.manual_seed(1)
    worst = 0
    print(f"{'':20} {'there':>9} {'and back':>9}")
    for name, (architecture, settings) in CASES.items():
        if not hasattr(transformers, architecture + "Config"):
            print(f"{name:20} transformers {transformers.__version__} does not have it")
            continue
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            random_model(architecture, settings).save_pretrained(scratch / "theirs")
            there = difference(tool, scratch / "theirs", scratch / "theirs", scratch)
            worst = max(worst, there)
            if architecture == "GPT2":
                print(f"{name:20} {there:9.1e}")
                continue
            run(tool, "convert", scratch / "theirs", scratch / "ours", "--to", "gradus", "--tokenizer", "bytes")
            run(tool, "convert", scratch / "ours", scratch / "back", "--to", "hf")
            back = difference(tool, scratch / "ours", scratch / "back", scratch)
            worst = max(worst, back)
            print(f"{name:20} {there:9.1e} {back:9.1e}")
    return 0 if worst < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
