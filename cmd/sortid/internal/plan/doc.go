// Package plan computes which formats fit a load, and for how long.
//
// It recommends the first format that fits, in the order scru128, scru160, euid, scru64, uid60. A
// format fits if all of this is true:
//
//   - The probability that two IDs are ever equal is at most one in a million.
//   - Its generators keep up with the rate, and during a burst they run at most 10 s ahead of the
//     clock.
//   - Its timestamps last for all the years, and its IDs fit into the column (--bits).
//   - If the format needs node IDs, there is one process, or each process can have a node ID
//     (--can-assign-nodes).
//
// In the formulas, R IDs a second (--rate) come from P processes (--processes) for Y years of
// 365.2425 days (--years). Each process makes λ = R / (1000 P) IDs in a millisecond, at random
// moments.
//
// # Collisions
//
// Two IDs can be equal only if two processes make them in the same millisecond. The expected number
// of such pairs in M = Y · 365.2425 · 86400 · 1000 milliseconds is
//
//	pairs = M · P(P − 1)/2 · λ²
//
// The two IDs of a pair are equal with probability 2^−b. So the expected number of equal pairs is
// E = pairs · 2^−b, and plan prints the probability 1 − e^−E.
//
//	format    b    the bits, and the number of IDs in a tick
//	scru128   80   the random starts of the counters, and entropy; 2^47
//	scru160   111  the random start of the counter, random16 and random80; 49152
//	euid      79   random and 15 bits of the header, without an extension; 2^31
//	uid60     18   sequence and random; 512
//	scru64         no two IDs are equal; 2^c − (2^(c−g) − 1)/2, with a counter of c bits and g guard
//	               bits
//
// Generators of uid60 that start together collide more often for a while. With node IDs, no two IDs
// are equal (in uid60, for up to 512 processes). plan chooses node bits for twice as many processes,
// because a deployment replaces processes while they run. If the counter is then too small, plan
// chooses fewer node bits, but enough for all processes.
//
// # Bursts
//
// In JSON, ids_per_tick is an average, because counters start at random. A burst of B IDs needs
// ⌊(B − 1) / ids_per_tick⌋ ticks after the first.
//
// # Guard bits of scru64
//
// A process seldom makes more than n = t + 6 √t IDs in a tick, where t = 256 λ. In a tick with n
// IDs, the counter overflows with this probability:
//
//	(n − 1 − 2^c + 2^(c−g)) / 2^(c−g)
//
// plan adds guard bits until this probability is at most one in a thousand.
//
// testdata/plan.json has requests and answers. In another implementation, collision_probability must
// agree to nine digits, and the other numbers exactly.
package plan
