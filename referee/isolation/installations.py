"""The files that a command needs besides its folder, and which of them a stranger's command may name.

A command that its organiser wrote may name any file. The command of a bot's folder names programs by what they are
called on the organiser's PATH, and files in the folder. A link in the folder may end outside of it only at a program
that the organiser's PATH leads to, or at another interpreter of the same installation, such as another version that
pyenv keeps; of what lies outside, a bot is shown only such installations.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

LONGEST_PATH = 4096
"""A longer word cannot be a path."""
LONGEST_CONFIG = 65_536
"""A longer `pyvenv.cfg` is ignored."""
MOST_LINKS = 40
"""As many as the kernel follows."""
_PYTHONS = ("python3", "python")
_PACKAGE = Path(__file__).parents[2]
"""Where `malice` is imported from."""


def list_installations(program: Path) -> Iterator[Path]:
    """List what a program must be able to read: itself and what it links to, each with its whole installation.

    A virtual environment that holds a copy of its interpreter, not a link, names the installation that it comes from.
    """
    path = program
    for path in _follow_links(Path(os.path.abspath(program))):
        yield _find_installation(path) or path
    if (real := _resolve(path)) != path:
        yield _find_installation(real) or real
    if (base := _find_original(real)) is not None:
        yield from list_installations(base)


def list_own_package(shown: Collection[Path]) -> list[Path]:
    """List what else a bot needs to import malice if it is shown the installation of Python that runs us.

    Of a checkout this is the package's folder, and those that its links lead to; an installed package lies within.
    """
    if Path(sys.prefix) not in shown or any(_PACKAGE.is_relative_to(path) for path in shown):
        return []
    return [_PACKAGE, *dict.fromkeys(_resolve(each) for each in _PACKAGE.iterdir() if each.is_symlink())]


def list_named(command: Sequence[str], program: Path, folder: Path) -> Iterator[Path]:
    """List what the organiser's own command needs: its program, and every other word that is a file.

    Args:
        command: as written.
        program: the file that its first word names.
        folder: where it starts.
    """
    yield from list_installations(program)
    for path in _list_files(command, folder):
        yield from list_installations(path) if _is_python(path) else [path]


def list_allowed(command: Sequence[str], program: Path, folder: Path, own: Sequence[Path]) -> Iterator[Path]:
    """List what the command of a bot's folder needs, as far as the bot may see it; other words are only text.

    Args:
        command: as written, with the interpreter for `{python}`.
        program: the file that its first word names.
        folder: where it starts.
        own: the folders that belong to the bot.

    Raises:
        PermissionError: its program is neither in its folders nor the organiser's, or links to such a one.
    """
    yield from list_allowed_program(program, own)
    for path in _list_files(command, folder):
        with suppress(PermissionError):
            if _is_python(path) or not is_inside(path, own):
                yield from list_allowed_program(path, own)
            else:
                yield path


def list_allowed_program(program: Path, own: Sequence[Path]) -> Iterator[Path]:
    """List what a program must be able to read if the command of a bot's folder names it.

    Args:
        program: the program, which may be a link.
        own: the folders that belong to the bot.

    Raises:
        PermissionError: it is neither in these folders nor the organiser's, or leads to such a one.
    """
    path = program
    for path in _follow_links(Path(os.path.abspath(program))):
        if not is_inside(path.parent, own):
            yield from _list_organisers(path)
            return
        installation = _find_installation(path)
        yield installation if installation and is_inside(installation, own, below=True) else path
    if (base := _find_original(_resolve(path))) is not None:
        yield from _list_organisers(base)


def is_inside(path: Path, own: Sequence[Path], *, below: bool = False) -> bool:
    """Tell whether a path leads, through all links, into one of these folders; `below`: to something in it."""
    real = os.path.realpath(path)
    homes = [os.path.realpath(home) for home in own]
    return any(real.startswith(os.path.join(home, "")) or (real == home and not below) for home in homes)


def list_outside(command: Sequence[str], folder: Path) -> list[Path]:
    """List the files outside of its folder that a command names, other than programs of an installation."""
    named = (path for path in _list_files(command, folder) if not _is_python(path))
    return [path for path in dict.fromkeys(named) if not is_inside(path, [folder])]


def names_file(word: str, folder: Path) -> bool:
    """Tell whether a word is the path of a file, as a command in a folder sees it."""
    return bool(word) and len(word) < LONGEST_PATH and os.path.isfile(folder / word)


def _list_organisers(program: Path) -> Iterator[Path]:
    """List the installations of a program outside of a bot's folder, link by link.

    Raises:
        PermissionError: the organiser's PATH does not lead to it, nor to an interpreter of the same installation.
    """
    for path in (*_follow_links(program), _resolve(program)):
        found = {_resolve_folder(each): each for each in _list_found((path.name, *_PYTHONS))}
        if (place := _resolve_folder(path)) in found:
            yield from list_installations(path)
            return
        known = {_resolve(each) for program in found.values() for each in list_installations(program)}
        if not any(place.is_relative_to(each) for each in (*known, *_list_uv_pythons())):
            raise PermissionError(errno.EACCES, "not in the bot's folder, and no program of the PATH", str(path))
        yield _find_installation(path) or path


def _resolve_folder(path: Path) -> Path:
    """Follow the links on the way to a file, but not the file itself, which may be one."""
    return Path(os.path.realpath(path.parent), path.name)


def _resolve(path: Path) -> Path:
    """Follow all links; a path that leads in a circle stays."""
    return Path(os.path.realpath(path))


def _list_found(names: Iterable[str]) -> Iterator[Path]:
    """List the programs of these names on the PATH, and the interpreter that runs us."""
    yield Path(sys.executable)
    for name in dict.fromkeys(names):
        for folder in os.get_exec_path():
            path = Path(os.path.abspath(folder), name)
            if path.is_file() and os.access(path, os.X_OK):
                yield path


def _list_uv_pythons() -> Iterator[Path]:
    """List where uv keeps its interpreters, which it puts on no PATH."""
    if chosen := os.environ.get("UV_PYTHON_INSTALL_DIR"):
        yield _resolve(Path(chosen))
    yield _resolve(Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share", "uv", "python"))


def _follow_links(path: Path) -> Iterator[Path]:
    """Yield a path, then what it links to, and so on."""
    for _ in range(MOST_LINKS):
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / os.readlink(path)))


def _find_installation(program: Path) -> Path | None:
    """Find the folder above `bin` where that is an installation, such as a virtual environment.

    A home directory is none, nor its `.local`. What lies directly in one, or in the root, is one only with a library:
    `~/.cargo` holds passwords, too.
    """
    above = program.parent.parent
    if program.parent.name not in ("bin", "shims") or above.name == ".local" or _holds_homes(above):
        return None
    if _holds_homes(above.parent) and not any((above / name).is_dir() for name in ("lib", "libexec")):
        return None
    return above


def _holds_homes(folder: Path) -> bool:
    """Tell whether a folder is somebody's home directory, or one above it."""
    return folder in (Path("/"), Path("/home"), Path("/root"), Path.home()) or folder.parent == Path("/home")


