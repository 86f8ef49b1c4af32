package nodeid

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store"
	"github.com/spf13/cobra"
)

type StoreFlags struct {
	console *console.Console
	Realm   string
	cmd     *cobra.Command
	timeout time.Duration
}

// ChooseStore adds --realm, and --timeout with the default patience.
func ChooseStore(c *console.Console, cmd *cobra.Command, patience time.Duration) *StoreFlags {
	s := &StoreFlags{console: c, cmd: cmd}
	cmd.Flags().StringVar(&s.Realm, "realm", "", "the `NAME` of the realm")
	cmd.Flags().DurationVar(&s.timeout, "timeout", patience,
		"how long the store may take, a `DURATION`")
	return s
}

// Use opens the store or the server for the function f.
func (s *StoreFlags) Use(url string, f func(context.Context, store.Source) error) error {
	return UseWith(s, url, store.OpenExistingSource, f)
}

// UseWith opens a URL with the function open for the function f.
func UseWith[T io.Closer](s *StoreFlags, url string, open func(context.Context, string) (T, error),
	f func(context.Context, T) error) error {
	if err := checkRealm(s.cmd); err != nil {
		return err
	}
	if s.timeout <= 0 {
		return console.UsageErrorf("--timeout %v: want a duration above 0, such as 5s", s.timeout)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	st, err := openURL(ctx, s.console, &Options{URL: url}, open)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, st), st.Close())
}

// Print prints the output of f, if the error of f is nil or [console.ErrReported]. It closes the
// store first, because the output's reader may be slow.
func (s *StoreFlags) Print(url string,
	f func(context.Context, store.Source) ([]byte, error)) error {
	var out []byte
	err := s.Use(url, func(ctx context.Context, st store.Source) (err error) {
		out, err = f(ctx, st)
		return err
	})
	if err != nil && !errors.Is(err, console.ErrReported) {
		return err
	}
	if _, failed := s.console.Out.Write(out); failed != nil {
		return failed
	}
	return err
}

// ChooseTerms adds flags for the window and the lead of a realm.
func ChooseTerms(cmd *cobra.Command, defaultWindow,
	defaultLead string) (window, lead *time.Duration) {
	window = cmd.Flags().Duration("lease-window", 0,
		"how long the windows are, a `DURATION` (default "+defaultWindow+")")
	lead = cmd.Flags().Duration("lead", 0,
		"how far in the future a grant may start, a `DURATION` (default "+defaultLead+")")
	return window, lead
}

// ChooseFormat adds --format for formats with leased node IDs.
func ChooseFormat(cmd *cobra.Command, usage string) *flags.Formats {
	return flags.ChooseFormat(cmd, "format", usage+", such as scru64, sonyflake or tsid",
		nodefield.Formats(), nodefield.Lookup)
}
