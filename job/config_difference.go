package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Difference is a field that has different values in two configurations.
type Difference struct {
	// Field is its name in the registry, such as shardingTotalCount or "props: script.command.line".
	Field string `json:"field"`
	// Before and After are its values as text, with those of defaults. A property that one of the
	// two has not is empty there.
	Before string `json:"before"`
	After  string `json:"after"`
	// GoOnly is whether ElasticJob has no such field, so JVM members pass it over.
	GoOnly bool `json:"goOnly,omitempty"`
}

// Differences returns the fields that another configuration changes: those that ElasticJob has, the
// others, and properties that belong to no field. It is for those who may read the documents:
// properties are as they stand there.
func (c Config) Differences(next Config) []Difference {
	var list []Difference
	for _, d := range c.compare(next) {
		list = append(list, d.Difference)
	}
	return list
}

// difference is one with what logs and errors may show of it.
type difference struct {
	Difference
	field, before, after string
}

// These stand for the value of a property in logs, where others read it: it may be secret.
const (
	propAbsent  = "none"
	propPresent = "a value"
	propOther   = "another value"
)

// compare returns the fields in which another configuration differs.
func (c Config) compare(other Config) []difference {
	a, b := c.WithDefaults(), other.WithDefaults()
	var list []difference
	add := func(field, was, is string, isGoOnly bool) {
		list = append(list, difference{Difference{field, was, is, isGoOnly}, field, quote(was), quote(is)})
	}
	addFields := func(before, after []field, areGoOnly bool) {
		for i := range before {
			if was, is := before[i].get(), after[i].get(); was != is {
				add(before[i].key, was, is, areGoOnly)
			}
		}
	}
	addFields(a.fields(), b.fields(), false)
	addFields(a.propFields(), b.propFields(), true)
	if !slices.Equal(a.Listeners, b.Listeners) {
		add(keyListeners, strings.Join(a.Listeners, ","), strings.Join(b.Listeners, ","), false)
	}
	all := maps.Clone(a.Props)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, b.Props)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, had := a.Props[key]
		is, has := b.Props[key]
		d := difference{Difference{propsPrefix + key, was, is, false}, propsPrefix + quote(key), propPresent, propOther}
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

// changes says in words what changes from this configuration to the next one.
func (c Config) changes(next Config) []string {
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
