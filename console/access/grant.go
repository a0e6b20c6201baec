package access

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// MaxGrants bounds the grants of one user, one token or one group.
const MaxGrants = 100

// ParseGrant reads role:namespaces:jobs, where both lists have commas between their patterns, and a star alone, or a list that is
// left out with its colon, means all. A pattern of jobs may have colons.
//
//	viewer                  sees everything
//	operator:prod*:pay-*    steers the jobs pay-… of the namespaces prod…
//	admin:*:report,bill-*   changes some jobs of every namespace
func ParseGrant(text string) (Grant, error) {
	role, rest, hasNamespaces := strings.Cut(text, ":")
	namespaces, jobs, hasJobs := strings.Cut(rest, ":")
	g := Grant{Namespaces: list(namespaces), Jobs: list(jobs)}
	err := g.Role.UnmarshalText([]byte(role))
	if hasNamespaces && namespaces == "" || hasJobs && jobs == "" { // a variable of a script may not be set
		err = fmt.Errorf("%w: nothing stands behind a colon; * means all", ErrInvalid)
	}
	if err == nil {
		err = g.Validate()
	}
	if err != nil {
		return Grant{}, fmt.Errorf("grant %s: %w", brief.Quote(text), err)
	}
	return g, nil
}

func list(text string) []string {
	if text == "" || text == "*" {
		return nil
	}
	return strings.Split(text, ",")
}

// String writes the grant as [ParseGrant] reads it.
func (g Grant) String() string {
	parts := []string{g.Role.String(), strings.Join(g.Namespaces, ","), strings.Join(g.Jobs, ",")}
	for len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	for i := range parts {
		parts[i] = cmp.Or(parts[i], "*")
	}
	return strings.Join(parts, ":")
}

// ValidateGrants returns what is wrong with grants, with place and field.
func ValidateGrants(grants []Grant) error {
	if len(grants) > MaxGrants {
		return fmt.Errorf("grants: %d; allowed are %d", len(grants), MaxGrants)
	}
	var errs []error
	for i, g := range grants {
		if err := g.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("grants[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// covers reports whether the grant allows all that another one does.
func (g Grant) covers(other Grant) bool {
	return g.Role >= other.Role &&
		(g.everyNamespace() || len(other.Namespaces) > 0 && include(g.Namespaces, other.Namespaces)) &&
		(g.everyJob() || len(other.Jobs) > 0 && include(g.Jobs, other.Jobs))
}

// include reports whether each inner pattern allows only what an outer one does. A star of the inner one is
// a sign like others, which only a star of the outer one fits: what fits that, fits all that the
// inner star stands for.
func include(outer, inner []string) bool {
	return !slices.ContainsFunc(inner, func(p string) bool { return !matchAny(outer, p) })
}

func anyCovers(grants []Grant, g Grant) bool {
	return slices.ContainsFunc(grants, func(own Grant) bool { return own.covers(g) })
}

// everything is the grant of an admin for all there is.
var everything = Grant{Role: Admin}

func clone(grants []Grant) []Grant {
	all := slices.Clone(grants)
	for i, g := range all {
		all[i].Namespaces, all[i].Jobs = slices.Clone(g.Namespaces), slices.Clone(g.Jobs)
	}
	return all
}
