"""Covers every directory that a program could write to with a layer, in the mount namespace of this process.

What cannot be covered becomes read-only, so that nothing is silently unprotected. Not covered are devices, procfs and
sysfs, /run, whose sockets must stay connected, and the directories that the caller shares with the program.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT = 1, 2, 4, 8, 32
_NOATIME, _NODIRATIME, _BIND, _REC, _SLAVE, _RELATIME = 1024, 2048, 4096, 16384, 1 << 19, 1 << 21
_FLAGS = {
    "nosuid": _NOSUID,
    "nodev": _NODEV,
    "noexec": _NOEXEC,
    "noatime": _NOATIME,
    "nodiratime": _NODIRATIME,
    "relatime": _RELATIME,
}

KEPT = ("/dev", "/proc", "/sys", "/run")
"""Trees that are not covered: they contain devices and sockets, and no files of the user."""
MEMORY = "/dev/shm"
"""Shared memory gets a layer in memory, as large as the free space: its leftovers disappear with the run."""
_MOST_LAYERS = 200
_MOST_SOCKETS = 100

_libc = ctypes.CDLL(None, use_errno=True)


class Uncovered(Exception):
    """A directory that the program must be able to write to cannot be covered; the message gives the reason."""


class Mounted:
    """A mount point: its path, its file system type, and its flags for mount(2)."""

    def __init__(self, path: str, kind: str, options: Iterable[str]) -> None:
        self.path = path
        self.kind = kind
        self.read_only = "ro" in options
        self.flags = sum(flag for name, flag in _FLAGS.items() if name in options)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Call mount(2).

    Raises:
        OSError: the kernel refuses; the file name is the target.
    """
    words = [None if one is None else os.fsencode(one) for one in (source, target, kind, data)]
    if _libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def unshare(flags: int) -> None:
    """Call unshare(2).

    Raises:
        OSError: the kernel refuses.
    """
    if _libc.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Owned:
    """The parts of the needed directories that belong to the running user; determined outside the namespace.

    Attributes:
        roots: where separate layers must begin, below a directory that another user owns. A change in a directory
            copies the directory with its owner to the upper one, which fails for owners unknown to the namespace; the
            root of a layer is not copied.
        foreign: a writable directory inside a needed one that belongs to another user or group; "" if there is none.
    """

    def __init__(self, needed: Iterable[str]) -> None:
        found = set()
        self.foreign = ""
        for path in needed:
            root = os.path.realpath(path)
            while os.path.dirname(root) != "/" and _is_ours(root):
                above = os.path.dirname(root)
                if above == "/" or not _is_ours(above):
                    break
                root = above
            if os.path.dirname(root) != "/":
                found.add(root)
            if not _is_public(path):
                self.foreign = self.foreign or _foreign(path)
        self.roots = sorted(found, key=len)


def own_namespaces(network: bool, needed: Sequence[str]) -> Owned | None:
    """Enter a new mount namespace, through a user namespace if necessary.

    The program keeps its user id. `network` says whether it keeps the network; otherwise only loopback is left.

    Returns:
        What belongs to the user, if there is a user namespace, in which files of other users cannot be changed; else
        `None`.

    Raises:
        OSError: the kernel does not allow it.
    """
    wanted = CLONE_NEWNS | (0 if network else CLONE_NEWNET)
    user, group = os.geteuid(), os.getegid()
    try:
        unshare(wanted)
        owned = None
    except PermissionError:
        owned = Owned(needed)
        unshare(wanted | CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    mount("none", "/", None, _REC | _SLAVE)
    if not network:
        _loopback()
    return owned


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _loopback() -> None:
    """Bring up `lo`, which distributed training on one machine needs (netdevice(7), SIOCSIFFLAGS)."""
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1 | 64))


def read_mounts() -> dict[str, Mounted]:
    """Return the mount points of this namespace by path, from proc_pid_mountinfo(5)."""
    found: dict[str, Mounted] = {}
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            first, _, last = line.rstrip("\n").partition(" - ")
            fields, behind = first.split(" "), last.split(" ")
            path = re.sub(r"\\([0-7]{3})", lambda one: chr(int(one[1], 8)), fields[4])
            options = {*fields[5].split(","), *(one for one in behind[-1].split(",") if one == "ro")}
            found[path] = Mounted(path, behind[0], options)
    return found


