"""Runs plugins of one tree, each as a process of its own, in worlds that scenarios.py makes up.

The tree is an argument: the old one when a recording is made, the current one in the test. So both run the
same commands in the same worlds. Each line on standard input asks for one run, each line on standard output
answers:

    {"scenario": NAME, "run": NUMBER, "words": [...], "state": {FILE: CONTENT}}
    {"status": NUMBER, "output": TEXT, "state": {FILE: CONTENT}}

{} asks for a list of the scenarios.
``state`` is what is in the state directory, before and after the run. What differs from one run on the same
machine to the next has a name instead: {folder} is where the plugin runs, <inode of FILE> is of a file below
it, <digest of FILE> of a certificate.
"""

import ast
import fcntl
import gc
import hashlib
import json
import os
import re
import runpy
import ssl
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path

STATE = "state"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
GENERATION = 0x80087601  # FS_IOC_GETVERSION of Linux
KEY = re.compile(r"([0-9a-f]+)(\.[0-9a-f]+\.[0-9a-f]+)")  # inode, size and time of a file of a backup
NAMED = re.compile(r"<(inode|birth|hex inode|digest) of ([^>]+)>")


class Files:
    """The numbers of the files below a folder. ``moved`` are new names of files by their old ones."""

    def __init__(self, folder, moved=()):
        self.folder = os.path.realpath(folder)
        self.moved = dict(moved)
        below = (path for path in Path(folder).rglob("*") if path.is_file() and STATE not in path.parts)
        self.names = {path.stat().st_ino: str(path.relative_to(folder)) for path in below}
        self.digests = {digest(path): path.name for path in Path(folder).glob("*.pem")}

    def named(self, value):
        """JSON as it is recorded, with names for numbers."""
        if isinstance(value, dict):
            told = {self._named_text(name): self.named(one) for name, one in value.items()}
            if value.get("inode") in self.names:
                name = self.names[value["inode"]]
                told |= {"inode": f"<inode of {name}>", "birth": f"<birth of {name}>"}
            return told
        if isinstance(value, list):
            return [self.named(one) for one in value]
        return self._named_text(value) if isinstance(value, str) else value

    def _named_text(self, text):
        key = KEY.fullmatch(text)
        if key and int(key[1], 16) in self.names:
            return f"<hex inode of {self.names[int(key[1], 16)]}>{key[2]}"
        if text in self.digests:
            return f"<digest of {self.digests[text]}>"
        return text.replace(self.folder, "{folder}")

    def numbered(self, value):
        """Recorded JSON as a plugin is to find it in this folder."""
        if isinstance(value, dict):
            return {self._numbered_text(name): self.numbered(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.numbered(one) for one in value]
        if not isinstance(value, str):
            return value
        whole = NAMED.fullmatch(value)
        return self._number(*whole.groups()) if whole else self._numbered_text(value)

    def _numbered_text(self, text):
        text = NAMED.sub(lambda found: str(self._number(*found.groups())), text)
        return text.replace("{folder}", self.folder)

    def _number(self, what, name):
        path = os.path.join(self.folder, self.moved.get(name, name))
        if not os.path.exists(path):
            return 1  # of a file that is gone
        if what == "birth":
            return birth(path)
        if what == "digest":
            return digest(Path(path))
        inode = os.stat(path).st_ino
        return inode if what == "inode" else f"{inode:x}"


def digest(path):
    """Of a certificate."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(path.read_text())).hexdigest()


def birth(path):
    """The number that a file system gives a file besides its inode; 0: it gives none."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return struct.unpack("=I", fcntl.ioctl(descriptor, GENERATION, bytes(8))[:4])[0]
    except OSError:
        return 0
    finally:
        os.close(descriptor)


def kept(folder):
    """What is in the state directory: JSON by the names of files; None: a lock."""
    found = {}
    for path in sorted((folder / STATE).glob("*")):
        assert path.stat().st_mode & 0o777 == 0o600, f"{path.name} has the mode {path.stat().st_mode:o}"
        text = path.read_text()
        found[path.name] = json.loads(text) if text else None
    return found


def keep(folder, state):
    """Write what an earlier run kept."""
    (folder / STATE).mkdir(mode=0o700)
    for name, content in state.items():
        path = folder / STATE / name
        path.touch(mode=0o600)
        path.write_text("" if content is None else json.dumps(content))


def become(asked, scenario, folder):
    """Run the plugin in this process, which ends with it."""
    # Here and not above: only now it is known of which tree.
    import stand_ins

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(ENVIRONMENT, HOME=str(folder))
    time.tzset()
    os.umask(0o022)
    world = stand_ins.World(folder)
    scenario.prepare(world, asked["run"])
    world.settle()
    keep(folder, Files(folder, world.moved).numbered(asked["state"]))
    for descriptor, name in enumerate((os.devnull, ".output", ".errors")):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    plugin, *words = [*scenario.command(asked["run"]), *asked["words"]]
    sys.argv = [str(TREE / "plugins" / plugin), *words, *scenario.state]
    runpy.run_path(sys.argv[0], run_name="__main__")


def run(asked, scenario):
    """One run, whose process has ended: the answer."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        if not (child := os.fork()):
            try:
                become(asked, scenario, folder)
            except BaseException:  # noqa: BLE001 - a plugin ends its process itself
                traceback.print_exc()
            os._exit(99)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output = (folder / ".output").read_text() if (folder / ".output").exists() else ""
        if errors := (folder / ".errors").read_text() if output or (folder / ".errors").exists() else "":
            output += f"standard error: {errors}"
        for name in (".output", ".errors"):
            (folder / name).unlink(missing_ok=True)
        files = Files(folder)
        output = re.sub(r'("version": )"[^"]*"', r'\1"VERSION"', output.replace(str(folder), "{folder}"))
        return {"status": status, "output": output, "state": files.named(kept(folder))}


def listed(known):
    """How often each scenario is run, and how."""
    return {
        name: {
            "count": one.count,
            "views": one.views,
            "commands": [[*one.command(number), *one.state] for number in range(one.count)],
        }
        for name, one in known.items()
    }


def main():
    """Answer each line."""
    for folder in ("tests/live", "tests/plugins", "tests/recorded", "tests/unit", "lib"):
        sys.path.insert(0, str(TREE / folder))
    import scenarios
    from forked import import_what

    for plugin in sorted((TREE / "plugins").glob("check_*")):  # so that no run has to import it
        import_what(ast.parse(plugin.read_bytes()))
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked, known = json.loads(line), scenarios.SCENARIOS
        answer = run(asked, known[asked["scenario"]]) if asked else listed(known)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    TREE = Path(sys.argv[1]).resolve()
    main()
