/*
The protocol of one block, written from docs/leases.md. It shares no code with package lease.

Two processes acquire, extend and release one node ID. The network loses requests and answers, and
delivers them late and repeatedly. Processes pause between any two steps, and crash. A process takes
the node ID whenever it likes, held or not, so deadlines do not matter. The settings are:

	CLOCKS   each process reads any time whatever from its clock
	RECLAIM  a holder releases without its last tick, and an operator reclaims
	FENCE    an older copy replaces the store, or nothing is lost, and an operator fences it
*/

#ifdef CLOCKS
#define SEQS   3 /* how many requests process 0 can make */
#define REQUESTS (SEQS - p)
#define TICKS  4 /* ticks are 0 to TICKS-1 */
#define WINDOW 2
#define LATEST 0 /* the last time that the store's clock shows */
#endif
#ifdef RECLAIM
#define SEQS   3
#define REQUESTS (SEQS - 2 * p)
#define TICKS  8
#define WINDOW 4
#define FASTEST (WINDOW - LEAD)
#define LATEST 2
#endif
#ifdef FENCE
#define SEQS   1
#define REQUESTS SEQS
#define TICKS  5
#define WINDOW 1
#define SKEW   1
#define FASTEST (time + SKEW)
#define LATEST 3
#endif
#define LEAD  1
#define AHEAD 1
#define SPAN  1 /* how long a fence may take */

#define max(a, b) ((a) > (b) -> (a) : (b))
#define min(a, b) ((a) < (b) -> (a) : (b))

typedef Record {
	byte rev, hwm;
	byte id;       /* the random number of the request that wrote it */
	byte start;    /* of the newest lease */
	byte released  /* 1 + the time of a release that left hwm as it was, or 0 */
}
typedef Request {
	byte gen, oldhwm; /* what the store compares, with the revision before new.rev */
	bool known;       /* its process knows the result */
	Record new
}

byte time;         /* the store's clock, which is right */
byte gen;          /* the realm's generation */
bool losing;       /* the store may still lose changes */
bool up = true;    /* processes can reach the store */
Record rec[2];     /* by generation */
Request req[2 * SEQS]; /* the requests of a process are neighbours */
byte asked[2];     /* 1 + the request whose result a process wants to know, or 0 */
byte reply[2];     /* the newest answer to a process that waits: 1 + the request, or 0 */
bool accepted[2];  /* what this answer says */
byte first;        /* rec[0].hwm of the copy */
hidden byte i;
hidden Record none;
byte lo[3], hi[3]; /* the grant of a process; without one, hi is 0 */

/* Of all ticks, spin chooses one, and watches who uses it. */
byte tick;
bool used;
bool claimed[3];   /* the generator's last tick is this tick, or a later one */
bool claiming[3];  /* it has not read the grant since */

inline use() {
	assert(!used); /* no tick is used twice, by two processes or by one */
	used = true
}

#ifdef RECLAIM /* the clock of a holder, and how far its generator is ahead */
#define reached (tick <= time + LEAD + AHEAD)
#else
#define reached true
#endif
#define granted (lo[p] <= tick && tick < hi[p])

proctype Generator(byte p) {
	do
#ifdef GRANT_READ_FIRST
	:: atomic { !claimed[p] && !claiming[p] && reached && granted -> claiming[p] = true }
	:: atomic { claiming[p] -> claimed[p] = true; claiming[p] = false; use() }
#else
	:: atomic { !claimed[p] && reached && hi[p] -> claimed[p] = true; claiming[p] = true }
	:: atomic { claiming[p] -> claiming[p] = false;
		if
		:: granted -> use()
		:: else
		fi }
#endif
	od
}

#ifdef ANY_REVISION
#define same(k) (rec[req[k].gen].hwm == req[k].oldhwm)
#define losing true
#elif defined(ANY)
#define same(k) true
#define losing true
#else
#define same(k) (rec[req[k].gen].rev + 1 == req[k].new.rev && rec[req[k].gen].hwm == req[k].oldhwm)
#endif

inline copy(to, from) {
	to.rev = from.rev; to.hwm = from.hwm; to.id = from.id;
	to.start = from.start; to.released = from.released
}

/* Clears requests that can have no effect, so that equal states look equal. */
inline forget() {
	i = 0;
	do
	:: i < 2 * SEQS ->
		if
		:: !losing && asked[i / SEQS] != i + 1 && req[i].new.rev <= rec[req[i].gen].rev ->
			req[i].known = false; req[i].gen = 0; req[i].oldhwm = 0; copy(req[i].new, none)
		:: else
		fi;
		i++
	:: else -> i = 0; break
	od
}

