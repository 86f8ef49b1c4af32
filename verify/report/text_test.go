package report

import "testing"

func TestBar(t *testing.T) {
	if got := bars([]float64{0, 1, 50, 100}, 100); got != " ▁▅█" {
		t.Errorf("bars %q", got)
	}
}
