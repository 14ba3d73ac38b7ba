"""Progress bars: tqdm, rich, alive-progress, fastprogress and progressbar2 (their documentation; accelerate and
datasets re-export tqdm's)."""

from dllint.libraries.facets import ALL, FIRST, FROM_SECOND, Iterates, LauncherApi, Library
from dllint.screen import Words

LIBRARY = Library(
    unsplit_packages=frozenset({"tqdm"}),
    aliases=dict.fromkeys(
        (
            *(f"tqdm.{part}.tqdm" for part in ("std", "auto", "autonotebook", "notebook", "rich", "asyncio", "gui")),
            *("tqdm.tqdm_notebook", "tqdm.notebook.tqdm_notebook", "accelerate.utils.tqdm", "datasets.utils.tqdm"),
            "transformers.utils.logging.tqdm",
        ),
        "tqdm.tqdm",
    ),
    iterates={
        **dict.fromkeys(
            (
                *("tqdm.tqdm", "rich.progress.track", "alive_progress.alive_it", "progressbar.progressbar"),
                *("fastprogress.progress_bar", "fastprogress.master_bar", "fastprogress.fastprogress.progress_bar"),
                "fastprogress.fastprogress.master_bar",
            ),
            Iterates(FIRST, "same"),
        ),
        "tqdm.contrib.tenumerate": Iterates(FIRST, "indexed"),
        "tqdm.contrib.tzip": Iterates(ALL, "zipped"),
        "tqdm.contrib.tmap": Iterates(FROM_SECOND, "other"),
        **dict.fromkeys(("mmcv.track_iter_progress", "mmengine.track_iter_progress"), Iterates(FIRST, "same")),
    },
    # tqdm/contrib/concurrent.py: a ProcessPoolExecutor, whatever the start method
    launchers={"tqdm.contrib.concurrent.process_map": LauncherApi("fn", ("fn",), args="zip", method="executor")},
    words=Words(launching=(b"process_map",)),
)
