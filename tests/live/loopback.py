"""Ports on loopback for servers of the tests."""

import contextlib
import itertools
import random
import socket
import threading
import time

# Below the ports that the kernel hands out to whoever connects (32768 and up): a port that is free now is
# still free when a server has started.
PORTS = range(20000, 32000)
_reserved = []  # sockets without a file, whose names are ours on this machine until this process ends


def free_port(host="127.0.0.1"):
    """A TCP port that nobody listens on, and that no test on this machine has been given while it runs."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in random.sample(PORTS, 200):
        with socket.socket(family) as listener, contextlib.suppress(OSError):
            listener.bind((host, port))
            reservation = socket.socket(socket.AF_UNIX)
            try:
                reservation.bind(f"\0stallwatch-tests-port-{port}")
            except OSError:  # of another worker
                reservation.close()
                raise
            _reserved.append(reservation)
            return port
    raise OSError(f"no free port on {host}")


def has_ipv6():
    """Whether there is an ::1."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as listener:
        listener.bind(("::1", 0))
        return True
    return False


def listens(port, host="127.0.0.1"):
    """Whether somebody takes connections there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=5):
        return True
    return False


def wait_until(ready, seconds, process, log):
    """Wait for something; what the log says last is in the TimeoutError if it does not come."""
    until = time.monotonic() + seconds
    for number in itertools.count():
        if ready():
            return
        # To look for its processes is to read those of the whole machine.
        if time.monotonic() > until or (number % 10 == 0 and not process.family):
            with open(log, errors="replace") as file:
                said = [line.rstrip()[:300] for line in file.readlines()[-60:]]
            raise TimeoutError("\n".join(["the server is not ready:", *said]))
        time.sleep(0.05)


@contextlib.contextmanager
def serving(play):
    """A server on loopback that plays this to each connection. Gives its host and port.

    ``play`` is given the connection, how many came before it, and an event: the end.
    """
    ended = threading.Event()
    connections, threads = [], []

    def talk(connection, number):
        with contextlib.suppress(OSError), connection:
            play(connection, number, ended)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threads.append(threading.Thread(target=talk, args=(connection, len(connections))))
                connections.append(connection)
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads.append(threading.Thread(target=serve))
        threads[0].start()
        try:
            yield listener.getsockname()
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            threads[0].join()
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
