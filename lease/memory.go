package lease

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is a [Store] in memory, for tests and for generators in one process. After a restart of
// the process, wait for the window plus the lead before the first lease. The zero Memory is ready
// for use.
type Memory struct {
	mu     sync.Mutex
	realms map[string]map[Block]Record
}

// NewMemory returns a store without realms.
func NewMemory() *Memory { return &Memory{} }

func (m *Memory) do(ctx context.Context, f func()) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	return nil
}

func (m *Memory) get(realm string, b Block) Record {
	if r, ok := m.realms[realm][b]; ok {
		return r
	}
	return Record{Realm: realm, Block: b}
}

func (m *Memory) Get(ctx context.Context, realm string, b Block) (r Record, err error) {
	err = m.do(ctx, func() { r = m.get(realm, b) })
	return r, err
}

func (m *Memory) GetMany(ctx context.Context, realm string,
	blocks []Block) (records []Record, err error) {
	err = m.do(ctx, func() {
		records = make([]Record, 0, len(blocks))
		for _, b := range blocks {
			records = append(records, m.get(realm, b))
		}
	})
	return records, err
}

func (m *Memory) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	return m.CompareAndSetMany(ctx, []Change{{prev, next}})
}

// CompareAndSetMany makes all changes or none.
func (m *Memory) CompareAndSetMany(ctx context.Context, changes []Change) (stored bool, err error) {
	err = m.do(ctx, func() {
		for _, c := range changes {
			if !m.get(c.Prev.Realm, c.Prev.Block).Matches(c.Prev) {
				return
			}
		}
		if m.realms == nil {
			m.realms = map[string]map[Block]Record{}
		}
		for _, c := range changes {
			if m.realms[c.Prev.Realm] == nil {
				m.realms[c.Prev.Realm] = map[Block]Record{}
			}
			m.realms[c.Prev.Realm][c.Prev.Block] = c.Next
		}
		stored = true
	})
	return stored, err
}

func (m *Memory) List(ctx context.Context, realm string) (records []Record, err error) {
	err = m.do(ctx, func() { records = slices.Collect(maps.Values(m.realms[realm])) })
	return records, err
}

func (m *Memory) Realms(ctx context.Context) (names []string, err error) {
	err = m.do(ctx, func() {
		for name, records := range m.realms {
			if _, ok := records[Block{}]; ok {
				names = append(names, name)
			}
		}
	})
	return names, err
}

func (m *Memory) Time(context.Context) (time.Time, error) { return time.Now(), nil }

func (m *Memory) Close() error { return nil }
