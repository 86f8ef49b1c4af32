package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math"
	"testing"
	"time"
)

// The log's handler writes the same lines as the standard library's.
func TestLogHandler(t *testing.T) {
	texts := []string{"", "plain", "/v1/ids/scru64?n=2&<>'~", `a "quoted" \ text`, "ü", "\xff", "a\nb",
		"\x7f", "\u2028"}
	values := []slog.Value{slog.IntValue(0), slog.Int64Value(math.MinInt64), slog.BoolValue(true),
		slog.DurationValue(time.Second), slog.AnyValue(errors.New("an error")), slog.AnyValue(nil),
		slog.GroupValue(slog.Int("a", 1)), slog.GroupValue()}
	for _, text := range texts {
		values = append(values, slog.StringValue(text))
	}
	var got, want bytes.Buffer
	late := &lateWriter{w: &got}
	ours, standard := newLogHandler(late), slog.NewJSONHandler(&want, nil)
	check := func(r slog.Record, change func(slog.Handler) slog.Handler) {
		t.Helper()
		got.Reset()
		want.Reset()
		if err := errors.Join(change(ours).Handle(t.Context(), r),
			change(standard).Handle(t.Context(), r)); err != nil {
			t.Fatal(err)
		}
		late.flush()
		if got.String() != want.String() {
			t.Errorf("got  %swant %s", &got, &want)
		}
	}
	now := time.Date(2026, 11, 17, 12, 0, 0, 1000, time.FixedZone("", 3600))
	for _, changed := range []func(slog.Handler) slog.Handler{
		func(h slog.Handler) slog.Handler { return h },
		func(h slog.Handler) slog.Handler { return h.WithAttrs([]slog.Attr{slog.Int("b", 2)}) },
		func(h slog.Handler) slog.Handler { return h.WithGroup("group") },
	} {
		for _, text := range texts {
			check(slog.NewRecord(now, slog.LevelInfo, text, 0), changed)
			for _, v := range values {
				r := slog.NewRecord(now, slog.LevelWarn, "plain", 0)
				r.AddAttrs(slog.Int("n", 1), slog.Attr{Key: text, Value: v})
				check(r, changed)
			}
		}
		check(slog.NewRecord(time.Time{}, slog.LevelError+1, "plain", 0), changed)
	}
}

func BenchmarkLogHandler(b *testing.B) {
	for name, h := range map[string]slog.Handler{"ours": newLogHandler(&lateWriter{w: io.Discard}),
		"slog": slog.NewJSONHandler(&lateWriter{w: io.Discard}, nil)} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
				r.AddAttrs(slog.String("request", "0372ijojuxuhjsfkeryi2mrtm"),
					slog.String("method", "GET"), slog.String("path", "/v1/ids/scru64"),
					slog.Int("status", 200), slog.Int64("bytes", 13), slog.Int64("us", 12),
					slog.String("from", "127.0.0.1:45678"))
				h.Handle(ctx, r)
			}
		})
	}
}
