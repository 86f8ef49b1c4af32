/*
Leases from two servers with one store, written from docs/leases.md. It shares no code with package
lease.

Clients acquire, renew and release. The network delivers each request to either server as often as
it likes, when it likes, or never. Servers pause between any two steps. Any server can take a node
ID from its holder at any time. What happens between a server and the store is in block.pml, as are
clocks and the fence. Here, lo is always hwm, and a renewal adds one tick. The settings are:

	COPIES  two clients acquire two node IDs; grant and bucket are one change; the store crashes
	SPLIT   one client acquires; the store can write the bucket without the grant
	CLONES  clients 0 and 1 are copies of one client that holds tick 0; both renew, and client 1
	        releases; client 2 acquires
*/

#ifdef CLONES
#define NODES   1
#define CLIENTS 3
#define TICKS   3
#define KEPT    (c < 2) /* client c renews */
#define ident(c) ((c) / 2) /* clones have the same request, and so the same secret */
#else
#define NODES   2
#ifdef SPLIT
#define CLIENTS 1
#else
#define CLIENTS 2
#endif
#define TICKS   2
#define KEPT    false
#define ident(c) (c)
#endif
#define WINDOW 1

#define max(a, b) ((a) > (b) -> (a) : (b))
#define min(a, b) ((a) < (b) -> (a) : (b))

typedef Node {
	byte rev, start, hwm;
	byte owner; /* 1 + the identity of its holder, or 0 */
	byte grant; /* the revision of the grant; with the owner, it names the lease */
	byte text   /* of the newest renewal */
}
typedef Lease { byte node, grant, lo, hi } /* a grant of 0 is none */
typedef Renewal { bool sent; byte node, grant, hi, text }
typedef Release { bool sent; byte node, grant, hi, last }
typedef Bucket { byte rev, node, grant }

Node rec[NODES];
Bucket bucket[2];      /* by identity */
bool asked[CLIENTS];   /* the request to acquire is on its way */
Renewal renewal[CLIENTS];
Release release[CLIENTS];
Lease answer[CLIENTS]; /* the newest answer */
bool refused[CLIENTS]; /* the newest answer to the renewal */
Lease held[CLIENTS];
bool over[CLIENTS];    /* the client has sent a release, or has lost the lease */
Lease told[2];         /* the first answer to each request */

/* A change is first visible, then synced. A crash undoes what is not. */
bool dirty;
byte which, whose;
Node before;
Bucket entry;

/* Of all ticks of all node IDs, spin chooses one, and watches who uses it. */
byte node, tick;
bool used, claimed[CLIENTS];

hidden Node no;
hidden Bucket nothing;

inline copy(to, from) {
	to.rev = from.rev; to.start = from.start; to.hwm = from.hwm;
	to.owner = from.owner; to.grant = from.grant; to.text = from.text
}
inline enter(to, from) { to.rev = from.rev; to.node = from.node; to.grant = from.grant }

#ifdef READ_UNSYNCED
#define readable true
#else
#define readable (!dirty)
#endif

active proctype Disk() {
	do
	:: atomic { dirty -> dirty = false;
		if
		:: true
		:: copy(rec[which], before); enter(bucket[whose], entry)
		fi;
		which = 0; whose = 0; copy(before, no); enter(entry, nothing) }
	od
}
inline change(n, c) { /* before a change of a node ID or of a bucket */
#ifdef COPIES
	which = n; whose = ident(c); dirty = true;
	copy(before, rec[n]); enter(entry, bucket[ident(c)])
#else
	skip /* only COPIES crashes */
#endif
}

#define own(n, id) (rec[n].owner == ident(c) + 1 && rec[n].grant == id)
#define ended(n, id) (!own(n, id))

