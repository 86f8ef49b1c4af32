# Makes SCRU128 IDs. docs/verify.md shows how it was tested.
import secrets
import time

timestamp = counter_hi = counter_lo = renewed = 0


def new_id():
    global timestamp, counter_hi, counter_lo, renewed
    now = int(time.time() * 1000)
    if now > timestamp:
        timestamp = now
        if now - renewed >= 1000:
            counter_hi, renewed = secrets.randbits(24), now
        counter_lo = secrets.randbits(24)
    else:
        counter_lo += 1
        if counter_lo == 1 << 24:
            counter_hi, counter_lo = counter_hi + 1, 0
        if counter_hi == 1 << 24:
            timestamp, counter_hi = timestamp + 1, 0
            counter_lo = secrets.randbits(24)
    entropy = secrets.randbits(32)
    return timestamp << 80 | counter_hi << 56 | counter_lo << 32 | entropy


for _ in range(100_000):
    print(f"{new_id():032x}")
