package redis

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/sortid/sortid/lease"
)

// inspect looks at the server's settings. It fails with [lease.ErrUnsafe], or returns what
// the guarantee depends on.
func inspect(ctx context.Context, client *redis.Client) (conditions []string, err error) {
	text, err := client.Info(ctx).Result()
	if err != nil {
		return nil, err
	}
	info := fields(text)
	policy := info["maxmemory_policy"]
	switch {
	case info["role"] != "master":
		return nil, unsafe("role is %q: it may be behind; connect to the master", info["role"])
	case info["cluster_enabled"] == "1":
		return nil, unsafe("cluster_enabled is 1: a cluster makes masters of replicas that lack the last changes; use a server of its own")
	case info["maxmemory"] != "0" && strings.HasPrefix(policy, "allkeys-"):
		return nil, unsafe("maxmemory-policy is %q: it would drop records when memory is short; CONFIG SET maxmemory-policy noeviction", policy)
	}
	if n := info["connected_slaves"]; n != "0" {
		conditions = append(conditions, fmt.Sprintf("conditional: %s replicas are connected, and Redis answers before these have a change: if one becomes master, changes are forgotten; then fence the realms", n))
	}
	if info["aof_enabled"] != "1" {
		return append(conditions, "conditional: appendonly is no: a restart forgets what came after the last snapshot, or everything; set appendonly yes and appendfsync always"), nil
	}
	for _, want := range []struct{ name, value, otherwise string }{
		{"appendfsync", "always", "a crash of the machine forgets the last changes"},
		{"no-appendfsync-on-rewrite", "no", "while the file is rewritten, a crash of the machine forgets the last changes"},
	} {
		switch values, err := client.ConfigGet(ctx, want.name).Result(); {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			conditions = append(conditions, fmt.Sprintf("conditional: the server does not show its settings (%v): unless %s is %s, %s", err, want.name, want.value, want.otherwise))
		case values[want.name] != want.value:
			conditions = append(conditions, fmt.Sprintf("conditional: %s is %q: %s; set it to %s", want.name, values[want.name], want.otherwise, want.value))
		}
	}
	return conditions, nil
}

func unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{lease.ErrUnsafe}, args...)...)
}

// fields returns the answer to INFO by name.
func fields(info string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			m[name] = value
		}
	}
	return m
}
