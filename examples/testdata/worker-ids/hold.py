# Writes its node ID and the time of the machine's monotonic clock while it holds the node ID.
import os, sys, time

import worker_ids

try:
    lease = worker_ids.Lease(os.environ["SORTID_URL"], os.environ["SORTID_REALM"], ahead=0.1)
except RuntimeError as error:
    sys.exit(str(error))
while not lease.ended.is_set():
    now = time.monotonic_ns()
    if lease.held():
        print(lease.node_id, now, flush=True)
    time.sleep(0.01)
