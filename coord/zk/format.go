package zk

import (
	"fmt"
	"io"
)

// String is the configuration without secrets: it only says whether Digest and TLS are set, and how
// many users and grants there are beside.
func (c Config) String() string {
	isSet := map[bool]string{false: "no", true: "yes"}
	return fmt.Sprintf("zk.Config{Servers: %q, Namespace: %q, SessionTimeout: %v, DialTimeout: %v, RequestTimeout: %v, MaxBackoff: %v, Digest: %s, OtherDigests: %d, Grants: %d, TLS: %s}",
		c.Servers, c.Namespace, c.SessionTimeout, c.DialTimeout, c.RequestTimeout, c.MaxBackoff, isSet[c.Digest != ""], len(c.OtherDigests), len(c.Grants), isSet[c.TLS != nil])
}

// Format implements [fmt.Formatter]: for every verb it writes String, so that no verb prints
// secrets.
func (c Config) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, c.String()) } // fmt keeps its errors to itself

// String says which registry it is, without secrets.
func (r *Registry) String() string {
	return fmt.Sprintf("zk.Registry{Servers: %q, Namespace: %q}", r.config.Servers, r.config.Namespace)
}

// Format implements [fmt.Formatter]: for every verb it writes String, so that no verb prints
// secrets.
func (r *Registry) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, r.String()) } // fmt keeps its errors to itself
