"""The interpreter's own TLS, without the enumerations of all its constants that the module ssl makes."""

import _ssl as ssl

__all__ = ["ssl"]
