"""Load the local web server (loopback only): requests at a rate, idle connections, slow readers; count lost answers.

    python benchmarks/load.py --seconds 60 --rate 1000 --idle 500 --slow 20

The server runs in a process of its own. An answer is lost if a request with a valid token does not get its whole
answer. The server's memory is read before, in the middle and at the end. At most 600 seconds and 5,000 requests a
second are accepted.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import socket
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

from editvec.ui.server import LocalServer

PAGE = "<style>p {}</style><p>page</p><script>1</script>" + "x" * 200_000
DATA = {"places": [{"line": number, "text": "x = 1"} for number in range(500)]}


def serve(said: Connection) -> None:
    """Run a server and say its port and its token."""
    server = LocalServer(PAGE, lambda: DATA, lambda value: {"value": value})
    said.send((server.port, server.token))
    server.run()


def resident(process: int) -> int:
    """Return the resident memory of a process in KiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


class Load:
    """Clients of a server, and what they counted."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.sent = self.lost = 0
        self.seconds: list[float] = []
        self._lock = threading.Lock()

    def ask(self) -> None:
        """Send a request for the data, and count a lost answer."""
        began = time.perf_counter()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request("GET", "/data", headers={"X-Token": self.token})
            answer = connection.getresponse()
            good = answer.status == 200 and len(answer.read()) == int(answer.headers["Content-Length"])
            connection.close()
        except OSError:
            good = False
        with self._lock:
            self.sent += 1
            self.lost += not good
            self.seconds.append(time.perf_counter() - began)

    def client(self, rate: float, until: float) -> None:
        """Ask at a rate until a time; a late request is sent at once."""
        due = time.monotonic()
        while due < until:
            time.sleep(max(0.0, due - time.monotonic()))
            if time.monotonic() >= until:
                return
            self.ask()
            due += 1 / rate

    def idle(self, count: int) -> list[socket.socket]:
        """Open connections that send half a request and then nothing."""
        found = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            found.append(connection)
        return found

    def read_slowly(self, until: float) -> None:
        """Ask for the page and read a few bytes of it a second."""
        while time.monotonic() < until:
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                request = f"GET /?token={self.token} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n"
                connection.sendall(request.encode())
                while time.monotonic() < until and connection.recv(512):
                    time.sleep(0.25)


def main() -> None:
    """Parse the arguments, run the load and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float, default=200, help="requests a second")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--idle", type=int, default=500, help="connections that send nothing")
    parser.add_argument("--slow", type=int, default=20, help="clients that read slowly")
    given = parser.parse_args()
    seconds, rate = min(given.seconds, 600), min(given.rate, 5_000)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    load = Load(*ours.recv())
    assert server.pid is not None
    try:
        load.ask()
        before = resident(server.pid)
        idle = load.idle(given.idle)
        until = time.monotonic() + seconds
        threads = [
            threading.Thread(target=load.client, args=(rate / given.clients, until)) for _ in range(given.clients)
        ]
        threads += [threading.Thread(target=load.read_slowly, args=(until,)) for _ in range(given.slow)]
        for thread in threads:
            thread.start()
        time.sleep(seconds / 2)
        middle = resident(server.pid)
        for thread in threads:
            thread.join()
        for connection in idle:
            connection.close()
        load.ask()
        after = resident(server.pid)
    finally:
        server.kill()
    waits = sorted(load.seconds)
    print(f"{load.sent:,} requests in {seconds:.0f} s ({load.sent / seconds:.0f} a second), {load.lost} answers lost")
    print(f"median {1e3 * waits[len(waits) // 2]:.1f} ms, 99 % under {1e3 * waits[len(waits) * 99 // 100]:.0f} ms")
    print(f"{given.idle} idle connections, {given.slow} slow readers")
    print(f"memory {before / 1024:.0f} MiB before, {middle / 1024:.0f} in the middle, {after / 1024:.0f} at the end")


if __name__ == "__main__":
    main()