/* Tells client c the lease that the record has. */
inline tell(n, id) {
	if
	:: told[ident(c)].grant == 0 || ended(told[ident(c)].node, told[ident(c)].grant) ->
		told[ident(c)].node = n; told[ident(c)].grant = id
	:: else
	fi;
#ifndef CLONES
	/* The same request gets the same lease, until this lease has ended. */
	assert(told[ident(c)].node == n && told[ident(c)].grant == id || ended(n, id));
#endif
	answer[c].node = n; answer[c].grant = id; answer[c].lo = lo; answer[c].hi = hi
}
inline choose(variable, limit) {
	variable = 0;
	do
	:: variable < limit - 1 -> variable++
	:: break
	od
}

active [2] proctype Server() {
	byte c, n, id, rev, brev, lo, hi;
idle:
	atomic { c = 0; n = 0; id = 0; rev = 0; brev = 0; lo = 0; hi = 0 }
	atomic { choose(c, CLIENTS);
		if
		:: asked[c] -> goto acquire
		:: renewal[c].sent -> goto renew
		:: release[c].sent -> goto end
		:: else -> goto idle
		fi }

acquire:
	atomic { readable ->
		brev = bucket[ident(c)].rev; n = bucket[ident(c)].node; id = bucket[ident(c)].grant;
#ifndef BUCKET_UNREAD
		if
		:: id && own(n, id) -> lo = rec[n].start; hi = rec[n].hwm; goto reply
		:: else
		fi;
#endif
#ifdef SPLIT
#ifndef VOID_UNCHANGED
		/* The entry's grant can still be made. With another revision, it cannot. */
		if
		:: id > rec[n].rev -> rec[n].rev++
		:: else
		fi;
#endif
#endif
		choose(n, NODES);
		rev = rec[n].rev; id = rev + 1; lo = rec[n].hwm; hi = lo + WINDOW;
		if
		:: hi > TICKS || brev > 1 -> goto idle
		:: else
		fi }
#ifdef SPLIT
	atomic { !dirty ->
		if
		:: bucket[ident(c)].rev != brev -> goto idle
		:: else
		fi;
		change(n, c);
		brev++; bucket[ident(c)].rev = brev; bucket[ident(c)].node = n; bucket[ident(c)].grant = id }
#endif
	atomic { !dirty ->
		if
		:: rec[n].rev != rev -> goto idle
#ifndef SPLIT
#ifndef BUCKET_UNREAD
		:: bucket[ident(c)].rev != brev -> goto idle
#endif
#endif
		:: else
		fi;
		change(n, c);
		rec[n].rev = id; rec[n].start = lo; rec[n].hwm = hi; rec[n].text = 0;
		rec[n].owner = ident(c) + 1; rec[n].grant = id;
#ifndef SPLIT
		bucket[ident(c)].rev = brev + 1; bucket[ident(c)].node = n; bucket[ident(c)].grant = id
#endif
		}
	atomic { !dirty -> /* the answer of the store */
		if
		:: !own(n, id) -> goto idle
		:: else
		fi;
#ifdef TAKES_BACK
		if
		:: rec[n].rev == id -> rec[n].rev++; rec[n].hwm = lo; rec[n].owner = 0; goto idle
		:: true
		fi;
#endif
#ifdef SPLIT
		/* Only an entry that others remove from a full bucket needs this. */
		if
		:: bucket[ident(c)].node != n || bucket[ident(c)].grant != id -> goto idle
		:: else
		fi
#endif
		}
reply:
	atomic { tell(n, id); goto idle }

renew:
	atomic { readable -> n = renewal[c].node; id = renewal[c].grant;
		if
#ifndef OWNER_UNREAD
		:: !own(n, id) -> refused[c] = true; goto idle
#endif
#ifdef END_UNREAD
		:: own(n, id)
#else
		:: own(n, id) && rec[n].hwm == renewal[c].hi
		:: own(n, id) && rec[n].hwm != renewal[c].hi && rec[n].text == renewal[c].text ->
			lo = rec[n].start; hi = rec[n].hwm; goto reply
		:: own(n, id) && rec[n].hwm != renewal[c].hi && rec[n].text != renewal[c].text ->
			refused[c] = true; goto idle
#endif
#ifdef OWNER_UNREAD
		:: !own(n, id)
#endif
		fi;
		rev = rec[n].rev; lo = rec[n].start; hi = rec[n].hwm + 1;
		if
		:: hi > TICKS -> goto idle
		:: else
		fi }
	atomic { !dirty ->
		if
		:: rec[n].rev != rev -> goto idle
		:: else
		fi;
		change(n, c);
		rev++; rec[n].rev = rev; rec[n].hwm = hi; rec[n].text = renewal[c].text }
	atomic { !dirty -> /* the answer of the store: the change stands, and not another one */
		if
		:: rec[n].rev == rev && rec[n].text == renewal[c].text -> goto reply
		:: else -> goto idle
		fi }

end:
	atomic { readable -> n = release[c].node; id = release[c].grant;
		if
		:: !own(n, id) -> goto idle
		:: else
		fi;
		rev = rec[n].rev; hi = rec[n].hwm;
		if
#ifndef RELEASE_CLONED
		:: hi != release[c].hi
#endif
		:: else -> hi = min(hi, max(rec[n].start, release[c].last))
		fi }
	atomic { !dirty ->
		if
		:: rec[n].rev == rev -> change(n, c); rec[n].rev++; rec[n].hwm = hi; rec[n].owner = 0
		:: else
		fi;
		goto idle }
}

