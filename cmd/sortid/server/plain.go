package server

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/scru128"
)

// A Listener answers plain requests for IDs by itself, and lets an [http.Server] have each
// connection on which something else arrives, from then on: most of the time that a
// request for one ID takes is net/http's otherwise. A plain request is one in HTTP/1.1 that
// comes as a whole, without a body, and has nothing in it that needs more than an answer
// with IDs.
//
// It is for HTTP without TLS. Its methods are safe for concurrent use. Make one with
// [Server.Listener].
type Listener struct {
	net.Listener
	server *Server
	passed chan accepted
	closed chan struct{}
	ended  chan struct{} // no connection comes any more
	close  func() error

	mu   sync.Mutex
	kept map[net.Conn]bool // that no http.Server has
}

// accepted is what Accept returns.
type accepted struct {
	conn net.Conn
	err  error
}

// Listener returns a Listener that takes its connections from l.
func (s *Server) Listener(l net.Listener) *Listener {
	p := &Listener{Listener: l, server: s, passed: make(chan accepted), closed: make(chan struct{}), ended: make(chan struct{}),
		kept: map[net.Conn]bool{}}
	p.close = sync.OnceValue(func() error {
		close(p.closed)
		return l.Close()
	})
	go p.acceptAll()
	return p
}

func (l *Listener) acceptAll() {
	defer close(l.ended)
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			l.keep(c, true)
			go l.serve(c)
		} else if !l.pass(accepted{err: err}) { // it waits, as a server does after an error
			return
		}
	}
}

// pass lets Accept return a, and reports whether it did before the listener was closed.
func (l *Listener) pass(a accepted) bool {
	select {
	case l.passed <- a:
		return true
	case <-l.closed:
		return false
	}
}

func (l *Listener) keep(c net.Conn, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if keep {
		l.kept[c] = true
	} else {
		delete(l.kept, c)
	}
}

// Accept returns the next connection on which something else than a plain request for IDs
// has arrived.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.passed:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It leaves the connections open.
func (l *Listener) Close() error { return l.close() }

