"""How far a plugin has come in its conversation with a server: to stop either of them just there."""

import contextlib
import errno
import os
import selectors
import signal
import socket
import struct
import threading
import time
from pathlib import Path

import psutil
from bad_servers import FILLERS, FULL, HOST

LOOK_UP, CONNECT = "name look-up", "TCP connect"  # before the conversation
PATIENCE = 60  # seconds for what comes soon
_NAMES = 53  # the port of name servers
_STEP, _BEAT = 0.002, 0.05  # seconds
_TOLD = """import os, sys, time
def hook(event, arguments):
    if event == "import" and arguments[0] == "stallwatch.frame.exit":
        import signal
        wind = signal.setitimer
        def setitimer(which, seconds, interval=0.0):
            if seconds:
                with open({told!r}, "a") as file:
                    now = time.monotonic()
                    file.write("%d %f %f\\n" % (os.getpid(), now, now + seconds))
            return wind(which, seconds, interval)
        signal.setitimer = setitimer
sys.addaudithook(hook)
"""


class Ends:
    """When checks have to have ended: each process that has ``folder`` in PYTHONPATH writes that down."""

    def __init__(self, folder):
        self.folder = folder
        self._told = folder / "told"
        self._told.touch()
        (folder / "sitecustomize.py").write_text(_TOLD.format(told=str(self._told)))

    def of(self, pid, since):
        """The end of the check that this process has begun since then, both by time.monotonic()."""
        for line in self._told.read_text().splitlines():
            process, at, end = line.split()
            if int(process) == pid and float(at) >= since:
                return float(end)
        raise LookupError(pid)


# processes


def stop(pid):
    """Take all processors from it, and see that it is so. ProcessLookupError: it has ended."""
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + PATIENCE
    while (state := _state(pid)) != "T":
        if state in "ZX":
            raise ProcessLookupError(errno.ESRCH, "it has ended")
        assert time.monotonic() < until
        time.sleep(_STEP)


def go_on(pid):
    """Let it go on, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def waited_for_a_processor(pid):
    """Seconds that it could have run and did not, so far (proc(5), schedstat); 0 where that is not known."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


class Beat:
    """Sees for how long this machine has let a process stand still that only sleeps, in ``late``, in seconds.

    Not all of that is in schedstat: the host of a virtual machine may not have run it either.
    """

    def __init__(self):
        self.late = 0.0
        self._ended = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _count(self):
        while not self._ended.is_set():
            begun = time.monotonic()
            time.sleep(_BEAT)
            self.late += time.monotonic() - begun - _BEAT


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return "X"


def speaks(pids, own=None, other=None):
    """Which of these processes has a socket with these ports of its ``own`` and of the ``other`` end; None.

    The kernel gives the same port to connections with different places.
    """
    sockets = {f"socket:[{inode}]" for inode in _inodes(own, other)}
    return next((pid for pid in pids if sockets and not sockets.isdisjoint(_opened(pid))), None)


def _inodes(own, other):
    """The sockets with these ports: psutil reads them once for each process."""
    begins, ends = (f":{own:04X} " if own else "", f":{other:04X} " if other else "")
    for protocol in ("tcp", "udp"):
        for line in Path(f"/proc/net/{protocol}").read_text().splitlines():
            if begins in line and ends in line:
                _, one, two, *more = line.split()
                if f"{one} ".endswith(begins) and f"{two} ".endswith(ends):
                    yield more[6]


def _opened(pid):
    found = []
    with contextlib.suppress(OSError):
        for one in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(one.path))
    return found


def children(pid):
    """The processes that it has started."""
    with contextlib.suppress(OSError):
        return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    return []


def listener(port):
    """The process that takes connections at this port."""
    found = [one for one in psutil.net_connections("inet") if one.laddr[1] == port]
    (pid,) = {one.pid for one in found if one.status == psutil.CONN_LISTEN}
    return pid


# what passes between a plugin and its server


_BEGINNINGS = (  # of what a client says, and what that is
    (b"JRMI", "RMI greeting"),
    (b"POST ", "HTTP request"),
    (b"GET ", "HTTP request"),
    (b"\x50\xac\xed", "RMI call"),
    (b"get status", "question"),
    (b"\x20\0\0\1", "TLS"),
    (b"\x16\3", "TLS"),
    (b"\x14\3", "turn in TLS"),
    (b"\x17\3", "turn in TLS"),
)


def kind(heard, *, first):
    """What the client has said before the server speaks."""
    if not heard and first:
        return "greeting"
    if heard[3:5] == b"\0\3":
        return "statement"
    return next((name for begins, name in _BEGINNINGS if heard.startswith(begins)), "log-in")


