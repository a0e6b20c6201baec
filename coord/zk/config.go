package zk

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/slogzap"
)

// Config is the configuration of a registry. Only Servers and Namespace are required.
type Config struct {
	// Servers are the members of the ensemble, "host" or "host:port"; the port is
	// 2181 unless given. They are tried in random order. Names are looked up anew
	// at every attempt.
	Servers []string
	// Namespace is the node below which everything of this registry lives, such as
	// "jobs" or "prod/jobs". It is created if it is not there.
	Namespace string
	// SessionTimeout is how long the ensemble waits for a renewal before it drops the
	// session and its ephemeral nodes. The registry asks for it, but the ensemble may
	// grant less or more: by default from 2 to 20 of its ticks, which is 4 s to 40 s. At
	// least 1 s. Default 10 s. The package comment says how long a pause of the store a
	// session survives.
	SessionTimeout time.Duration
	// DialTimeout bounds Dial. At first a server has a quarter of its share of it to open a
	// session, and twice as long after each round over the servers. Default 5 s.
	DialTimeout time.Duration
	// RequestTimeout bounds each request, including the time that it waits for a
	// connection. Default 5 s.
	RequestTimeout time.Duration
	// MaxBackoff is the longest wait between two attempts to reach a server. In the
	// first round over the servers there is no wait; then it doubles from 50 ms, with
	// jitter. While a session lives it is at most a tenth of its time-out. Default 1 s.
	MaxBackoff time.Duration
	// Digest is "user:password". With it nodes are created for this user alone
	// (ZooKeeper's CREATOR_ALL) and for those in Grants, without it for everybody.
	// ZooKeeper has no list of users, so a wrong password shows only if the namespace
	// belongs to another user.
	Digest string
	// OtherDigests are further users, each "user:password", as which the registry logs in,
	// too. Nodes are created for all of them alike. That is for the time in which a namespace
	// changes its user: see package rights. They need Digest.
	OtherDigests []string
	// Grants are what others may do with the nodes that this registry creates, such as an
	// operator or a reader: package rights knows which are needed. They need Digest, whose
	// user may do everything in any case.
	Grants ACL
	// TLS, if set, is used for every connection. If it has no ServerName, certificates
	// must be for the host to which the registry connects.
	TLS *tls.Config
	// Logger is told when the session changes, when latches are lost and when views
	// cannot be followed, and, at debug level, what the client library says. nil means
	// silence, unless Slog is set.
	Logger *zap.Logger
	// Slog is for programs that log with log/slog: it is told what Logger would be.
	// Only one of the two may be set.
	Slog *slog.Logger
}

// The bounds and defaults of a configuration.
const (
	minSessionTimeout     = time.Second
	defaultSessionTimeout = 10 * time.Second
	defaultDialTimeout    = 5 * time.Second
	defaultRequestTimeout = 5 * time.Second
	minBackoff            = 50 * time.Millisecond
	defaultMaxBackoff     = time.Second
	maxTimeout            = 24 * time.Hour
	defaultPort           = "2181"
)

// Validate checks what Dial checks before it connects. The error wraps [coord.ErrInvalidConfig].
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults checks the configuration and fills in its defaults.
func (c Config) withDefaults() (Config, error) {
	servers, err := completeServers(c.Servers)
	if err != nil {
		return c, err
	}
	c.Servers = servers
	c.OtherDigests, c.Grants = slices.Clone(c.OtherDigests), slices.Clone(c.Grants)
	if err := coord.ValidatePath(c.Namespace); err != nil {
		return c, fmt.Errorf("%w: Namespace: %w", coord.ErrInvalidConfig, err)
	}
	for _, d := range []struct {
		field         string
		value         *time.Duration
		preset, least time.Duration
	}{
		{"SessionTimeout", &c.SessionTimeout, defaultSessionTimeout, minSessionTimeout},
		{"DialTimeout", &c.DialTimeout, defaultDialTimeout, 1},
		{"RequestTimeout", &c.RequestTimeout, defaultRequestTimeout, 1},
		{"MaxBackoff", &c.MaxBackoff, defaultMaxBackoff, 1},
	} {
		if *d.value == 0 {
			*d.value = d.preset
		}
		if *d.value < d.least || *d.value > maxTimeout {
			return c, fmt.Errorf("%w: %s is %v; allowed are 0, which means %v, and from %v to %v",
				coord.ErrInvalidConfig, d.field, *d.value, d.preset, d.least, maxTimeout)
		}
	}
	if err := c.validateUsers(); err != nil {
		return c, err
	}
	if c.Logger != nil && c.Slog != nil {
		return c, fmt.Errorf("%w: Logger and Slog are both set; allowed is one of them", coord.ErrInvalidConfig)
	}
	if c.Logger == nil {
		c.Logger = slogzap.Zap(c.Slog)
	}
	return c, nil
}

