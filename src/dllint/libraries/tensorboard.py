"""Writers of TensorBoard's logs: torch 2.13 with tensorboard 2.21, and tensorboardX 2.6.

Both were measured with CPython 3.11.7. A writer holds a queue and the thread that empties it
(`tensorboard/summary/writer/event_file_writer.py`, `_AsyncWriterThread`; `tensorboardX/event_file_writer.py`).
"""

from dllint.libraries.facets import Library
from dllint.libraries.pickling import LOCK, Refusal, always
from dllint.screen import Words

_WHAT = "a TensorBoard writer"
_QUEUE = always("RuntimeError: Queue objects should only be shared between processes through inheritance")

LIBRARY = Library(
    refusals={
        **dict.fromkeys(
            ("torch.utils.tensorboard.SummaryWriter", "torch.utils.tensorboard.writer.SummaryWriter"),
            Refusal(_WHAT, LOCK),
        ),
        "tensorboardX.SummaryWriter": Refusal(_WHAT, _QUEUE),
    },
    words=Words(nearby=(b"SummaryWriter",)),
)
