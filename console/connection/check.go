package connection

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// EntryError says what is wrong with a field of an entry.
type EntryError struct {
	// Field is its name in JSON: endpoints, tls.cacert.
	Field string
	Err   error
}

func (e *EntryError) Error() string { return e.Field + ": " + e.Err.Error() }
func (e *EntryError) Unwrap() error { return e.Err }

func field(name, format string, values ...any) error {
	return &EntryError{name, fmt.Errorf(format, values...)}
}

// nameOf is what the name of an entry may be. It stands in URLs, in patterns of grants, and in the file.
var nameOf = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func checkName(name string) error {
	if !nameOf.MatchString(name) {
		return field("name", "%s: allowed are 1 to 100 letters, digits, '.', '_' and '-', a letter or digit first", brief.Quote(name))
	}
	return nil
}

func (n Namespace) check() error {
	errs := []error{checkName(n.Name), checkText("user", n.User), n.TLS.check()}
	if n.Kind != Etcd && n.Kind != ZooKeeper {
		errs = append(errs, field("kind", "%s: allowed are %s and %s", brief.Quote(string(n.Kind)), Etcd, ZooKeeper))
	}
	if len(n.Endpoints) == 0 || len(n.Endpoints) > maxEndpoints {
		errs = append(errs, field("endpoints", "%d: allowed are 1 to %d", len(n.Endpoints), maxEndpoints))
	} else {
		for i, endpoint := range n.Endpoints {
			errs = append(errs, checkAddress(fmt.Sprintf("endpoints[%d]", i), endpoint))
		}
	}
	if err := coord.ValidatePath(n.Path); err != nil || len(n.Path) > maxText {
		errs = append(errs, field("namespace", "%s: allowed are names with / between them, of up to %d bytes together", brief.Quote(n.Path), maxText))
	}
	if (n.User == "") != n.Password.IsZero() {
		errs = append(errs, field("password", "allowed are user and password, or none of them"))
	}
	if n.Kind == ZooKeeper && strings.Contains(n.User, ":") {
		errs = append(errs, field("user", "there is a colon in it, which ZooKeeper allows only behind the user"))
	}
	if n.Grants != "" && (n.Kind != ZooKeeper || n.User == "" || len(n.Grants) > maxGrants) {
		errs = append(errs, field("grants", "allowed are up to %d bytes, for %s, with a user", maxGrants, ZooKeeper))
	}
	if n.Database != "" && checkName(n.Database) != nil {
		errs = append(errs, field("database", "%s: this is no name of a database", brief.Quote(n.Database)))
	}
	return errors.Join(append(errs, checkPassword(n.Password))...)
}

func (d Database) check() error {
	errs := []error{checkName(d.Name), checkText("user", d.User), checkText("database", d.Schema), d.TLS.check(), checkPassword(d.Password)}
	switch d.Driver {
	case SQLite:
		errs = append(errs, checkPath("address", d.Address))
		if d.Schema != "" || d.User != "" || !d.Password.IsZero() || d.TLS != nil {
			errs = append(errs, field("driver", "%s has no database, user, password or tls", SQLite))
		}
	case MySQL, Postgres:
		if errs = append(errs, checkAddress("address", d.Address)); strings.Contains(d.Address, "://") {
			errs = append(errs, field("address", "allowed is host:port"))
		}
		if d.Schema == "" || d.User == "" {
			errs = append(errs, field("database", "%s needs a database and a user", d.Driver))
		}
	default:
		errs = append(errs, field("driver", "%s: allowed are %s, %s and %s", brief.Quote(string(d.Driver)), SQLite, MySQL, Postgres))
	}
	return errors.Join(errs...)
}

func (t *TLS) check() error {
	if t == nil {
		return nil
	}
	errs := []error{checkText("tls.serverName", t.ServerName)}
	for name, path := range t.files() {
		if path != "" {
			errs = append(errs, checkPath(name, path))
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		errs = append(errs, field("tls.key", "allowed are cert and key, or none of them"))
	}
	return errors.Join(errs...)
}

// checkAddress does not show an address that has a user in it, as there may be a password beside that.
func checkAddress(name, address string) error {
	_, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		rest = address
	}
	host, _, err := net.SplitHostPort(rest)
	switch {
	case strings.Contains(address, "@"):
		return field(name, "there is an @ in it; a user has a field of his own")
	case len(address) > maxText || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }):
		return field(name, "%s: allowed is host:port, of up to %d bytes", brief.Quote(address), maxText)
	case err != nil || host == "" || strings.ContainsAny(rest, "/?#"):
		return field(name, "%s: allowed is host:port", brief.Quote(address))
	}
	return nil
}

func checkText(name, value string) error {
	if len(value) > maxText || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return field(name, "allowed are up to %d bytes, without control characters", maxText)
	}
	return nil
}

func checkPassword(s Secret) error {
	if len(s.Reveal()) > maxPassword {
		return field("password", "allowed are up to %d bytes", maxPassword)
	}
	return nil
}

// checkPath refuses what a driver could take for more than a path.
func checkPath(name, path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || len(path) > 4*maxText || strings.ContainsAny(path, "?#%\x00") {
		return field(name, "%s: allowed is the path of a file from the root on, without ?, # and %%", brief.Quote(path))
	}
	return nil
}
