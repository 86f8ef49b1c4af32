package inspect

import (
	"testing"
	"time"
)

// After a UUID that can only be a scru128 ID, a Reader also reads UUIDs of version 4 as scru128.
func TestVersion4(t *testing.T) {
	const v4, own = "017fef39-c264-4ba5-8a94-83188841e05a", "017fef39-c264-0ba5-0a94-83188841e05a"
	var in Reader
	for i, c := range []struct{ text, want string }{
		{v4, "uuidv4"}, {v4, "uuidv4"}, {own, "scru128"}, {v4, "scru128"},
	} {
		var r Reading
		err := in.Read(&r, c.text, time.Now())
		if err != nil || r.Name() != c.want || c.text == v4 && len(r.Others) != 1 {
			t.Errorf("%d: %s is %s, %v, want %s", i, c.text, r.Name(), err, c.want)
		}
	}
}
