package target

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Kind is the kind of a store.
type Kind string

// The kinds.
const (
	Etcd      Kind = "etcd"
	ZooKeeper Kind = "zookeeper"
)

// Target is a namespace of a store, and how to get there.
type Target struct {
	Kind      Kind
	Endpoints []string
	Namespace string
	User      string
	TLS       bool
	// RequestTimeout bounds each request to the store; 0 is the adapter's default.
	RequestTimeout time.Duration

	password string
	grants   zk.ACL
	secured  *tls.Config // nil without TLS
}

// String says which store and namespace it is, without secrets, as --store takes it.
func (t *Target) String() string { return t.address() + "/" + t.Namespace }

// address is String without the namespace.
func (t *Target) address() string {
	var b strings.Builder
	b.WriteString(string(t.Kind))
	if t.TLS {
		b.WriteString("+tls")
	}
	b.WriteString("://")
	if t.User != "" {
		b.WriteString(t.User + "@")
	}
	b.WriteString(strings.Join(t.Endpoints, ","))
	return b.String()
}

// Format keeps every verb from printing the password.
func (t *Target) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) } // fmt keeps its errors to itself

const allowedStores = "allowed are etcd://host:port,host:port/namespace, zookeeper://…, and with TLS etcd+tls://… and zookeeper+tls://…"

// Target checks settings, reads the password, and returns what they stand for.
func (s Settings) Target() (*Target, error) {
	t := &Target{User: s.User}
	if s.Store == "" && s.Endpoints != "" {
		return nil, errors.New("there are endpoints, but no store: with --endpoints or ELASTICJOB_ENDPOINTS no context counts; give --store etcd or zookeeper, or ELASTICJOB_STORE")
	}
	if err := t.parse(s.Store); err != nil {
		return nil, err
	}
	if s.Endpoints != "" {
		t.Endpoints = strings.Split(s.Endpoints, ",")
	}
	if s.Namespace != "" {
		t.Namespace = s.Namespace
	}
	t.TLS = t.TLS || s.CACert != "" || s.Cert != "" || s.Key != "" || s.ServerName != ""
	for i, endpoint := range t.Endpoints {
		endpoint = strings.TrimSpace(endpoint)
		if strings.Contains(endpoint, "@") { // not shown: there may be a password in it
			return nil, errors.New("endpoints: one has an @; a user belongs into --user, or at the beginning of --store")
		}
		if t.Kind == Etcd && !hasPort(endpoint) {
			endpoint = net.JoinHostPort(strings.Trim(endpoint, "[]"), "2379")
		}
		t.Endpoints[i] = endpoint
	}
	if len(t.Endpoints) == 0 {
		return nil, fmt.Errorf("store %s has no endpoints: %s", t.Kind, allowedStores)
	}
	if t.Namespace == "" {
		return nil, fmt.Errorf("store %s has no namespace: give --namespace, or %s", t, allowedStores)
	}
	if err := coord.ValidatePath(t.Namespace); err != nil {
		return nil, fmt.Errorf("namespace: %w", err)
	}
	if err := t.readPassword(s); err != nil {
		return nil, err
	}
	if s.Grants != "" && t.Kind == ZooKeeper {
		var err error
		if t.grants, err = zk.ParseACL(s.Grants); err != nil {
			return nil, fmt.Errorf("grants: %w", err)
		}
	}
	if t.TLS {
		var err error
		if t.secured, err = s.tls(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// parse reads the address of a store: KIND, or KIND://[USER@]HOSTS[/NAMESPACE].
func (t *Target) parse(address string) error {
	scheme, rest, _ := strings.Cut(address, "://")
	kind, security, secured := strings.Cut(scheme, "+")
	t.Kind, t.TLS = Kind(kind), secured
	if t.Kind != Etcd && t.Kind != ZooKeeper || secured && security != "tls" {
		return fmt.Errorf("store %s: %s", brief.Quote(Settings{Store: address}.Mask().Store), allowedStores)
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user := rest[:i]
		if strings.Contains(user, ":") {
			return errors.New("store: a password does not belong into the address: use --password-file, or ELASTICJOB_PASSWORD")
		}
		if t.User == "" {
			t.User = user
		}
		rest = rest[i+1:]
	}
	hosts, namespace, _ := strings.Cut(rest, "/")
	if hosts != "" {
		t.Endpoints = strings.Split(hosts, ",")
	}
	t.Namespace = strings.TrimSuffix(namespace, "/")
	return nil
}

func hasPort(endpoint string) bool {
	_, _, err := net.SplitHostPort(endpoint)
	return err == nil
}

// readPassword takes the password from where the settings say.
func (t *Target) readPassword(s Settings) error {
	switch {
	case s.Password != "" && s.PasswordFile != "":
		return errors.New("password and password file: allowed is one of them")
	case s.Password != "":
		text, err := property.Expand(s.Password, property.FromProcess())
		if err != nil {
			return fmt.Errorf("password: %w", err)
		}
		t.password = text
	case s.PasswordFile != "":
		text, _, err := property.FromProcess()("file:" + s.PasswordFile)
		if err != nil {
			return fmt.Errorf("password file: %w", err)
		}
		t.password = text
	}
	if t.password != "" && t.User == "" {
		return errors.New("there is a password, but no user: give --user")
	}
	return nil
}

// NeedsPassword reports whether there is a user without a password.
func (t *Target) NeedsPassword() bool { return t.User != "" && t.password == "" }

// SetPassword sets the password of the user.
func (t *Target) SetPassword(password string) { t.password = password }

// EtcdConfig returns how to connect to etcd; ok is false if the target is on another store.
func (t *Target) EtcdConfig() (c etcd.Config, ok bool) {
	return etcd.Config{Endpoints: t.Endpoints, Namespace: t.Namespace, Username: t.User, Password: t.password, TLS: t.secured, RequestTimeout: t.RequestTimeout}, t.Kind == Etcd
}

// ZooKeeperConfig returns how to connect to ZooKeeper; ok is false if the target is on another store.
func (t *Target) ZooKeeperConfig() (c zk.Config, ok bool) {
	c = zk.Config{Servers: t.Endpoints, Namespace: t.Namespace, Grants: t.grants, TLS: t.secured, RequestTimeout: t.RequestTimeout}
	if t.User != "" {
		c.Digest = t.User + ":" + t.password
	}
	return c, t.Kind == ZooKeeper
}

// Dial connects within a time. The registry has a session of its own, which its Close ends.
//
// Errors: those of the adapters.
func (t *Target) Dial(ctx context.Context, timeout time.Duration) (reg coord.Registry, err error) {
	if c, ok := t.EtcdConfig(); ok {
		c.DialTimeout = timeout
		reg, err = etcd.Dial(ctx, c)
	} else {
		c, _ := t.ZooKeeperConfig() // there is no third kind
		c.DialTimeout = timeout
		reg, err = zk.Dial(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", t, err) // reg would be a nil pointer
	}
	return reg, nil
}

// tls reads the files that settings name.
func (s Settings) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.ServerName}
	if s.CACert != "" {
		pem, err := os.ReadFile(s.CACert)
		if err != nil {
			return nil, fmt.Errorf("cacert: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("cacert: %s has no certificate in a PEM block", s.CACert)
		}
	}
	if (s.Cert == "") != (s.Key == "") {
		return nil, errors.New("cert and key: one of them is missing")
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("cert and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
