package property

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Check says which values of a property are allowed.
type Check struct {
	// Allowed says it in words, for people: "1 to 10 are".
	Allowed string
	// Accept returns what is wrong with a value, or nil. It is not asked about an empty one.
	Accept func(text string) error
}

func (c Check) accepts(text string) error {
	if c.Accept == nil {
		return nil
	}
	return c.Accept(text)
}

// check returns a Check whose errors show the value and what is allowed.
func check(allowed string, ok func(text string) bool) Check {
	return Check{allowed, func(text string) error {
		if ok(text) {
			return nil
		}
		return fmt.Errorf("%s: %s allowed", brief.Quote(text), allowed)
	}}
}

// Integer allows whole numbers within bounds.
func Integer(least, most int) Check {
	return check(fmt.Sprintf("%d to %d are", least, most), func(text string) bool {
		n, err := strconv.Atoi(text)
		return err == nil && least <= n && n <= most
	})
}

// Boolean allows true and false.
func Boolean() Check { return OneOf("true", "false") }

// OneOf allows some words.
func OneOf(words ...string) Check {
	return check(strings.Join(words, ", ")+" are", func(text string) bool { return slices.Contains(words, text) })
}

// Duration allows durations with a unit, as Go writes them, within bounds: "1.5s", "2m".
func Duration(least, most time.Duration) Check {
	return check(fmt.Sprintf("durations from %v to %v, such as 1m30s, are", least, most), func(text string) bool {
		d, err := time.ParseDuration(text)
		return err == nil && least <= d && d <= most
	})
}

// Integers allows a list of whole numbers, and of ranges of them, with commas between them:
// "200-299,304".
func Integers(least, most int) Check {
	return check(fmt.Sprintf("numbers from %d to %d and ranges of them, such as 3,5-7, are", least, most), func(text string) bool {
		ranges, ok := parseRanges(text)
		return ok && !slices.ContainsFunc(ranges, func(r Range) bool { return r.First < least || r.Last > most })
	})
}

// URL allows absolute URLs of some schemes. References in it are not looked up. The error
// does not show the value: it may hold a password.
func URL(schemes ...string) Check {
	allowed := "an absolute URL with " + strings.Join(schemes, " or ") + " is"
	return Check{allowed, func(text string) error {
		u, err := url.Parse(withoutReferences(text))
		if err == nil && slices.Contains(schemes, u.Scheme) && u.Host != "" {
			return nil
		}
		return fmt.Errorf("%s allowed", allowed)
	}}
}

// Length allows texts of up to most bytes. The error does not show the value.
func Length(most int) Check {
	allowed := fmt.Sprintf("up to %d bytes are", most)
	return Check{allowed, func(text string) error {
		if len(text) <= most {
			return nil
		}
		return fmt.Errorf("%d bytes: %s allowed", len(text), allowed)
	}}
}

// Range is a range of numbers, with both ends.
type Range struct{ First, Last int }

// Has reports whether a number is in the range.
func (r Range) Has(n int) bool { return r.First <= n && n <= r.Last }

// parseRanges reads a list of numbers and ranges.
func parseRanges(text string) ([]Range, bool) {
	var ranges []Range
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(first)
		b, errB := strconv.Atoi(last)
		if errA != nil || errB != nil || a > b {
			return nil, false
		}
		ranges = append(ranges, Range{a, b})
	}
	return ranges, true
}
