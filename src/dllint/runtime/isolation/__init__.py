"""Keeps a run away from the user's files, and leaves nothing behind when dllint itself is killed.

Terms:
    layer: an overlay of the file system over one directory. The program reads the directory's files through it; what it
        writes, renames or deletes goes to the layer's own *upper* directory.
    vault: a directory of the run in which uppers lie. The kernel refuses a layer whose upper is inside the directory
        that it covers, so that a run has several vaults.
    guard: a process that ends what is left of the run, and removes its directories, when dllint dies.

`enter.py` is the program that dllint starts in the place of the user's: it starts the guard, covers the file system in
a mount namespace of its own (overlayfs(5), mount_namespaces(7), user_namespaces(7)), and becomes the user's program.
It needs no rights where the kernel allows user namespaces. `enter`, `mounts` and `guard` import the standard library
only, since they run in a bare interpreter.
"""