// Shutdown closes the listener and, when their requests are answered, the connections that
// Accept has not returned. When ctx is done it closes them at once, and returns its error.
func (l *Listener) Shutdown(ctx context.Context) error {
	l.Close()
	select {
	case <-l.ended:
	case <-ctx.Done():
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		l.mu.Lock()
		for c := range l.kept {
			if ctx.Err() != nil {
				c.Close()
			} else {
				c.SetReadDeadline(time.Unix(1, 0)) // ends the wait for a request
			}
		}
		n := len(l.kept)
		l.mu.Unlock()
		if n == 0 || ctx.Err() != nil {
			return ctx.Err()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// serve answers plain requests. When something else arrives it passes the connection on,
// and what has been read of it.
func (l *Listener) serve(c net.Conn) {
	defer l.keep(c, false)
	defer func() {
		if p := recover(); p != nil {
			l.server.log.Error("panic", slog.Any("value", p), slog.String("stack", string(debug.Stack())))
			c.Close()
		}
	}()
	var (
		from  = c.RemoteAddr().String()
		in    = make([]byte, 4<<10)
		out   []byte
		until = time.Now().Add(headerTimeout)
		post  bool // was the last request
	)
	c.SetDeadline(until)
	for {
		n, err := c.Read(in)
		if err != nil {
			c.Close()
			return
		}
		start := time.Now()
		if start.Add(idleTimeout - headerTimeout).After(until) { // once in a while is enough
			until = start.Add(idleTimeout)
			c.SetDeadline(until)
		}
		text := in[:n]
		if post { // net/http, too, allows for clients that end a body with one line more
			if text = bytes.TrimLeft(text, "\r\n"); len(text) == 0 {
				continue
			}
		}
		r, ok := parsePlain(text)
		post = r.method == http.MethodPost
		if ok {
			out, ok = l.server.answerPlain(c, out[:0], &r, start, from)
		}
		if !ok {
			c.SetDeadline(time.Time{})
			l.keep(c, false)
			if !l.pass(accepted{conn: &readConn{c, text}}) {
				c.Close()
			}
			return
		}
	}
}

const (
	// So many IDs, in any form and as JSON, are too short to be compressed.
	fewIDs = 16
	// More than so many take longer than net/http does, which sees when a client has left.
	manyIDs = 4096
)

// answerPlain answers a request on c, by way of the memory of out, which it returns. It
// reports false if it has written nothing, since the request has something unusual or
// wrong in it after all.
func (s *Server) answerPlain(c net.Conn, out []byte, r *plainRequest, start time.Time, from string) ([]byte, bool) {
	ctx := context.Background()
	in := idsInput{Scheme: strings.TrimPrefix(r.path, idsPath), Accept: r.accept}
	if s.generators.byName[in.Scheme] == nil || !in.parse(r.query) || in.N > manyIDs || in.N > fewIDs && r.encoding != "" {
		return out, false
	}
	if s.config.Tokens != nil {
		text, ok := bearer(r.authorization)
		e := s.config.Tokens.find(text)
		if !ok || e == nil || !e.may(permitIDs, "") || e.limits != "" {
			return out, false
		}
	}
	a, err := s.makeIDs(ctx, &in)
	if err != nil {
		return out, false
	}
	defer a.free()
	id := scru128.NewString()
	out = append(out, "HTTP/1.1 200 OK\r\n"+
		"Cache-Control: no-store\r\n"+
		"Content-Length: "...)
	out = strconv.AppendInt(out, int64(len(a.body)), 10)
	out = append(out, "\r\nContent-Type: "...)
	out = append(out, a.contentType...)
	out = append(out, "\r\nDate: "...)
	out = start.UTC().AppendFormat(out, http.TimeFormat)
	if len(s.config.Origins) > 0 {
		out = append(out, "\r\nVary: Origin"...)
	}
	out = append(out, "\r\nVary: Accept-Encoding\r\n"+
		"X-Content-Type-Options: nosniff\r\n"+
		"X-Request-Id: "...)
	out = append(out, id...)
	out = append(out, "\r\n\r\n"...)
	// An error shows at the next request, for which the client is not there any more.
	if len(out)+len(a.body) <= 4<<10 {
		out = append(out, a.body...)
		c.Write(out)
	} else {
		c.Write(out)
		c.Write(a.body)
	}
	s.record(ctx, &answered{id: id, method: r.method, path: r.path, route: idsRoutes[r.method], from: from,
		status: http.StatusOK, bytes: int64(len(a.body)), took: time.Since(start)})
	return out, true
}

// A readConn is a connection of which something has been read already.
type readConn struct {
	net.Conn
	read []byte
}

func (c *readConn) Read(b []byte) (int, error) {
	if len(c.read) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.read)
	if c.read = c.read[n:]; len(c.read) == 0 {
		c.read = nil
	}
	return n, nil
}

// CloseWrite is for the http.Server, which looks for it before it closes a connection.
func (c *readConn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// A plainRequest is a request for IDs with nothing unusual in it. Headers that it does not
// have are empty.
type plainRequest struct {
	method, path, query             string
	accept, encoding, authorization string
}

// parsePlain reads a plain request. It reports false for whatever it does not take for one,
// right or wrong.
func parsePlain(b []byte) (r plainRequest, ok bool) {
	text, whole := strings.CutSuffix(string(b), "\r\n\r\n")
	line, headers, _ := strings.Cut(text, "\r\n")
	r.method, line, _ = strings.Cut(line, " ")
	target, version, _ := strings.Cut(line, " ")
	r.path, r.query, _ = strings.Cut(target, "?")
	if !whole || strings.HasSuffix(headers, "\r\n") || idsRoutes[r.method] == "" || version != "HTTP/1.1" || !strings.HasPrefix(r.path, idsPath) || !isPlain(target) {
		return r, false
	}
	var host, connection, length string
	for headers != "" {
		line, headers, _ = strings.Cut(headers, "\r\n")
		name, value, found := strings.Cut(line, ":")
		value = strings.Trim(value, " ")
		var lower [len("transfer-encoding")]byte
		if !found || name == "" || !isPlain(value) || !toLower(lower[:], name) {
			return r, false
		}
		if len(name) > len(lower) {
			continue
		}
		var known *string
		switch string(lower[:len(name)]) {
		case "accept":
			known = &r.accept
		case "accept-encoding":
			known = &r.encoding
		case "authorization":
			known = &r.authorization
		case "connection":
			known = &connection
		case "content-length":
			known = &length
		case "host":
			known = &host
		case "expect", "http2-settings", "origin", "te", "trailer", "transfer-encoding", "upgrade":
			return r, false
		default:
			continue
		}
		if *known != "" || value == "" {
			return r, false
		}
		*known = value
	}
	return r, isHost(host) && (connection == "" || strings.EqualFold(connection, "keep-alive")) && (length == "" || length == "0")
}

// isPlain reports whether s has printable characters of ASCII only.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isHost reports whether s can be the header Host, but for unusual ones.
func isHost(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && !strings.ContainsRune(".-_:[]", rune(c)) {
			return false
		}
	}
	return s != ""
}

// toLower writes the name of a header to b in lower case, as much of it as b can hold. It
// reports whether the name is one, but for unusual ones.
func toLower(b []byte, name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isAlphanumeric(c) && c != '-' && c != '_' {
			return false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if i < len(b) {
			b[i] = c
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
