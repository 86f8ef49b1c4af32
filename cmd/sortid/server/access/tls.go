package access

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// TLS returns a configuration with the certificate and key in these files. If clientCA names a
// file, clients need a certificate that a CA in that file signed. Until ctx is done, the
// configuration uses changed files within seconds. If a changed file has a mistake, the previous
// contents stay in use, and the log says why.
func TLS(ctx context.Context, certFile, keyFile, clientCA string,
	log *slog.Logger) (*tls.Config, error) {
	var pair atomic.Pointer[tls.Certificate]
	usePair := func(contents [][]byte) error {
		if _, err := decodeCertificates(contents[0]); err != nil {
			return err
		}
		p, err := tls.X509KeyPair(contents[0], contents[1])
		if err == nil {
			pair.Store(&p)
		}
		return err
	}
	if err := watchFiles(ctx, log, "certificate", usePair, certFile, keyFile); err != nil {
		return nil, err
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return pair.Load(), nil
		},
	}
	if clientCA == "" {
		return config, nil
	}

	config.ClientAuth = tls.RequireAndVerifyClientCert
	config.ClientCAs = x509.NewCertPool() // nil would mean the system's certificates
	// Name the protocols, because net/http adds none to a configuration from GetConfigForClient.
	config.NextProtos = []string{"h2", "http/1.1"}
	var current atomic.Pointer[tls.Config]
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return current.Load(), nil
	}
	useClientCA := func(contents [][]byte) error {
		certs, err := decodeCertificates(contents[0])
		if err != nil {
			return err
		}
		c := config.Clone()
		c.ClientCAs = x509.NewCertPool()
		for i, der := range certs {
			cert, err := x509.ParseCertificate(der)
			if err != nil {
				return fmt.Errorf("certificate %d: %w", i+1, err)
			}
			c.ClientCAs.AddCert(cert)
		}
		current.Store(c)
		return nil
	}
	if err := watchFiles(ctx, log, "CA certificates of clients", useClientCA,
		clientCA); err != nil {
		return nil, err
	}
	return config, nil
}

// decodeCertificates returns the certificates of a PEM text. It fails if a certificate is cut off
// or malformed. The standard library would skip such a certificate.
func decodeCertificates(text []byte) (certs [][]byte, err error) {
	whole := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if whole++; block.Type == "CERTIFICATE" {
			certs = append(certs, block.Bytes)
		}
	}
	if begun := bytes.Count(text, []byte("-----BEGIN")); begun != whole {
		return nil, fmt.Errorf(
			"%d of %d PEM blocks are complete; the file may be cut off: write it again", whole,
			begun)
	}
	if len(certs) == 0 {
		return nil, errors.New("there is no certificate in PEM")
	}
	return certs, nil
}
