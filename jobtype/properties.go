package jobtype

import (
	"iter"
	"maps"
	"slices"
)

// Properties are the properties of a job (Config.Props), for reading. The zero value has
// none. It is safe for concurrent use.
type Properties struct{ byName map[string]string }

// NewProperties returns a copy of the map as Properties, for tests of handlers.
func NewProperties(props map[string]string) Properties {
	return Properties{maps.Clone(props)}
}

// Get returns the value of a property. ok is false if there is none of that name.
func (p Properties) Get(name string) (value string, ok bool) {
	value, ok = p.byName[name]
	return value, ok
}

// All returns an iterator over names and values, in ascending order of the names.
func (p Properties) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.byName)) {
			if !yield(name, p.byName[name]) {
				return
			}
		}
	}
}

// Len returns how many properties there are.
func (p Properties) Len() int { return len(p.byName) }