inline request(mark, gone, wait) {
	k = p * SEQS + made; made++;
	req[k].gen = g; req[k].oldhwm = hwm;
	req[k].new.rev = rev + 1; req[k].new.hwm = mark; req[k].new.id = k + 1;
	req[k].new.start = start; req[k].new.released = gone;
	asked[p] = (wait -> k + 1 : 0)
}

/* Waits for the answer to request k. Sets the grant, or loses it. */
inline await() {
	do
	:: atomic { up && reply[p] ->
		mine = accepted[p]; accepted[p] = false;
		if
#ifndef OLD_ANSWER
		:: reply[p] != k + 1 -> reply[p] = 0; mine = false /* it answers an older request */
#endif
		:: else -> reply[p] = 0; result() 
		fi }
#ifdef UNANSWERED_GRANTS
	:: atomic { up -> mine = true; result() }
#endif
	:: atomic { made < REQUESTS -> asked[p] = 0; goto crash }
	od
}

inline result() {
	if
	:: !mine -> /* this was the answer to a repetition */
#ifdef REPEATED_GRANTS
		mine = true
#elif defined(OWNER_COMPARED) /* not the random number */
		mine = rec[g].id && (rec[g].id - 1) / SEQS == p
#else
		mine = rec[g].id == k + 1
#endif
	:: true
	fi;
#ifndef FENCE
	req[k].known = true;
#endif
	asked[p] = 0; forget();
	/* The generation is read after the change is stored. */
	if
#if !defined(GEN_UNREAD) && !defined(GEN_READ_EARLY)
	:: g != gen -> goto lost
#endif
	:: else
	fi;
	if
	:: mine -> mine = false; lo[p] = start; hi[p] = end; rev++; hwm = end; goto held
	:: else -> goto lost
	fi
}

inline clock() {
#ifndef CLOCKS
	if
	:: now = FASTEST
	:: now = 0
	fi
#else
	do
	:: now < TICKS - 1 -> now++
	:: break
	od
#endif
}

proctype Holder(byte p) {
	byte g, rev, hwm, start, end, now, k, made;
	bool mine;
		if
	:: hi[p] -> hwm = rec[0].hwm; end = hwm; goto held
	:: else -> goto idle
	fi;

lost:
	atomic {
	if
	:: goto free
	:: g != gen -> goto stop /* it goes on to the end of its window */
	fi;
crash:
	claimed[p] = false; claiming[p] = false;
free:
	lo[p] = 0; hi[p] = 0;
idle:
	rev = 0; hwm = 0; start = 0; end = 0; now = 0; k = 0; mine = false; g = 0 }
	atomic { made < REQUESTS && up ->
		g = gen;
		rev = rec[g].rev; hwm = rec[g].hwm;
		clock();
		start = max(hwm, now);
#ifdef STARTS_NOW
		start = now;
#endif
		end = start + WINDOW;
		if
		:: start > now + LEAD || end > TICKS -> goto stop
		:: else
		fi;
#ifdef MARK_LATER
		request(hwm, 0, true); now = 0 }
#else
		request(end, 0, true); now = 0 }
#endif
#ifdef GEN_READ_EARLY
	atomic { up && g == gen }
#endif
	await();

held:
	if
	:: made == REQUESTS -> goto stop
#ifndef RECLAIM
	:: atomic { made < REQUESTS -> now = 0;
		clock();
		end = now + WINDOW;
#ifndef EXTEND_LOWERS
		end = max(end, hwm);
#endif
		if
		:: end > TICKS -> goto stop
		:: else
		fi;
		request(end, 0, true); now = 0 }
		await()
#endif
	:: made < REQUESTS -> goto crash
#ifndef FENCE
	:: made < REQUESTS ->
#ifdef LAST_READ_FIRST
		end = (claimed[p] -> tick + 1 : 0);
		atomic { lo[p] = 0; hi[p] = 0 }
#else
		atomic { lo[p] = 0; hi[p] = 0 }
		end = (claimed[p] -> tick + 1 : 0);
#endif
		atomic {
#ifdef RELEASE_USED
		if
		:: end > 0 -> end--
		:: else
		fi;
#endif
#ifndef RELEASE_UNUSED
		end = max(end, start);
#endif
		do
		:: end < hwm -> end++ /* the generator may have used later ticks */
		:: break
		od;
		end = min(end, hwm); request(end, 0, false) }
		goto crash
