# A SCRU64 generator for the tests of "sortid lease exec". The counter starts at zero in
# each tick, so that two processes with one node ID in one tick make the same ID for
# certain.
import os, sys, time

node_id, size = (int(part) for part in os.environ["SCRU64_NODE_SPEC"].split("/"))
counter_size = 24 - size
digits = "0123456789abcdefghijklmnopqrstuvwxyz"


def text(value):
    out = ""
    for _ in range(12):
        value, digit = divmod(value, 36)
        out = digits[digit] + out
    return out


tick, counter = 0, 0
while True:
    for _ in range(20):
        now = int(time.time() * 1000) >> 8
        if now > tick:
            tick, counter = now, 0
        else:
            counter += 1
            if counter >> counter_size:
                tick, counter = tick + 1, 0
        sys.stdout.write(text(tick << 24 | node_id << counter_size | counter) + "\n")
    sys.stdout.flush()
    time.sleep(0.01)
