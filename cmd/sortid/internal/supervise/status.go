package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sortid/sortid/internal/words"
)

// The states of a program and its lease.
const (
	starting  = "starting"   // The program waits for its node ID.
	running   = "held"       // The program runs, and its lease is renewed.
	storeAway = "store-away" // The program runs, and its lease cannot be renewed.
	ending    = "ending"     // The program or its descendants end.
	ended     = "ended"      // The program has ended, and its node ID was given back if possible.
)

// A Status is what --status shows. A pointer is nil as long as its value is unknown.
type Status struct {
	State string   `json:"state"`
	PID   *int     `json:"pid"` // of the program
	Realm string   `json:"realm"`
	ID    *uint32  `json:"node_id"`  // nil if the realm mixes sizes, and with --count
	IDs   []uint32 `json:"node_ids"` // nil if the realm mixes sizes
	Bits  *int     `json:"node_bits"`
	Spec  *string  `json:"node_spec"`

	Until   *string `json:"valid_until"`
	UntilMS *int64  `json:"valid_until_ms"`
	Renewed *string `json:"last_renewed"`
	Error   *string `json:"store_error"` // why the store could not be asked last
}

func (s *Status) setNodes(n Nodes) {
	spec := n.Spec()
	s.Bits, s.Spec, s.ID, s.IDs = &n.Bits, &spec, nil, nil
	if !n.Mixed {
		s.IDs = n.IDs
		if !n.Count {
			s.ID = &n.IDs[0]
		}
	}
}

func (s *Status) setUntil(until, renewed time.Time) {
	text, at, ms := words.Time(until), words.Time(renewed), until.UnixMilli()
	s.Until, s.Renewed, s.UntilMS = &text, &at, &ms
}

// runs sets the state of a program that runs. The end of a program lasts until it has ended.
func (s *Status) runs(state string, problem *string) {
	if s.Error = problem; s.State != ending {
		s.State = state
	}
}

// write replaces the file. Whoever reads it sees the old text or the new one.
func (s *Status) write(file string) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = replace(file, append(text, '\n'))
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the path is the temporary file's
	}
	if err != nil {
		return fmt.Errorf("--status %s: %w", file, err)
	}
	return nil
}

func replace(file string, text []byte) error {
	// A rename would replace a link such as /dev/stdout.
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return errors.New("this is not a regular file")
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
