/** Makes SCRU64 IDs with the node ID of "sortid lease exec". Its counter starts at 0 in each tick. */
public final class Ids {
	private static final String[] SPEC = System.getenv("SCRU64_NODE_SPEC").split("/");
	private static final int COUNTER_BITS = 24 - Integer.parseInt(SPEC[1]);
	private static final long NODE = Long.parseLong(SPEC[0]) << COUNTER_BITS;
	private static long tick, counter;

	/** Returns an ID as an integer. Its text is base 36, padded with zeros to 12 characters. */
	public static synchronized long next() {
		long now = System.currentTimeMillis() >> 8;
		if (now > tick) {
			tick = now;
			counter = 0;
		} else if (++counter >> COUNTER_BITS != 0) {
			tick++; // ahead of the clock
			counter = 0;
		}
		if (tick > now + 39) {
			throw new IllegalStateException("the clock went back by more than 10 s");
		}
		return tick << 24 | NODE | counter;
	}
}
