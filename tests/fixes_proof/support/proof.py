"""What the drivers of the programs measure and print."""

import hashlib
import os
import pickle

import torch

torch.set_printoptions(precision=20)


def digest(value):
    """Equal for equal bytes, whatever holds them."""
    if hasattr(value, "numpy"):
        value = value.detach().numpy()
    if hasattr(value, "tobytes"):
        return f"{value.dtype}{list(value.shape)}{hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    if isinstance(value, (list, tuple)):
        return [digest(one) for one in value]
    return repr(value)


def show(*values):
    print(*map(digest, values), flush=True)


def note(what):
    """Note that something happened, in whatever process."""
    with open("noted", "a") as stream:
        stream.write(f"{what}\n")


def cost(number):
    print("cost", number, flush=True)


def noted():
    try:
        with open("noted") as stream:
            return len(stream.readlines())
    except FileNotFoundError:
        return 0


def status_kib(process, field):
    with open(f"/proc/{process}/status") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith(field + ":"))


def threads(iterator):
    """The most threads that a worker has."""
    return max(len(os.listdir(f"/proc/{worker.pid}/task")) for worker in iterator._workers)


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def pickled(value):
    return len(pickle.dumps(value))
