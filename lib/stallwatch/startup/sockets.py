"""The interpreter's own sockets, without the enumerations and classes of the module socket."""

import _socket as socket

__all__ = ["socket"]
