package etcd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sortid/sortid/store/internal/connect"
)

// inspect asks the members for their versions. It ignores a member that does not answer, because
// the cluster works without it.
func (s *Store) inspect(ctx context.Context) error {
	for _, endpoint := range s.client.Endpoints() {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		status, err := s.client.Status(limited, endpoint)
		cancel()
		if err != nil {
			continue
		}
		condition, err := checkVersion(status.Version)
		if err != nil {
			return fmt.Errorf("etcd at %s: %w", endpoint, err)
		}
		if condition != "" && !slices.Contains(s.conditions, condition) {
			s.conditions = append(s.conditions, condition)
		}
	}
	return nil
}

func checkVersion(version string) (condition string, err error) {
	var v [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return "", nil // no release of etcd
	}
	below := func(major, minor, patch int) bool {
		return slices.Compare(v[:], []int{major, minor, patch}) < 0
	}
	switch {
	case below(3, 4, 21):
		return fmt.Sprintf("conditional: etcd %s can lose changes in a crash if it is the only "+
			"member of its cluster; if so, upgrade it to 3.4.21, or to 3.5.5 or later",
			version), nil
	case !below(3, 5, 0) && below(3, 5, 5):
		return "", connect.Unsafe("version %s can lose changes in a crash; upgrade it to 3.5.5 or "+
			"later", version)
	}
	return "", nil
}
