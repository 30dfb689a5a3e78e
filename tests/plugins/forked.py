"""Runs plugins in forks of an interpreter that has imported already what the plugin imports.

Starting an interpreter and importing modules takes longer than most runs of a plugin. Each run here is a
process of its own, with its own arguments, environment, working directory, standard output and standard
error, and it ends as the plugin ends it. A fork cannot prove that a plugin starts: see ``new_interpreter``
in conftest.py.
"""

import ast
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import types
from pathlib import Path

START = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}  # the environment in which an interpreter starts


class Forks:
    """A context with such an interpreter for each plugin. Calling it does what subprocess.run does."""

    def __enter__(self):
        self._started = contextlib.ExitStack()
        self._of = {}
        return self

    def __exit__(self, *_):
        self._started.close()

    def __call__(self, command, folder, env, cwd, timeout):
        """Run ``command``, a plugin and its arguments, with its output in files of that folder."""
        plugin, *arguments = command
        if plugin not in self._of:
            self._of[plugin] = self._started.enter_context(self._start(plugin))
        interpreter = self._of[plugin]
        files = [folder / name for name in ("forked.out", "forked.err")]
        run = {"arguments": arguments, "env": env, "cwd": str(cwd), "files": list(map(str, files))}
        interpreter.stdin.write(json.dumps(run).encode() + b"\n")
        interpreter.stdin.flush()
        if not select.select([interpreter.stdout], [], [], timeout)[0]:
            os.killpg(interpreter.pid, signal.SIGKILL)  # its run, too
            del self._of[plugin]
            raise subprocess.TimeoutExpired(command, timeout)
        status = interpreter.stdout.readline()
        assert status, f"the interpreter that runs {plugin} has ended"
        output, errors = (file.read_text(errors="replace") for file in files)
        for file in files:
            file.unlink()
        return subprocess.CompletedProcess(command, int(status), output, errors)

    @contextlib.contextmanager
    def _start(self, plugin):
        command = [sys.executable, __file__, plugin]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, env=START, start_new_session=True, **pipes) as interpreter:
            yield interpreter
            interpreter.kill()


def serve():
    """Fork for each line on standard input and write the exit status of the child, which returns its run."""
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            return json.loads(line)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, b"%d\n" % status)
    os._exit(0)


def become(run):
    """Make this process one that was started for that run."""
    for descriptor, path in enumerate((os.devnull, *run["files"])):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if descriptor else os.O_RDONLY
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(run["cwd"])
    os.environ.clear()
    os.environ.update(run["env"])
    sys.argv = [sys.argv[1], *run["arguments"]]


def import_what(program, seen=None):
    """Import the modules that a program imports anywhere, and those that these import, of this package."""
    seen = set() if seen is None else seen
    for node in ast.walk(program):
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        else:
            continue
        for name in names:
            with contextlib.suppress(ImportError):  # a name in a module, or what is not installed
                module = importlib.import_module(name)
                if name.startswith("stallwatch") and name not in seen:
                    seen.add(name)
                    import_what(ast.parse(Path(module.__file__).read_bytes()), seen)


if __name__ == "__main__":
    program = ast.parse(Path(sys.argv[1]).read_bytes())
    import_what(program)
    gc.collect()
    gc.freeze()  # a child that collects garbage leaves alone what it shares
    compiled = compile(program, sys.argv[1], "exec")
    become(serve())
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = sys.argv[0]
    exec(compiled, vars(main))
