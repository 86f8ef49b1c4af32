# Leases a node ID (a worker or machine ID) from "sortid serve", and renews it in the background.
# Copy this file, and use the class Lease. It needs Python 3.7 or later, and no packages.
import atexit, http.client, json, os, random, signal, socket, sys, threading, time, urllib.parse
from contextlib import suppress

# On Linux, this clock goes on while the machine is suspended. Elsewhere it may stand still, and
# then only the wall clock notices.
now = time.monotonic if sys.platform != "linux" else lambda: time.clock_gettime(time.CLOCK_BOOTTIME)


class Lease:
    # "begin" and "end" are moments by the wall clock and by the other one. Until the server grants
    # the lease, it never begins, and ends with the patience.
    id, keys, wait, error, due, begin = "", {"holder": socket.gethostname()}, 0, "", 1e99, (1e99, 0)

    # Returns when the program may use node_id. While the server is away or has no free node ID, it
    # tries again, for so many seconds of patience. If it gets none, it raises an exception.
    #
    # The event "ended" is set "ahead" seconds before the lease ends, so that the program can stop
    # in time; "error" then says why. If the generator can run ahead of the clock, add how far.
    def __init__(self, url, realm, token="", ahead=1, patience=30):
        scheme, self.host, path = urllib.parse.urlsplit(url)[:3]
        if scheme not in ("http", "https"): raise ValueError(f"want https://HOST: {url!r}")
        self.connect, self.pid = getattr(http.client, f"{scheme.upper()}Connection"), os.getpid()
        self.base = f"{path.rstrip('/')}/v1/realms/{urllib.parse.quote(realm, '')}/leases"
        self.headers, self.nonce = {"Content-Type": "application/json"}, os.urandom(16).hex()
        if token: self.headers["Authorization"] = f"Bearer {token.strip()}"
        self.ended, self.ahead, self.end = threading.Event(), ahead, (9e9, now() + patience + ahead)
        for task in self.watch, self.renew: threading.Thread(target=task, daemon=True).start()
        while not self.held():
            if self.ended.wait(0.02): raise RuntimeError(self.error)

    # Reports whether the program may use the node ID now. Ask before each ID: a program does not
    # notice that it stood still. A forked child may not use it, and needs its own lease.
    def held(self):
        begun = self.begin[0] <= time.time() and self.begin[1] <= now()
        return begun and self.left() > 0 and not self.ended.is_set() and self.pid == os.getpid()

    # Gives the node ID back. Make no ID after that, whether or not the server answers. The node ID
    # is free after last_time_ms, the time of the last ID, or else when the lease would have ended.
    def release(self, last_time_ms=None):
        if self.held():
            self.ended.set()
            self.ask("/release", {**self.keys, "last_time_ms": last_time_ms}, 1)

    # Returns the seconds until the program must have stopped.
    def left(self): return min(self.end[0] - time.time(), self.end[1] - now()) - self.ahead

    # Also ends a connection whose answer takes too long: it may come one byte at a time.
    def watch(self):
        while self.left() > 0:
            time.sleep(0.1)
            with suppress(OSError): now() > self.due and self.sock.shutdown(socket.SHUT_RDWR)
        by = time.time() - now() - getattr(self, "offset", 0)
        self.error = self.error or abs(by) > 1 and f"the clock jumped {by:+.0f} s" or "a standstill"
        self.ended.set()

    def renew(self):
        while not self.ended.wait(self.wait) and self.left() > 0:
            path, key = ("/renew", "renewal") if self.id else ("", "request")
            self.ask(path, {**self.keys, key: self.nonce, "time_ms": int(time.time() * 1e3)})

    # Sends a request, takes the lease in the answer, and sets how many seconds to wait then. To
    # connect, to agree on TLS, and to get the answer have the same limit each.
    def ask(self, path, body, limit=20):
        sent, limit, self.wait = now(), max(1, min(limit, self.left() / 4)), random.uniform(0.2, 2)
        try:
            connection = self.connect(self.host, timeout=limit)
            connection.request("POST", self.base + self.id + path, json.dumps(body), self.headers)
            self.sock, self.due, self.offset = connection.sock, now() + limit, time.time() - now()
            r = connection.getresponse()
            self.wait = max(self.wait, int(r.getheader("Retry-After", 0)))
            it = json.load(r) if "json" in r.getheader("Content-Type", "") else {}
            self.error = "" if r.status < 300 else it.get("detail", f"{self.host} sent {r.status}")
            if r.status in ({410} if self.id else {*range(300, 500)} - {410, 429}): self.ended.set()
            if r.status in (200, 201, 410): self.nonce = os.urandom(16).hex()
            if it.get("end_tick", 0) > self.keys.get("end_tick", 0) and self.left() > 0:
                self.node_id, self.keys = it["node_id"], {n: it[n] for n in ("secret", "end_tick")}
                self.end = it["valid_until_ms"] / 1000, sent + it["valid_for_ms"] / 1000
                self.begin = it["valid_from_ms"] / 1000, now() + it["starts_in_ms"] / 1000
                self.id, self.wait = "/" + it["id"], (it["renew_at_ms"] - it["server_time_ms"])/1e3
        except Exception as error: self.error = f"{self.host}: {error}"


if __name__ == "__main__":
    sys.tracebacklimit = 0  # an error is one line
    lease = Lease(*(os.environ.get("SORTID_" + name, "") for name in ("URL", "REALM", "TOKEN")))
    atexit.register(lambda: lease.release(int(time.time() * 1000)))  # no ID is ahead of the clock
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print(lease.node_id, round(lease.end[0] * 1000), flush=True)
    if lease.ended.wait(): sys.exit(f"the lease has ended: {lease.error}")
