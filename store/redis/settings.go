package redis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"
	"github.com/sortid/sortid/store/internal/connect"
)

// wanted lists the settings with which a crash of the machine loses nothing.
var wanted = []struct{ name, value, otherwise string }{
	{"appendfsync", "always", "a crash of the machine forgets the last changes"},
	{"no-appendfsync-on-rewrite", "no",
		"while the file is rewritten, a crash of the machine forgets the last changes"},
}

// others are servers with the protocol of Redis, and the field of INFO that only they have.
var others = []struct{ name, field string }{
	{"Valkey", "valkey_version"}, {"Dragonfly", "dragonfly_version"}, {"KeyDB", "mvcc_depth"},
}

// conditions gets the answer to INFO and, for each wanted setting, the answer to CONFIG GET.
func conditions(text string, config []any) (conditions []string, err error) {
	info := fields(text)
	policy := info["maxmemory_policy"]
	switch {
	case info["role"] != "master":
		return nil, connect.Unsafe("role is %q: its data may be old; connect to the master",
			info["role"])
	case info["cluster_enabled"] == "1":
		return nil, connect.Unsafe("cluster_enabled is 1: in a cluster, a replica that lacks " +
			"the last changes can become the master; use a server outside a cluster")
	case info["maxmemory"] != "0" && strings.HasPrefix(policy, "allkeys-"):
		return nil, connect.Unsafe("maxmemory-policy is %q: it would drop records when memory is "+
			"short; CONFIG SET maxmemory-policy noeviction", policy)
	case info["aof_enabled"] == "1" && info["aof_last_write_status"] == "err":
		return nil, connect.Unsafe("aof_last_write_status is err: changes do not reach the " +
			"append-only file; see the server's log for the reason, such as a full disk")
	}
	conditional := func(format string, args ...any) {
		conditions = append(conditions, "conditional: "+fmt.Sprintf(format, args...))
	}
	for _, other := range others {
		if value, ok := info[other.field]; ok {
			conditions = append(conditions, connect.NotTested(
				other.name+" ("+other.field+":"+value+")", "Redis"))
		}
	}
	if n := info["connected_slaves"]; n != "0" {
		conditional("%s replicas are connected, and Redis answers before they have a change: "+
			"if a replica becomes the master, changes are forgotten; then fence the realms", n)
	}
	if info["aof_enabled"] != "1" {
		conditional("appendonly is no: a restart forgets what came after the last snapshot, " +
			"or everything; set appendonly yes and appendfsync always")
		return conditions, nil
	}
	// The file protects changes only if it is complete. After appendonly was turned on, Redis must
	// first write all data to it.
	const rewrite = "%s: if appendonly was turned on since the server started, " +
		"a restart forgets everything. Wait until a rewrite succeeds: then " +
		"INFO persistence says aof_rewrite_in_progress:0 and aof_last_bgrewrite_status:ok"
	switch {
	case info["aof_last_bgrewrite_status"] == "err":
		conditional(rewrite, "the last rewrite of the append-only file failed "+
			"(aof_last_bgrewrite_status is err), see the server's log")
	case info["aof_rewrite_in_progress"] == "1" && info["aof_base_size"] == "0":
		conditional(rewrite, "the append-only file is being rewritten "+
			"(aof_rewrite_in_progress is 1)")
	}
	for i, w := range wanted {
		values, err := redis.StringMap(config[i], nil)
		refusal := redis.Error("")
		switch {
		case errors.As(err, &refusal):
			conditional("the server does not show its settings (%v): unless %s is %s, %s", err,
				w.name, w.value, w.otherwise)
		case err != nil:
			return nil, fmt.Errorf("the setting %s could not be read: %w", w.name, err)
		case values[w.name] != w.value:
			conditional("%s is %q: %s; set it to %s", w.name, values[w.name], w.otherwise, w.value)
		}
	}
	return conditions, nil
}

func fields(info string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}
