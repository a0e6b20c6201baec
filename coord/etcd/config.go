package etcd

import (
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/slogzap"
)

// Config says how to reach a store, and what of it to use.
type Config struct {
	// Endpoints are the client addresses of the members, each "host:port",
	// "http://host:port" or "https://host:port". Required.
	Endpoints []string

	// Namespace is the part of the store that the registry sees: a path as
	// [coord.ValidatePath] allows it, such as "shop" or "shop/jobs". Required.
	Namespace string

	// SessionTimeout is how long the store keeps the session, and with it the
	// ephemeral nodes, after the last sign of life. It is rounded up to whole
	// seconds, and the server has a minimum of its own, 2 s with etcd's default
	// settings. 0 means 10 s; at most 24 h.
	SessionTimeout time.Duration

	// DialTimeout bounds Dial, and each later attempt to connect. 0 means 5 s; at most
	// 24 h.
	DialTimeout time.Duration

	// RequestTimeout bounds each request to the store, within the context of the
	// call. 0 means 5 s; at most 24 h. A member of etcd that is not the leader passes
	// writes on, and one that is on its way while the leadership moves may be lost
	// without an answer. So this is also how long a job may stand still then: half of
	// a short SessionTimeout is a good choice.
	RequestTimeout time.Duration

	// Username and Password log in to a server with authentication: both or none.
	// Without them a user can be named by the client certificate in TLS.
	Username, Password string

	// TLS encrypts the connections. It is used as it is, and not changed; for
	// https endpoints nil means the system's authorities. If it has a ServerName,
	// certificates are to be for that name, and else for the host of the endpoint.
	TLS *tls.Config

	// SyncInterval is how often the client addresses that the members advertise are
	// looked up, and added to Endpoints, so that a process outlives members which are
	// replaced one by one. 0 means never: what members advertise is often not to be
	// reached from elsewhere, and is tried in vain then, about once a second. At most
	// 24 h.
	SyncInterval time.Duration

	// AllowOldServers lets Dial take a server before etcd 3.5. After an outage such a
	// server may keep watches silent. The registry notices that, and says so in
	// [coord.View.Fault], but can be late by several times the RequestTimeout.
	AllowOldServers bool

	// Logger is told when the session changes, when views fall behind the store and when
	// they follow it again, and what is wrong with the store. nil means silence, unless
	// Slog is set.
	Logger *zap.Logger

	// Slog is for programs that log with log/slog: it is told what Logger would be.
	// Only one of the two may be set.
	Slog *slog.Logger
}

// String names what the configuration reaches, and tells nothing secret.
func (c Config) String() string {
	s := fmt.Sprintf("etcd namespace %q at %s", c.Namespace, strings.Join(c.Endpoints, ", "))
	if c.Username != "" {
		s += fmt.Sprintf(" as user %q", c.Username)
	}
	return s
}

// Format implements [fmt.Formatter]: for every verb it is String.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) } // fmt keeps its errors to itself

const (
	defaultSessionTimeout = 10 * time.Second
	defaultDialTimeout    = 5 * time.Second
	defaultRequestTimeout = 5 * time.Second
	maxTimeout            = 24 * time.Hour
)

// withDefaults returns the configuration with all fields set, or an error that wraps
// coord.ErrInvalidConfig and names the field and what it may be.
func (c Config) withDefaults() (Config, error) {
	if err := validateEndpoints(c.Endpoints, c.TLS != nil); err != nil {
		return c, err
	}
	if err := coord.ValidatePath(c.Namespace); err != nil {
		return c, fmt.Errorf("%w: Namespace: %w", coord.ErrInvalidConfig, err)
	}
	c.Endpoints = slices.Clone(c.Endpoints)
	for _, d := range []struct {
		field  string
		value  *time.Duration
		preset time.Duration
	}{
		{"SessionTimeout", &c.SessionTimeout, defaultSessionTimeout},
		{"DialTimeout", &c.DialTimeout, defaultDialTimeout},
		{"RequestTimeout", &c.RequestTimeout, defaultRequestTimeout},
	} {
		if *d.value < 0 || *d.value > maxTimeout {
			return c, fmt.Errorf("%w: %s is %v; allowed are 0, which means %v, and up to %v", coord.ErrInvalidConfig, d.field, *d.value, d.preset, maxTimeout)
		}
		if *d.value == 0 {
			*d.value = d.preset
		}
	}
	if c.SyncInterval < 0 || c.SyncInterval > maxTimeout {
		return c, fmt.Errorf("%w: SyncInterval is %v; allowed are 0, which means never, and up to %v", coord.ErrInvalidConfig, c.SyncInterval, maxTimeout)
	}
	c.SessionTimeout = (c.SessionTimeout + time.Second - 1).Truncate(time.Second)
	if (c.Username == "") != (c.Password == "") {
		return c, fmt.Errorf("%w: Username and Password: one of them is empty; allowed are both or none", coord.ErrInvalidConfig)
	}
	if c.Logger != nil && c.Slog != nil {
		return c, fmt.Errorf("%w: Logger and Slog are both set; allowed is one of them", coord.ErrInvalidConfig)
	}
	if c.Logger == nil {
		c.Logger = slogzap.Zap(c.Slog)
	}
	return c, nil
}

// validateEndpoints also sees to it that all endpoints are of one kind: etcd's client
// takes the first one's for all, and would drop a TLS configuration without a word.
func validateEndpoints(endpoints []string, withTLS bool) error {
	if len(endpoints) == 0 {
		return fmt.Errorf("%w: Endpoints is empty; at least one is required, such as \"127.0.0.1:2379\"", coord.ErrInvalidConfig)
	}
	scheme := ""
	for i, endpoint := range endpoints {
		s, address := splitEndpoint(endpoint)
		host, port, err := net.SplitHostPort(address)
		if err != nil || host == "" || port == "" || strings.ContainsAny(address, "/ ") || s != "" && s != "http" && s != "https" {
			return fmt.Errorf("%w: Endpoints[%d] is %q; allowed are \"host:port\", \"http://host:port\" and \"https://host:port\"", coord.ErrInvalidConfig, i, endpoint)
		}
		if s == "http" && withTLS {
			return fmt.Errorf("%w: Endpoints[%d] is %q, which is not encrypted, but TLS is set", coord.ErrInvalidConfig, i, endpoint)
		}
		if i > 0 && s != scheme {
			return fmt.Errorf("%w: Endpoints[%d] is %q; all endpoints must have the same scheme", coord.ErrInvalidConfig, i, endpoint)
		}
		scheme = s
	}
	return nil
}

func splitEndpoint(endpoint string) (scheme, address string) {
	if scheme, address, ok := strings.Cut(endpoint, "://"); ok {
		return scheme, address
	}
	return "", endpoint
}
