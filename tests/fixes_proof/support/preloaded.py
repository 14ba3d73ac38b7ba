"""What processes of `runner.py` and of its fork server need to find each other."""

import os
from multiprocessing import forkserver

ADDRESS = os.environ["DLLINT_PROOF_ADDRESS"]


def share_address(address):
    with open(ADDRESS, "w") as stream:
        stream.write(address)


def reuse_the_server():
    """A process that did not start the server cannot wait for it, and need not start one of its own: it runs."""

    def ensure_running(self):
        if self._forkserver_address is None:
            with open(ADDRESS) as stream:
                self._forkserver_address = stream.read()

    forkserver.ForkServer.ensure_running = ensure_running
    forkserver.ensure_running = forkserver._forkserver.ensure_running


def write_beside(directory):
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(os.path.join(directory, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, number)
        os.close(file)
