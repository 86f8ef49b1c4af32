package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLSConfig returns a configuration with the certificate and the key of these files. They
// are read again when they have changed, within a minute. With clientCA, a file of
// certificates, only clients with a certificate of one of these are served.
func TLSConfig(certFile, keyFile, clientCA string, log *slog.Logger) (*tls.Config, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &keyPair{certFile: certFile, keyFile: keyFile, log: log}
	if err := p.load(); err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.certificate}
	if clientCA != "" {
		pem, err := os.ReadFile(clientCA)
		if err != nil {
			return nil, fmt.Errorf("certificates of clients: %w", err)
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificates of clients: %s has no certificate in PEM", clientCA)
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// reloadInterval is how often the files are looked at, at most.
var reloadInterval = time.Minute

type keyPair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	cert    *tls.Certificate
	state   [2]fileState
	checked time.Time
}

func (p *keyPair) load() error {
	state, err := p.stat()
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	cert, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	p.cert, p.state, p.checked = &cert, state, time.Now()
	return nil
}

func (p *keyPair) stat() (state [2]fileState, err error) {
	for i, name := range []string{p.certFile, p.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return state, err
		}
		state[i] = fileState{info.ModTime(), info.Size()}
	}
	return state, nil
}

func (p *keyPair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) >= reloadInterval {
		p.checked = time.Now()
		if state, err := p.stat(); err != nil || state != p.state {
			if err == nil {
				err = p.load()
			}
			if err != nil {
				p.log.Error("the certificate stays as it was", slog.Any("error", err))
			} else {
				p.log.Info("read the certificate again")
			}
		}
	}
	if p.cert == nil {
		return nil, errors.New("no certificate")
	}
	return p.cert, nil
}
