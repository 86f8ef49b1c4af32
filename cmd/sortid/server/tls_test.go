package server

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sortid/sortid/testserver"
)

func serveTLS(t *testing.T, cert, key, clientCA string) (url string) {
	t.Helper()
	hs := newServer(t, Config{}).HTTPServer()
	var err error
	hs.TLSConfig, err = TLSConfig(t.Context(), cert, key, clientCA, nil)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go hs.ServeTLS(l, "", "")
	t.Cleanup(func() { hs.Close() })
	return "https://" + l.Addr().String()
}

func TestClientCA(t *testing.T) {
	cert, key := testserver.Certificate(t)
	url := serveTLS(t, cert, key, cert)
	other, otherKey := testserver.Certificate(t)
	for _, c := range []struct {
		cert, key string
		ok        bool
	}{{cert, key, true}, {other, otherKey, false}, {"", "", false}} {
		config := &tls.Config{InsecureSkipVerify: true}
		if c.cert != "" {
			pair, err := tls.LoadX509KeyPair(c.cert, c.key)
			must(t, err)
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &pair, nil
			}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		resp, err := client.Get(url + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("certificate %q: %v", c.cert, err)
		}
	}
	if _, err := TLSConfig(t.Context(), cert, key, key, nil); err == nil ||
		!strings.Contains(err.Error(), "no certificate in PEM") {
		t.Errorf("a key as certificates: %v", err)
	}
}

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
	io.ReadAll(conn) // the server's tickets, too
	state := conn.ConnectionState()
	conn.Close()
	return state, <-failed
}

// A renewed certificate needs no restart. A file with a mistake is not used.
func TestCertificateReread(t *testing.T) { synctest.Test(t, testCertificateReread) }

func testCertificateReread(t *testing.T) {
	cert, key := testserver.Certificate(t)
	var log logText
	config, err := TLSConfig(t.Context(), cert, key, "", slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	seen := func(logged string) string {
		t.Helper()
		untilRead()
		untilRead()
		log.check(t, "certificate", logged)
		state, err := handshake(t, config, &tls.Config{InsecureSkipVerify: true})
		must(t, err)
		return string(state.PeerCertificates[0].Raw)
	}
	first := seen("")
	whole, err := os.ReadFile(cert)
	must(t, err)
	for text, want := range map[string]string{
		"half a file":                      "there is no certificate in PEM",
		string(whole[:len(whole)/2]):       "of 1 PEM blocks 0 are whole",
		string(whole) + string(whole[:60]): "of 2 PEM blocks 1 are whole", // a cut chain
	} {
		write(t, cert, text)
		if seen(want) != first {
			t.Errorf("another certificate after %q", text)
		}
	}
	other, otherKey := testserver.Certificate(t)
	for _, move := range []struct{ from, to, logged string }{
		{other, cert, "private key does not match"}, {otherKey, key, "level=INFO"},
	} {
		must(t, os.Rename(move.from, move.to))
		if isFirst := seen(move.logged) == first; isFirst != (move.to == cert) {
			t.Errorf("after %s was renewed: the first certificate: %v", move.to, isFirst)
		}
	}
	second := seen("")
	os.Remove(cert)
	if seen("no such file") != second {
		t.Error("another certificate after the file was removed")
	}
	if _, err := TLSConfig(t.Context(), cert, key, "", nil); err == nil {
		t.Error("a server without a certificate")
	}
}

// A changed CA file is used at once, also for resumed sessions. A file with a mistake is not
// used.
func TestClientCAReread(t *testing.T) { synctest.Test(t, testClientCAReread) }

func testClientCAReread(t *testing.T) {
	cert, key := testserver.Certificate(t)
	clientCA := filepath.Join(t.TempDir(), "ca")
	var clients [2]*tls.Config
	var certs [2]string
	for i := range clients {
		file, key := testserver.Certificate(t)
		pair, err := tls.LoadX509KeyPair(file, key)
		must(t, err)
		text, err := os.ReadFile(file)
		must(t, err)
		certs[i] = string(text)
		clients[i] = &tls.Config{InsecureSkipVerify: true, ServerName: "server",
			ClientSessionCache: tls.NewLRUClientSessionCache(1), NextProtos: []string{"h2"},
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &pair, nil
			}}
	}
	write(t, clientCA, certs[0])
	var log logText
	config, err := TLSConfig(t.Context(), cert, key, clientCA,
		slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	check := func(what string, logged string, want ...bool) {
		t.Helper()
		untilRead()
		untilRead()
		log.check(t, what, logged)
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
	check("at first", "", true, false)
	write(t, clientCA, certs[1])
	check("the other", "level=INFO", false, true)
	write(t, clientCA, certs[0]+certs[1][:100])
	check("cut off", "certificates of clients "+clientCA+": of 2 PEM blocks 1 are whole", false,
		true)
	write(t, clientCA, "")
	check("emptied", "there is no certificate in PEM", false, true)
	write(t, clientCA, strings.Replace(certs[0], "MII", "MIJ", 1))
	check("malformed", "certificate 1: x509", false, true)
	os.Remove(clientCA)
	check("removed", "no such file", false, true)
	write(t, clientCA, certs[0]+"# and\n"+certs[1])
	check("both", "level=INFO", true, true)
	write(t, clientCA, certs[0])
	check("the first", "level=INFO", true, false)
}
