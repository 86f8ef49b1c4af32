package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/leases"
	"github.com/sortid/sortid/cmd/sortid/internal/wrap"
	"github.com/sortid/sortid/format"
)

func leaseExecCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec URL [flags] -- PROGRAM [ARGUMENT...]",
		Short: "run a program in any language with a leased node ID",
		Long: `exec leases a node ID and runs a program with it, in these environment variables:

  SCRU64_NODE_SPEC  as in 42/8, which the SCRU64 libraries of all languages read
  SORTID_NODE_ID    as in 42
  SORTID_NODE_BITS  as in 8

The program starts when its first tick has come. exec passes signals on to it, and
exits as it does. The exit code is 128 plus the signal's number if a signal ended it,
127 if there is no such program, and 126 if it cannot be run.

exec renews the lease while the program runs. If it cannot, because the store is away
for too long, it ends the program: with SIGTERM 20 seconds before the lease ends, and
with SIGKILL 15 seconds before. Then exec exits with 1. So no ID is made after the
lease's end, if the program's generators run at most 10 seconds ahead of the clock,
which is the default. Nobody knows the program's last tick. So when the program has
ended, its node ID stays out of use until the lease would have ended.

The program does not get the variable NAME of env:NAME or token=env:NAME in the URL,
because it has a secret of the store. If the program needs it, set another variable.
The variable stays in the environment of exec, which other processes of the same user
can read.

If exec is killed, so is the program, on Linux. If exec is stopped, as by Ctrl-Z, its
watchdog ends the program in time, even if the program is stopped, too. The watchdog
is a second process; if it ends, exec ends the program. Other systems have no
watchdog. There a program goes on past the end of the lease if its exec is stopped or
killed.

What exec cannot see: a machine or a container that is suspended as a whole, exec and
its watchdog both stopped, a clock that is set back, and processes that the program
leaves behind.`,
		Example: `  sortid lease exec postgres://localhost/ids --realm orders --node-bits 8 -- node app.js
  sortid lease exec bolt:/var/lib/sortid.db -- python3 worker.py --verbose`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("exec wants URL -- PROGRAM [ARGUMENT...], with the two hyphens")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	l := &leases.Options{}
	l.AddFlags(cmd)
	usual, _ := wrap.ByEnvironment()
	given := leases.ChooseFormat(cmd, "the format of the program's IDs (default "+usual.Name+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l.URL = args[0]
		s := cmp.Or(given.One(), usual)
		if err := checkExec(cmd, l, s); err != nil {
			return err
		}
		path, err := exec.LookPath(args[1])
		if err != nil { // as shells do
			c.Complain("%v", err)
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
				return exit.Status(127)
			}
			return exit.Status(126)
		}
		return wrap.Run(c, wrap.Usual, l, s, path, args[1:])
	}
	return cmd
}

// checkExec finds mistakes before the store is asked.
func checkExec(cmd *cobra.Command, l *leases.Options, s *format.Format) error {
	switch {
	case l.URL == "":
		return exit.Usagef(
			"exec wants the URL of a store, and has an empty text; see sortid lease --help")
	case l.Window != 0 && l.Window < wrap.Usual.Window():
		return exit.Usagef(
			"--lease-window %v: the program must end %v before the lease does, so want at least %v",
			l.Window, wrap.Usual.Terminate, wrap.Usual.Window())
	}
	if err := l.CheckBits(s); err != nil {
		return err
	}
	_, err := l.Wanted(cmd)
	return err
}
