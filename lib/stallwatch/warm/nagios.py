"""A worker of Nagios Core 4 that hands checks of our own plugins to stallwatchd.

Nagios sends the checks of a plugin to whoever has registered for its path, instead of forking; when the
worker goes, it forks again. One connection registers one path: with several, Nagios 4.4.6 crashes when it
closes. The protocol: lib/worker.c and base/workers.c of Nagios Core 4.4. Messages are NAME=VALUE, each with a
NUL behind it, and end with MESSAGE_END.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from contextlib import suppress

from stallwatch.frame.exit import UNKNOWN
from stallwatch.line import status
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.warm import protocol, trust

if TYPE_CHECKING:
    from collections.abc import Iterable

MESSAGE_END = b"\1\0\0\0"
_LARGEST = 1 << 20  # bytes of a job
_AGAIN = 1.0  # seconds until Nagios is asked to register again: it reloads, or restarts
_LAST = 10.0  # seconds for checks under way when this process ends
_AT_ONCE = 256  # checks that stallwatchd is given at a time; the others wait for their turn
_COLD = 4 * (os.cpu_count() or 1)  # plugins of ours that are started at a time
_NO_ANSWER = 2.0  # seconds for stallwatchd to begin a check, or beyond the time that it allows one
_TIMEOUT = 62  # ETIME, which Nagios reads as "timed out"
# Words without a meaning for a shell; everything else is for /bin/sh, as in Nagios itself.
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_QUOTED = re.compile(r"'([^'\0]*)'|([A-Za-z0-9_@%+=:,./-]+)")


class Result(NamedTuple):
    """What came of a command: its wait status, what it printed, and whether it took too long."""

    wait_status: int
    output: bytes
    errors: bytes = b""
    timed_out: bool = False


def words_of(command: str) -> list[str] | None:
    """Split a command as a shell does; None: it takes a shell to do so.

    >>> words_of("/bin/check_x -H db1 -w '10 s'")
    ['/bin/check_x', '-H', 'db1', '-w', '10 s']
    >>> words_of("/bin/check_x $HOME")
    """
    words: list[str] = []
    for text in re.findall(r"(?:[^ \t']|'[^']*')+", command):
        parts, at = [], 0
        while at < len(text):
            found = _QUOTED.match(text, at)
            if not found:
                return None
            parts.append(found[1] if found[1] is not None else found[2])
            at = found.end()
        words.append("".join(parts))
    assigns = not words or "=" in words[0].partition("/")[0]
    return None if assigns or "'" in re.sub(r"'[^']*'", "", command) else words


def read(message: bytes) -> dict[str, str]:
    """Read a message without its end."""
    pairs = (item.partition(b"=") for item in message.split(b"\0") if item)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def written(pairs: Iterable[tuple[str, str | bytes]]) -> bytes:
    """Write a message. A NUL in a value would end it."""
    items = ((os.fsencode(name), os.fsencode(value).replace(b"\0", b"")) for name, value in pairs)
    return b"".join(b"%s=%s\0" % item for item in items) + MESSAGE_END


def _unknown(plugin: str, why: str) -> Result:
    line = status(plugin.removeprefix("check_"), "UNKNOWN", why)
    return Result(UNKNOWN << 8, f"{line}\n".encode())


class Front:
    """Keeps a connection to Nagios for each plugin, and has stallwatchd run what comes."""

    def __init__(self, query_handler: str, socket: str, plugins: Iterable[str]) -> None:
        self._query_handler = query_handler
        self._socket = socket
        self._plugins = list(plugins)
        self._environment = dict(os.environ)
        self._ending = asyncio.Event()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._cold = asyncio.Semaphore(_COLD)

    async def serve(self) -> None:
        """Serve until SIGTERM; checks under way have ten seconds then."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ending.set)
        await asyncio.gather(*(self._keep(path) for path in self._plugins))

    async def _keep(self, path: str) -> None:
        """Be registered for this path, and again whenever Nagios has hung up."""
        while not self._ending.is_set():
            with suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._registered(path)
            ended = asyncio.ensure_future(self._ending.wait())
            await asyncio.wait([ended], timeout=_AGAIN)
            ended.cancel()

    async def _registered(self, path: str) -> None:
        """Take jobs for this path until Nagios hangs up, or this process ends."""
        reader, writer = await asyncio.open_unix_connection(self._query_handler, limit=_LARGEST)
        jobs: set[asyncio.Task[None]] = set()
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            name, plugin = os.path.basename(os.fsencode(path)), os.fsencode(path)
            writer.write(b"@wproc register name=stallwatchd %s;plugin=%s\0" % (name, plugin))
            if await reader.readuntil(b"\0") != b"OK\0":
                return
            while not self._ending.is_set():
                message = asyncio.ensure_future(reader.readuntil(MESSAGE_END))
                await asyncio.wait([message, ending], return_when=asyncio.FIRST_COMPLETED)
                if not message.done():
                    message.cancel()
                    break
                job = read(message.result().removesuffix(MESSAGE_END))
                task = asyncio.ensure_future(self._answer(writer, job))
                jobs.add(task)
                task.add_done_callback(jobs.discard)
            await self._finish(jobs)
        finally:
            ending.cancel()
            for task in jobs:
                task.cancel()
            writer.close()

    @staticmethod
    async def _finish(jobs: set[asyncio.Task[None]]) -> None:
        """Let the checks under way end. Those that do not answer UNKNOWN: Nagios 4.4.6 waits for each."""
        if jobs:
            _, late = await asyncio.wait(jobs, timeout=_LAST)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1)

    async def _answer(self, writer: asyncio.StreamWriter, job: dict[str, str]) -> None:
        """Run one job, and send what came of it."""
        start, began = time.time(), time.monotonic()
        command = job.get("command", "")
        try:
            result = await asyncio.wait_for(self._run(command), max(1.0, float(job.get("timeout", 60))))
        except TimeoutError:
            result = Result(0, b"", timed_out=True)
        except asyncio.CancelledError:
            plugin = os.path.basename(command.partition(" ")[0])
            result = _unknown(plugin, "stallwatchd was stopped before the verdict")
        took = time.monotonic() - began  # whatever becomes of the clock
        times = (("start", start), ("stop", start + took), ("runtime", took))
        writer.write(
            written([
                *((name, job.get(name, "0")) for name in ("job_id", "type", "command", "timeout")),
                ("wait_status", str(result.wait_status)),
                *((name, f"{seconds:.6f}") for name, seconds in times),
                ("exited_ok", "0" if result.timed_out else "1"),
                *([("error_code", str(_TIMEOUT))] if result.timed_out else []),
                ("outstd", result.output),
                ("outerr", result.errors),
            ])
        )  # fmt: skip
        with suppress(OSError):  # Nagios has hung up
            await writer.drain()

    async def _run(self, command: str) -> Result:
        words = words_of(command)
        if words and words[0] in self._plugins:
            async with self._turns:  # Nagios starts all at once that is due in a second
                answer = await self._asked(os.path.basename(words[0]), words[1:])
            if answer:
                return answer
            # stallwatchd is gone, or all its workers wait: then this comes for many checks at once.
            async with self._cold:
                return await self._started(words)
        return await self._started(words or ["/bin/sh", "-c", command])

    async def _asked(self, plugin: str, arguments: list[str]) -> Result | None:
        """Have stallwatchd run it; None: the plugin is to be started."""
        try:
            reader, writer = await asyncio.open_unix_connection(self._socket)
        except OSError:
            return None
        try:
            if not trust.is_trusted_server(writer.get_extra_info("socket")):
                return None
            writer.write(protocol.packed(plugin, "/", arguments, self._environment))
            seconds, begun = _NO_ANSWER, False
            while True:
                (said,) = protocol.LENGTH.unpack(
                    await asyncio.wait_for(reader.readexactly(protocol.LENGTH.size), seconds)
                )
                if said == protocol.ANSWERED:
                    break
                begun = said != protocol.QUEUED
                seconds = said / 1000 + _NO_ANSWER if begun else protocol.QUEUE + _NO_ANSWER
            length, code = protocol.REST.unpack(await reader.readexactly(protocol.REST.size))
            return Result(code << 8, await reader.readexactly(length))
        except TimeoutError:
            late = _unknown(plugin, "stallwatchd has not answered in time, it may be suspended")
            return late if begun else None
        except (OSError, asyncio.IncompleteReadError):
            return None
        finally:
            writer.close()

    @staticmethod
    async def _started(words: list[str]) -> Result:
        """Run a command as Nagios does."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            return Result(127 << 8, b"", f"{words[0]}: {error.strerror}\n".encode())
        try:
            output, errors = await process.communicate()
        except asyncio.CancelledError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        code = process.returncode or 0
        return Result(code << 8 if code >= 0 else -code, output, errors)
