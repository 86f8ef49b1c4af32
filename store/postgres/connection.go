package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sortid/sortid/store/internal/connect"
)

// Errors: https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeWrongPassword      = "28P01"
	codeNoLogin            = "28000"
	codeNoDatabase         = "3D000"
	codeNoPrivilege        = "42501"
	codeNotSupported       = "0A000"
	codeTooManyConnections = "53300"
	codeStarting           = "57P03"
	codeStopping           = "57P01"
	codeCrashed            = "57P02"
	className              = "42" // of errors for a name, a type or a privilege
)

// A refused connection costs the server nearly as much as an accepted one, so the pause after it is
// long.
const busyPause = 4 * time.Second

func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// connection waits if the server has no free connection, or is too busy to answer in time.
func (s *Store) connection(ctx context.Context) (*pgxpool.Conn, error) {
	return connect.Connect(ctx, s.hosts, func(ctx context.Context) (*pgxpool.Conn, error) {
		conn, err := s.pool.Acquire(ctx)
		return conn, explain(err)
	})
}

// A connectionError has its reasons in one line. In the text of pgx, each attempt has a line.
type connectionError struct {
	text string
	err  error
}

func (e connectionError) Error() string { return e.text }
func (e connectionError) Unwrap() error { return e.err }

const tlsRefused = "server refused TLS connection"

func explain(err error) error {
	var (
		answer *pgconn.PgError
		failed *pgconn.ConnectError
	)
	switch {
	case errors.As(err, &answer):
		hint := ""
		switch answer.Code {
		case codeWrongPassword, codeNoLogin:
			hint = ": check user and password"
		case codeNoDatabase:
			hint = ": CREATE DATABASE, or correct the name in the URL"
		case codeTooManyConnections:
			err = connect.Busy(err, busyPause)
		case codeStarting, codeStopping, codeCrashed:
			err = connect.Temporary(err)
		}
		return connectionError{answer.Error() + hint, err}
	case !errors.As(err, &failed):
		return err
	}
	attempts := []error{errors.Unwrap(failed)}
	if several, ok := attempts[0].(interface{ Unwrap() []error }); ok {
		attempts = several.Unwrap()
	}
	var reasons []string
	for _, err := range attempts {
		if text := err.Error(); !strings.HasSuffix(text, tlsRefused) {
			reasons = append(reasons, strings.ReplaceAll(text, "\n", "; "))
		}
	}
	if reasons == nil {
		return connectionError{"the server offers no TLS, but the URL's sslmode requires it: " +
			"set ssl = on, with a certificate, in the server's configuration", err}
	}
	text := strings.Join(reasons, "; ")
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		text += ": does the server run, and is this its address?"
	}
	return connectionError{text, err}
}
