package console

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) { synctest.Test(t, testProgress) }

func testProgress(t *testing.T) {
	var out bytes.Buffer
	c := &Console{Err: &out, ErrTerminal: true, ErrWidth: 80}
	for total, want := range map[int64]string{-1: "1234567", 2469134: " 50% "} {
		out.Reset()
		p := c.NewProgress("IDs", total)
		p.Show(5)
		time.Sleep(time.Second - time.Nanosecond)
		p.Show(5)
		if out.Len() > 0 {
			t.Errorf("shown in the first second: %q", out.String())
		}
		time.Sleep(time.Nanosecond)
		p.Show(1234567)
		if got := out.String(); !strings.Contains(got, want) || !strings.Contains(got, "IDs") ||
			strings.Contains(got, "/-") {
			t.Errorf("of %d: %q", total, got)
		}
		c.Say("a message")
		if !strings.HasSuffix(out.String(), "\r\x1b[Ksortid: a message\n") {
			t.Errorf("a message beside progress: %q", out.String())
		}
		if c.Say("another"); !strings.HasSuffix(out.String(), "message\nsortid: another\n") {
			t.Errorf("a message without progress: %q", out.String())
		}
		time.Sleep(time.Second)
		p.Show(1234568)
		p.End()
		if !strings.HasSuffix(out.String(), "\r") && !strings.HasSuffix(out.String(), "\x1b[2K") {
			t.Errorf("%q", out.String())
		}
	}
	for _, c := range []*Console{{Err: &out}, {Err: &out, ErrTerminal: true, OutTerminal: true},
		{Err: &out, ErrTerminal: true, Quiet: true}} {
		if p := c.Progress("IDs", 9); p != nil {
			t.Error("progress where nobody sees it, or where it is in the way")
		}
	}
}
