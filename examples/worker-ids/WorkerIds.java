// Leases a node ID (a worker or machine ID) from "sortid serve", and renews it in the background.
// Copy this file, and use the class. It needs Java 17 or later, and no libraries.
import static java.util.concurrent.locks.LockSupport.parkNanos;
import java.net.*; import java.net.http.*;
import java.util.*; import java.util.concurrent.*;

public final class WorkerIds {
  // Completed when the program must stop. The text says why; it is empty after a release.
  public final CompletableFuture<String> ended = new CompletableFuture<>();
  private final HttpClient http = HttpClient.newHttpClient();
  HttpRequest.Builder post = HttpRequest.newBuilder().header("Content-Type", "application/json");
  private volatile String leases, id = "", keys, nonce = "" + UUID.randomUUID(), problem = "none";
  private volatile long ahead, next, offset;

  // The newest answer that grants the lease, as JSON has it, and by steady(), when its request was
  // sent, and when it came. Before the first one, the lease never begins, and ends with the
  // patience.
  private volatile Map<String, String> lease;

  // Returns when the program may use get("node_id"). While the server is away or has no free node
  // ID, it tries again, as long as the patience. If it gets none, it throws an exception.
  //
  // The lease ends "ahead" early for the program, so that it can stop in time. If the generator can
  // run ahead of the clock, add how far. All times are in milliseconds.
  public WorkerIds(String url, String realm, String token, long ahead, long patience) {
    if (!url.matches("https?://.+")) throw new RuntimeException("want https://HOST: " + url);
    realm = URLEncoder.encode(realm, java.nio.charset.StandardCharsets.UTF_8).replace("+", "%20");
    leases = url.replaceAll("/+$", "") + "/v1/realms/" + realm + "/leases";
    keys = "{'holder':'" + System.getenv().getOrDefault("HOSTNAME", "") + "',";
    if (token != null && !token.isBlank()) post.header("Authorization", "Bearer " + token.strip());
    this.ahead = ahead;
    lease = Map.of("end_tick", "0", "sent", "" + steady(), "valid_for_ms", "" + (patience + ahead));
    new Thread(() -> { for (; left() > 0; parkNanos(50_000_000)) if (next <= steady()) renew();
      ended.complete("the lease has ended: " + (problem.isEmpty() ? clock() : problem)); }).start();
    for (; !held(); parkNanos(20_000_000)) if (left() <= 0) throw new RuntimeException(problem); }

  // Returns a number of the lease: "node_id", "valid_until_ms", and others. If the lease has no
  // such number, it returns a time in the year 2286.
  public long get(String name) { return Long.parseLong(lease.getOrDefault(name, "9999999999999")); }

  // Reports whether the program may use the node ID now. Ask before each ID: a program does not
  // notice that it stood still.
  public boolean held() { return left() > 0 && get("valid_from_ms") <= wall()
      && (get("starts_in_ms") == 0 || get("came") + get("starts_in_ms") < steady()); }

  // Gives the node ID back. Make no ID after that, whether or not the server answers. The node ID
  // is free after lastTime, the time of the last ID; if that is null, when the lease would end.
  public void release(Long lastTime) {
    if (held() && ended.complete("")) ask("/release", "'last_time_ms':" + lastTime, 2000); }

  // Returns how many milliseconds the program has until it must have stopped.
  private long left() { return ended.isDone() ? 0 : Math.min(get("valid_until_ms") - wall(),
      get("sent") + get("valid_for_ms") - steady()) - ahead; }

  private void renew() { ask(id.isEmpty() ? "" : "/renew", (id.isEmpty() ? "'request" : "'renewal")
      + "':'" + nonce + "','time_ms':" + wall(), Math.max(1, left() / 3)); }

  // Sends a request, and takes the lease in the answer if it is newer.
  private void ask(String path, String fields, long limit) {
    long sent = steady(), wait = ThreadLocalRandom.current().nextLong(200, 2000);
    try { var body = HttpRequest.BodyPublishers.ofString((keys + fields + "}").replace('\'', '"'));
      var reply = http.sendAsync(post.copy().uri(URI.create(leases + id + path)).POST(body).build(),
          HttpResponse.BodyHandlers.ofString()).get(limit, TimeUnit.MILLISECONDS);
      wait = Math.max(wait, 1000 * reply.headers().firstValueAsLong("Retry-After").orElse(0));
      var got = new HashMap<>(Map.of("sent", "" + sent, "came", "" + steady()));
      new Scanner(reply.body()).findAll("\"(\\w+)\":\\s*\"?((?<=\")(?:\\\\.|[^\"\\\\])++|\\d+)")
          .forEach(member -> got.putIfAbsent(member.group(1), member.group(2)));
      String status = "" + reply.statusCode(), text = leases + " answered " + status;
      problem = status.matches("20.") ? "" : got.getOrDefault("detail", text).replace("\\\"", "\"");
      if (status.matches(id.isEmpty() ? "[34](?!10|29).." : "410")) ended.complete(problem);
      if (status.matches("20[01]|410")) nonce = "" + UUID.randomUUID();
      if (Long.valueOf(got.getOrDefault("end_tick", "0")) <= get("end_tick") || left() <= 0) return;
      lease = got; id = "/" + got.get("id"); offset = wall() - steady();
      keys = "{'secret':'" + got.get("secret") + "','end_tick':" + got.get("end_tick") + ",";
      wait = get("renew_at_ms") - get("server_time_ms");
    } catch (Exception e) { problem = leases + ": " + e; } finally { next = steady() + wait; } }

  // Says why a lease that was renewed has ended.
  private String clock() { long jump = Math.round((wall() - steady() - offset) / 1e3);
    return jump == 0 ? "this process stood still" : "the clock jumped by " + jump + " s"; }

  private static long wall() { return System.currentTimeMillis(); }

  private static long steady() { return System.nanoTime() / 1_000_000; }

  public static void main(String[] args) {
    Thread.setDefaultUncaughtExceptionHandler((t, e) -> System.err.println(e.getMessage()));
    String url = "" + System.getenv("SORTID_URL"), realm = "" + System.getenv("SORTID_REALM");
    var lease = new WorkerIds(url, realm, System.getenv("SORTID_TOKEN"), 1000, 30_000);
    // No ID is ahead of the clock. Without halt, SIGTERM gives 143.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> { lease.release(wall());
      Runtime.getRuntime().halt(lease.ended.join().isEmpty() ? 0 : 1); }));
    System.out.println(lease.get("node_id") + " " + lease.get("valid_until_ms"));
    if (!lease.ended.join().isEmpty()) System.err.println(lease.ended.join()); } }
