package legacy

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// driver is a kind of database, by the class that JDBC has for it.
type driver struct {
	class string
	// name is ours, and scheme what stands behind "jdbc:".
	name, scheme string
	port         string
}

// drivers returns the list that is allowed. No class is ever loaded.
func drivers() []driver {
	return []driver{
		{"com.mysql.cj.jdbc.Driver", "mysql", "mysql", "3306"},
		{"com.mysql.jdbc.Driver", "mysql", "mysql", "3306"},
		{"org.mariadb.jdbc.Driver", "mysql", "mariadb", "3306"},
		{"org.postgresql.Driver", "postgres", "postgresql", "5432"},
		{"org.sqlite.JDBC", "sqlite", "sqlite", ""},
	}
}

// classOfDriver returns the first class of a kind of database.
func classOfDriver(name string) string {
	for _, d := range drivers() {
		if d.name == name {
			return d.class
		}
	}
	return name
}

// parseURL reads the URL of a data source, such as jdbc:mysql://host:3306/jobs?useSSL=true. Of its
// parameters those count that name the user, the password and TLS. Errors show nothing of it: it may hold
// a password.
func parseURL(class, text string) (Source, string, error) {
	all := drivers()
	n := slices.IndexFunc(all, func(d driver) bool { return d.class == class })
	if n < 0 {
		var classes []string
		for _, d := range all {
			classes = append(classes, d.class)
		}
		return Source{}, "", fmt.Errorf("driver: allowed are %s", strings.Join(classes, ", "))
	}
	d := all[n]
	rest, ok := strings.CutPrefix(text, "jdbc:"+d.scheme+":")
	if !ok {
		return Source{}, "", fmt.Errorf("url: for this driver it begins with jdbc:%s:", d.scheme)
	}
	s := Source{Driver: d.name}
	if d.port == "" {
		s.Address, _, _ = strings.Cut(rest, "?")
		return s, "", nil
	}
	u, err := url.Parse(d.scheme + ":" + rest)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return Source{}, "", fmt.Errorf("url: jdbc:%s://host:%s/database is allowed", d.scheme, d.port)
	}
	if strings.Contains(u.Host, ",") {
		return Source{}, "", errors.New("url: one host is allowed")
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
	s.TLS = wantsTLS(query)
	return s, password, nil
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
