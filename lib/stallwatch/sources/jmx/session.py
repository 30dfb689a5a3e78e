"""A log-in at a JMX agent: from the registry's answer to the reference that everything is asked of."""

from __future__ import annotations

import time
from contextlib import suppress

from stallwatch.deadline import Deadline, TimeUpError
from stallwatch.line import shorten
from stallwatch.sources.jmx import rmi
from stallwatch.sources.jmx.budget import Kept
from stallwatch.sources.jmx.errors import NoConnectionError, UnreachableError
from stallwatch.sources.jmx.rmi import FAILURES, Link, NoJrmpError, Reference, RemoteError, reference
from stallwatch.sources.jmx.target import AS_SERVER_SAYS, JOLOKIA, place
from stallwatch.sources.jmx.wire import LostError, SilentError, Wire
from stallwatch.sources.tcp import same_host
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from typing import Any

    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.target import Target

_BOUND = 500  # bytes of names that a registry has
# All are chosen.
_PATIENCE = 3.0  # seconds for an answer while others wait: a getter that takes longer comes last
_REGISTRY = 1.0  # seconds for the first words of the registry, until HTTP is tried; or a quarter of the time
_PROOF = 0.5  # seconds to see whether the server answers at all
_FAREWELL = 0.25  # seconds; less than what the deadline keeps back for the report
# What a TLS server answers to plain text; the H of HTTP/1.1; JRMP's ProtocolNotSupported.
_TLS_ALERT, _HTTP, _NOT_SUPPORTED = 0x15, 0x48, 0x4F


def must_be_named(server: Reference, target: Target, deadline: Deadline) -> None:
    """See that the user has named the host that would get the password: a registry can name any."""
    for named in (target.host, target.rmi_host):
        with suppress(OSError):
            if named and named != AS_SERVER_SAYS and same_host(named, server.host, deadline):
                return
    says = f"{target.where} sends the log-in to {place(server.host, server.port)}"
    if target.via == "jmxquery" and target.rmi_host not in (None, AS_SERVER_SAYS):
        raise UnreachableError(
            f"{says}, not to --rmi-host {target.rmi_host}, and --via jmxquery logs in there",
            f"use --via rmi, or --rmi-host {server.host} if that is right",
        )
    raise UnreachableError(
        f"{says}, which is not the host that was asked: the password was not sent",
        f"if that is right, use --rmi-host {server.host}",
    )


