"""Who is at the other end of a TCP connection within this host, before a readable password goes there.

While a server is down, every user of its host can listen at its port, if that is above 1023. The kernel shows
everybody whose a listening socket is, and whose the one that has accepted a connection (man proc,
/proc/net/tcp).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from struct import iter_unpack

from stallwatch.accounts import may_be_server, user_name
from stallwatch.sources.tcp import is_here
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.startup.sockets import socket

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from typing import Any

_TABLES = "/proc/self/net"  # of the network that we have; psutil does not show whose a socket is
_LISTENS = "0A"  # TCP_LISTEN
_UNSEEN = "a user that cannot be seen from here"


class _Socket(NamedTuple):
    """A socket of this host; its ends as the kernel writes them: address, colon, port."""

    here: str
    there: str
    listens: bool
    uid: int
    inode: int  # 0: no process has it, it was not accepted yet, or was closed


def stranger(peer: Any) -> str:
    """Name the user at the other end who is no server's, see ``may_be_server``; "": there is none.

    None is found where the other end is another host, and where root leads the connection from here to
    another network (docker without docker-proxy): there is no socket for it in ours. Else somebody has to
    listen, and be trusted, as who has accepted it, if somebody has: a listener may close meanwhile, and the
    server begin to listen; and whose an accepted socket is does not show where the kernel accepts it (SMC).
    """
    if not is_here(peer):
        return ""
    here, there = _written(*peer.getpeername()[:2]), _written(*peer.getsockname()[:2])
    address, _, port = here.partition(":")
    try:
        found = list(_sockets(f":{port}"))
    except (OSError, ValueError, IndexError):
        return _UNSEEN
    # What listens at "::" serves IPv4, too, unless another socket does.
    own, both = {here, f"{_MAPPED * address.startswith(_MAPPED):0<32}:{port}"}, {f"{0:032}:{port}"}
    listening = _listening(found, own) or _listening(found, both)
    accepting = [one for one in found if not one.listens and (one.here, one.there) == (here, there)]
    if not listening:
        return _UNSEEN if accepting else ""
    users = listening | {one.uid for one in accepting if one.inode}
    strangers = [uid for uid in sorted(users) if not may_be_server(uid)]
    return f"the user {user_name(strangers[0])} (no system account)" if strangers else ""


def _listening(found: Iterable[_Socket], at: Container[str]) -> set[int]:
    return {one.uid for one in found if one.listens and one.here in at}


def _sockets(port: str) -> Iterator[_Socket]:
    """List the sockets whose own end has this port; raises OSError, and ValueError for what is no table."""
    with open(f"{_TABLES}/tcp", encoding="ascii") as file:
        yield from _with_port(port, file, _MAPPED)
    with suppress(FileNotFoundError), open(f"{_TABLES}/tcp6", encoding="ascii") as file:  # or no IPv6 is here
        yield from _with_port(port, file, "")


def _with_port(port: str, table: Iterable[str], family: str) -> Iterator[_Socket]:
    for line in table:
        if port in line:  # of thousands
            here, there, state, _, _, _, uid, _, inode = line.split()[1:10]
            if here.endswith(port):
                yield _Socket(family + here, family + there, state == _LISTENS, int(uid), int(inode))


def _written(host: str, port: int) -> str:
    """Write an end of a connection as the kernel does; IPv4 as IPv6 has it, ::ffff:127.0.0.1."""
    address = host.partition("%")[0]
    octets = socket.inet_pton(socket.AF_INET6, address if ":" in address else f"::ffff:{address}")
    words = (int.from_bytes(word, sys.byteorder) for (word,) in iter_unpack("4s", octets))
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"


_MAPPED = _written("0.0.0.0", 0)[:24]  # noqa: S104 - before an address of IPv4
