"""Move directories that an overlay in a user namespace cannot move: copy them, as `mv` and `shutil.move` do.

The kernel allows the rename of an existing directory by reference only if the overlay may write trusted attributes;
otherwise it fails with EXDEV (overlayfs.rst, "redirect_dir").
"""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def hook() -> None:
    """Replace `os.rename` and `os.replace`."""
    for name in ("rename", "replace"):
        made = _moving(name)
        if getattr(os, name) in os.supports_dir_fd:
            os.supports_dir_fd.add(made)
        setattr(os, name, made)


def _moving(name: str) -> Any:
    original = getattr(os, name)

    def move(src: Any, dst: Any, **kwargs: Any) -> None:
        try:
            return original(src, dst, **kwargs)  # type: ignore[no-any-return]
        except OSError as error:
            plain = all(one is None for one in kwargs.values())
            if error.errno != errno.EXDEV or not plain or os.path.islink(src) or not os.path.isdir(src):
                raise
        import shutil

        # A directory may replace only an empty directory (rename(2)).
        if os.path.lexists(dst):
            os.rmdir(dst)
        shutil.copytree(src, dst, symlinks=True)
        shutil.rmtree(src)
        return None

    move.__name__ = move.__qualname__ = name
    move.__module__ = original.__module__
    move.__doc__ = original.__doc__
    return move
