"""The Dockerfile, read and built without a container engine: its steps run as scripts in bare roots of Debian."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "Dockerfile"
SUITE = "trixie"
"""The release that the Dockerfile begins from, in its slim form: the nearest that debootstrap makes is minbase."""
TRUSTED = "usr/local/share/ca-certificates"
"""In a root: whom a machine trusts besides those whom Debian does."""
AROUND = {"DEBIAN_FRONTEND": "noninteractive", "NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt"}

ENTER = """
set -e
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /dev dev
mkdir -p .outside
pivot_root . .outside
umount -l /.outside
rmdir /.outside
exec "$@"
"""
"""Runs words with a folder as their root. In a chroot the kernel forbids a sandbox its namespaces."""


class Stage(NamedTuple):
    """One `FROM` of a Dockerfile, and what follows."""

    parent: str
    steps: tuple[tuple[str, str], ...]
    """Instructions with what they are given, in order."""


def read_stages(text: str) -> dict[str, Stage]:
    """Read the stages of a Dockerfile, as far as ours needs the language; an unknown instruction is a fault."""
    stages: dict[str, Stage] = {}
    for line in _join_lines(text):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            parent, _, name = rest.partition(" AS ")
            stages[name] = Stage(parent, ())
        else:
            assert word in ("RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT"), line
            stages[name] = Stage(stages[name].parent, (*stages[name].steps, (word, rest)))
    return stages


def _join_lines(text: str) -> Iterator[str]:
    whole = ""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            whole += line.removesuffix("\\")
            if not line.endswith("\\"):
                yield whole
                whole = ""


class Image:
    """A stage in a folder: its files, and what the steps so far say of whatever runs in it."""

    def __init__(self, root: Path, environment: dict[str, str], user: str = "root", folder: str = "/") -> None:
        self.root = root
        self.environment = environment
        self.user = user
        self.folder = folder

    def run(self, script: str) -> str:
        """Run a script as a container would, and return what it prints.

        Raises:
            AssertionError: it failed; the message ends with what it printed.
        """
        users = [line.split(":") for line in (self.root / "etc/passwd").read_text().splitlines()]
        ((uid, gid, home),) = ((each[2], each[3], each[5]) for each in users if each[0] == self.user)
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", str(self.root)]
        become = ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups"]
        done = subprocess.run(
            [*enter, *become, "sh", "-c", f'cd "{self.folder}" && {script}'],
            env={**AROUND, **self.environment, "HOME": home},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout[-5000:]}\nexit code {done.returncode}"
        return done.stdout


class Builder:
    """Builds stages of the Dockerfile in folders of `work`; takes root, debootstrap, a network and minutes."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.stages = read_stages(DOCKERFILE.read_text())
        self.built: dict[str, Image] = {}

    def build(self, name: str) -> Image:
        """Build a stage, and before it all that it needs."""
        if name not in self.built:
            self.built[name] = self._follow_steps(name) if name in self.stages else self._make_bare_root(name)
        return self.built[name]

    def _follow_steps(self, name: str) -> Image:
        stage = self.stages[name]
        parent = self.build(stage.parent)
        image = Image(self.work / name, dict(parent.environment), parent.user, parent.folder)
        _copy(parent.root, image.root)
        for word, rest in stage.steps:
            print(f"{name}: {word} {' '.join(rest.split())}", flush=True)
            if word == "RUN":
                image.run(rest)
            elif word == "COPY":
                source, target = rest.removeprefix("--from=").rsplit(maxsplit=1)
                self._copy_into(source.split(), image.root / target.removeprefix("/"))
            elif word == "ENV":
                key, _, value = rest.partition("=")
                image.environment[key] = value.replace(f"${key}", image.environment.get(key, ""))
            elif word == "USER":
                image.user = rest
            elif word == "WORKDIR":
                image.folder = rest
        return image

    def _copy_into(self, source: list[str], target: Path) -> None:
        if source == ["."]:  # what `git archive HEAD` holds
            target.mkdir()
            archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
            subprocess.run(["tar", "--extract", "--directory", target], input=archive.stdout, check=True)
        else:
            stage, path = source
            _copy(self.build(stage).root / path.removeprefix("/"), target)

    def _make_bare_root(self, name: str) -> Image:
        assert name == f"debian:{SUITE}-slim"
        root = self.work / "bare"
        print(f"debootstrap {SUITE}", flush=True)
        subprocess.run(["debootstrap", "--variant=minbase", SUITE, root], stdout=subprocess.DEVNULL, check=True)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        if (here := Path("/") / TRUSTED).is_dir():
            shutil.copytree(here, root / TRUSTED)
        return Image(root, {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--archive", source, target], check=True)
