"""The least that a client of MySQL in Python can do: log in over a socket, ask one statement, leave.

python -I -S raw_client.py SOCKET USER PASSWORD
"""

import _sha1
import _socket
import sys

# Long passwords and flags, MySQL 4.1's protocol, transactions, secure log-in, names of log-ins.
CAPABILITIES = 0x0000A205 | 0x00080000
QUERY, QUIT = b"\3", b"\1"


def read(link, size):
    """So many octets."""
    found = b""
    while len(found) < size:
        found += link.recv(size - len(found)) or sys.exit("hung up")
    return found


def packet(link):
    """The next packet."""
    return read(link, int.from_bytes(read(link, 4)[:3], "little"))


def send(link, number, octets):
    """Send a packet."""
    link.sendall(len(octets).to_bytes(3, "little") + bytes([number]) + octets)


def scramble(password, salt):
    """The answer to a greeting, as mysql_native_password has it."""
    once = _sha1.sha1(password).digest()
    mixed = _sha1.sha1(salt + _sha1.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mixed, strict=True))


def main(path, user, password):
    """Log in and ask."""
    link = _socket.socket(_socket.AF_UNIX)
    link.connect(path)
    greeting = packet(link)
    after = greeting.index(b"\0") + 5  # protocol, version, number of the connection
    salt = greeting[after : after + 8] + greeting[after + 27 : after + 39]
    answer = bytes([20]) + scramble(password.encode(), salt)
    login = CAPABILITIES.to_bytes(4, "little") + (1 << 24).to_bytes(4, "little") + b"\x2d" + bytes(23)
    send(link, 1, login + user.encode() + b"\0" + answer + b"mysql_native_password\0")
    if packet(link)[:1] != b"\0":
        sys.exit("refused")
    send(link, 0, QUERY + b"SELECT 1")
    said = [packet(link) for _ in range(5)]  # one column, what it is, its end, one row, its end
    send(link, 0, QUIT)
    return said[3] != b"\x011"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
