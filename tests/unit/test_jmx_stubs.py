"""Where a stub says that its object is: both forms of stub, both kinds of reference.

Static stubs with both kinds come from the real servers of tests/live. A proxy is what Java 8u504 sends; no
JVM that can be had here does, so it is written by hand after the specification (TC_PROXYCLASSDESC).
"""

import io
from struct import pack

import pytest
from java_stream import END, NULL, described, instance, utf
from stallwatch.sources.jmx.rmi import reference
from stallwatch.sources.jmx.serialization import MAGIC, ProtocolError, Reader

OBJECT_ID = bytes(range(22))
WRITES = 3  # the flags of a class with writeObject
REMOTE_OBJECT = described("java.rmi.server.RemoteObject", flags=WRITES)
TLS_FACTORY = instance(described("javax.rmi.ssl.SslRMIClientSocketFactory"))


class Octets(io.BytesIO):
    """Bytes to be taken."""

    def take(self, count):
        """Give so many."""
        return self.read(count)


def block(octets):
    """Block data."""
    return b"\x77" + bytes([len(octets)]) + octets


def endpoint(port):
    """Where a server thinks that it is."""
    return utf("db1.internal") + pack(">i", port)


def unicast(port=7199):
    """A reference as most have it."""
    return block(utf("UnicastRef") + endpoint(port) + OBJECT_ID + b"\x00")


def unicast2(factory):
    """A reference that may name how connections are made."""
    if not factory:
        return block(utf("UnicastRef2") + b"\x00" + endpoint(7199) + OBJECT_ID + b"\x00")
    return block(utf("UnicastRef2") + b"\x01" + endpoint(7199)) + factory + block(OBJECT_ID + b"\x00")


def static(written):
    """A stub of a class of its own."""
    remote_stub = described("java.rmi.server.RemoteStub", parent=REMOTE_OBJECT)
    stub = described("javax.management.remote.rmi.RMIServerImpl_Stub", parent=remote_stub)
    return instance(stub, written + END)


def proxy(written):
    """A stub that is a proxy for an interface; its handler has the reference."""
    handler = described("java.rmi.server.RemoteObjectInvocationHandler", parent=REMOTE_OBJECT)
    super_class = described("java.lang.reflect.Proxy", "Lh")
    interfaces = pack(">i", 1) + utf("javax.management.remote.rmi.RMIServer")
    return b"\x73\x7d" + interfaces + END + super_class + instance(handler, written + END)


def read(stub):
    """The reference in a stub."""
    return reference(Reader(Octets(MAGIC + stub)).content())


@pytest.mark.parametrize("stub", [static, proxy])
@pytest.mark.parametrize(
    ("written", "tls"),
    [(unicast(), False), (unicast2(None), False), (unicast2(TLS_FACTORY), True)],
    ids=["UnicastRef", "UnicastRef2", "UnicastRef2 with TLS"],
)
def test_a_stub_says_where_its_object_is(stub, written, tls):
    found = read(stub(written))
    assert found == ("db1.internal", 7199, OBJECT_ID, tls)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(ProtocolError, match=f"a reference to the port {port}"):
        read(static(unicast(port)))


def test_connections_that_only_a_java_client_can_make_are_refused():
    factory = instance(described("com.example.TunnelFactory"))
    with pytest.raises(ProtocolError, match=r"made by com\.example\.TunnelFactory, which only a Java client"):
        read(static(unicast2(factory)))


@pytest.mark.parametrize("stub", [NULL, instance(described("java.lang.Object"))])
def test_what_is_no_stub_is_refused(stub):
    with pytest.raises(ProtocolError, match="no stub where one was to come"):
        read(stub)


def test_a_reference_of_another_kind_is_refused():
    with pytest.raises(ProtocolError, match="of the unknown kind ActivatableRef"):
        read(static(block(utf("ActivatableRef"))))
