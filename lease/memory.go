package lease

import (
	"context"
	"sync"
	"time"
)

// Memory is a [Store] in memory, for tests and for generators that all run in one process. After a
// restart, wait for the window and the lead before the first lease. The zero Memory is empty and
// ready for use.
type Memory struct {
	mu     sync.Mutex
	realms map[string]map[Block]Record
}

func NewMemory() *Memory { return &Memory{} }

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

func (m *Memory) GetMany(ctx context.Context, realm string, blocks []Block) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	records := make([]Record, len(blocks))
	for i, b := range blocks {
		records[i] = m.get(realm, b)
	}
	return records, nil
}

func (m *Memory) CompareAndSet(ctx context.Context, prev, next Record) (bool, error) {
	return m.CompareAndSetMany(ctx, []Change{{prev, next}})
}

// CompareAndSetMany makes all changes or none.
func (m *Memory) CompareAndSetMany(ctx context.Context, changes []Change) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		if !m.get(c.Prev.Realm, c.Prev.Block).Matches(c.Prev) {
			return false, nil
		}
	}
	for _, c := range changes {
		if m.realms == nil {
			m.realms = map[string]map[Block]Record{}
		}
		if m.realms[c.Prev.Realm] == nil {
			m.realms[c.Prev.Realm] = map[Block]Record{}
		}
		m.realms[c.Prev.Realm][c.Prev.Block] = c.Next
	}
	return true, nil
}

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

func (m *Memory) Realms(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for name, records := range m.realms {
		if _, ok := records[Block{}]; ok {
			names = append(names, name)
		}
	}
	return names, nil
}

func (m *Memory) Time(context.Context) (time.Time, error) { return time.Now(), nil }

func (m *Memory) Close() error { return nil }
