package mysql

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/store/internal/connect"
)

// errURL shows nothing of the URL, which may have the password anywhere.
var errURL = connect.BadURL(errors.New(
	"mysql: not a URL such as mysql://user:password@host:3306/database; " +
		"in user, password and parameters the characters : / ? # @ % must be written as %3A %2F " +
		"%3F %23 %40 %25"))

func parse(raw string) (*mysql.Config, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" || u.Opaque != "" {
		return nil, errURL
	}
	// If a password has characters that are not encoded, url.Parse may take a part of it for a host.
	if _, rest, _ := strings.Cut(raw, "://"); strings.Count(rest, "@") > 1 ||
		strings.Contains(rest, "@") && u.User == nil || strings.Contains(rest, "#") {
		return nil, errURL
	}
	database := strings.TrimPrefix(u.Path, "/")
	if database == "" || strings.Contains(database, "/") {
		return nil, fmt.Errorf("%w: it must name one database", errURL)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errURL
	}
	host := net.JoinHostPort(cmp.Or(u.Hostname(), "127.0.0.1"), cmp.Or(u.Port(), "3306"))
	address := "tcp(" + host + ")"
	if socket := query.Get("socket"); socket != "" {
		address = "unix(" + socket + ")"
	}
	query.Del("socket")
	// The driver can parse the parameters, but it has another syntax for the rest of the URL.
	config, err := mysql.ParseDSN(address + "/?" + query.Encode())
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf("mysql: the URL's parameters: %w", err))
	}
	config.DBName = database
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Logger = &mysql.NopLogger{} // the store returns all errors
	return config, nil
}
