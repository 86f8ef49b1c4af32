// Package nats keeps leases in a key-value bucket of NATS JetStream.
//
//	store, err := nats.Open(ctx, "nats://sortid:password@nats.example.com/sortid?sync=always")
//
// By default NATS loses up to two minutes of changes if its machine crashes. So check
// [Store.Conditions]: with one replica and sync=always, it is empty.
//
// The URL is nats://USER:PASSWORD@HOST:PORT,HOST:PORT,.../BUCKET?PARAMETER=VALUE&..., or natss://
// with TLS. A user without a password is a token. The parameters are ca, cert and key with natss,
// and
//
//   - sync=always: you vouch that all servers sync each change, see below;
//   - replicas: the number of servers that keep the bucket, if Open makes it; by default 1;
//   - creds: a file with credentials, as nsc makes them;
//
// Each record is a key, REALM.BLOCK, with JSON as the value. CompareAndSet publishes the record on
// condition that the key has the revision that was read. The stream's leader answers reads. Each
// change is sent once. To get the time, the store writes an empty message, "=time". Package
// [github.com/sortid/sortid/store] explains what all stores have in common.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the bucket is in files, and acknowledges only what is stored. It has no maximal age, no
//     limits that discard old messages, no mirrors, sources or direct gets. Otherwise Open fails
//     with [lease.ErrUnsafe]. Buckets made by "nats kv add" have direct gets;
//   - each server has jetstream { sync_interval: always }, which exists since version 2.10. Clients
//     cannot see it, so [Store.Conditions] names it unless the URL has sync=always;
//   - there is one replica. With several, a leader that is cut off may answer with an old record;
//     Conditions says so. Before version 2.11 several replicas are refused;
//   - the disk keeps what it has synced, and nobody edits the keys or restores the stream. If that
//     has happened, fence all realms. A deleted key is [ErrDeleted]: fence the realm, too. If it
//     was the realm's own key, delete the bucket before that.
//
// # Privileges and connections
//
// A store has one connection. A user must subscribe to _INBOX.> and publish to $KV.sortid.> and
//
//	$JS.API.STREAM.INFO.KV_sortid, $JS.API.STREAM.MSG.GET.KV_sortid, $JS.FC.KV_sortid.>,
//	$JS.API.CONSUMER.CREATE.KV_sortid.>, $JS.API.CONSUMER.DELETE.KV_sortid.>
//
// Open needs $JS.API.STREAM.CREATE.KV_sortid if the bucket does not exist.
package nats
