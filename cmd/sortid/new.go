package main

import (
	"context"
	"math"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func (a *app) newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new FORMAT",
		Short: "make IDs",
		Long: `new makes IDs of a format, one in a line, in order.

With --at the clock stands still at that time, and all IDs are of its tick. Only
when the format has no more IDs in a tick does the clock go to the next one:
after 512 IDs of uid60, for example.

scru64 needs a node ID that no other generator has: --node, or the environment
variable SCRU64_NODE_SPEC. When asked for more IDs than its node has it runs ahead
of the clock by the allowance, and then waits for the clock.

Or the node ID is leased, for scru64, scru160 and uid60: --lease names a store that
all processes share, such as a file on one machine or a database, and each gets a
node ID that no other has. It is renewed meanwhile and given back at the end. When
the store cannot be reached, IDs are made for half a minute to a minute more, and
then new waits for the store and says so; with --rollback abort it fails instead.
"sortid lease --help" tells more.`,
		Example: `  sortid new scru128
  sortid new scru128 -n 1000000 -o uuid > ids.txt
  sortid new scru128 --forever --rate 5
  sortid new scru64 --node 42/8 -n 3
  sortid new scru64 --lease bolt:/var/lib/sortid.db --forever --rate 100
  sortid new euid --ext 5/8 -o json
  sortid new scru160 --at 2026-11-17T10:30:00Z`,
		Args:              oneFormat,
		ValidArgsFunction: completeFormat,
	}
	n := count(1)
	var pace rate
	cmd.Flags().VarP(&n, "count", "n", "how many IDs")
	forever := cmd.Flags().Bool("forever", false, "make IDs without end")
	cmd.Flags().Var(&pace, "rate", "IDs a second, on average since the start; without it, as many as possible")
	output := choose(cmd, "output", "o", "the `ENCODING` of the IDs", "text", "text", "hex", "int", "uuid", "json")
	at := cmd.Flags().String("at", "", "make IDs of this `TIME` (see sortid bounds --help)")
	cmd.Flags().Lookup("rate").DefValue = "0"
	leasing := leasingFlags(cmd)
	names := formatOptions(cmd)

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := format.Lookup(args[0])
		if err != nil {
			return err
		}
		if *forever && cmd.Flags().Changed("count") {
			return usagef("--forever and --count exclude each other")
		}
		encode := format.Batch.AppendJSON
		if output.value != "json" {
			encoding := format.Encoding(output.value)
			if err := s.CheckEncoding(encoding); err != nil {
				return usageError{err}
			}
			encode = func(batch format.Batch, b []byte, sep byte) []byte { return batch.Append(b, encoding, sep) }
		}
		var options format.Options
		if *at != "" {
			if options.At, err = timeOf("at", *at, time.Now()); err != nil {
				return err
			}
		}
		leased, err := leasing.wanted(cmd)
		if err != nil {
			return err
		}
		if options.Values, err = optionValues(cmd, s, names, leased); err != nil {
			return err
		}
		if leased {
			if err := leasing.check(s, options); err != nil {
				return err
			}
		}

		ctx, stop := untilSignal()
		defer stop()
		if leased {
			holder, err := a.acquireLease(ctx, leasing, s, !strings.EqualFold(options.Values["rollback"], "abort"))
			if err != nil {
				return interrupted(ctx, err)
			}
			defer holder.release()
			options.Lease = holder.lease
		}
		g, err := s.NewGenerator(options)
		if err != nil {
			return optionError(err)
		}
		many := uint64(n)
		if *forever {
			many = math.MaxUint64
		}
		p := &production{app: a, generator: g, encode: encode, left: many, progress: a.progress("IDs")}
		if options.At.IsZero() && pace == 0 {
			err = p.race(ctx)
		} else {
			err = p.walk(ctx, float64(pace))
		}
		p.progress.end()
		return interrupted(ctx, err)
	}
	return cmd
}

// formatOptions adds the formats' own options to the flags and returns their names.
func formatOptions(cmd *cobra.Command) (names []string) {
	usage := map[string]string{}
	for _, s := range format.Ours() {
		for _, o := range s.Options {
			if have := format.WithOption(o.Name); len(have) == len(format.Ours()) {
				usage[o.Name] = o.Usage
			} else {
				usage[o.Name] += "; " + s.Name + ": " + o.Usage
			}
			if cmd.Flags().Lookup(o.Name) == nil {
				names = append(names, o.Name)
				if o.Value == "" {
					cmd.Flags().Bool(o.Name, false, "")
				} else {
					cmd.Flags().Var(&optionFlag{kind: o.Value}, o.Name, "")
				}
			}
		}
	}
	for name, text := range usage {
		cmd.Flags().Lookup(name).Usage = strings.TrimPrefix(text, "; ")
	}
	cmd.RegisterFlagCompletionFunc("rollback", cobra.FixedCompletions([]string{"reset", "abort", "wait"}, cobra.ShellCompDirectiveNoFileComp))
	sort.Strings(names)
	return names
}

