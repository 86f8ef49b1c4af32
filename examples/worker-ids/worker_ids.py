# Leases a node ID (a worker or machine ID) from "sortid serve", and renews it in the background.
# Copy this file, and use the class Lease. It needs Python 3.7 or later, and no packages.
import atexit, http.client, json, os, random, signal, socket, sys, threading, time, urllib.parse

REFUSED = set(range(300, 500)) - {410, 429}  # the statuses after which acquiring again is useless

# On Linux, this clock goes on while the machine is suspended. Elsewhere it may stand still, and
# then only the wall clock notices.
now = time.monotonic if sys.platform != "linux" else lambda: time.clock_gettime(time.CLOCK_BOOTTIME)


class Lease:
    # Returns when the program may use node_id. While the server is away or has no free node ID, it
    # tries again, for so many seconds of patience. If it gets none, it raises an exception.
    #
    # The event "ended" is set "ahead" seconds before the lease ends, so that the program can stop
    # in time; "error" then says why. If the generator can run ahead of the clock, add how far.
    def __init__(self, url, realm, token="", ahead=1, patience=30):
        self.url, self.pid, self.ended = urllib.parse.urlsplit(url), os.getpid(), threading.Event()
        if self.url.scheme not in ("http", "https"): raise ValueError(f"want https://HOST: {url!r}")
        self.connect = getattr(http.client, self.url.scheme.upper() + "Connection")
        self.base = f"{self.url.path.rstrip('/')}/v1/realms/{urllib.parse.quote(realm, '')}/leases"
        self.headers, self.nonce = {"Content-Type": "application/json"}, os.urandom(16).hex()
        if token: self.headers["Authorization"] = f"Bearer {token.strip()}"
        self.id, self.keys, self.ahead, self.error = "", {"holder": socket.gethostname()}, ahead, ""
        # Each is a moment by the wall clock, and a moment by the other one. Until the server grants
        # the lease, it never begins, and ends with the patience.
        self.begin, self.end = (float("inf"), 0), (float("inf"), now() + patience + ahead)
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
            self.ask("/release", {**self.keys, "last_time_ms": last_time_ms})

    # Returns the seconds until the program must have stopped.
    def left(self):
        return min(self.end[0] - time.time(), self.end[1] - now()) - self.ahead

    def watch(self):
        while self.left() > 0 and not self.ended.wait(0.1): pass
        self.ended.set()

    def renew(self):
        wait = 0
        while not self.ended.wait(wait):
            path, key = ("/renew", "renewal") if self.id else ("", "request")
            wait = self.ask(path, {**self.keys, key: self.nonce, "time_ms": int(time.time() * 1e3)})

    # Sends a request, takes the lease in the answer, and returns how many seconds to wait then.
    def ask(self, path, body):
        sent, wait = now(), random.uniform(0.2, 2)
        try:
            connection = self.connect(self.url.netloc, timeout=max(1, self.left() / 3))
            connection.request("POST", self.base + self.id + path, json.dumps(body), self.headers)
            reply = connection.getresponse()
            wait = max(wait, int(reply.getheader("Retry-After", 0)))
            answer = json.load(reply) if "json" in reply.getheader("Content-Type", "") else {}
            self.error = answer.get("detail", f"{self.url.netloc} answered {reply.status}")
            if reply.status in ({410} if self.id else REFUSED): self.ended.set()
            if reply.status in (200, 201, 410): self.nonce = os.urandom(16).hex()
            if answer.get("end_tick", 0) > self.keys.get("end_tick", 0) and self.left() > 0:
                self.id, self.node_id = "/" + answer["id"], answer["node_id"]
                self.keys = {name: answer[name] for name in ("secret", "end_tick")}
                self.end = answer["valid_until_ms"] / 1000, sent + answer["valid_for_ms"] / 1000
                self.begin = answer["valid_from_ms"] / 1000, now() + answer["starts_in_ms"] / 1000
                wait = (answer["renew_at_ms"] - answer["server_time_ms"]) / 1000
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.error = f"{self.url.netloc}: {error}"
        return wait


if __name__ == "__main__":
    sys.tracebacklimit = 0  # an error is one line
    lease = Lease(*(os.environ.get("SORTID_" + name, "") for name in ("URL", "REALM", "TOKEN")))
    atexit.register(lambda: lease.release(int(time.time() * 1000)))  # no ID is ahead of the clock
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print(lease.node_id, round(lease.end[0] * 1000), flush=True)
    if lease.ended.wait(): sys.exit(f"the lease has ended: {lease.error}")
