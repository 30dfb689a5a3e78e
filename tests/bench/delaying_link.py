"""A link that delays all that passes, in both directions, and holds nothing up: distance, not bandwidth.

    python delaying_link.py SECONDS PORT...

takes connections for each PORT of this machine on a port of its own, prints those, and ends with its input.
"""

import asyncio
import contextlib
import sys


async def passed_on(reader, writer, seconds):
    """Pass everything on, each part so many seconds after it came."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        while octets := await reader.read(65536):
            loop.call_later(seconds, writer.write, octets)
    loop.call_later(seconds, writer.close)


async def main(seconds, *ports):
    """Serve until the input ends."""

    def link(port):
        async def serve(reader, writer):
            answers, calls = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(passed_on(reader, calls, seconds), passed_on(answers, writer, seconds))

        return serve

    servers = [await asyncio.start_server(link(port), "127.0.0.1", 0) for port in ports]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), *map(int, sys.argv[2:])))