// optionValues returns the values of a format's own options. On a lease no node ID is needed.
func optionValues(cmd *cobra.Command, s *format.Format, names []string, leased bool) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		if flag := cmd.Flags().Lookup(name); flag.Changed {
			values[name] = flag.Value.String()
		}
	}
	for _, o := range s.Options {
		if _, given := values[o.Name]; given || o.Env == "" || leased && o.Name == s.Node {
			continue
		}
		if value, ok := os.LookupEnv(o.Env); ok {
			values[o.Name] = value
		} else if o.Needed {
			return nil, usagef("%s needs --%s %s or the environment variable %s, or --lease URL: %s", s.Name, o.Name, o.Value, o.Env, o.Usage)
		}
	}
	return values, nil
}

// An optionFlag is a flag whose value the format reads.
type optionFlag struct{ value, kind string }

func (f *optionFlag) String() string     { return f.value }
func (f *optionFlag) Type() string       { return f.kind }
func (f *optionFlag) Set(s string) error { f.value = s; return nil }

// A production makes IDs and writes them out.
type production struct {
	*app
	generator format.Generator
	encode    func(batch format.Batch, b []byte, sep byte) []byte
	left      uint64 // how many IDs are still to be made
	progress  *progress

	mu      sync.Mutex
	size    int // of the next batch
	written uint64
	err     error
}

const (
	maxBatch = 16384                 // IDs: their texts fit the cache, and writes are few
	slow     = 10 * time.Millisecond // a batch that takes longer is too large
)

// race makes IDs as fast as possible: several workers take turns at the generator and at
// the output, so that batches come out in order, and write the texts in between side by
// side. Batches start small, so that the first IDs are there at once.
func (p *production) race(ctx context.Context) error {
	p.size = 1
	if p.left > maxBatch {
		widen(p.out)
	}
	turn := make(chan struct{})
	close(turn)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		workers.Go(func() {
			batch := p.generator.NewBatch()
			var text []byte
			for {
				p.mu.Lock()
				n, err := p.fill(ctx, batch)
				before, after := turn, make(chan struct{})
				turn = after
				p.mu.Unlock()
				if n > 0 {
					text = p.encode(batch, text[:0], '\n')
				}
				<-before
				p.write(text, n, err)
				close(after)
				if n == 0 {
					return
				}
			}
		})
	}
	workers.Wait()
	return p.err
}

// fill makes the next batch, and returns how many IDs it has: none at the end.
func (p *production) fill(ctx context.Context, batch format.Batch) (int, error) {
	n := int(min(p.left, uint64(p.size)))
	if n == 0 || ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	start := time.Now()
	if err := batch.Fill(ctx, n); err != nil {
		p.left = 0
		return 0, err
	}
	if p.left != math.MaxUint64 {
		p.left -= uint64(n)
	}
	if time.Since(start) < slow {
		p.size = min(2*p.size, maxBatch)
	} else {
		p.size = max(p.size/2, 1)
	}
	return n, nil
}

// write writes the text of n IDs, unless something went wrong before.
func (p *production) write(text []byte, n int, err error) {
	if err == nil && p.err == nil && n > 0 {
		_, err = p.out.Write(text)
		p.written += uint64(n)
		p.progress.show(p.written)
	}
	if err != nil && p.err == nil {
		p.err = err
		p.mu.Lock()
		p.left = 0
		p.mu.Unlock()
	}
}

// walk makes IDs one batch after the other, at most perSecond of them if that is not 0.
// What is due is reckoned from the start, so that delays do not add up.
func (p *production) walk(ctx context.Context, perSecond float64) error {
	batch := p.generator.NewBatch()
	var text []byte
	start := time.Now()
	for p.left > 0 {
		n := uint64(maxBatch)
		if perSecond > 0 {
			due := time.Since(start).Seconds()*perSecond + 1 - float64(p.written)
			if due < 1 {
				next := min(float64(p.written)/perSecond, 1e9) // seconds
				if err := sleep(ctx, time.Duration(next*1e9)-time.Since(start)); err != nil {
					return err
				}
				continue
			}
			n = uint64(min(due, maxBatch))
		}
		p.size = int(n)
		made, err := p.fill(ctx, batch)
		if err != nil {
			return err
		}
		text = p.encode(batch, text[:0], '\n')
		if p.write(text, made, nil); p.err != nil {
			return p.err
		}
	}
	return nil
}

// sleep waits for d. If ctx ends before, sleep returns its cause.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