#endif
#ifdef RECLAIM
	:: made < REQUESTS ->
#ifdef RELEASE_EARLY
		now = time;
		atomic { lo[p] = 0; hi[p] = 0 }
#else
		atomic { lo[p] = 0; hi[p] = 0 }
		now = time;
#endif
		now++;
		atomic { request(hwm, now, false) }
		goto crash
#endif
	fi;
stop:
	atomic { rev = 0; hwm = 0; start = 0; end = 0; now = 0; k = 0; g = 0; made = SEQS }
	false
}

/* The network delivers a request as often as it likes, when it likes, or never. */
inline deliver(k) {
	atomic { up && req[k].new.id ->
		ok = same(k);
		if
		:: ok ->
			/* A late request does nothing once its process knows the result. */
			assert(!req[k].known);
			copy(rec[req[k].gen], req[k].new); forget()
		:: else
		fi;
		if
		:: asked[(k) / SEQS] -> reply[(k) / SEQS] = k + 1; accepted[(k) / SEQS] = ok
		:: true /* the answer is lost */
		fi;
		ok = false }
}

active proctype Network() {
	bool ok;
	do
	:: deliver(0)
	:: deliver(SEQS)
#if SEQS > 1
	:: deliver(1)
#endif
#if SEQS > 2
	:: deliver(2)
	:: deliver(SEQS + 1)
#endif
	:: time < LATEST -> time++
	od
}

#ifdef RECLAIM
active proctype Operator() {
	byte mark;
#ifdef RECLAIM_HELD
	atomic { rec[0].rev > 0 -> mark = time + 1;
#else
	atomic { rec[0].released -> mark = rec[0].released;
#endif
#ifndef RECLAIM_AHEAD
		mark = mark + AHEAD;
#endif
#ifndef RECLAIM_LEAD
		mark = mark + LEAD;
#endif
#ifdef RECLAIM_LAST
		mark = mark - 1;
#endif
#ifndef RECLAIM_START
		mark = max(mark, rec[0].start);
#endif
		rec[0].hwm = min(mark, rec[0].hwm); rec[0].rev++; rec[0].id = 0; rec[0].released = 0 }
}
#endif

#ifdef FENCE
#ifdef FLOOR_WINDOW
#define FLOOR (LEAD + SKEW + SPAN)
#elif defined(FLOOR_LEAD)
#define FLOOR (WINDOW + SKEW + SPAN)
#elif defined(FLOOR_SKEW)
#define FLOOR (WINDOW + LEAD + SPAN)
#elif defined(FLOOR_SPAN)
#define FLOOR (WINDOW + LEAD + SKEW)
#else
#define FLOOR (WINDOW + LEAD + SKEW + SPAN)
#endif

proctype Operator() {
	byte begin, mark; /* begin is the true time */
	if
	:: atomic { time == 0 -> /* a copy that was made at the beginning replaces the store */
		copy(rec[0], none);
		rec[0].hwm = first; losing = false;
#ifndef REACHED_EARLY
		up = false
#endif
		}
	:: losing = false
	fi;
#ifdef CLOCK_BEHIND
	atomic { time < LATEST;
#else
	atomic { time == 0;
#endif
		begin = time; mark = FLOOR;
#ifndef CLOCK_BEHIND
		mark = mark + begin;
#endif
#ifndef MARK_FORGOTTEN
		mark = max(mark, rec[0].hwm)
#endif
		}
#ifdef SPAN_UNLIMITED
	atomic {
#else
	atomic { time <= begin + SPAN ->
#endif
		rec[1].hwm = mark; gen = 1; up = true; begin = 0; mark = 0 }
}
#endif

init {
	atomic {
		do
		:: tick < TICKS - 1 -> tick++
		:: break
		od;
#ifdef FENCE
		losing = true;
		if
		:: /* a process whose clock was far ahead holds the last tick */
			rec[0].hwm = TICKS; lo[2] = TICKS - 1; hi[2] = TICKS; run Generator(2)
		:: rec[0].hwm = 1; hi[0] = 1 /* process 0 holds tick 0 */
		:: rec[0].hwm = WINDOW + LEAD + SKEW /* who had the ticks before is gone */
		:: true
		fi;
		first = rec[0].hwm;
		run Operator();
#endif
		run Generator(1); run Holder(1);
		if
		:: hi[2] == 0 -> run Generator(0); run Holder(0)
		:: else
		fi
	}
}
