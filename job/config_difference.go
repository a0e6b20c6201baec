package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// difference is a field that has different values in two configurations.
type difference struct{ field, before, after string }

// These stand for the value of a property, which may be secret.
const (
	propAbsent  = "none"
	propPresent = "a value"
	propOther   = "another value"
)

// compare returns the fields in which another configuration differs.
func (c Config) compare(other Config) []difference {
	a, b := c.WithDefaults(), other.WithDefaults()
	var list []difference
	before, after := append(a.fields(), a.propFields()...), append(b.fields(), b.propFields()...)
	for i := range before {
		if was, is := before[i].get(), after[i].get(); was != is {
			list = append(list, difference{before[i].key, quote(was), quote(is)})
		}
	}
	if !slices.Equal(a.Listeners, b.Listeners) {
		list = append(list, difference{keyListeners, quote(strings.Join(a.Listeners, ",")), quote(strings.Join(b.Listeners, ","))})
	}
	all := maps.Clone(a.Props)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, b.Props)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, had := a.Props[key]
		is, has := b.Props[key]
		d := difference{propsPrefix + quote(key), propPresent, propOther}
		switch {
		case !had:
			d.before, d.after = propAbsent, propPresent
		case !has:
			d.after = propAbsent
		case was == is:
			continue
		}
		list = append(list, d)
	}
	return list
}

// differences says in words what changes from this configuration to the next one.
func (c Config) differences(next Config) []string {
	return inWords(c.compare(next), "%s: %s → %s")
}

// departures says in words how this configuration, which a program gives, differs from the
// one in the registry. It ignores Overwrite and Revision: they are about how a configuration
// gets into the registry, not about the job.
func (c Config) departures(registry Config) []string {
	registry.Overwrite, registry.Revision = c.Overwrite, c.Revision
	return inWords(c.compare(registry), "%s: %s in code, %s in the registry")
}

// inWords puts the first 20 differences into words, and counts the others.
func inWords(list []difference, format string) []string {
	const most = 20
	var words []string
	for _, d := range list[:min(len(list), most)] {
		words = append(words, fmt.Sprintf(format, d.field, d.before, d.after))
	}
	if more := len(list) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return words
}
