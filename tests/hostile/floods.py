"""Servers that let us in, and answer with so much that it would fill our memory.

An answer is a tuple: bytes to begin with, bytes that come again, how often they do, and the last bytes. What
comes again may also be a function, which gives it by how often it came before.
"""

import re
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "unit"))
import java_stream as java
import jmx_bytes
import mysql_bytes
from mysql_bytes import packet

AT_ONCE = 1 << 20  # bytes
LONG = AT_ONCE // 256
FOR_EVER = 1 << 40


def pours(connection, ended, first, again=b"", times=FOR_EVER, last=b""):
    """Say the first, the next again and again, and the last, as long as somebody listens."""
    connection.sendall(first)
    if callable(again):
        for number in range(times):
            if ended.is_set():
                return
            connection.sendall(again(number))
    elif again:
        many = max(1, min(times, AT_ONCE // len(again)))
        block = again * many
        while times > 0 and not ended.is_set():
            connection.sendall(block if times >= many else again * times)
            times -= many
    connection.sendall(last)


# A JVM

_REGISTRY, _OVER_RMI = jmx_bytes.load("attribute")
_, _LET_IN, _VALUE, _ = (b"Q\xac\xed" + part for part in _OVER_RMI.split(b"Q\xac\xed"))
_GREETING = _REGISTRY[: _REGISTRY.index(b"Q\xac\xed")]
_FOUND = _REGISTRY[len(_GREETING) :]
HEAD = _VALUE[: _VALUE.index(b"w\x0f") + 17]  # of an answer, before its object
_CALL = re.compile(rb"\x50\xac\xed\0\x05w\x22.{26}(.{8})", re.DOTALL)
_LOOKUP = struct.pack(">q", 4905912898345647071)
_NEW_CLIENT = struct.pack(">q", -1089742558549201240)
GET_ATTRIBUTE, GET_ATTRIBUTES, QUERY_NAMES, QUERY_MBEANS, GET_MBEAN_INFO = (
    struct.pack(">q", number)
    for number in (
        -1089783104982388203, 6285293806596348999, 9152567528369059802, 2915881009400597976,
        -7404813916326233354,
    )
)  # fmt: skip


def jvm(answers):
    """A JVM that lets us in; ``answers`` are what it pours for each call after that, by the call's method.

    None is for all others.
    """

    def play(connection, _, ended):
        greeted = False
        while heard := connection.recv(65536):
            if not greeted:
                connection.sendall(_GREETING)
                greeted = True
            for method in _CALL.findall(heard):
                if method == _LOOKUP:
                    connection.sendall(_FOUND)
                elif method == _NEW_CLIENT:
                    connection.sendall(_LET_IN)
                else:
                    first, *others = answers.get(method) or answers[None]
                    pours(connection, ended, HEAD + first, *others)

    return play


def _set_of(count):
    """The beginning of a set; its class and itself have the handles 0 and 1."""
    cls = java.described("java.util.HashSet", flags=java.WRITES)
    return java.instance(cls, b"\x77\x0c" + bytes(8) + struct.pack(">I", count))


def names(count, name=b"x:type=Bean,name=%d"):
    """A set of so many object names."""
    cls = java.described("javax.management.ObjectName", flags=java.WRITES)

    def one(cls, number):
        text = name % number if b"%d" in name else name
        return java.instance(cls, b"\x74" + struct.pack(">H", len(text)) + text, java.END)

    return (
        _set_of(count)
        + one(cls, 0)
        + b"".join(one(java.reference(2), number) for number in range(1, count))
        + java.END
    )


def number(value=42):
    """A Long."""
    return java.number("java.lang.Long", struct.pack(">q", value), fields=("Jvalue",))


def beans(count, name=b"x:type=Bean,name=%d", cls="x.Bean"):
    """A set of so many beans of one class: ObjectInstances."""
    of_instance = java.described("javax.management.ObjectInstance", "LclassName", "Lname")  # 2, 3, 4
    of_name = java.described("javax.management.ObjectName", flags=java.WRITES)  # 7

    def one(of_instance, cls, of_name, number):
        text = name % number if b"%d" in name else name
        named = java.instance(of_name, b"\x74" + struct.pack(">H", len(text)) + text, java.END)
        return java.instance(of_instance, cls, named)

    return (
        _set_of(count)
        + one(of_instance, java.short_text(cls), of_name, 0)  # the instance is 5, its class's name 6
        + b"".join(
            one(java.reference(2), java.reference(6), java.reference(7), number) for number in range(1, count)
        )
        + java.END
    )


def info(*attributes, description="what it is"):
    """An MBeanInfo with these attributes, which tells nothing of other beans."""
    fields = ("LattributeType", "Lname", "Ldescription", "ZisRead", "ZisWrite")
    of_attribute = java.described(
        "javax.management.MBeanAttributeInfo", *fields
    )  # 5, after the info and its array
    each = [
        java.instance(
            java.reference(5) if number else of_attribute,
            *map(java.short_text, ("long", name, description)), b"\1\0",
        )
        for number, name in enumerate(attributes)
    ]  # fmt: skip
    array = java.array(java.described("[Ljavax.management.MBeanAttributeInfo;"), len(attributes), *each)
    return java.number("javax.management.MBeanInfo", array, fields=("[attributes",))


# A MySQL


def mysql(answers, *, greeting=(mysql_bytes.LET_IN[0],), let_in=(mysql_bytes.LET_IN[1],)):
    """A MariaDB that lets us in; ``answers`` are what it pours for statements with these words in them.

    "" is in all others, but for the two that every log-in begins with. It hangs up on what it does not know.
    """

    def play(connection, _, ended):
        pours(connection, ended, *greeting)
        connection.recv(65536)
        pours(connection, ended, *let_in)
        while heard := connection.recv(65536):
            if b"@@version_comment" in heard:
                connection.sendall(mysql_bytes.WHO)
            elif b"SET NAMES" in heard:
                connection.sendall(packet(1, mysql_bytes.OK))
            else:
                words = next((words for words in answers if words.encode() in heard), None)
                if words is None:  # goodbye, or what a slow check asks besides: it hangs up
                    return
                pours(connection, ended, *answers[words])

    return play


def rows(columns, *row, count=FOR_EVER):
    """So many rows, all the same, whose packets' numbers go on: of short ones, 256 are sent at a time."""
    head = mysql_bytes.result(*columns)[:-9]
    first = len(columns) + 3
    octets = b"".join(b"\xfb" if value is None else _written(value) for value in row)
    if len(octets) > LONG:
        return head, lambda number: packet((first + number) % 256, octets), count
    again = b"".join(packet((first + number) % 256, octets) for number in range(256))
    return head, again, max(1, count // 256), packet(first % 256, b"\xfe\0\0\2\0")


def _written(value):
    return bytes([len(value)]) + value if len(value) <= 250 else mysql_bytes.text(value)
