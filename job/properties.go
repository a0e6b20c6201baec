package job

import (
	"iter"
	"maps"
	"slices"
)

// Properties are the properties of a job (Config.Props), for reading. Its zero value has
// none. Copies share memory, which nobody changes.
type Properties struct{ byName map[string]string }

// NewProperties returns properties that no longer depend on the map. A test of a handler
// can make some with it.
func NewProperties(props map[string]string) Properties {
	return Properties{maps.Clone(props)}
}

// Get returns a property, and whether there is one of that name.
func (p Properties) Get(name string) (value string, ok bool) {
	value, ok = p.byName[name]
	return value, ok
}

// All goes over the names and values, in ascending order of the names.
func (p Properties) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.byName)) {
			if !yield(name, p.byName[name]) {
				return
			}
		}
	}
}

// Len returns how many there are.
func (p Properties) Len() int { return len(p.byName) }
