import os
import sys

# `-m` puts the working directory first on `sys.path`; a repository may have its own `typer.py` there.
if not getattr(sys.flags, "safe_path", False) and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from dllint.cli import main

main()
