package job

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is propagated.
const (
	maxPropagated      = 32
	maxPropagatedName  = 64
	maxPropagatedValue = 8 << 10 // that of the header baggage
)

type propagatedKey struct{}

// Propagate returns a context with a text that goes along to what an execution calls: a script
// finds it in its environment, under the name in capital letters with _ for -, and a server in
// its request as a header. So a [Scope] passes traceparent on. What the properties of the job
// say under the same name counts more. Other types of jobs may ask [Propagated].
//
// The name has up to 64 bytes: letters, digits, - and _, first a letter; small and capital
// letters are the same. The value has up to 8 KiB of UTF-8 without control characters. A context
// has up to 32 names. With an error the context is ctx.
func Propagate(ctx context.Context, name, value string) (context.Context, error) {
	name = strings.ToLower(name)
	if err := checkPropagated(name, value); err != nil {
		return ctx, fmt.Errorf("job: propagate %s: %w", quote(name), err)
	}
	before, _ := ctx.Value(propagatedKey{}).(map[string]string)
	next := make(map[string]string, len(before)+1)
	maps.Copy(next, before)
	next[name] = value
	if len(next) > maxPropagated {
		return ctx, fmt.Errorf("job: propagate %s: the context has %d names already, and more are not allowed", quote(name), maxPropagated)
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

// Propagated goes over what a context passes on, in the order of the names, which are in small
// letters.
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
