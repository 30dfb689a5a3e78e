"""The server that a process is, if it is not to be asked: it tells nothing."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.sources.processes import Running


class NoServer:
    """What ``AskedServer`` is, without what asking takes."""

    asking = None
    lost = None

    def close(self) -> None:
        """Log out of nothing."""

    def likeness(self, _: Running) -> int:
        """Tell how sure it is that it is this process: nobody knows."""
        return 0

    def must_be(self, _: Running) -> None:
        """Let it be any process."""

    def counts(self) -> dict[str, float]:
        """Give nothing counted."""
        return {}

    def read_buffer_size(self) -> float | None:
        """Give no size."""
        return None

    def asides(self) -> Iterator[Finding]:
        """Tell nothing."""
        return iter(())