proctype Client(byte c) {
	if
	:: held[c].grant == 0 -> asked[c] = true
	:: else
	fi;
	do
	:: atomic { answer[c].grant && !over[c] ->
		if
		:: answer[c].hi > held[c].hi -> /* the answer with the latest end is taken whole */
			held[c].node = answer[c].node; held[c].grant = answer[c].grant;
			held[c].lo = answer[c].lo; held[c].hi = answer[c].hi
		:: else
		fi;
		answer[c].node = 0; answer[c].grant = 0; answer[c].lo = 0; answer[c].hi = 0 }
	:: atomic { refused[c] -> refused[c] = false; over[c] = true;
		held[c].node = 0; held[c].grant = 0; held[c].lo = 0; held[c].hi = 0 }
	:: atomic { held[c].grant && !renewal[c].sent && KEPT -> renewal[c].sent = true;
		renewal[c].node = held[c].node; renewal[c].grant = held[c].grant;
		renewal[c].hi = held[c].hi;
#ifdef TEXT_COMPUTED
		renewal[c].text = 1
#else
		renewal[c].text = c + 1
#endif
		}
#ifdef CLONE_REPEATS
	:: c == 1 && !asked[c] -> asked[c] = true
#endif
	:: atomic { held[c].grant && !claimed[c] && held[c].node == node &&
		held[c].lo <= tick && tick < held[c].hi ->
		assert(!used); /* no tick is used twice */
		used = true; claimed[c] = true }
	:: atomic { held[c].grant && !over[c] && KEPT && c == 1 -> release[c].sent = true; over[c] = true;
		release[c].node = held[c].node; release[c].grant = held[c].grant;
		release[c].hi = held[c].hi;
#ifndef LAST_FORGOTTEN
		release[c].last = (claimed[c] -> tick + 1 : 0);
#endif
		do
		:: release[c].last < held[c].hi -> release[c].last++ /* it may have used other ticks */
		:: break
		od;
#ifndef RELEASE_GOES_ON
		held[c].node = 0; held[c].grant = 0; held[c].lo = 0; held[c].hi = 0
#endif
		}
	od
}

init {
	atomic {
		choose(node, NODES); choose(tick, TICKS);
#ifdef CLONES
		tick = max(tick, WINDOW); /* up to there, the clones use the same ticks */
		rec[0].rev = 1; rec[0].hwm = WINDOW; rec[0].owner = 1; rec[0].grant = 1;
		bucket[0].rev = 1; bucket[0].grant = 1;
		held[0].grant = 1; held[0].hi = WINDOW;
		held[1].grant = 1; held[1].hi = WINDOW;
#ifndef CLONE_REPEATS /* two clients show it */
		run Client(2);
#endif
#endif
		run Client(0);
#if CLIENTS > 1
		run Client(1)
#endif
	}
}
