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
		if err != nil { // exit codes as in shells
			c.Say("%v", err)
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
				return exit.Status(127)
			}
			return exit.Status(126)
		}
		return wrap.Run(c, wrap.Usual, l, s, path, args[1:])
	}
	return cmd
}

// checkExec finds mistakes before the command opens the store.
func checkExec(cmd *cobra.Command, l *leases.Options, s *format.Format) error {
	switch {
	case l.URL == "":
		return exit.Usagef(
			"exec wants the URL of a store, but it is empty; see sortid lease --help")
	case l.Window != 0 && l.Window < wrap.Usual.Window():
		return exit.Usagef(
			"--lease-window %v: the program must end %v before the lease does, "+
				"so the window must be at least %v",
			l.Window, wrap.Usual.Terminate, wrap.Usual.Window())
	}
	if err := l.CheckBits(s); err != nil {
		return err
	}
	_, err := l.Wanted(cmd)
	return err
}
