// Writes its node ID and the time of the machine's monotonic clock while it holds the node ID.
class Hold {
  public static void main(String[] args) throws Exception {
    WorkerIds lease =
        new WorkerIds(System.getenv("SORTID_URL"), System.getenv("SORTID_REALM"), null, 100, 30_000);
    while (!lease.ended.isDone()) {
      long now = System.nanoTime();
      if (lease.held()) {
        System.out.println(lease.get("node_id") + " " + now);
      }
      Thread.sleep(10);
    }
  }
}
