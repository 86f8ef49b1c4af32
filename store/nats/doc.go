// Package nats keeps leases in a key-value bucket of NATS JetStream.
//
//	store, err := nats.Open(ctx, "nats://sortid:password@nats.example.com/sortid?sync=always")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// By default NATS forgets up to two minutes when its machine crashes. So look at
// [Store.Conditions]: for one replica, and with sync=always, it is empty.
//
// # URL
//
// nats://USER:PASSWORD@HOST:PORT,HOST:PORT,.../BUCKET?PARAMETER=VALUE&..., or natss:// for
// an encrypted connection. In user and password the characters / ? # @ % must be written
// as %2F %3F %23 %40 %25; a user without a password is a token. The port is 4222 by
// default, and BUCKET is sortid. There are the parameters
//
//   - sync=always: you vouch that all servers sync each change, as said below;
//   - replicas: on how many servers to keep the bucket if it is made now; by default 1;
//   - creds: a file with credentials, as nsc makes them;
//   - with natss, ca: a file with the certificates that are trusted; by default the
//     system's; cert and key: files with the certificate and the key of this client,
//     where the servers demand them.
//
// # How it works
//
// Each record is a key, REALM.BLOCK, whose value is the record as JSON. In REALM all but
// ASCII letters, digits, - and _ is written as = and two hexadecimal digits a byte. Look at
// a bucket by
//
//	nats kv ls sortid
//	nats kv get sortid orders.0/0
//
// Open makes the bucket if there is none. CompareAndSet reads the record and compares it,
// and then publishes the new one on the condition that the key has the revision that was
// read. Reads go to the leader of the bucket's stream and to none of its replicas. Each
// request is sent once.
//
// Time is that of the server that leads the bucket's stream: the store writes an empty
// message, whose key is "=time", and reads the time that JetStream has given it.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the bucket keeps what it has, and answers with what it has now: it is in files, has no
//     maximal age and no limits beyond which it discards old messages, neither mirrors nor
//     sources others, acknowledges what is stored and not before, and has no direct gets.
//     Open fails with [lease.ErrUnsafe] otherwise. Buckets made by "nats kv add" have
//     direct gets;
//   - each server has jetstream { sync_interval: always } in its configuration, which those
//     from version 2.10 on know. Clients cannot see that, so [Store.Conditions] names it
//     unless the URL has sync=always;
//   - there is one replica. With several, a leader that was cut off from the others may,
//     until it notices, answer a read with what was true before; Conditions says so. A node
//     ID can then be used twice if that happens to a process that is just dividing or
//     joining node IDs, and which then is connected to the others. Before version 2.11
//     several replicas do not even compare and set in one step, and are refused;
//   - the disk has stored what it says that it has, and nobody edits the keys, or puts a
//     restored stream in the place of the bucket. If that has happened: stop all processes,
//     call [lease.Fence] (sortid lease fence URL), start them again.
//
// A key that was deleted by hand is an error, [ErrDeleted], and no record that never was:
// what had been granted is not known any more. Fence the realm then, too. If it is the key
// of the realm itself, delete the bucket before that.
//
// # Connections
//
// A store has one connection for as long as it is open. Open tries again, while the server
// is away, until its context ends, or, if that has no deadline, for 30 seconds.
//
// # Privileges
//
// To subscribe to _INBOX.> and to publish to
//
//	$KV.sortid.>
//	$JS.API.STREAM.INFO.KV_sortid
//	$JS.API.STREAM.MSG.GET.KV_sortid
//	$JS.API.CONSUMER.CREATE.KV_sortid.>
//	$JS.API.CONSUMER.DELETE.KV_sortid.>
//	$JS.FC.KV_sortid.>
//
// Open needs $JS.API.STREAM.CREATE.KV_sortid only if the bucket does not exist.
package nats
