package main

import (
	"errors"
	"io/fs"
	"net"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/cmd/sortid/internal/supervise"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
)

func leaseExecCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec URL [flags] -- PROGRAM [ARGUMENT...]",
		Short: "run a program in any language with a leased node ID",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("exec wants URL -- PROGRAM [ARGUMENT...], with the two hyphens")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := addExecFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.options.Lease.URL = args[0]
		if err := f.complete(cmd); err != nil {
			return err
		}
		path, err := exec.LookPath(args[1])
		if err != nil { // exit codes as in shells
			c.Say("%v", err)
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
				return console.ExitCode(127)
			}
			return console.ExitCode(126)
		}
		f.options.Path, f.options.Args = path, args[1:]
		return supervise.Run(c, f.options)
	}
	return cmd
}

type execFlags struct {
	options *supervise.Options
	format  *flags.Formats
	env     *[]string
	count   flags.Count
	nodeID  *uint32
	onLoss  *flags.Choice
}

func addExecFlags(cmd *cobra.Command) *execFlags {
	f := &execFlags{options: &supervise.Options{Lease: &nodeid.Options{ForProgram: true},
		Times: supervise.Usual}}
	f.options.Lease.AddFlags(cmd)
	set := cmd.Flags()
	set.Lookup("node-bits").Usage = "the size of the leased node ID (default: the realm's or, " +
		"if the realm mixes sizes, 8)"
	set.Lookup("node-bits").DefValue = "0"
	set.Lookup("lease-window").Usage =
		"the lease's window, a `DURATION` (default: the realm's window)"
	set.Lookup("wait").Usage = "wait for the store, and for a node ID if none is free"
	f.format = nodeid.ChooseFormat(cmd, "the format of the program's IDs (default: the realm's)")
	f.env = set.StringArray("env", nil,
		"set a variable of the program, `NAME=TEMPLATE`; the template may have {node_id}, "+
			"{node_ids}, {node_bits} and {node_spec}")
	set.Var(&f.count, "count", "lease several node IDs, all or none")
	set.Lookup("count").DefValue = "0"
	f.nodeID = set.Uint32("node-id", 0, "lease exactly the node ID `N`")
	set.Lookup("node-id").DefValue = "0"
	cmd.MarkFlagsMutuallyExclusive("count", "node-id")
	set.DurationVar(&f.options.Times.Ahead, "ahead", f.options.Times.Ahead,
		"how far the program's generator runs ahead of the clock at most, a `DURATION`")
	set.DurationVar(&f.options.Times.Grace, "grace", f.options.Times.Grace,
		"how long after SIGTERM the program gets SIGKILL, a `DURATION`")
	f.onLoss = flags.Choose(cmd, "on-loss", "", "what to do after the loss of the lease", "exit",
		"exit", "restart")
	set.StringVar(&f.options.Status, "status", "", "show the state of the lease in `FILE`, as JSON")
	set.StringVar(&f.options.File, "lease-file", "",
		"keep in `FILE` what the next start needs to give the node ID back, if this one is killed")
	set.StringVar(&f.options.Metrics, "metrics", "",
		"serve metrics for Prometheus at `ADDR`, such as 127.0.0.1:9105")
	return f
}

// complete finds mistakes before the command opens the store.
func (f *execFlags) complete(cmd *cobra.Command) (err error) {
	given := cmd.Flags().Changed
	l, least := f.options.Lease, f.options.Times.Window()
	if !given("node-bits") {
		l.Bits = 0
	}
	if given("node-id") {
		f.options.NodeID = f.nodeID
	}
	f.options.Count, f.options.Restart = int(f.count), f.onLoss.Value == "restart"
	switch {
	case l.URL == "":
		return console.UsageErrorf(
			"exec wants the URL of a store, but it is empty; see sortid lease --help")
	case f.options.Times.Ahead < 0:
		return console.UsageErrorf("--ahead %v: want 0s or more", f.options.Times.Ahead)
	case f.options.Times.Grace < 0:
		return console.UsageErrorf("--grace %v: want 0s or more", f.options.Times.Grace)
	case l.Window != 0 && l.Window < least:
		return console.UsageErrorf(
			"--lease-window %v: the program must end %v before the lease does, "+
				"so the window must be at least %v", l.Window, f.options.Times.Terminate(), least)
	case l.Bits > lease.MaxBits:
		return console.UsageErrorf(
			"--node-bits %d: a node ID has 1 to %d bits", l.Bits, lease.MaxBits)
	case f.count > 1<<lease.MaxBits:
		return console.UsageErrorf("--count %d: no realm has so many node IDs", f.count)
	case given("lease-file") && f.options.File == "":
		return console.UsageErrorf("--lease-file wants the name of a file, but is empty")
	case given("status") && f.options.Status == "":
		return console.UsageErrorf("--status wants the name of a file, but is empty")
	}
	if given("metrics") {
		if _, _, err := net.SplitHostPort(f.options.Metrics); err != nil {
			return console.UsageErrorf("--metrics wants HOST:PORT or :PORT: %v", err)
		}
	}
	if f.options.Env, err = supervise.ParseVariables(*f.env, f.options.Count != 0); err != nil {
		return console.UsageError(err)
	}
	if _, err := l.Wanted(cmd); err != nil {
		return err
	}
	return f.chooseRealm()
}

// chooseRealm sets the realm's name, and what to make if the realm is missing.
func (f *execFlags) chooseRealm() (err error) {
	f.options.Format = f.format.One()
	of := f.options.Format
	if of == nil && (f.options.Lease.Realm == "" || f.options.Lease.Bits == 0) {
		of = usualFormat()
	}
	f.options.Realm, err = nodeid.NewRealm(of, f.options.Lease.Realm, int(f.options.Lease.Bits))
	if err != nil {
		return err
	}
	f.options.Realm.Window = f.options.Lease.Window
	return nodeid.Validate(f.options.Realm)
}

// usualFormat is the format of a new realm if neither a format nor a size is given.
func usualFormat() *format.Format {
	f, _ := supervise.ByEnvironment()
	return f
}
