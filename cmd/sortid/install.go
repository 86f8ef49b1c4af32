package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/spf13/cobra"
)

func installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install FILE",
		Short: "copy this program to a file, for containers without cp",
		Args:  flags.Arguments("FILE"),
		RunE:  func(_ *cobra.Command, args []string) error { return install(args[0]) },
	}
}

// install replaces the file by a rename, because a running program cannot be written.
func install(file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(file), ".sortid-*")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name())
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	if err := to.Chmod(0o755); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	return os.Rename(to.Name(), file)
}
