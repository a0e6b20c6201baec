package legacy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/connection"
)

// driver is a kind of database, by the class that JDBC has for it.
type driver struct {
	class string
	kind  connection.Driver
	// scheme is what stands behind "jdbc:".
	scheme string
	port   string
}

// drivers returns the list that is allowed. No class is ever loaded.
func drivers() []driver {
	return []driver{
		{"com.mysql.cj.jdbc.Driver", connection.MySQL, "mysql", "3306"},
		{"com.mysql.jdbc.Driver", connection.MySQL, "mysql", "3306"},
		{"org.mariadb.jdbc.Driver", connection.MySQL, "mariadb", "3306"},
		{"org.postgresql.Driver", connection.Postgres, "postgresql", "5432"},
		{"org.sqlite.JDBC", connection.SQLite, "sqlite", ""},
	}
}

// classOfDriver returns the first class of a kind of database.
func classOfDriver(kind connection.Driver) string {
	for _, d := range drivers() {
		if d.kind == kind {
			return d.class
		}
	}
	return string(kind)
}

// parseURL reads the URL of a data source, such as jdbc:mysql://host:3306/jobs?useSSL=true. Of its
// parameters those count that name the user, the password and TLS. Errors show nothing of it: it may hold
// a password.
func parseURL(class, text string) (connection.Database, error) {
	all := drivers()
	n := slices.IndexFunc(all, func(d driver) bool { return d.class == class })
	if n < 0 {
		var classes []string
		for _, d := range all {
			classes = append(classes, d.class)
		}
		return connection.Database{}, fmt.Errorf("driver: allowed are %s", strings.Join(classes, ", "))
	}
	d := all[n]
	rest, ok := strings.CutPrefix(text, "jdbc:"+d.scheme+":")
	if !ok {
		return connection.Database{}, fmt.Errorf("url: it has to begin with jdbc:%s: for this driver", d.scheme)
	}
	s := connection.Database{Driver: d.kind}
	if d.port == "" {
		s.Address, _, _ = strings.Cut(rest, "?")
		return s, nil
	}
	u, err := url.Parse(d.scheme + ":" + rest)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return connection.Database{}, fmt.Errorf("url: jdbc:%s://host:%s/database is allowed", d.scheme, d.port)
	}
	if strings.Contains(u.Host, ",") {
		return connection.Database{}, errors.New("url: one host is allowed")
	}
	s.Address, s.Schema = u.Host, strings.TrimPrefix(u.Path, "/")
	if u.Port() == "" {
		s.Address += ":" + d.port
	}
	query := u.Query()
	s.User = query.Get("user")
	password := query.Get("password")
	if u.User != nil {
		s.User = u.User.Username()
		if p, ok := u.User.Password(); ok {
			password = p
		}
	}
	s.Password = connection.Plain(password)
	if wantsTLS(query) {
		s.TLS = &connection.TLS{}
	}
	return s, nil
}

// wantsTLS reports whether parameters of the three drivers ask for TLS.
func wantsTLS(query url.Values) bool {
	for _, name := range []string{"useSSL", "requireSSL", "useSsl", "ssl"} {
		if query.Get(name) == "true" {
			return true
		}
	}
	switch strings.ToLower(query.Get("sslmode") + query.Get("sslMode")) {
	case "require", "required", "verify-ca", "verify_ca", "verify-full", "verify_identity", "trust":
		return true
	}
	return false
}
