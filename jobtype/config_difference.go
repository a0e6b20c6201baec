package jobtype

import (
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
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
	a, b := c.WithDefaults(), next.WithDefaults()
	var list []Difference
	addFields := func(fields []field, areGoOnly bool) {
		for _, f := range fields {
			if was, is := f.get(&a), f.get(&b); was != is {
				list = append(list, Difference{f.key, was, is, areGoOnly})
			}
		}
	}
	addFields(fields, false)
	addFields(propFields, true)
	if !slices.Equal(a.Listeners, b.Listeners) {
		list = append(list, Difference{jobconf.KeyListeners, strings.Join(a.Listeners, ","), strings.Join(b.Listeners, ","), false})
	}
	all := maps.Clone(a.Props)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, b.Props)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, had := a.Props[key]
		if is, has := b.Props[key]; had != has || was != is {
			list = append(list, Difference{jobconf.PropsPrefix + key, was, is, false})
		}
	}
	return list
}
