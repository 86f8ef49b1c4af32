package testserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// StartSortid starts "sortid serve" with a store and flags. The server writes its log to a file.
func StartSortid(t testing.TB, store string, flags ...string) *Server {
	t.Helper()
	program, dir, port := Sortid(t), tempDir(t), FreePort(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	flags = append([]string{"serve", "--listen", address(port), "--store", store}, flags...)
	s := &Server{URL: "http://" + address(port), Dir: dir, t: t, crash: syscall.SIGKILL}
	s.command = func() *exec.Cmd {
		cmd := exec.Command(program, flags...)
		cmd.Stderr = log
		return cmd
	}
	s.ready = func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(resp.Status)
		}
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%w\n%s", err, text)
	}
	return s.start()
}

// Memory returns a figure of the server's memory in Linux's /proc/PID/status, such as VmHWM, in
// megabytes.
func (s *Server) Memory(figure string) float64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	if err != nil {
		s.t.Skipf("only Linux shows the memory of a process (%v); to run this: use Linux", err)
	}
	_, rest, _ := strings.Cut(string(text), figure+":")
	rest, _, _ = strings.Cut(rest, "kB")
	kilobytes, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kilobytes / 1024
}
