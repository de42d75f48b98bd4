"""Two processes on one machine that do the same, as ``torchrun`` starts them, for the scripts beside this one."""

import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def answer_of_two_ranks(step: Callable[[], Any]) -> Any:
    """Run ``step`` on two ranks with gloo and return what it gives on the first (what a pipe can carry)."""
    answers = mp.get_context("fork").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(_rank, (f"{folder}/store", step, answers), nprocs=2, start_method="fork")
    return answers.get()


def _rank(number: int, store: str, step: Callable[[], Any], answers: mp.SimpleQueue) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(store, 2), rank=number, world_size=2)
    answer = step()
    if number == 0:
        answers.put(answer)
    dist.barrier()
    dist.destroy_process_group()
