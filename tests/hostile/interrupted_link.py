"""A link to a server, to which something happens in the middle of what it says."""

import contextlib
import selectors
import socket
import threading


class InterruptedLink:
    """Passes everything between its ``port`` and the server's, until it is told otherwise by ``interrupt``.

    ``turns`` counts how often the server has begun to speak, over all connections: its greeting is the first
    turn where it greets, each answer one more. ``happened`` tells whether it was interrupted: in the last of
    these turns.
    """

    def __init__(self, port, host="127.0.0.1"):
        self.server = (host, port)
        self.turns = 0
        self.happened = False
        self._turn = self._after = self._act = None
        self._failure = None  # of what was to happen
        self._said = 0  # bytes of this turn
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self._listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def interrupt(self, turn=None, after=0, act=None):
        """Call ``act`` after so many bytes of that turn, from now on; the rest of what is said is lost.

        A turn that has fewer bytes is passed on whole: then it happens to the next one.
        """
        with self._lock:
            self.turns, self.happened = 0, False
            self._turn, self._after, self._act = turn, after, act

    def rest(self):
        """Let nothing happen any more, and wait for what does; raises what that has raised."""
        with self._lock:
            self._turn = None
            failure, self._failure = self._failure, None
        if failure:
            raise failure

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._link, args=(client,), daemon=True).start()

    def _link(self, client):
        with contextlib.suppress(OSError), client, socket.create_connection(self.server) as server:
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pass_on(client, server)

    def _pass_on(self, client, server):
        spoke = client
        with selectors.DefaultSelector() as readable:
            readable.register(client, selectors.EVENT_READ)
            readable.register(server, selectors.EVENT_READ)
            while True:
                for key, _ in readable.select():
                    octets = key.fileobj.recv(65536)
                    if not octets:
                        return
                    if key.fileobj is client:
                        server.sendall(octets)
                    else:
                        self._hear(octets, client, begins=spoke is client)
                    spoke = key.fileobj

    def _hear(self, octets, client, *, begins):
        with self._lock:
            if self.happened:
                return
            if begins:
                self.turns += 1
                self._said = 0
            kept = octets
            if self._turn is not None and self.turns >= self._turn:
                kept = octets[: max(self._after - self._said, 0)] if self.turns == self._turn else b""
            self._said += len(kept)
            client.sendall(kept)
            if kept != octets:
                self.happened = True
                try:
                    self._act()
                except Exception as error:  # noqa: BLE001 - rest() raises it
                    self._failure = error
