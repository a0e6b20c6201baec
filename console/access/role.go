package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Role is what somebody may do with jobs. A higher one may do all that a lower one may.
type Role int

const (
	// Viewer sees everything but secrets.
	Viewer Role = iota + 1
	// Operator also steers what runs: triggers, kills, pauses, disables, drains.
	Operator
	// Admin also changes what there is: configurations, jobs, calendars; and with a grant for
	// everything connections, users and tokens.
	Admin
)

var roles = []string{Viewer: "viewer", Operator: "operator", Admin: "admin"}

func (r Role) String() string {
	if r < Viewer || r > Admin {
		return fmt.Sprintf("Role(%d)", int(r))
	}
	return roles[r]
}

// MarshalText writes viewer, operator or admin.
func (r Role) MarshalText() ([]byte, error) {
	if r < Viewer || r > Admin {
		return nil, fmt.Errorf("role %d: allowed are viewer, operator and admin", int(r))
	}
	return []byte(roles[r]), nil
}

// UnmarshalText reads viewer, operator or admin.
func (r *Role) UnmarshalText(text []byte) error {
	i := slices.Index(roles, string(text))
	if i < int(Viewer) {
		return fmt.Errorf("role %s: allowed are viewer, operator and admin", brief.Quote(string(text)))
	}
	*r = Role(i)
	return nil
}

// Grant is a role in namespaces, for jobs. Patterns are names in which * stands for any text, also none.
type Grant struct {
	Role Role `json:"role" yaml:"role"`
	// Namespaces are patterns of the names that the console has for them; none means all.
	Namespaces []string `json:"namespaces,omitempty" yaml:"namespaces,omitempty"`
	// Jobs are patterns of names of jobs; none means all.
	Jobs []string `json:"jobs,omitempty" yaml:"jobs,omitempty"`
}

// Bounds of a grant.
const (
	MaxPatterns = 100
	MaxPattern  = 255 // bytes
)

// Validate returns what is wrong with the grant, with the field.
func (g Grant) Validate() error {
	if _, err := g.Role.MarshalText(); err != nil {
		return err
	}
	return errors.Join(validatePatterns("namespaces", g.Namespaces), validatePatterns("jobs", g.Jobs))
}

func validatePatterns(field string, patterns []string) error {
	if len(patterns) > MaxPatterns {
		return fmt.Errorf("%s: %d patterns; allowed are %d", field, len(patterns), MaxPatterns)
	}
	for i, p := range patterns {
		if p == "" || len(p) > MaxPattern {
			return fmt.Errorf("%s[%d]: %d bytes; allowed are 1 to %d", field, i, len(p), MaxPattern)
		}
	}
	return nil
}

// in reports whether the grant is for the namespace.
func (g Grant) in(namespace string) bool {
	return len(g.Namespaces) == 0 || matchAny(g.Namespaces, namespace)
}

// everyNamespace reports whether the grant is for all namespaces, also those to come.
func (g Grant) everyNamespace() bool {
	return len(g.Namespaces) == 0 || slices.ContainsFunc(g.Namespaces, isEverything)
}

// everyJob reports whether the grant is for all jobs, also those to come.
func (g Grant) everyJob() bool { return len(g.Jobs) == 0 || slices.ContainsFunc(g.Jobs, isEverything) }

func isEverything(pattern string) bool { return strings.Trim(pattern, "*") == "" }

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) })
}

// match reports whether a name fits a pattern. The parts between the stars are looked for from left to
// right, each at its first place: that never takes more than the product of both lengths.
func match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == name
	}
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	rest := name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return true
}
