package property

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Values are the values of the properties of a table, checked, with their defaults. Its
// methods panic for a name or a kind that is not the table's: that is an error of the program.
type Values struct{ texts map[string]string }

// Text returns the value of a property; empty if it has none.
func (v Values) Text(name string) string {
	text, ok := v.texts[name]
	if !ok {
		panic("property: no row " + name)
	}
	return text
}

// Integer returns the value of a property that [Integer] checks; 0 if it has none.
func (v Values) Integer(name string) int { return parsed(v, name, strconv.Atoi) }

// Boolean returns the value of a property that [Boolean] checks; false if it has none.
func (v Values) Boolean(name string) bool { return v.Text(name) == "true" }

// Duration returns the value of a property that [Duration] checks; 0 if it has none.
func (v Values) Duration(name string) time.Duration { return parsed(v, name, time.ParseDuration) }

// Milliseconds returns the value of a property that [Integer] checks, as milliseconds.
func (v Values) Milliseconds(name string) time.Duration {
	return time.Duration(v.Integer(name)) * time.Millisecond
}

// Ranges returns the value of a property that [Integers] checks; nil if it has none.
func (v Values) Ranges(name string) []Range {
	text := v.Text(name)
	if text == "" {
		return nil
	}
	ranges, ok := parseRanges(text)
	if !ok {
		panic("property: " + name + " has not been checked")
	}
	return ranges
}

// List returns the value of a property as a list with commas between its texts, without the
// spaces around them; nil if it has none.
func (v Values) List(name string) []string {
	var list []string
	for text := range strings.SplitSeq(v.Text(name), ",") {
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// Pair is a property of a family, without what all names of the family begin with.
type Pair struct{ Name, Value string }

// Family returns the properties that belong to a row such as "http.header.*", by name.
func (v Values) Family(row string) []Pair {
	family := strings.TrimSuffix(row, "*")
	var list []Pair
	for _, name := range slices.Sorted(maps.Keys(v.texts)) {
		if rest, ok := strings.CutPrefix(name, family); ok {
			list = append(list, Pair{rest, v.texts[name]})
		}
	}
	return list
}

func parsed[T any](v Values, name string, parse func(string) (T, error)) T {
	var none T
	text := v.Text(name)
	if text == "" {
		return none
	}
	value, err := parse(text)
	if err != nil {
		panic("property: " + name + " has not been checked")
	}
	return value
}
