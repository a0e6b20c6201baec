package etcd

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/slogzap"
)

// Config says how to reach a store, and which part of it to use.
type Config struct {
	// Endpoints are the client addresses of the members, each "host:port",
	// "http://host:port" or "https://host:port". Required.
	Endpoints []string

	// Namespace is the part of the store that the registry sees: a path as
	// [coord.ValidatePath] allows it, such as "shop" or "shop/jobs". Required.
	Namespace string

	// SessionTimeout is how long the store keeps the session, and with it the
	// ephemeral nodes, after the last renewal. It is rounded up to whole
	// seconds, and the server has a minimum of its own, 2 s with etcd's default
	// settings. 0 means 10 s; at most 24 h.
	SessionTimeout time.Duration

	// DialTimeout bounds Dial, and each later attempt to connect. 0 means 5 s; at most
	// 24 h.
	DialTimeout time.Duration

	// RequestTimeout bounds each request to the store, within the context of the
	// call. 0 means 5 s; at most 24 h. If a write goes to a member that is not the
	// leader, that member passes it on; if the leader changes at that moment, the write
	// may get no answer. Then a job stands still for this time, so with a short
	// SessionTimeout half of that is a good choice.
	RequestTimeout time.Duration

	// Username and Password log in to a server with authentication: both or none.
	// Without them a user can be named by the client certificate in TLS.
	Username, Password string

	// TLS encrypts the connections. The adapter does not change it. For https endpoints
	// nil means the system's certificate authorities. Servers' certificates must be for
	// its ServerName; if it has none, for the host of the endpoint.
	TLS *tls.Config

	// SyncInterval is how often the registry reads the client addresses that the members
	// advertise, and adds them to Endpoints, so that a process still finds the store
	// after its members were replaced one by one. 0 means never: often these addresses
	// cannot be reached from elsewhere, and connecting to them would fail about once a
	// second. At most 24 h.
	SyncInterval time.Duration

	// AllowOldServers lets Dial accept a server before etcd 3.5. After an outage such a
	// server may leave watches silent. The registry notices that, and says so in
	// [coord.View.Fault], but it may take several times the RequestTimeout.
	AllowOldServers bool

	// Logger is told when the session changes, when views fall behind the store and when
	// they follow it again, and what is wrong with the store. nil means silence, unless
	// Slog is set.
	Logger *zap.Logger

	// Slog is for programs that log with log/slog: it is told what Logger would be.
	// Only one of the two may be set.
	Slog *slog.Logger
}

// String says which store and namespace the configuration is for, without secrets.
func (c Config) String() string {
	s := fmt.Sprintf("etcd namespace %q at %s", c.Namespace, strings.Join(c.Endpoints, ", "))
	if c.Username != "" {
		s += fmt.Sprintf(" as user %q", c.Username)
	}
	return s
}

// Format implements [fmt.Formatter]: for every verb it writes String, so that no verb prints
// the password.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) } // fmt keeps its errors to itself

const (
	defaultSessionTimeout = 10 * time.Second
	defaultDialTimeout    = 5 * time.Second
	defaultRequestTimeout = 5 * time.Second
	maxTimeout            = 24 * time.Hour
)

// Validate checks what Dial checks before it connects. The error wraps [coord.ErrInvalidConfig].
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults returns the configuration with its defaults, or an error that wraps
// coord.ErrInvalidConfig and says which field is wrong and what is allowed.
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

// validateEndpoints checks each endpoint, and that all have the same scheme: etcd's client
// uses the scheme of the first for all, and could so ignore the TLS configuration silently.
func validateEndpoints(endpoints []string, withTLS bool) error {
	if len(endpoints) == 0 {
		return fmt.Errorf("%w: Endpoints is empty; at least one is required, such as \"127.0.0.1:2379\"", coord.ErrInvalidConfig)
	}
	scheme := ""
	for i, endpoint := range endpoints {
		if err := CheckEndpoint(endpoint); err != nil {
			return fmt.Errorf("%w: Endpoints[%d] %w", coord.ErrInvalidConfig, i, err)
		}
		s, _ := splitEndpoint(endpoint)
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

// CheckEndpoint returns what is wrong with one of [Config.Endpoints], as the rest of a sentence that
// begins with its name.
func CheckEndpoint(endpoint string) error {
	if strings.Contains(endpoint, "@") { // not shown: there may be a password in it
		return errors.New("has a user, or another @; Username and Password are for that")
	}
	scheme, address := splitEndpoint(endpoint)
	host, port, err := net.SplitHostPort(address)
	number, notANumber := strconv.ParseUint(port, 10, 16)
	why := ""
	switch {
	case strings.Contains(endpoint, ","):
		why = "each member is an item of the list"
	case scheme != "" && scheme != "http" && scheme != "https":
		why = "the scheme is another one"
	case strings.Contains(address, "/"):
		why = "Namespace has the path"
	case strings.ContainsFunc(endpoint, unicode.IsSpace):
		why = "there is a blank"
	case err != nil || port == "":
		why = "the port is missing, or brackets around an IPv6 address"
	case notANumber != nil || number == 0:
		why = "the port is not from 1 to 65535"
	case host == "":
		why = "the host is missing"
	default:
		return nil
	}
	return fmt.Errorf(`is %q: %s; "host:port", "http://host:port" and "https://host:port" are allowed`, endpoint, why)
}

func splitEndpoint(endpoint string) (scheme, address string) {
	if scheme, address, ok := strings.Cut(endpoint, "://"); ok {
		return scheme, address
	}
	return "", endpoint
}
