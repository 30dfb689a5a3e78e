"""A TCP link to a server, on a port of its own, that can be switched while it is in use."""

import contextlib
import queue
import socket
import threading
import time

from loopback import free_port

CHUNK = 65536
TICK = 0.05  # seconds; a slow link passes that much time's octets at once


class Link:
    """Passes everything between its ``port`` and the server's, until it is told otherwise:

    pass_all()       at first, and again
    black_hole()     connections stay open, new ones are taken, and nothing passes either way; later it does
    refuse()         connections are closed, new ones are refused
    slow(per_second) so many octets pass per second, each way
    delay(seconds)   as many octets as before pass, each so much later
    """

    def __init__(self, port, host="127.0.0.1"):
        self.server = (host, port)
        self.changed = threading.Condition()
        self.passes = True
        self.rate = None  # octets per second, None: all that come
        self.late = 0.0  # seconds
        self.sockets = set()
        self.port = free_port()
        self.listener = socket.create_server((host, self.port))
        self.closed = False

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closed = True
        self.refuse()
        self.listener.close()

    # switching

    def pass_all(self):
        """Let everything pass."""
        self._switch(passes=True)

    def slow(self, per_second):
        """Let so many octets pass per second."""
        self._switch(passes=True, rate=per_second)

    def delay(self, seconds):
        """Let all pass that comes, but so many seconds later."""
        self._switch(passes=True, late=seconds)

    def black_hole(self):
        """Let nothing pass and say nothing."""
        self._switch(passes=False)

    def refuse(self):
        """Close all connections and take none."""
        with contextlib.suppress(OSError):  # it was not listening
            self.listener.shutdown(socket.SHUT_RDWR)  # Linux keeps the port bound: connections are refused
        self._switch(passes=True, listens=False)
        for one in tuple(self.sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _switch(self, *, passes, rate=None, late=0.0, listens=True):
        with self.changed:
            self.passes, self.rate, self.late = passes, rate, late
            if listens:
                self.listener.listen()
            self.changed.notify_all()

    # passing on

    def _accept(self):
        while not self.closed:
            try:
                client, _ = self.listener.accept()
            except OSError:  # connections are refused at present
                time.sleep(TICK)
                continue
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client):
        """Connect on and pass on, both ways, until one side has closed."""
        self._wait()
        with contextlib.suppress(OSError), client, socket.create_connection(self.server) as server:
            both = {client, server}
            for one in both:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets |= both
            back = threading.Thread(target=self._pass_on, args=(server, client), daemon=True)
            back.start()
            self._pass_on(client, server)
            back.join()
            self.sockets -= both

    def _pass_on(self, one, other):
        on_its_way = queue.SimpleQueue()
        sender = threading.Thread(target=self._send, args=(on_its_way, other), daemon=True)
        sender.start()
        octets = b" "
        with contextlib.suppress(OSError):
            while octets:
                octets = self._receive(one)
                on_its_way.put((time.monotonic(), octets))
        on_its_way.put((0.0, b""))
        sender.join()
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _receive(self, one):
        one.recv(1, socket.MSG_PEEK)  # waits; we may be switched meanwhile
        self._wait()
        rate = self.rate
        if not rate:
            return one.recv(CHUNK)
        octets = one.recv(max(1, min(CHUNK, int(rate * TICK))))
        time.sleep(len(octets) / rate)
        return octets

    def _send(self, on_its_way, other):
        """Send what was received, when it is due, until there is no more."""
        with contextlib.suppress(OSError):
            while (taken := on_its_way.get())[1]:
                time.sleep(max(0.0, taken[0] + self.late - time.monotonic()))
                other.sendall(taken[1])

    def _wait(self):
        with self.changed:
            self.changed.wait_for(lambda: self.passes)
