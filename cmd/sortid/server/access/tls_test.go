package access

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

func handshake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	a, b := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		conn := tls.Server(a, server)
		failed <- conn.Handshake()
		conn.Close()
		a.Close()
	}()
	conn := tls.Client(b, client)
	io.ReadAll(conn) // also reads the server's session tickets
	state := conn.ConnectionState()
	conn.Close()
	return state, <-failed
}

// The server uses a renewed certificate without a restart. It uses no file with a mistake.
func TestCertificateReread(t *testing.T) { synctest.Test(t, testCertificateReread) }

func testCertificateReread(t *testing.T) {
	cert, key := testserver.Certificate(t)
	var log check.Log
	config := check.Must(TLS(t.Context(), cert, key, "", slog.New(slog.NewTextHandler(&log, nil))))(t)
	seen := func(logged string) string {
		t.Helper()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		log.Line(t, "certificate", logged)
		state := check.Must(handshake(t, config, &tls.Config{InsecureSkipVerify: true}))(t)
		return string(state.PeerCertificates[0].Raw)
	}
	first := seen("")
	whole := check.Must(os.ReadFile(cert))(t)
	for text, want := range map[string]string{
		"half a file":                      "there is no certificate in PEM",
		string(whole[:len(whole)/2]):       "0 of 1 PEM blocks are complete",
		string(whole) + string(whole[:60]): "1 of 2 PEM blocks are complete", // cut off
	} {
		check.Write(t, cert, text)
		if seen(want) != first {
			t.Errorf("another certificate after %q", text)
		}
	}
	other, otherKey := testserver.Certificate(t)
	for _, move := range []struct{ from, to, logged string }{
		{other, cert, "private key does not match"}, {otherKey, key, "level=INFO"},
	} {
		check.OK(t, os.Rename(move.from, move.to))
		if isFirst := seen(move.logged) == first; isFirst != (move.to == cert) {
			t.Errorf("after %s was renewed: the first certificate: %v", move.to, isFirst)
		}
	}
	second := seen("")
	os.Remove(cert)
	if seen("no such file") != second {
		t.Error("another certificate after the file was removed")
	}
	if _, err := TLS(t.Context(), cert, key, "", nil); err == nil {
		t.Error("a server without a certificate")
	}
}

// The server uses a changed CA file, also for resumed sessions. It uses no file with a mistake.
func TestClientCAReread(t *testing.T) { synctest.Test(t, testClientCAReread) }

func testClientCAReread(t *testing.T) {
	cert, key := testserver.Certificate(t)
	clientCA := filepath.Join(t.TempDir(), "ca")
	var clients [2]*tls.Config
	var certs [2]string
	for i := range clients {
		file, key := testserver.Certificate(t)
		pair := check.Must(tls.LoadX509KeyPair(file, key))(t)
		certs[i] = string(check.Must(os.ReadFile(file))(t))
		clients[i] = &tls.Config{InsecureSkipVerify: true, ServerName: "server",
			ClientSessionCache: tls.NewLRUClientSessionCache(1), NextProtos: []string{"h2"},
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &pair, nil
			}}
	}
	check.Write(t, clientCA, certs[0])
	var log check.Log
	config := check.Must(TLS(t.Context(), cert, key, clientCA,
		slog.New(slog.NewTextHandler(&log, nil))))(t)
	expect := func(what string, logged string, want ...bool) {
		t.Helper()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		log.Line(t, what, logged)
		for i, client := range clients {
			for _, resumed := range []bool{false, true} {
				state, err := handshake(t, config, client)
				if (err == nil) != want[i] {
					t.Errorf("%s: client %d: %v", what, i, err)
				}
				if err == nil && (state.NegotiatedProtocol != "h2" || resumed && !state.DidResume) {
					t.Errorf("%s: client %d: protocol %q, resumed: %v", what, i,
						state.NegotiatedProtocol, state.DidResume)
				}
			}
		}
		if _, err := handshake(t, config, &tls.Config{InsecureSkipVerify: true}); err == nil {
			t.Errorf("%s: the server accepts a client without a certificate", what)
		}
	}
	after := func(text, what, logged string, want ...bool) {
		t.Helper()
		check.Write(t, clientCA, text)
		expect(what, logged, want...)
	}
	expect("at first", "", true, false)
	after(certs[1], "the other", "level=INFO", false, true)
	after(certs[0]+certs[1][:100], "cut off",
		"CA certificates of clients "+clientCA+": 1 of 2 PEM blocks are complete", false, true)
	after("", "emptied", "there is no certificate in PEM", false, true)
	after(strings.Replace(certs[0], "MII", "MIJ", 1), "malformed", "certificate 1: x509", false, true)
	os.Remove(clientCA)
	expect("removed", "no such file", false, true)
	after(certs[0]+"# and\n"+certs[1], "both", "level=INFO", true, true)
	after(certs[0], "the first", "level=INFO", true, false)
	if _, err := TLS(t.Context(), cert, key, key, nil); err == nil ||
		!strings.Contains(err.Error(), "no certificate in PEM") {
		t.Errorf("a key as certificates: %v", err)
	}
}
