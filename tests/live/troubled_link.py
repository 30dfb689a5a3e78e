"""A link to a server, on a port of its own, that breaks after so many bytes of what the server says."""

import contextlib
import selectors
import socket
import struct
import threading


class TroubledLink:
    """Passes everything between its ``port`` and the server's, until so many bytes came from the server.

    Then the connection is reset, or closed where ``reset`` is False. Later ones break at once where it is
    ``for_good``, else not at all. Whenever the client says ``word``, that connection breaks.
    """

    def __init__(self, host, port, after=None, *, reset=True, for_good=True, word=None):
        self.server = (host, port)
        self.left = after
        self.reset = reset
        self.for_good = for_good
        self.word = word
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._link, args=(client,), daemon=True).start()

    def _link(self, client):
        with client, socket.create_connection(self.server) as server, selectors.DefaultSelector() as readable:
            for one, other in ((client, server), (server, client)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                readable.register(one, selectors.EVENT_READ, other)
            with contextlib.suppress(OSError):
                while self._pass_on(readable, server):
                    pass
            if self.reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _pass_on(self, readable, server):
        """Pass on what has come; whether there may be more."""
        for key, _ in readable.select():
            octets = key.fileobj.recv(65536)
            if self.word and self.word in octets and key.fileobj is not server:
                return False
            if key.fileobj is server and self.left is not None:
                octets = octets[: self.left]
                self.left -= len(octets)
            key.data.sendall(octets)
            if not octets:
                return False
            if self.left == 0:
                self.left = 0 if self.for_good else None
                return False
        return True
