"""Isolates a run from the user's files, and leaves nothing behind when dllint itself is killed.

Terms:
    layer: an overlay of the file system over one directory. The program reads the directory's files through it; its
        writes, renames and deletions go to the layer's own *upper* directory.
    vault: a directory of the run that contains uppers. The kernel refuses a layer whose upper is inside the directory
        that it covers, so a run has several vaults.
    guard: a process that ends the rest of the run, and removes its directories, when dllint dies.

`enter.py` is the program that dllint starts instead of the user's: it starts the guard, covers the file system in its
own mount namespace (overlayfs(5), mount_namespaces(7), user_namespaces(7)), and becomes the user's program. It needs no
privileges if the kernel allows user namespaces. `enter`, `mounts` and `guard` import only the standard library, because
they run in a bare interpreter.
"""
