package exec

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Bounds of what is propagated.
const (
	maxPropagated      = 32
	maxPropagatedName  = 64
	maxPropagatedValue = 8 << 10 // that of the header baggage
)

type propagatedKey struct{}

// Propagate is job.Propagate.
func Propagate(ctx context.Context, name, value string) (context.Context, error) {
	name = strings.ToLower(name)
	if err := checkPropagated(name, value); err != nil {
		return ctx, fmt.Errorf("job: propagate %s: %w", brief.Quote(name), err)
	}
	before, _ := ctx.Value(propagatedKey{}).(map[string]string)
	next := make(map[string]string, len(before)+1)
	maps.Copy(next, before)
	next[name] = value
	if len(next) > maxPropagated {
		return ctx, fmt.Errorf("job: propagate %s: the context has %d names already, and more are not allowed", brief.Quote(name), maxPropagated)
	}
	return context.WithValue(ctx, propagatedKey{}, next), nil
}

func checkPropagated(name, value string) error {
	isBad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	switch {
	case name == "" || len(name) > maxPropagatedName || name[0] < 'a' || name[0] > 'z' || strings.ContainsFunc(name, isBad):
		return fmt.Errorf("a name of up to %d letters, digits, - and _ is allowed, that begins with a letter", maxPropagatedName)
	case len(value) > maxPropagatedValue:
		return fmt.Errorf("value of %d bytes, at most %d are allowed", len(value), maxPropagatedValue)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("value: UTF-8 without control characters is allowed")
	}
	return nil
}

// Propagated is job.Propagated.
func Propagated(ctx context.Context) iter.Seq2[string, string] {
	all, _ := ctx.Value(propagatedKey{}).(map[string]string)
	return func(yield func(name, value string) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}