def _find_original(program: Path) -> Path | None:
    """The interpreter that a virtual environment copied to `program`, if it is such a copy.

    A bot may bring the file that names it, so the result is only ever an installation of Python.
    """
    settings = dict(line.split(" = ", 1) for line in _read_config(program.parent.parent) if " = " in line)
    original = Path(settings.get("home", ""), program.name)
    return original if original.is_absolute() and _is_installed(original) else None


def _read_config(environment: Path) -> list[str]:
    """Read the lines of `pyvenv.cfg`, none if there is no such file; nothing but a file is opened."""
    with suppress(OSError, ValueError):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(environment / "pyvenv.cfg", flags), "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                content = file.read(LONGEST_CONFIG + 1)
                return content.decode("utf-8", "replace").splitlines() if len(content) <= LONGEST_CONFIG else []
    return []


def _is_python(program: Path) -> bool:
    """Whether a program is an interpreter of an installation, or of a virtual environment."""
    return _is_installed(program) or (program.parent.name == "bin" and (program.parents[1] / "pyvenv.cfg").is_file())


def _is_installed(program: Path) -> bool:
    return program.parent.name == "bin" and any(program.parents[1].glob("lib/python3*/os.py"))


def _list_files(command: Iterable[str], folder: Path) -> list[Path]:
    """List the words of a command, after the first, that are files."""
    return [Path(os.path.abspath(folder / word)) for word in list(command)[1:] if names_file(word, folder)]
