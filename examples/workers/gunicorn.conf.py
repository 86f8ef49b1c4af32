# Each worker of gunicorn takes one of the node IDs of "sortid lease exec --count", which no other
# worker has. docs/worker-ids.md explains it.
import fcntl, os, tempfile, time

workers = 8
ids = os.environ["SORTID_NODE_IDS"].split(",")
locks = open(f"{tempfile.gettempdir()}/worker-ids-{ids[0]}.lock", "w")


def post_fork(server, worker):
    for place, node_id in enumerate(ids):
        try:
            fcntl.lockf(locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError:
            continue  # another worker has it
        os.environ["SORTID_NODE_ID"] = node_id
        time.sleep(0.1)  # longer than the library runs ahead
        return
    raise RuntimeError("no node ID for this worker: use a larger --count")