def is_below(path: str, directory: str) -> bool:
    """Whether a path is a directory or lies inside it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


class Cover:
    """Covers every writable directory with an overlay, so that the program's writes stay behind it.

    Args:
        vaults: existing directories in which uppers are created, the best first.
        needed: directories that the program must still be able to write to.
        shared: directories that the program's writes must reach.
        owned: what belongs to the user, if this is a user namespace.
    """

    def __init__(
        self, vaults: Sequence[str], needed: Sequence[str], shared: Sequence[str], owned: Owned | None
    ) -> None:
        self.mounts = read_mounts()
        self.vaults = [(one, os.open(one, os.O_RDONLY | os.O_DIRECTORY)) for one in vaults]
        self.needed = list(needed)
        self.shared = list(shared)
        self.owned = owned
        self.mapped = owned is not None
        self.layers: list[tuple[str, int]] = []
        self.read_only: list[str] = []
        self.held: dict[str, int] = {}
        self.in_memory = False

    def run(self) -> None:
        """Cover everything, and check that the program can write where it must.

        Raises:
            Uncovered: it cannot.
            OSError: the kernel refuses.
        """
        writable = [one for one in self.needed if os.access(one, os.W_OK)]
        for path in (*self.mounts, *self.shared, *_sockets(), *self._own_roots()):
            if path not in self.held and not self._is_kept(path):
                try:
                    self.held[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
                except OSError:
                    continue
        if os.path.isdir(MEMORY):
            self._cover_memory()
        self._cover("/")
        for path in self._own_roots():
            if path in self.held and all(path != one for one, _ in self.layers):
                self._layer(path, self.held[path])
        for path in self.shared:
            if path in self.held and self._is_layered(path):
                mount(_by(self.held[path]), path, None, _BIND | _REC)
        for path in _sockets():
            if path in self.held and self._is_layered(path):
                # The process that listens may remove it at any moment.
                with contextlib.suppress(FileNotFoundError):
                    mount(_by(self.held[path]), path, None, _BIND | _REC)
        for path in self.read_only:
            # A remount must repeat the existing flags (mount(2)).
            mount(None, path, None, _REMOUNT | _BIND | _RDONLY | self.mounts[path].flags)
        for path in writable:
            self._check(path)
        if self.owned is not None and self.owned.foreign:
            raise Uncovered(f"{self.owned.foreign} belongs to another group, which a user namespace cannot keep")

    def _is_kept(self, path: str) -> bool:
        return any(is_below(path, one) for one in KEPT) and not is_below(path, MEMORY)

    def _is_layered(self, path: str) -> bool:
        return any(is_below(path, one) for one, _ in self.layers)

    def _inner(self, path: str) -> list[Mounted]:
        """Return the mounts strictly inside a directory."""
        return [one for place, one in self.mounts.items() if place != path and is_below(place, path)]

    def _cover(self, path: str) -> None:
        """Cover a directory with everything in it."""
        if self._is_kept(path):
            return
        here = self.mounts.get(path)
        inner = self._inner(path)
        if here is not None and here.read_only and not inner:
            return
        if path != "/" and (not inner or not self.mapped) and len(self.layers) < _MOST_LAYERS:
            if here is not None and not stat.S_ISDIR(os.stat(path).st_mode):
                self._forbid(path)
                return
            if self._layer(path, self.held.get(path, -1)):
                for one in sorted(inner, key=lambda mounted: mounted.path):
                    # The layer hides the mounts inside: bind them again, with layers of their own.
                    if not self._is_kept(one.path) and one.path in self.held and os.path.lexists(one.path):
                        mount(_by(self.held[one.path]), one.path, None, _BIND)
                        if not one.read_only:
                            self._cover_mount(one.path)
                return
            if here is None:
                raise Uncovered(f"{path} cannot be covered by an overlay")
        # Each directory inside gets its own layer; files beside them, and the directory itself, become read-only.
        if inner:
            for name in sorted(os.listdir(path)):
                place = os.path.join(path, name)
                if not os.path.islink(place) and (os.path.isdir(place) or place in self.mounts):
                    self._cover(place)
        if here is not None and not here.read_only:
            self._forbid(path)

    def _cover_mount(self, path: str) -> None:
        if not os.path.isdir(path) or not self._layer(path, self.held[path]):
            self._forbid(path)

    def _forbid(self, path: str) -> None:
        """Mark a mount as read-only, for when nothing else is bound from it."""
        if path not in self.read_only:
            self.read_only.append(path)

    def _layer(self, path: str, lower: int) -> bool:
        """Cover a directory with a layer; returns False if no vault is suitable."""
        own = lower < 0
        if own:
            try:
                lower = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                return False
        try:
            usual = [(place, vault) for place, vault in self.vaults if not is_below(place, path)]
            for _, vault in usual:
                if self._mounted(path, lower, vault):
                    return True
            if self._mounted(path, lower, self._tmpfs("50%")):
                self.in_memory = True
                return True
            return False
        finally:
            if own:
                os.close(lower)

    def _mounted(self, path: str, lower: int, vault: int) -> bool:
        name = f"{len(self.layers)}-{len(self.held)}-{os.urandom(4).hex()}"
        os.mkdir(name, 0o700, dir_fd=vault)
        os.mkdir(f"{name}/upper", 0o700, dir_fd=vault)
        os.mkdir(f"{name}/work", 0o700, dir_fd=vault)
        upper = os.open(f"{name}/upper", os.O_RDONLY | os.O_DIRECTORY, dir_fd=vault)
        work = os.open(f"{name}/work", os.O_PATH | os.O_DIRECTORY, dir_fd=vault)
        like = os.stat(_by(lower))
        if not self.mapped:
            os.chown(upper, like.st_uid, like.st_gid)
        os.chmod(upper, stat.S_IMODE(like.st_mode))
        # In a user namespace the kernel uses user.* attributes, and directories cannot be moved by reference.
        extra = ",userxattr" if self.mapped else ",redirect_dir=on"
        # The paths of these descriptors stay valid whatever is mounted over the originals.
        data = f"lowerdir={_by(lower)},upperdir={_by(upper)},workdir={_by(work)}{extra}"
        flags = self._flags(path)
        try:
            mount("overlay", path, "overlay", flags, data)
        except OSError:
            os.close(upper)
            os.rmdir(f"{name}/work", dir_fd=vault)
            os.rmdir(f"{name}/upper", dir_fd=vault)
            os.rmdir(name, dir_fd=vault)
            return False
        finally:
            os.close(work)
        self.layers.append((path, upper))
        return True

    def _flags(self, path: str) -> int:
        """Return the security-relevant flags of the mount that contains a path."""
        on = max((one for one in self.mounts if is_below(path, one)), key=len, default="/")
        return self.mounts[on].flags & (_NOSUID | _NODEV | _NOEXEC)

    def _tmpfs(self, size: str) -> int:
        """Return a directory in memory, mounted inside a vault."""
        name = f"memory-{os.urandom(4).hex()}"
        vault = self.vaults[0][1]
        os.mkdir(name, 0o700, dir_fd=vault)
        place = f"{_by(vault)}/{name}"
        mount("tmpfs", place, "tmpfs", _NOSUID | _NODEV, f"size={size},mode=700")
        return os.open(place, os.O_RDONLY | os.O_DIRECTORY)

    def _cover_memory(self) -> None:
        free = os.statvfs(MEMORY)
        here = self.mounts.get(MEMORY)
        if here is None or here.read_only:
            return
        size = str(max(free.f_bavail * free.f_frsize, 1 << 20))
        if not self._mounted(MEMORY, self.held[MEMORY], self._tmpfs(size)):
            self._forbid(MEMORY)

    def _own_roots(self) -> list[str]:
        roots = self.owned.roots if self.owned is not None else []
        return [one for one in roots if not self._is_kept(one) and not self._inner(one)]

    def _check(self, path: str) -> None:
        """Check that the program can still write to a directory.

        Raises:
            Uncovered: it cannot.
        """
        probe = os.path.join(path, f".dllint-{os.urandom(6).hex()}")
        try:
            os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(probe)
        except OSError as error:
            raise Uncovered(f"{path} could not be written to in it: {error.strerror}") from None


def _by(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _is_ours(path: str) -> bool:
    about = os.lstat(path)
    return about.st_uid == os.geteuid() and about.st_gid == os.getegid()


def _foreign(directory: str, most: int = 2000) -> str:
    """Return a writable directory inside `directory` that belongs to another user or group; "" if there is none."""
    waiting = [directory]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    most -= 1
                    if most < 0:
                        return ""
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        # Programs may remove their directories meanwhile.
                        with contextlib.suppress(FileNotFoundError):
                            if not _is_ours(entry.path) and os.access(entry.path, os.W_OK):
                                return entry.path
        except OSError:
            continue
    return ""


def _is_public(path: str) -> bool:
    """Whether everybody may write to a directory, such as the one for temporary files."""
    return bool(os.stat(path).st_mode & stat.S_ISVTX)


def _sockets() -> list[str]:
    """Return the named sockets: a layer would cut their connections (unix(7))."""
    found = []
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                path = line.rstrip("\n").split(" ", 7)[-1].strip()
                if path.startswith("/") and not any(is_below(path, one) for one in KEPT):
                    found.append(path)
    except OSError:
        pass
    return [one for one in dict.fromkeys(found) if os.path.lexists(one)][:_MOST_SOCKETS]
