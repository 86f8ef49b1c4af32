// Package kubernetes keeps leases in the API server of a Kubernetes cluster, as objects of the kind
// Lease. It needs no database and no secret.
//
//	store, err := kubernetes.Open(ctx, "kubernetes:")
//
// The URL is kubernetes:NAMESPACE?context=CONTEXT. Both parts are optional. The store finds the
// cluster as kubectl does: in the files that KUBECONFIG names, in ~/.kube/config or, in a pod, with
// the pod's ServiceAccount. By default, the namespace is the pod's or the context's. If a token is
// replaced in its file, the store uses the new one. Package
// [github.com/sortid/sortid/store] explains what all stores share.
//
// Each record is a Lease. Its annotation sortid/record has the record, as JSON. The spec is for
// people. The labels select Leases. They are
//
//	sortid/realm       the name of the realm
//	sortid/generation  the generation of the realm, if the record is a block's
//	sortid/block       the node ID and its size, such as 42-10
//	sortid/node-id     the node ID alone
//	sortid/state       held, free, split, merging or retired; of other records, realm or bucket
//
// The name of a realm may be no name for Kubernetes. Then a part of it and its hash stand in the
// names of objects and in labels. So this shows who holds which node ID:
//
//	kubectl get leases -l sortid/realm=shop,sortid/state=held -L sortid/node-id
//
// CompareAndSet creates an object, or updates it on condition that it still is the object and has
// the resourceVersion that was read. It sends the request once, and again only if the server refused
// to handle it (429, 401). Reads return the latest change, because they never send resourceVersion=0.
// An update changes only one object, so CompareAndSetMany may make only some changes.
//
// The time is the Date of an HTTP answer, exact to a second. All processes then have one clock, so a
// wrong clock of a machine is found before it gets a node ID.
//
// # Guarantee
//
// No ID is issued twice, provided that
//
//   - the cluster's etcd keeps each confirmed change in a crash, so it runs without
//     --unsafe-no-fsync. If a distribution uses another database, such as k3s with kine, this
//     database must do so;
//   - nobody restores the cluster's objects from a copy. If this has happened, fence all realms;
//   - nobody deletes these Leases, or edits their annotation or labels. If this has happened, fence
//     the realm. With the namespace, all Leases in it are deleted, too.
//
// Clients cannot see this, so [Store.Conditions] names it. The store overwrites what people have
// written into the spec with its next change.
//
// # Privileges and connections
//
// The store needs a Role with get, list, create and update for the resource leases in the group
// coordination.k8s.io. It keeps its connections, one for each request at a time. A lease has
// one request at a time.
package kubernetes
