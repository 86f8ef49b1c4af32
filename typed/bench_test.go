package typed

import (
	"sync"
	"testing"
)

// BenchmarkPrefix shows why the array kinds is worth its unsafe keys. Two ways without unsafe are a
// sync.Map, and a check of the prefix in each call. Both take longer.
func BenchmarkPrefix(b *testing.B) {
	for name, appendTo := range map[string]func([]byte) []byte{
		"cache=slots":   appendFromSlot[user],
		"cache=syncmap": appendFromMap[user],
		"cache=none":    appendChecked[user],
	} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 64)
			for b.Loop() {
				if got := appendTo(buf); len(got) != len("user_") {
					b.Fatalf("%q", got)
				}
			}
		})
	}
}

func appendFromSlot[P Prefixer](b []byte) []byte {
	p := any((*P)(nil))
	k := slot(p).Load()
	if k.key != keyOf(p) {
		k = kindOf(p)
	}
	return k.append(b)
}

var inMap sync.Map // from a nil pointer to *kind

func appendFromMap[P Prefixer](b []byte) []byte {
	k, ok := inMap.Load((*P)(nil))
	if !ok {
		k, _ = inMap.LoadOrStore((*P)(nil), kindOf((*P)(nil)))
	}
	return append(b, k.(*kind).text...)
}

func appendChecked[P Prefixer](b []byte) []byte {
	prefix := phantom[P]{}.Prefix()
	if len(prefix) > MaxPrefixLen || prefix[0] == '_' || prefix[len(prefix)-1] == '_' {
		panic(CheckPrefix(prefix))
	}
	for i := range len(prefix) {
		c := prefix[i]
		if c-'a' >= 26 && c != '_' {
			panic(CheckPrefix(prefix))
		}
		b = append(b, c)
	}
	return append(b, '_')
}
