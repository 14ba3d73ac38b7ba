"""The records of an instrumented run: one JSON object per line, one file per process.

A process appends each record to `<directory>/<pid>-<start>.jsonl` at once, by a single write, so that nothing recorded
is lost however it ends. Every record has its `kind`, the process (`pid`) and the time (`t`, seconds since the epoch);
the dataclasses below describe the other fields of each kind; a record may omit fields with defaults. Fields that are
`None` are unknown. Sizes are bytes, durations seconds. A site is the place of a call in the user's own files:

    {"kind": "process", "pid": 70, "t": 1700000000.1, "ppid": 69, "role": "main", "argv": ["train.py"]}
    {"kind": "launch", "pid": 70, "t": 1700000001.2, "api": "DataLoader", "method": "fork", "daemon": true, "child": 83,
     "site": {"path": "/home/me/train.py", "line": 30, "column": 18, "end_line": 30, "end_column": 24}}
    {"kind": "loader", "pid": 70, "t": 1700000001.0, "loader": "70.1", "cls": "torch.utils.data.DataLoader",
     "arguments": {"num_workers": 2, "batch_size": 8}, "dataset": "data.Recordings", "method": null}
    {"kind": "iteration", "pid": 70, "t": 1700000001.1, "loader": "70.1", "number": 0, "method": "fork"}
    {"kind": "worker", "pid": 83, "t": 1700000001.3, "loader": "70.1", "worker": 0, "workers": 2, "seconds": 0.02}
    {"kind": "sample", "pid": 83, "t": 1700000001.9, "moment": "first batch", "loader": "70.1", "uss": 9437184}
    {"kind": "epoch", "pid": 70, "t": 1700000002.5, "loader": "70.1", "number": 0, "batches": 16, "cut": true,
     "wait": 0.4, "step": 1.1}
    {"kind": "save", "pid": 70, "t": 1700000002.6, "api": "torch.save", "path": "/home/me/a.pt", "to": "/tmp/…/a.pt"}
    {"kind": "end", "pid": 70, "t": 1700000002.7, "exit": 1, "exception": "RuntimeError", "by": "itself"}

A loader's name, `"70.1"`, is the pid of the process that built it and a counter; a forked or spawned process that
iterates the loader keeps the name.

Reading is lenient, because a run can be killed while it writes: a truncated or incomplete record is skipped and
counted, and unknown kinds and fields are ignored.
"""

from dllint.observation.loaders import (
    Batch,
    Epoch,
    Iteration,
    Kept,
    Loader,
    Outcome,
    Progress,
    Stage,
    Storages,
    Trial,
    Worker,
)
from dllint.observation.measures import Attributes, Cuda, Draw, Handle, Item, Limits, Moment, Replica, Sample, Threads
from dllint.observation.processes import (
    Blind,
    End,
    Enough,
    Feeder,
    Launch,
    Line,
    Process,
    Role,
    Save,
    Stack,
    Throwaway,
    Trouble,
    Upload,
    Uploader,
)
from dllint.observation.reading import STACKS, SUFFIX, Observation, read, read_lines
from dllint.observation.record import KINDS, Record, Site

__all__ = [
    "KINDS",
    "STACKS",
    "SUFFIX",
    "Attributes",
    "Batch",
    "Blind",
    "Cuda",
    "Draw",
    "End",
    "Enough",
    "Epoch",
    "Feeder",
    "Handle",
    "Item",
    "Iteration",
    "Kept",
    "Launch",
    "Limits",
    "Line",
    "Loader",
    "Moment",
    "Observation",
    "Outcome",
    "Process",
    "Progress",
    "Record",
    "Replica",
    "Role",
    "Sample",
    "Save",
    "Site",
    "Stack",
    "Stage",
    "Storages",
    "Threads",
    "Throwaway",
    "Trial",
    "Trouble",
    "Upload",
    "Uploader",
    "Worker",
    "read",
    "read_lines",
]
