// Package nats keeps leases in a key-value bucket of NATS JetStream.
//
//	store, err := nats.Open(ctx, "nats://sortid:password@nats.example.com/sortid?sync=always")
//
// By default, NATS loses the changes of up to two minutes if its machine crashes. So check the list
// of [Store.Conditions]. With one replica and sync=always, the list is empty.
//
// The URL is nats://USER:PASSWORD@HOST:PORT,HOST:PORT,.../BUCKET?PARAMETER=VALUE&..., or natss://
// with TLS. In a URL without a password, the user is a token. The parameters are ca, cert and key
// (only with natss), and
//
//   - sync=always: you guarantee that all servers sync each change, see below;
//   - replicas: for a new bucket, the number of servers that keep it, by default 1;
//   - creds: a file with credentials, as the program nsc writes it.
//
// Each record is a key, REALM.BLOCK, with JSON as the value. CompareAndSet publishes the record, on
// condition that the key still has the revision that was read. With replicas, it may publish the
// record again, with the same message ID, so that it is stored once. One server, the bucket's leader,
// answers reads. To get the time, the store writes an empty message to the key "=time", and reads the
// message's timestamp. Package [github.com/sortid/sortid/store] explains what all stores share.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the bucket is in files, and acknowledges only what is stored. It has no maximal age, no
//     limits that discard old messages, no mirrors, no sources and no direct gets (which "nats kv
//     add" turns on). With replicas, it remembers the IDs of messages for ten seconds or more.
//     Otherwise Open fails with [lease.ErrUnsafe];
//   - each server has jetstream { sync_interval: always }, which needs version 2.10. Clients cannot
//     see this setting, so [Store.Conditions] names it unless the URL has sync=always;
//   - there is one replica. With several replicas, a leader that is cut off may answer with an old
//     record, and Conditions says so. Before version 2.11, Open refuses several replicas;
//   - nobody edits the keys or restores the stream. If this has happened, fence all realms. If a
//     key was deleted, calls fail with [ErrDeleted]. Then fence the key's realm. If this also
//     fails, delete the whole bucket, and fence all its realms.
//
// # Privileges and connections
//
// A store has one connection. A user must be allowed to subscribe to _INBOX.>, and to publish to
// $KV.sortid.> and
//
//	$JS.API.STREAM.INFO.KV_sortid, $JS.API.STREAM.MSG.GET.KV_sortid, $JS.FC.KV_sortid.>,
//	$JS.API.CONSUMER.CREATE.KV_sortid.>, $JS.API.CONSUMER.DELETE.KV_sortid.>
//
// Open needs $JS.API.STREAM.CREATE.KV_sortid if the bucket does not exist. [OpenExisting] makes no
// bucket.
package nats