// validateUsers checks what concerns users. Its errors show no passwords.
func (c Config) validateUsers() error {
	if c.Digest == "" && len(c.OtherDigests)+len(c.Grants) > 0 {
		return fmt.Errorf("%w: OtherDigests and Grants need Digest: without it nodes are for everybody", coord.ErrInvalidConfig)
	}
	for i, digest := range c.digests() {
		if _, err := DigestIdentity(digest); err != nil {
			field := "Digest"
			if i > 0 {
				field = fmt.Sprintf("OtherDigests[%d]", i-1)
			}
			return fmt.Errorf(`%w: %s has to be "user:password"`, coord.ErrInvalidConfig, field)
		}
	}
	if err := c.Grants.check(); err != nil {
		return fmt.Errorf("%w: Grants: %w", coord.ErrInvalidConfig, err)
	}
	return nil
}

// digests are all that the registry logs in with.
func (c Config) digests() []string {
	if c.Digest == "" {
		return nil
	}
	return append([]string{c.Digest}, c.OtherDigests...)
}

// acl is the list of every node that the registry creates.
func (c Config) acl() []zookeeper.ACL {
	if c.Digest == "" {
		return zookeeper.WorldACL(zookeeper.PermAll)
	}
	// "auth" stands for every user as which the creator is logged in: CREATOR_ALL.
	return append(zookeeper.AuthACL(zookeeper.PermAll), c.Grants.native()...)
}

func completeServers(servers []string) ([]string, error) {
	if len(servers) == 0 {
		return nil, fmt.Errorf(`%w: Servers is empty, at least one "host:port" is needed`, coord.ErrInvalidConfig)
	}
	servers = slices.Clone(servers)
	for i, server := range servers {
		var err error
		if servers[i], err = completeServer(server); err != nil {
			return nil, fmt.Errorf("%w: Servers[%d] %w", coord.ErrInvalidConfig, i, err)
		}
	}
	return servers, nil
}

// CheckServer returns what is wrong with one of [Config.Servers], as the rest of a sentence that
// begins with its name.
func CheckServer(server string) error {
	_, err := completeServer(server)
	return err
}

// completeServer returns a server with its port.
func completeServer(server string) (string, error) {
	wrong := func(why string) (string, error) {
		return "", fmt.Errorf(`is %q: %s; "host" and "host:port" are allowed`, server, why)
	}
	if strings.Contains(server, "@") { // not shown: there may be a password in it
		return "", errors.New("has a user, or another @; Digest is for that")
	}
	switch {
	case strings.Contains(server, ","):
		return wrong("each server is an item of the list")
	case strings.Contains(server, "://"):
		return wrong("ZooKeeper's addresses have no scheme")
	case strings.Contains(server, "/"):
		return wrong("Namespace has the path")
	case strings.ContainsFunc(server, unicode.IsSpace):
		return wrong("there is a blank")
	}
	host, port, err := net.SplitHostPort(server)
	if err != nil { // perhaps it has no port
		host, port = strings.TrimSuffix(strings.TrimPrefix(server, "["), "]"), defaultPort
		if strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return wrong("an IPv6 address with a port needs brackets, such as [::1]:2181")
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return wrong("the port is not from 1 to 65535")
	}
	if host == "" {
		return wrong("the host is missing")
	}
	return net.JoinHostPort(host, port), nil
}
