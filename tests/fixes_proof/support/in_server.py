"""Loaded by the fork server: its processes write where their program writes, and start theirs from the same server."""

import gc
import multiprocessing.context
from multiprocessing import spawn

import preloaded

_prepare = spawn.prepare


def prepare(data):
    preloaded.write_beside(data["dir"])
    _prepare(data)


spawn.prepare = prepare
contexts = multiprocessing.context._concrete_contexts
contexts["spawn"] = contexts["forkserver"]
preloaded.reuse_the_server()
gc.freeze()
