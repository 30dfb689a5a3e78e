"""A run of Java: arguments that nobody else sees, an end in time, output that cannot flood us.

And what it means if jmxquery's jar fails: an exception's text, in its output or among its errors.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import signal
import subprocess
from contextlib import contextmanager, suppress

from stallwatch import known, withheld
from stallwatch.known import Known
from stallwatch.sources.inherited import environment
from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.target import Target

# What Java takes for itself, and what it may write, so that both of us stay below 64 MiB more than at rest.
_MODEST = ("-Xmx24m", "-XX:MaxMetaspaceSize=24m", "-XX:+ExitOnOutOfMemoryError")
_SIZES = ("-Xmx", "-Xms", "-XX:MaxHeapSize=", "-XX:InitialHeapSize=")  # of a heap that the user has sized
MOST_OUTPUT = 1 << 20
# With a heap that the user has sized. All beans and values of Cassandra 5 are 15 MB.
MOST_OUTPUT_OF_SIZED = 64 << 20
MOST_ERRORS = 256 << 10  # Java writes 81 kB for a stack overflow
# Else the arguments are also in /tmp/hsperfdata_USER/PID, and in hs_err_pidPID.log after a crash (JDK 17).
_DISCREET = ("-XX:-UsePerfData", "-XX:+SuppressFatalErrorMessage")
# Under a monitoring engine LANG is C, and other letters would become "?" on their way in and out.
_ENCODING = ("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8")
_LOCALE = "C.UTF-8"
_MORE_MEMORY = 'ask for fewer MBeans, or give Java more memory: --java "java -Xmx512m"'
_ALLOW = "let this user run it, or name another one with --java"
_INSTALL = "install Java 9 or later (apt install default-jre-headless), or name it with --java"
_ASIDE = re.compile(r"(?:NOTE: )?Picked up |WARNING: |.* warning: ")  # what Java prints before it begins
_MESSAGE = re.compile(r'"message":"(.*)"\}\s*$', re.DOTALL)

# The first that is found in what was written: what it means, and what to do.
_MEANINGS = {
    r"(?m)^(?:Terminating due to|Exception in thread \"[^\"]*\") java\.lang\.OutOfMemoryError": Known(
        "Java has too little memory for what {where} answered", _MORE_MEMORY
    ),
    r"OutOfMemoryError: (?P<of>[^\n\";]*)": Known("{where} is out of memory ({of})", "look into its log"),
    r"Credentials required": Known("{where} requires a user and a password", "use -u and --password-file"),
    r"SecurityException": Known(
        "{where} denied access to the user {user}", "look at its jmxremote.password and jmxremote.access"
    ),
    r"UnknownHostException: (?:Unknown host: )?(?P<host>[^\s;\"\]]+)": Known(
        "there is no host {host}", "check -H, and java.rmi.server.hostname of the server"
    ),
    r"NoInitialContextException": Known(
        "this Java has no module jdk.naming.rmi, which finds JMX servers",
        "name a complete one with --java (apt install default-jre-headless)",
    ),
    r"NameNotFoundException": Known(
        "the registry at {where} does not have {name}", "name it as the end of the URL given with -U"
    ),
    r"RMIServer stub[^\n]*Connection refused": Known(
        "{where} refused the connection", "check that the JVM runs, with JMX open on this address and port"
    ),
    r"Connection refused to host: (?P<host>[^\s;]+)": Known(
        "{where} names {host} as its address, which refused the connection",
        "set java.rmi.server.hostname there, or use --via rmi",
    ),
    r"No route to host|Network is unreachable|timed out": Known(
        "{where}, or the address that it names, cannot be reached: {found}",
        "set java.rmi.server.hostname there, or use --via rmi",
    ),
    r"PKIX path|CertPathValidatorException|CertificateException": Known(
        "the certificate of {where} is not trusted by Java",
        'give Java its trust store: --java "java -Djavax.net.ssl.trustStore=FILE"',
    ),
    r"non-JRMP server": Known(
        "{where} does not speak JMX over RMI, or wants TLS for the look-up",
        "give the JMX port with -P; --via rmi --tls-registry can look up in TLS",
    ),
    r"SSL\w*Exception: (?P<cause>[^\n\"]*)": Known(
        "{where} refused the TLS handshake ({cause})", "if it asks for a client certificate, use --via rmi"
    ),
    r"EOFException|Connection reset|Broken pipe": Known(
        "{where} closed the connection without an answer",
        "check that it is a JMX port, and whether it wants TLS, or a client's certificate",
    ),
    r"NoSuchObjectException": Known(
        "{where} speaks RMI, but has no registry", "give the JMX port with -P, not the RMI port"
    ),
}


class SpoiledError(Exception):
    """One of the queries of a run has made all of it fail; the text is the reason."""


class OverdueError(Exception):
    """The time is up, and Java has been killed."""


class Ended(NamedTuple):
    """How it ended, all that it wrote, and the start of its errors."""

    status: int
    output: str
    errors: str


def run(command: str, arguments: Sequence[str], deadline: Deadline) -> Ended:
    """Run ``command``, which is Java and maybe options, with more ``arguments``.

    They go through a file in memory, so that none of them, a password maybe, is in the argument vector or
    on a disk (Java 9: "java @argfiles"). Its memory is limited, unless ``command`` sizes its heap.
    Raises OverdueError, and UnreachableError where there is no Java, one that is too old, or one that writes
    too much.
    """
    words = _words(command)
    sized = any(word.startswith(_SIZES) for word in words)
    most = MOST_OUTPUT_OF_SIZED if sized else MOST_OUTPUT
    options = [*_DISCREET, *_ENCODING, *(() if sized else _MODEST)]
    if not any(word.startswith("-XX:+Use") and word.endswith("GC") for word in words):
        options.append("-XX:+UseSerialGC")
    with _in_memory(_argument_file([*options, *arguments])) as file:
        whole = [*words, f"@/proc/self/fd/{file}"]
        with deadline.children.start(lambda: _started(whole, file)) as process:
            try:
                output, errors = _written(process, most, deadline)
                status = _wait(deadline, lambda tick: _ended(process, tick))[0]
            except TimeoutError:
                raise OverdueError from None
            finally:
                if process.returncode is None:
                    process.kill()
                deadline.children.remove(process)
        if b"main class @" in errors:  # it took that for the name of a class
            raise UnreachableError("Java before 9 cannot be given a password in private", _INSTALL)
    return Ended(status, output.decode(errors="replace"), errors.decode(errors="replace"))


@contextmanager
def _in_memory(text: str) -> Iterator[int]:
    """Keep a file that has no name and is on no disk, for a child that gets its descriptor."""
    file = os.memfd_create("stallwatch")
    try:
        with open(file, "wb", closefd=False) as whole:
            whole.write(text.encode(errors="replace"))
        yield file
    finally:
        os.close(file)


def _argument_file(arguments: Sequence[str]) -> str:
    """Write them as Java reads them: in quotes, with backslashes before what would end or change them."""
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
    return "".join(f'"{word.translate(escapes)}"\n' for word in arguments)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UnreachableError(f"--java is no command: {error}", _INSTALL) from None
    if not words:
        raise UnreachableError("--java names no command", _INSTALL)
    return words


class _Process(subprocess.Popen[bytes]):
    """A process that leads a group: the command may be a script that runs Java."""

    def kill(self) -> None:
        """Kill the group."""
        os.killpg(self.pid, signal.SIGKILL)


def _started(command: list[str], file: int) -> _Process:
    try:
        return _Process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[file],
            start_new_session=True,
            env=environment(LC_ALL=_LOCALE),
        )
    except OSError as error:
        advice = _ALLOW if isinstance(error, PermissionError) else _INSTALL
        raise UnreachableError(f"{command[0]} cannot be run: {error.strerror}", advice) from None


def _written(process: subprocess.Popen[bytes], most: int, deadline: Deadline) -> tuple[bytearray, bytearray]:
    """Read its output, which may have ``most`` bytes, and its errors, whose start is kept, to their end."""
    output, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as readable:
        for pipe, kept in ((process.stdout, output), (process.stderr, errors)):
            if pipe:
                readable.register(pipe, selectors.EVENT_READ, kept)
        while readable.get_map():
            for key, _ in _wait(deadline, readable.select):
                octets = os.read(key.fd, 65536)
                if not octets:
                    readable.unregister(key.fileobj)
                key.data.extend(octets)
            del errors[MOST_ERRORS:]
            if len(output) > most:
                advice = _MORE_MEMORY if most == MOST_OUTPUT else "ask for fewer MBeans"
                raise UnreachableError(f"Java wrote more than {most >> 20} MiB", advice)
    return output, errors


def _ended(process: subprocess.Popen[bytes], seconds: float) -> list[int]:
    """Return its exit status, if it ends in that time."""
    with suppress(subprocess.TimeoutExpired):
        return [process.wait(seconds)]
    return []


def _wait(deadline: Deadline, look: Callable[[float], list[Any]]) -> list[Any]:
    """Wait for Java until ``look``, which takes seconds, finds something; raises TimeoutError."""

    def step(tick: float) -> list[Any]:
        if found := look(tick):
            return found
        raise TimeoutError

    return deadline.wait(step)


def checked(ended: Ended, target: Target) -> str:
    """Give the output of a run that went well; raises SpoiledError, and UnreachableError for all others."""
    if ended.status == 0:
        return ended.output
    if "StackOverflowError" in ended.errors:
        raise SpoiledError("jmxquery fails on a composite value with a null in it")
    said = _MESSAGE.search(ended.output)
    if said and '"general-exception"' in ended.output:
        raise SpoiledError(f"jmxquery failed: {withheld.message(said[1])}")
    raise _meaning(ended, target) or _java_failed(ended, said[1] if said else "")


def _meaning(ended: Ended, target: Target) -> UnreachableError | None:
    words = {"where": target.where, "user": target.user, "name": target.name}
    if not (found := known.first(_MEANINGS, ended.output + ended.errors)):
        return None
    (what, advice), match = found
    told = {name: withheld.message(one) for name, one in match.groupdict().items()}
    return UnreachableError(what.format(**words, **told, found=withheld.message(match[0])), advice)


def _java_failed(ended: Ended, said: str) -> UnreachableError:
    lines = [line for line in ended.errors.splitlines() if line.strip() and not _ASIDE.match(line)]
    why = said or " ".join(lines[:1]) or f"exit status {ended.status}, and not a word"
    return UnreachableError(
        f"Java did not get an answer: {withheld.message(why)}", "run the command of --java by hand"
    )
