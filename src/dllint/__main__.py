import os
import sys

# `-m` puts the working directory first, where a repository may have a `typer.py` of its own.
if not getattr(sys.flags, "safe_path", False) and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from dllint.cli import main

main()
