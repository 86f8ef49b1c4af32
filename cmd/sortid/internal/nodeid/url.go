package nodeid

import (
	neturl "net/url"
	"os"
	"strings"
)

// SecretVariables returns the names of the environment variables that have the store's secrets.
func (o *Options) SecretVariables() (secret []string) {
	url := o.URL
	if name, ok := strings.CutPrefix(url, "env:"); ok {
		secret, url = append(secret, name), os.Getenv(name)
	}
	_, query, _ := strings.Cut(url, "?")
	parameters, _ := neturl.ParseQuery(query)
	if name, ok := strings.CutPrefix(parameters.Get("token"), "env:"); ok {
		secret = append(secret, name)
	}
	return secret
}

// Shown returns the URL for a command that a person copies: as it was given, or without its
// secrets.
func (o *Options) Shown() string {
	u, err := neturl.Parse(o.URL)
	switch {
	case strings.HasPrefix(o.URL, "env:"):
		return o.URL
	case err != nil || u.User != nil || u.RawQuery != "" && len(o.SecretVariables()) == 0:
		return describe(o.URL)
	}
	return o.URL
}