class Session:
    """One log-in, and the connections that it uses, one for each port.

    Without ``log_in`` it ends once it is known where that would be, and is of no more use.
    """

    def __init__(
        self, target: Target, deadline: Deadline, trace: Callable[[str], None], *, log_in: bool = True
    ) -> None:
        self.where = target.where
        self.kept = Kept(target.where)
        self._target = target
        self._deadline = deadline
        self._links: dict[tuple[str, int, bool], Link] = {}
        self._tls: ssl.SSLContext | None = None
        self.waited = 0.0  # seconds that the last call was given
        begun = time.monotonic()
        try:
            self.server = self._look_up()  # where to log in
            if not log_in:
                self._hang_up()
                return
            if target.password is not None:
                must_be_named(self.server, target, deadline)
            self._connection = self._log_in(self.server)
        except BaseException:
            self._hang_up()
            raise
        deadline.farewells.append(self._part)
        spent = say_duration(time.monotonic() - begun)
        in_tls = " in TLS" * self._connection.tls
        trace(f"logged in at {self.where}, RMI at {self.rmi_where}{in_tls}, in {spent}")

    @property
    def connection(self) -> bytes:
        """The object id that calls are sent to; it outlives the TCP connection."""
        return self._connection.object_id

    @property
    def rmi_where(self) -> str:
        """The address that calls are sent to."""
        return place(self._connection.host, self._connection.port)

    def link(self) -> Link:
        """Give a connection for calls on which no answer is due, a new one where the last has ended."""
        return self._link(self._connection, self._deadline)

    @property
    def has_time(self) -> bool:
        """Whether there is time to ask again."""
        return self._deadline.left() > _PROOF

    def share(self, *, among_others: bool) -> Deadline:
        """Give the time that a call may take: among others not so much that these get none.

        All but the time that it takes to see whether it is the server that does not answer.
        """
        left = self._deadline.left()
        self.waited = min(left / 2, _PATIENCE) if among_others else max(left - _PROOF, left / 2)
        return self._deadline.part(self.waited)

    def answers(self) -> bool:
        """Whether the server answers something simple over a new connection."""
        deadline = self._deadline.part(_PROOF)
        try:
            link = self._new_link(self._connection, deadline)
        except (*FAILURES, LostError, SilentError, UnreachableError):
            return False
        try:
            link.send(rmi.get_domains(self.connection))
            link.answer()
        except (*FAILURES, NoJrmpError, LostError, SilentError, UnreachableError):
            return False
        finally:
            link.close()
        return True

    def silent(self, asked: str) -> UnreachableError:
        """Report that the server, which has accepted the log-in, has not answered in time."""
        advice = "check whether the JVM is in a long garbage collection, or swapping"
        return self._silent(self.rmi_where, asked, advice)

    def _silent(self, where: str, asked: str, advice: str) -> UnreachableError:
        within = say_duration(self._deadline.seconds)
        return UnreachableError(f"{where} has not answered within {within}: asked {asked}", advice)

    def explained(self, failure: Exception, name: str, attribute: str) -> JmxError:
        """Give why an attribute, or what else was asked of a bean, cannot be had; raises UnreachableError."""
        from stallwatch.sources.jmx.failures import of_bean

        error = of_bean(failure, name, attribute, self.where)
        if isinstance(error, UnreachableError):
            raise error from None
        self.kept.error(error.what)
        return error

    def _link(self, peer: Reference, deadline: Deadline) -> Link:
        if self._target.tls.wanted and not peer.tls and peer.object_id != rmi.REGISTRY:
            raise UnreachableError(
                f"{self.where} accepts log-ins only without TLS: nothing was sent",
                "configure com.sun.management.jmxremote.ssl=true there, or leave out the TLS options",
            )
        key = (peer.host, peer.port, peer.tls)
        link = self._links.get(key)
        if link and link.usable and not link.due:
            link.within(deadline)
            return link
        if link:
            link.close()
        link = self._links[key] = self._new_link(peer, deadline)
        return link

    def _new_link(self, peer: Reference, deadline: Deadline) -> Link:
        wire = Wire(peer.host, peer.port, deadline)
        if peer.tls:
            try:
                wire.encrypt(self._context())
            except BaseException:
                wire.close()
                raise
        return Link(wire)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            from stallwatch.sources.jmx.tls import context

            self._tls = context(self._target.tls)
        return self._tls

    def _look_up(self) -> Reference:
        """Ask the registry where the agent is; in TLS where it turns out to speak nothing else."""
        target = self._target
        registry = Reference(target.host, target.port, rmi.REGISTRY, target.tls.registry)
        for peer in (registry, registry._replace(tls=True)):
            try:
                return self._stub(peer, rmi.lookup(target.name), f"for the name {target.name}")
            except NoJrmpError as error:
                if error.first != _TLS_ALERT or peer.tls:
                    raise self._not_jmx(peer, error.first) from None
            except RemoteError as error:
                raise self._not_found(peer, error) from None
            except FAILURES as error:
                from stallwatch.sources.jmx.failures import reason

                raise UnreachableError(f"{self.where} does not speak JMX: it sent {reason(error)}") from None
        raise AssertionError  # the second peer has tls

    def _log_in(self, server: Reference) -> Reference:
        target = self._target
        call = rmi.new_client(server.object_id, target.user, target.password)
        try:
            return self._stub(server, call, "to log in")
        except NoConnectionError as error:
            raise self._at_rmi_port(server, error.why, error.advice) from None
        except NoJrmpError as error:
            raise self._not_jmx(server, error.first) from None
        except FAILURES as error:
            from stallwatch.sources.jmx.failures import not_let_in

            where = self.where if isinstance(error, RemoteError) else self._named(server)
            raise not_let_in(error, where, target.user) from None

    def _named(self, peer: Reference) -> str:
        """Write the address of a peer; of the RMI port, the one that answered and named it, too."""
        where = place(peer.host, peer.port)
        if where == self.where:
            return where
        return f"{self.where} answers, its RMI port {peer.port if peer.host == self._target.host else where}"

    def _at_rmi_port(self, server: Reference, why: str, advice: str) -> UnreachableError:
        """Report that the registry answers, and that the port of the log-in, which it names, does not."""
        where = self._named(server)
        if where != self.where:
            advice = "open that port in the firewall, or set jmxremote.rmi.port (here: --rmi-port)"
        return UnreachableError(f"{where} {why}", advice)

    def _stub(self, peer: Reference, call: bytes, asked: str) -> Reference:
        """Make a call that returns a stub, and return where to reach it."""
        try:
            stub = reference(self._answer(peer, call))
        except SilentError:
            advice = "check that it is a JMX port, and whether the JVM is stopped, or swapping"
            if peer.object_id != rmi.REGISTRY:
                within = say_duration(self._deadline.seconds)
                raise self._at_rmi_port(
                    peer, f"has not answered within {within}: asked {asked}", advice
                ) from None
            raise self._silent(self.where, asked, advice) from None
        except LostError:
            if peer.object_id == rmi.REGISTRY:
                self._must_not_be_http("http", "https")
            advice = "check that it is a JMX port, and whether it requires TLS"
            raise UnreachableError(
                f"{self._named(peer)} closed the connection without an answer", advice
            ) from None
        return stub._replace(host=self._host_of(stub), port=self._target.rmi_port or stub.port)

    def _answer(self, peer: Reference, call: bytes) -> Any:
        """Make a call that returns a stub, and see that a registry that is silent is not an HTTP server."""
        link = self._link(peer, self._deadline)
        secret = self._target.password is not None and peer.object_id != rmi.REGISTRY
        if secret and not (peer.tls or self._target.cleartext):
            link.must_be_server()
        link.send(call)
        if peer.object_id != rmi.REGISTRY or link.heard(min(_REGISTRY, self._deadline.left() / 4)):
            return link.answer(stub=True)
        link.end()  # it would keep the only thread of an HTTP server
        self._must_not_be_http("https" if peer.tls else "http")
        with suppress(LostError):  # of a proxy that ends a connection as soon as one side does
            return link.answer(stub=True)
        link = self._link(peer, self._deadline)
        link.send(call)
        return link.answer(stub=True)

    def _host_of(self, stub: Reference) -> str:
        """Ignore the server's idea of its own host, which is often wrong for others, unless asked."""
        chosen = self._target.rmi_host
        return stub.host if chosen == AS_SERVER_SAYS else chosen or self._target.host

    def _must_not_be_http(self, *schemes: str) -> None:
        """See that it is not an HTTP port, which waits for the rest of what it takes for a request."""
        if scheme := self._spoken(*schemes):
            raise self._is_http(scheme)

    def _spoken(self, *schemes: str) -> str | None:
        from stallwatch.sources.jmx import web

        return web.spoken(self._target.host, self._target.port, self._deadline, *schemes)

    def _is_http(self, scheme: str | None) -> UnreachableError:
        """Report that it is an HTTP port; ``scheme`` None: whether it requires TLS is not known."""
        from stallwatch.sources.jmx import web

        target = self._target
        advice = web.use(scheme, target.host, target.port, JOLOKIA) if scheme else "use its URL with -U"
        what = f"{self.where} speaks {(scheme or 'http').upper()}, not JMX over RMI"
        return UnreachableError(what, f"if Jolokia is there, {advice}; else check the JMX port")

    def _not_jmx(self, peer: Reference, first: int) -> UnreachableError:
        where = self._named(peer)
        if first == _TLS_ALERT:
            return UnreachableError(f"{where} speaks TLS, although it announces that it does not")
        if first == _HTTP and where == self.where:
            return self._is_http("https" if peer.tls else self._spoken("https", "http"))
        kinds = {_HTTP: "HTTP", _NOT_SUPPORTED: "RMI in another protocol than the stream protocol"}
        kind = kinds.get(first, "something else")
        return UnreachableError(f"{where} speaks {kind}, not JMX over RMI", "check that this is the JMX port")

    def _not_found(self, registry: Reference, error: RemoteError) -> UnreachableError:
        if error.record.name == "java.rmi.NoSuchObjectException":
            return UnreachableError(
                f"{self.where} speaks RMI, but has no registry", "give the JMX port with -P, not the RMI port"
            )
        if error.record.name != "java.rmi.NotBoundException":
            from stallwatch.sources.jmx.failures import said

            return UnreachableError(f"{self.where} refused the look-up: {said(error.record)}")
        return UnreachableError(
            f"the registry at {self.where} has no {self._target.name}: it has {self._bound(registry)}",
            "name it as the end of the URL given with -U",
        )

    def _bound(self, registry: Reference) -> str:
        from stallwatch.sources.jmx.values import plain

        try:
            link = self._link(registry, self._deadline)
            link.send(rmi.listing())
            names = plain(link.answer())
        except (*FAILURES, NoJrmpError, LostError, SilentError, UnreachableError):
            return "names that it does not show"
        return shorten(", ".join(map(str, names)), _BOUND) if isinstance(names, list) and names else "nothing"

    def close(self) -> None:
        """Log out, whatever state the connection is in, and hang up; once is enough."""
        if self._part not in self._deadline.farewells:
            return
        self._deadline.farewells.remove(self._part)
        farewell = Deadline(min(_FAREWELL, self._deadline.seconds / 25))
        for _ in range(2):  # where the last connection turns out to be lost, a new one does
            try:
                self._log_out(self._link(self._connection, farewell))
                break
            except (*FAILURES, NoJrmpError, LostError, SilentError, UnreachableError, TimeUpError):
                continue
        self._hang_up()

    def _part(self) -> None:
        """Log out over a connection of its own: the process is about to end in the middle of something."""
        self._log_out(self._new_link(self._connection, Deadline(_FAREWELL)))

    def _log_out(self, link: Link) -> None:
        link.send(rmi.close(self.connection))
        link.answer(void=True)

    def _hang_up(self) -> None:
        for link in self._links.values():
            link.close()
