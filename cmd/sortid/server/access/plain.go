package access

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// TLSListener returns a listener for a server with TLS. If a client sends HTTP without TLS, the
// client gets an answer that says so.
func TLSListener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

type conn struct {
	net.Conn
	begun bool // the first bytes were read
}

var errPlain = errors.New("the client sent HTTP without TLS")

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.begun || n == 0 {
		return n, err
	}
	c.begun = true
	if b[0] < 'A' || b[0] > 'Z' { // HTTP begins with a method, TLS does not begin with a letter
		return n, err
	}
	const text = "this port needs HTTPS: begin the URL with https:// instead of http://\n"
	fmt.Fprintf(c.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	// If unread bytes were left, the system could discard the answer.
	c.Conn.SetReadDeadline(time.Now().Add(time.Second))
	io.Copy(io.Discard, io.LimitReader(c.Conn, 1<<16))
	return 0, errPlain
}
