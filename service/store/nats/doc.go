// Package nats keeps leases in NATS JetStream, in a key-value bucket: a [lease.Store]
// whose guarantee depends on a setting of the servers that clients cannot see.
// [Store.Conditions] says so.
//
// # URL
//
//	nats://[user:password@]host[:4222][,host[:4222]...][/bucket][?parameters]
//	natss://...
//
// A user without a password is a token. The bucket is "sortid" by default, and made if
// there is none. With natss the connection is encrypted. Parameters:
//
//	replicas=3  on how many servers the bucket is kept, if it is made now (default 1)
//	sync=always asserts that all servers sync each change before they acknowledge it
//	creds=file  credentials, as nsc makes them
//	ca=file     with natss: the certificates that are trusted (by default the system's)
//	cert=file&key=file  with natss: those of this client, where the servers demand one
//
// # What is stored
//
// A record is the JSON form of [lease.Record] at a key of its own, for example
//
//	orders.0/0                       the realm itself
//	orders=405b0c1e7f90a2d4c3.42/8   a node ID of orders@5b0c1e7f90a2d4c3
//
// A realm's name keeps its letters, digits, - and _, and has = and two hexadecimal digits
// for each other byte; the empty name is =. Look at a bucket with "nats kv ls sortid" and
// "nats kv get sortid orders.0/0". In the subjects of NATS that is $KV.sortid.KEY, in the
// stream KV_sortid. A user needs to publish to
//
//	$KV.sortid.>  $JS.API.STREAM.INFO.KV_sortid  $JS.API.STREAM.MSG.GET.KV_sortid
//	$JS.API.CONSUMER.CREATE.KV_sortid.>  $JS.API.CONSUMER.DELETE.KV_sortid.>
//	$JS.API.INFO  $JS.FC.KV_sortid.>
//
// and, if it shall make the bucket, to $JS.API.STREAM.CREATE.KV_sortid; and to subscribe to
// _INBOX.>.
//
// # Guarantee
//
// A change is published with the revision of the record that was read and compared, and
// stored only if that still is the latest for its key. A record is read from the leader of
// the bucket's stream, and not from any of its replicas, as clients of key-value buckets
// otherwise do. So with one replica what leases rest on holds as long as the server keeps
// what it has acknowledged. By default it does not: it syncs its files every two minutes,
// so that its machine, when it crashes, forgets the changes since. Have it sync each:
//
//	jetstream { sync_interval: always }
//
// which servers from 2.10 on can. Clients are not told, so that Conditions names it unless
// the URL has sync=always, by which you vouch for it.
//
// With several replicas a second thing is open: a leader that has been cut off from the
// others may, until it notices, answer reads with what was true before. That is against
// what leases ask of a store, and a node ID could be used twice if a process reads from it
// in the middle of dividing or joining node IDs, and is then connected to the others. It is
// named, too. For the full guarantee use one replica. Servers before 2.11 do not compare
// and set atomically in several replicas, so that these are refused.
//
// Open refuses, with [lease.ErrUnsafe], a bucket that would drop records or answer with
// old ones: in memory, with a maximal age, with limits that make it discard old messages,
// a mirror, with sources, acknowledging before it stores, or with direct gets. Buckets that
// "nats kv add" has made have direct gets; let Open make one, or see the error.
//
// A key that was deleted by hand, which leaves a marker, is an error and not a record that
// does not exist: its mark is lost. Fence the realm then, as after a bucket was restored
// from a backup, before any process can reach it: "sortid lease fence URL", or
// [lease.Fence].
//
// Each request is sent once, and what was sent and not answered is an error.
//
// NATS has no clock for its clients, so [Store.Time] fails with [lease.ErrNoTime] and each
// process goes by its own. A process whose clock is ahead of the others' by more than the
// realm's lead then is found out only by the node IDs that it leaves behind: they are not
// granted before that time ([lease.ErrLead]). Have all clocks synchronized.
package nats