class Relay:
    """Passes everything between its ``port`` and the server's, and knows how far it has come.

    A turn is what the server says until it is asked again, over all connections; ``turns`` are their names.
    Just before the turn ``at`` is passed on, ``act`` is called with the ports of the client and of this end:
    if it returns False, nothing is passed on from then on, and the connections stay open.
    With ``full`` nobody gets a connection until it is ``open``.
    """

    def __init__(self, server, at=None, act=None, *, full=False, port=0):
        self.turns = []
        self.port = port
        self._server = server
        self._at, self._act = at, act
        self._silent = False
        self._ended = threading.Event()
        self._full = full
        self._lock = threading.RLock()
        self._connections = contextlib.ExitStack()
        self._fillers = set()  # their ports
        self._threads = []

    def __enter__(self):
        self._listener = socket.create_server((HOST, self.port), backlog=0 if self._full else 50)
        self.port = self._listener.getsockname()[1]
        if self._full:
            self._fill()
        else:
            self.open()
        return self

    def __exit__(self, *_):
        self._ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            self._connections.close()
        for thread in self._threads:
            thread.join()

    def open(self):
        """Take connections from now on."""
        self._full = False
        self._start(self._accept)

    def _start(self, does, *arguments):
        self._threads.append(threading.Thread(target=does, args=arguments, daemon=True))
        self._threads[-1].start()

    def _fill(self):
        """Linux drops whoever knocks while the queue is full."""
        for _ in range(FILLERS):
            filler = self._connections.enter_context(socket.socket())
            filler.settimeout(FULL)
            try:
                filler.connect((HOST, self.port))
            except TimeoutError:
                filler.close()
                return
            self._fillers.add(filler.getsockname()[1])
        raise AssertionError("the queue is not full")

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, (_, port) = self._listener.accept()
                if port in self._fillers:
                    client.close()
                else:
                    self._start(self._link, client)

    def _link(self, client):
        with contextlib.suppress(OSError):
            server = socket.create_connection(self._server)
            with self._lock:
                for one in (client, server):
                    self._connections.callback(_shut, one)
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pass_on(client, server)
        if self._silent:  # who stands still does not hang up
            self._ended.wait()
        client.close()
        with contextlib.suppress(UnboundLocalError):
            server.close()

    def _pass_on(self, client, server):
        heard, speaks, first = b"", False, True
        with selectors.DefaultSelector() as readable:
            readable.register(client, selectors.EVENT_READ)
            readable.register(server, selectors.EVENT_READ)
            while True:
                for key, _ in readable.select():
                    octets = key.fileobj.recv(65536)
                    if not octets:
                        return
                    if key.fileobj is client:
                        heard, speaks = (b"" if speaks else heard) + octets[:64], False
                        server.sendall(octets)
                        continue
                    if not speaks:
                        self._begins(client, kind(heard, first=first))
                        speaks, first = True, False
                    if not self._silent:
                        client.sendall(octets)

    def _begins(self, client, name):
        with self._lock:
            self.turns.append(f"{name} {sum(one.startswith(name) for one in self.turns) + 1}")
            if len(self.turns) == self._at and self._act:
                self._silent = not self._act(client.getpeername()[1], self.port)


def _shut(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class NameServer:
    """Knows this host by every name for which it was told what to do: see ``expect``."""

    def __init__(self):
        self._acts = {}

    def __enter__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address = self._bound()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", (self.address, _NAMES))
        self._thread.join()
        self._socket.close()

    def _bound(self):
        """A name server is asked at port 53: find an address where that is free."""
        for low in range(1, 255):
            with contextlib.suppress(OSError):
                self._socket.bind((f"127.66.{os.getpid() % 256}.{low}", _NAMES))
                return self._socket.getsockname()[0]
        self._socket.close()
        raise PermissionError(errno.EACCES, "no port 53 is free")

    def expect(self, name, act):
        """Call ``act`` with the ports of who asks for this name and of this end; unless False, answer."""
        self._acts[name.encode()] = act
        return name

    def _serve(self):
        while True:
            question, asker = self._socket.recvfrom(4096)
            if not question:
                return
            threading.Thread(target=self._answer, args=(question, asker), daemon=True).start()

    def _answer(self, question, asker):
        labels, at = [], 12
        while length := question[at]:
            labels.append(question[at + 1 : at + 1 + length])
            at += 1 + length
        asked = question[12 : at + 5]
        act = self._acts.get(b".".join(labels))
        if not act or not act(asker[1], _NAMES):
            return
        (kind_of_record,) = struct.unpack("!H", question[at + 1 : at + 3])
        is_address = kind_of_record == 1
        head = question[:2] + struct.pack("!HHHHH", 0x8180, 1, int(is_address), 0, 0)
        record = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + socket.inet_aton(HOST)
        self._socket.sendto(head + asked + (record if is_address else b""), asker)
