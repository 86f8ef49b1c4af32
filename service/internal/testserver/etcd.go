package testserver

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Etcd returns the URL of a prefix of the test's own: in the cluster at
// SORTID_TEST_ETCD_URL, the one at 127.0.0.1:2379, or a new one.
func Etcd(t testing.TB) string {
	t.Helper()
	base := os.Getenv("SORTID_TEST_ETCD_URL")
	if base == "" {
		if base = "etcd://127.0.0.1:2379"; !listening("127.0.0.1:2379") {
			base = StartEtcd(t).URL
		}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "etcd" {
		t.Fatal("SORTID_TEST_ETCD_URL: want etcd://user:password@host:2379")
	}
	prefix := placeName()
	config := clientv3.Config{Endpoints: []string{"http://" + u.Host}, Username: u.User.Username(), Logger: zap.NewNop()}
	config.Password, _ = u.User.Password()
	t.Cleanup(func() {
		client, err := clientv3.New(config)
		if err != nil {
			return
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		client.Delete(ctx, "/"+prefix+"/", clientv3.WithPrefix())
	})
	return u.JoinPath(prefix).String()
}

// StartEtcd starts an etcd of one member, in this process. The settings change its
// configuration.
func StartEtcd(t testing.TB, settings ...func(*embed.Config)) *Server {
	t.Helper()
	return startEtcd(t, []int{freePort(t)}, 0, []int{freePort(t)}, settings)
}

// StartEtcdCluster starts an etcd cluster of three members. Each URL is that of one
// member alone.
func StartEtcdCluster(t testing.TB) [3]*Server {
	t.Helper()
	clients, peers := make([]int, 3), make([]int, 3)
	for i := range clients {
		clients[i], peers[i] = freePort(t), freePort(t)
	}
	var servers [3]*Server
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() { // each is ready only when there is another
			servers[i] = startEtcd(t, clients, i, peers, nil)
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return servers
}

// startEtcd starts the i-th of the members that serve clients and each other at these
// ports.
func startEtcd(t testing.TB, clients []int, i int, peers []int, settings []func(*embed.Config)) *Server {
	t.Helper()
	dir := tempDir(t)
	at := func(port int) url.URL { return url.URL{Scheme: "http", Host: address(port)} }
	var members []string
	for j, port := range peers {
		u := at(port)
		members = append(members, fmt.Sprintf("m%d=%s", j, u.String()))
	}
	start := func() (stop func()) {
		c := embed.NewConfig()
		c.Name, c.Dir = fmt.Sprintf("m%d", i), dir
		c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{at(clients[i])}, []url.URL{at(clients[i])}
		c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{at(peers[i])}, []url.URL{at(peers[i])}
		c.InitialCluster = strings.Join(members, ",")
		c.TickMs, c.ElectionMs = 50, 500
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
		for _, set := range settings {
			set(c)
		}
		e, err := embed.StartEtcd(c)
		if err != nil {
			t.Fatalf("starting etcd: %v", err)
		}
		select {
		case <-e.Server.ReadyNotify():
		case <-time.After(time.Minute):
			e.Close()
			t.Fatal("etcd does not serve within a minute")
		}
		return func() {
			e.Server.HardStop()
			e.Close()
		}
	}
	return newServer(t, "etcd://"+address(clients[i]), dir, start)
}
