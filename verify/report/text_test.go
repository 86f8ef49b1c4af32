package report

import "testing"

func TestBar(t *testing.T) {
	if got := bar([]float64{0, 1, 50, 100}, 100); got != " ▁▅█" {
		t.Errorf("bar %q", got)
	}
}
