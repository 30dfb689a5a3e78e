"""A JMX client that is Java's: the jar of the PyPI package jmxquery, for servers that only Java can reach.

It has the methods of ``client.Client``; each of them costs a run of Java. What the jar (0.1.8, of 2019) gets
silently wrong is reported here, and never taken for a value:

- a value that is null, and one that cannot be read or sent, look the same: an UnreadableError reports that;
- arrays, tables, collections, dates and objects are printed in ways that cannot be read back;
- a composite value with a null in it makes it recurse until all is lost that was asked with it: that is
  asked again in halves;
- a composite value within a composite value is left out, or, if it has a key of its own name, replaced by
  what is under that key. This alone cannot be seen from here.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import closing, nullcontext
from importlib.util import find_spec

from stallwatch.sources.jmx.errors import (
    JmxError,
    NoConnectionError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreachableError,
    UnreadableError,
)
from stallwatch.sources.jmx.info import Attribute, Bean
from stallwatch.sources.jmx.jmxquery import java
from stallwatch.sources.jmx.jmxquery.lines import Told, kind, lines, queries, query, value
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.sources.jmx.target import AS_SERVER_SAYS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.target import Target
    from stallwatch.sources.jmx.values import Values

_JAR = "JMXQuery-0.1.8.jar"
_RATHER = "use --via rmi, if the server can be reached so"
# The endless recursion ends four times as soon, and the rest is sooner there (JDK 17: 5.6 s and 1 s).
_QUICK = ("-Xss256k", "-XX:TieredStopAtLevel=1")


class Client:
    """Asks one JVM. There is no log-in that lasts: every run of the jar has its own."""

    def __init__(self, target: Target, deadline: Deadline, trace: Callable[[str], None]) -> None:
        self.where = target.where
        self._target = target
        self._deadline = deadline
        self._trace = trace
        self._ahead: list[str] | None = None  # the names that ``names_ahead`` found
        _refuse(target)
        if target.password is not None or target.rmi_host not in (None, AS_SERVER_SAYS):
            self._must_be_named()
        self._jar = _jar()

    def _must_be_named(self) -> None:
        """See that the user has named the host where Java will log in, which the server decides."""
        from stallwatch.sources.jmx.session import Session, must_be_named
        from stallwatch.sources.jmx.target import Tls

        asked = self._target._replace(rmi_host=AS_SERVER_SAYS, tls=Tls(insecure=True))
        server = Session(asked, self._deadline, self._trace, log_in=False).server
        must_be_named(server, self._target, self._deadline)
        if self._target.password is not None and not (server.tls or self._target.cleartext):
            self._must_be_server(server.host, server.port)

    def _must_be_server(self, host: str, port: int) -> None:
        """See that no other user's program gets it, as far as that can be known before Java connects."""
        from stallwatch.sources.jmx.wire import LostError, SilentError, Wire

        try:
            with closing(Wire(host, port, self._deadline)) as wire:
                wire.must_be_server()
        except NoConnectionError:
            return  # Java gets none either, and shows why
        except (LostError, SilentError):
            raise UnreachableError(f"{self.where} closed the connection of its RMI port {port}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is no log-in to end."""

    def names_ahead(self, wanted: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Find the beans of several patterns that have one of these attributes, in a run of their own.

        From then on there are no others for ``names`` and ``domains``, which would read all attributes of
        all beans: on a Cassandra 5 that takes longer than the usual timeout, and one null may spoil it all.
        """
        asked = ((ObjectName.parse(pattern), attributes) for pattern, attributes in wanted)
        told = self._ask(one for name, attributes in asked for one in queries(name, attributes).values())
        self._ahead = list(told.names.values())

    def domains(self) -> list[str]:
        """Give the domains of all beans that have attributes, sorted."""
        return sorted({name.partition(":")[0] for name in self.names()})

    def names(self, pattern: str = "*:*") -> list[str]:
        """Give the object names that match and have attributes, sorted. The jar reads all values for it."""
        asked = ObjectName.parse(pattern)
        if self._ahead is not None:
            return sorted(name for name in self._ahead if asked.matches(ObjectName.parse(name)))
        told = self._ask([query(asked)])
        for why in told.spoiled.values():
            raise UnreadableError(f"the MBeans {pattern} cannot be listed: {why}", _RATHER)
        found = list(told.names.values())
        if query(asked) != pattern:  # more than the pattern may have been asked for
            found = [name for name in found if asked.matches(ObjectName.parse(name))]
        return sorted(found)

    def beans(self, pattern: str = "*:*") -> list[Bean]:
        """Give the same as beans, whose classes are not known."""
        return [Bean(name, "") for name in self.names(pattern)]

    def read(self, wanted: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Values | JmxError]:
        """Give the values of attributes, as ``client.Client.read`` does, from one run or two.

        The second is for beans of which nothing was printed: are they not there, or their attributes?
        """
        asked = [(name, ObjectName.parse(name), attributes) for name, attributes in wanted]
        told = self._ask(one for _, name, attributes in asked for one in queries(name, attributes).values())
        untold = [name for _, name, attributes in asked if attributes and name.canonical not in told.names]
        told.add(self._ask(map(query, untold)))
        for text, name, attributes in asked:
            yield self._values(told, text, name, attributes)

    def describe(self, found: Iterable[Bean]) -> Iterator[list[Attribute] | JmxError]:
        """Give the attributes of beans, in the order asked, with the classes of their values as types."""
        asked = [(bean.name, ObjectName.parse(bean.name)) for bean in found]
        told = self._ask(query(name) for _, name in asked)
        for text, name in asked:
            given = told.lines.get(name.canonical, {})
            if why := told.spoiled.get(query(name)):
                yield UnreadableError(f"{text} cannot be described: {why}", _RATHER)
            elif given:
                yield [Attribute(one, kind(of), readable=True, writable=None) for one, of in given.items()]
            else:
                yield self._no_bean(text)

    def passing(self) -> AbstractContextManager[Callable[[int], None]]:
        """Do nothing: the output of each run is limited."""
        return nullcontext(lambda _: None)

    def deadlocked_threads(self) -> list[int]:
        """Refuse: the jar reads attributes and nothing else."""
        raise UnreadableError("findDeadlockedThreads cannot be invoked by jmxquery", _RATHER)

    def _values(self, told: Told, text: str, name: ObjectName, wanted: Sequence[str]) -> Values | JmxError:
        whole = query(name)
        asked = queries(name, wanted)
        if asked and name.canonical not in told.names and not told.spoiled.keys() & {whole, *asked.values()}:
            return self._no_bean(text)
        found = told.lines.get(name.canonical, {})
        values: Values = {}
        for one in wanted:
            if one in found:
                values[one] = value(f"{one} of {text}", found[one])
            elif why := told.spoiled.get(asked[one]) or told.spoiled.get(whole):
                values[one] = UnreadableError(f"{one} of {text} cannot be read: {why}", _RATHER)
            else:
                values[one] = NoSuchAttributeError(f"{text} has no attribute {one} that jmxquery can see")
        return values

    def _no_bean(self, text: str) -> NoSuchBeanError:
        return NoSuchBeanError(f"there is no MBean {text} with attributes at {self.where}")

    def _ask(self, asked: Iterable[str]) -> Told:
        """Run the jar; where one of the queries spoils that, once for each half of them."""
        told, each = Told(), list(dict.fromkeys(asked))
        if not each:
            return told
        try:
            told.take(lines(self._run(each)))
        except java.SpoiledError as error:
            half = len(each) // 2
            if not half:
                told.spoiled[each[0]] = str(error)
            for part in (each[:half], each[half:]) if half else ():
                told.add(self._ask(part))
        except ValueError as error:
            raise UnreachableError(f"Java's answer about {self.where} is not jmxquery's: {error}") from None
        return told

    def _run(self, asked: Sequence[str]) -> str:
        target = self._target
        url = f"service:jmx:rmi:///jndi/rmi://{target.where}/{target.name}"
        login = [] if target.user is None else ["-u", target.user, "-p", target.password or ""]
        patience = math.ceil(1000 * self._deadline.seconds)  # in ms: should we be killed, it ends by itself
        patient = [f"-Dsun.rmi.transport.tcp.{wait}Timeout={patience}" for wait in ("handshake", "response")]
        question = ["-url", url, *login, "-json", "-q", ";".join(asked)]
        arguments = [*_QUICK, *patient, "-jar", self._jar, *question]
        self._deadline.doing = f"waiting for Java, which asks {self.where}"
        begun = time.monotonic()
        try:
            ended = java.run(target.java, arguments, self._deadline)
        except java.OverdueError:
            raise UnreachableError(
                f"{self.where} has not answered Java within {say_duration(self._deadline.seconds)}",
                "check that it is a JMX port and no long garbage collection goes on, or raise --timeout",
            ) from None
        spent = say_duration(time.monotonic() - begun)
        queries = "1 query" if len(asked) == 1 else f"{len(asked)} queries"
        self._trace(f"asked {self.where} through jmxquery, {queries}, in {spent}")
        return java.checked(ended, target)


def _jar() -> str:
    """Find the jar without importing its package, which imports more than all of ours."""
    spec = find_spec("jmxquery")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name="jmxquery")
    return os.path.join(os.path.dirname(spec.origin), _JAR)


def _refuse(target: Target) -> None:
    """Raise UnreachableError for what was wished and cannot be, rather than to go without it."""
    if target.tls.wanted:
        raise UnreachableError(
            "--via jmxquery cannot insist on TLS: Java speaks it only where the server announces it",
            'leave out the TLS options; --java "java -Djavax.net.ssl.trustStore=FILE" sets whom to trust',
        )
    if target.rmi_port:
        raise UnreachableError(
            "--via jmxquery asks at the port that the server names: leave out --rmi-port", _RATHER
        )
