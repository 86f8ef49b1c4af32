/*
A window of internal/gencore, in which goroutines take numbers without a lock. Each step is one read
or write that is atomic in Go. A goroutine pauses between any two steps.

The owner of the lock closes the window, makes an ID itself, perhaps of the next tick, and opens the
window again. An ID is a tick and a number. No ID is made twice, and an ID is larger than each ID
that was there when its call began.
*/

#define TAKERS 2
#define TAKES  1  /* of each taker */
#define OPENS  4
#define ROOM   2
#define WORDS  2  /* the code has 4 */
#define STEP   16 /* between two versions; more than the room and all takes */

byte version, length, room, number, high;
short word[WORDS];

#define ID(tick, n) ((tick) * 16 + (n))
bool made[ID(OPENS + 1, 0)];
byte newest; /* of the IDs that were returned */

inline make(id, earlier) {
	assert(!made[id] && id > earlier);
	made[id] = true
}
inline give(id) { newest = (id > newest -> id : newest) }

proctype taker() {
	byte v, r, n, h, earlier, id, takes;
	short taken;
	do
	:: takes < TAKES ->
		atomic { takes++; earlier = newest }
		v = version;
		if
		:: length == 0 -> goto end
		:: else
		fi;
		r = room;
		n = number;
		h = high;
		atomic {
			word[(v / STEP) % WORDS]++;
			taken = word[(v / STEP) % WORDS] - v;
#ifdef ROOM_UNREAD
			r = STEP - 1;
#endif
			if
			:: taken < 1 || taken > r -> goto end
			:: else -> id = ID(h, n + taken); make(id, earlier)
			fi
		}
		give(id);
end:		atomic { v = 0; r = 0; n = 0; h = 0; earlier = 0; id = 0; taken = 0 } /* fewer states */
	:: else -> break
	od
}

proctype owner() {
	byte opens, last, tick, earlier;
	short taken, old;
	do
	:: opens < OPENS ->
		atomic { opens++; earlier = newest }
		if
		:: length > 0 ->
#ifndef LENGTH_STAYS
			length = 0;
#endif
#ifdef VERSION_LATER
			taken = word[(version / STEP) % WORDS] - version;
			word[(version / STEP) % WORDS] = version + STEP / 2;
			version = version + STEP;
#else
			version = version + STEP;
#ifdef WORD_STAYS
			taken = word[((version - STEP) / STEP) % WORDS] - (version - STEP);
#else
			atomic {
				old = word[((version - STEP) / STEP) % WORDS];
				word[((version - STEP) / STEP) % WORDS] = version - STEP / 2
			}
			taken = old - (version - STEP);
#endif
#endif
			last = last + (taken > room -> room : taken);
		:: else
		fi;
		if
		:: tick++; last = 0
		:: last++
		fi;
		make(ID(tick, last), earlier);
#ifdef LENGTH_FIRST
		length = 1;
#endif
		room = ROOM;
		number = last;
		high = tick;
		word[(version / STEP) % WORDS] = version;
		length = 1;
		d_step { give(ID(tick, last)); earlier = 0; taken = 0; old = 0 }
	:: else -> break
	od
}

init {
	byte i;
	atomic {
		run owner();
		for (i : 1 .. TAKERS) { run taker() }
	}
}
