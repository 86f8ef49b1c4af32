package verify

import (
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/controls"
)

func TestDetect(t *testing.T) {
	for _, f := range format.Ours() {
		formatName := f.Name
		if got, ok := Detect([]byte("# IDs\r\n\n" +
			controls.Text(controls.Sample(formatName, 3)))); !ok || got != formatName {
			t.Errorf("%s: %s, %v", formatName, got, ok)
		}
	}
	for want, lines := range map[string]string{
		"uuidv7": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n017f22e2-79b1-7cc3-98c4-dc0c0c07398f\n",
		// scru128 IDs in the form of UUIDs
		"scru128": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n017f22e2-79b1-1cc3-08c4-dc0c0c07398f\n",
		"ulid":    "01HJ3QZ8XG5ZJ9V3B2N4K6M8P0\n",
		"":        "175928847299117063\n", // can be an ID of many formats
	} {
		if got, ok := Detect([]byte(lines)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", lines, got, want)
		}
	}
	if got, ok := Detect([]byte("what\nis\nthis\n")); ok {
		t.Errorf("words: %s, want no format", got)
	}
}
