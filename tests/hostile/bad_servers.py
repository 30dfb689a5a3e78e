"""Servers that are broken, speak something else, or mean harm: each on a port of its own, on loopback.

What one says is a play, which is given the connection and how many came before it. Who closes while there
is something to be read resets the connection: a play hangs up by ``hang_up``.
"""

import contextlib
import socket
import struct

HOST = "127.0.0.1"
FILLERS = 8  # connections that nobody takes, for a queue of one
FULL = 0.3  # seconds in which a queue that has room takes a connection


# where they are


@contextlib.contextmanager
def nobody():
    """A port on which nobody listens: it is taken, so that no one else gets it meanwhile."""
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        yield taken.getsockname()


@contextlib.contextmanager
def filtered():
    """A port that drops whoever knocks, as a firewall does: Linux does so when its queue is full."""
    with socket.create_server((HOST, 0), backlog=0) as listener, contextlib.ExitStack() as fillers:
        for _ in range(FILLERS):
            filler = fillers.enter_context(socket.socket())
            filler.settimeout(FULL)
            try:
                filler.connect(listener.getsockname())
            except TimeoutError:
                break
        else:
            raise AssertionError("the queue is not full")
        yield listener.getsockname()


def named(host, port=3306):
    """A host that is not looked for by its address."""
    return contextlib.nullcontext((host, port))


# what they say


def hang_up(connection, *_):
    """Close the connection once the other side has."""
    connection.shutdown(socket.SHUT_WR)
    silent(connection)


def silent(connection, *_):
    """Listen and say nothing."""
    while connection.recv(65536):
        pass


def reset(connection, *_):
    """Break the connection off, as a dying process or a firewall does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says(*turns, then=hang_up):
    """Say the first of them, one more for whatever is heard, and go on with ``then``."""

    def play(connection, number, ended):
        for turn, octets in enumerate(turns):
            if turn and not connection.recv(65536):
                return
            connection.sendall(octets)
        then(connection, number, ended)

    return play


def once(play):
    """Play it to the first connection, and hang up on all others."""
    return lambda connection, number, ended: (hang_up if number else play)(connection, number, ended)


def drips(octets, every=2.0):
    """Say them byte by byte, so many seconds apart, and again from the beginning, for ever."""

    def play(connection, _, ended):
        at = 0
        while not ended.wait(every if at else 0):
            connection.sendall(octets[at % len(octets)].to_bytes())
            at += 1

    return play


def repeats(octets):
    """Say them again and again, as fast as they are heard, for ever."""

    def play(connection, _, ended):
        while not ended.is_set():
            connection.sendall(octets)

    return play
