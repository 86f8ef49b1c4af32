package verify

import (
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/model"
)

func TestDetect(t *testing.T) {
	for _, formatName := range format.Names() {
		if got, ok := Detect([]byte("# IDs\r\n\n" + model.Text(model.Sample(formatName, 3)))); !ok || got != formatName {
			t.Errorf("%s: %s, %v", formatName, got, ok)
		}
	}
	if got, ok := Detect([]byte("what\nis\nthis\n")); ok {
		t.Errorf("words are %s", got)
	}
}
