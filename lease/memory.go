package lease

import (
	"context"
	"sync"
	"time"
)

// Memory is a [Store] in the memory of one process: for tests, and for programs whose
// generators all live in one process. It never forgets while the process runs; it knows
// nothing of other processes, and of its own past after a restart. The zero Memory is
// empty and ready for use.
type Memory struct {
	mu     sync.Mutex
	realms map[string]map[Block]Record
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{} }

// Get returns the record of a block.
func (m *Memory) Get(ctx context.Context, realm string, b Block) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(realm, b), nil
}

func (m *Memory) get(realm string, b Block) Record {
	if r, ok := m.realms[realm][b]; ok {
		return r
	}
	return Record{Realm: realm, Block: b}
}

// CompareAndSet stores next in the place of prev.
func (m *Memory) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.get(prev.Realm, prev.Block)
	if !now.Matches(prev) {
		return false, nil
	}
	if m.realms == nil {
		m.realms = map[string]map[Block]Record{}
	}
	if m.realms[prev.Realm] == nil {
		m.realms[prev.Realm] = map[Block]Record{}
	}
	m.realms[prev.Realm][prev.Block] = next
	return true, nil
}

// List returns the records of a realm.
func (m *Memory) List(ctx context.Context, realm string) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	records := make([]Record, 0, len(m.realms[realm]))
	for _, r := range m.realms[realm] {
		records = append(records, r)
	}
	return records, nil
}

// Time returns the system's time.
func (m *Memory) Time(context.Context) (time.Time, error) { return time.Now(), nil }

// Close does nothing.
func (m *Memory) Close() error { return nil }
