package kv

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// A URL names a store: scheme://user:password@host:port,host:port/path?name=value.
type URL struct {
	Scheme         string // in lower case
	User, Password string
	Hosts          []string // at least one host:port
	Path           string   // without slashes at its beginning and end

	params url.Values
}

var TLS = []string{"ca", "cert", "key"}

// ParseURL parses a URL. Hosts without a port get the given port. The URL may have only parameters
// with the given names. Errors quote only names of parameters, because the password may be anywhere
// in a malformed URL.
func ParseURL(s, port string, names ...string) (*URL, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return nil, errors.New("there is no ://")
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	authority, tail := rest[:end], rest[end:]
	if strings.Contains(tail, "@") {
		return nil, errors.New(
			"there is an @ after the hosts; in a password, / is written %2F, ? is %3F, " +
				"# is %23 and @ is %40")
	}
	u := &URL{Scheme: strings.ToLower(scheme)}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, password, _ := strings.Cut(authority[:i], ":")
		var err1, err2 error
		u.User, err1 = url.PathUnescape(user)
		u.Password, err2 = url.PathUnescape(password)
		if err1 != nil || err2 != nil {
			return nil, errors.New(
				"in the user or the password there is a % that is not followed by two " +
					"hexadecimal digits; % itself is written %25")
		}
		authority = authority[i+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		// net/url does not accept a list of hosts.
		h, err := url.Parse("tcp://" + host)
		if err != nil || h.Hostname() == "" || strings.Contains(h.Hostname(), ":") &&
			host[0] != '[' {
			return nil, errors.New("the hosts are not host:port, with a comma between two")
		}
		u.Hosts = append(u.Hosts, net.JoinHostPort(h.Hostname(), cmp.Or(h.Port(), port)))
	}
	t, err := url.Parse(tail)
	if err != nil || t.Fragment != "" {
		return nil, errors.New("the part after the hosts is not /path?name=value&name=value")
	}
	u.Path = strings.Trim(t.Path, "/")
	if u.params, err = url.ParseQuery(t.RawQuery); err != nil {
		return nil, errors.New("the part after the ? is not name=value&name=value")
	}
	for name, values := range u.params {
		switch {
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("there is no parameter %.40q; there are: %s", name,
				cmp.Or(strings.Join(names, ", "), "none"))
		case len(values) > 1:
			return nil, fmt.Errorf("the parameter %s is there twice", name)
		}
	}
	return u, nil
}

func (u *URL) Param(name string) string { return u.params.Get(name) }

// TLS returns nil if the URL has the given scheme, such as redis. With an added s, as in rediss,
// TLS returns a configuration from the parameters ca, cert and key.
func (u *URL) TLS(scheme string) (*tls.Config, error) {
	switch {
	case u.Scheme == scheme+"s":
		return u.config()
	case u.Scheme != scheme:
		return nil, fmt.Errorf("it begins with neither %s:// nor %[1]ss://", scheme)
	case u.Param("ca")+u.Param("cert")+u.Param("key") != "":
		return nil, fmt.Errorf("ca, cert and key are parameters of %ss://", scheme)
	}
	return nil, nil
}

func (u *URL) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca := u.Param("ca"); ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("parameter ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("parameter ca: %s has no certificate in PEM form", ca)
		}
	}
	cert, key := u.Param("cert"), u.Param("key")
	if cert == "" && key == "" {
		return config, nil
	}
	if cert == "" || key == "" {
		return nil, errors.New(
			"only one of the parameters cert and key is given; want both or none")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("parameters cert and key: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
