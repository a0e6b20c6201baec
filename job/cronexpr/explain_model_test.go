package cronexpr_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// matcher reports whether a wall clock time, in UTC, is meant.
type matcher func(time.Time) bool

// readEnglish understands what Explain says, as a reader does who does not know the expression.
func readEnglish(words string) (matcher, error) {
	var all []matcher
	read := func(pattern string, understood func(match []string) (matcher, error)) error {
		loc := regexp.MustCompile(pattern).FindStringSubmatchIndex(words)
		if loc == nil {
			return nil
		}
		var match []string
		for i := 0; i < len(loc); i += 2 {
			match = append(match, words[max(loc[i], 0):max(loc[i+1], 0)])
		}
		words = words[:loc[0]]
		m, err := understood(match)
		all = append(all, m)
		return err
	}
	const months = `(?:January|February|March|April|May|June|July|August|September|October|November|December)`
	for _, part := range []struct {
		pattern    string
		understood func([]string) (matcher, error)
	}{
		{`, in (?:the years? |)((?:every|\d).*)$`, func(m []string) (matcher, error) {
			return numbers(strings.Replace(m[1], " year from", " from", 1), time.Time.Year)
		}},
		{` (?:of|in) (` + months + `(?:(?:, | and | to )` + months + `)*)$`, func(m []string) (matcher, error) {
			digits := regexp.MustCompile(months).ReplaceAllStringFunc(m[1], func(name string) string {
				at, err := time.Parse("January", name)
				if err != nil {
					return err.Error()
				}
				return strconv.Itoa(int(at.Month()))
			})
			return numbers(digits, func(t time.Time) int { return int(t.Month()) })
		}},
		{` of every month$`, func([]string) (matcher, error) { return func(time.Time) bool { return true }, nil }},
		{`,? every day$`, func([]string) (matcher, error) { return func(time.Time) bool { return true }, nil }},
		{` on (.*)$`, func(m []string) (matcher, error) { return daysInWords(m[1]) }},
		{`^.*$`, func(m []string) (matcher, error) { return timeInWords(m[0]) }},
	} {
		if err := read(part.pattern, part.understood); err != nil {
			return nil, err
		}
	}
	return func(t time.Time) bool {
		return !slices.ContainsFunc(all, func(m matcher) bool { return !m(t) })
	}, nil
}

// either splits a list in words; one of its parts has to match.
func either(list string, read func(string) (matcher, error)) (matcher, error) {
	var any []matcher
	for _, entry := range regexp.MustCompile(`, | and `).Split(list, -1) {
		m, err := read(entry)
		if err != nil {
			return nil, err
		}
		any = append(any, m)
	}
	return func(t time.Time) bool { return slices.ContainsFunc(any, func(m matcher) bool { return m(t) }) }, nil
}

var steps = regexp.MustCompile(`^every (\d+)(?:st|nd|rd|th) (?:\w+ )?from (?:the )?(\d+)(?:\w\w)? to (?:the )?(\d+)(?:\w\w)?$`)

// numbers understands "5", "0, 5 and 10 to 20", and "every 7th minute from 0 to 56".
func numbers(words string, of func(time.Time) int) (matcher, error) {
	return either(words, func(entry string) (matcher, error) {
		if m := steps.FindStringSubmatch(entry); m != nil {
			step, from, to := atoi(m[1]), atoi(m[2]), atoi(m[3])
			return func(t time.Time) bool { n := of(t); return n >= from && n <= to && (n-from)%step == 0 }, nil
		}
		first, last, isRange := strings.Cut(entry, " to ")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			return nil, fmt.Errorf("%q in %q: %w", entry, words, err)
		}
		to, err := strconv.Atoi(last)
		return func(t time.Time) bool { n := of(t); return n >= from && n <= to }, err
	})
}

func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(err) // the pattern has digits there
	}
	return n
}

const dayNames = `(Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday)`

// daysInWords understands the days of a month or of a week.
func daysInWords(words string) (matcher, error) {
	return either(words, func(entry string) (matcher, error) {
		match := func(pattern string) []string {
			return regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(entry)
		}
		if m := match(dayNames + `s(?: to ` + dayNames + `s)?`); m != nil {
			return func(t time.Time) bool {
				from, to := weekdayOf(m[1]), weekdayOf(m[1])
				if m[2] != "" {
					to = weekdayOf(m[2])
				}
				return ((t.Weekday()-from)+7)%7 <= (to-from+7)%7
			}, nil
		}
		if m := match(`the (\d)\w\w ` + dayNames); m != nil {
			return func(t time.Time) bool { return t.Weekday() == weekdayOf(m[2]) && (t.Day()+6)/7 == atoi(m[1]) }, nil
		}
		if m := match(`the last ` + dayNames); m != nil {
			return func(t time.Time) bool {
				return t.Weekday() == weekdayOf(m[1]) && t.AddDate(0, 0, 7).Month() != t.Month()
			}, nil
		}
		if m := match(`the weekday nearest to (.*)`); m != nil || entry == "the last weekday" {
			named := "the last day"
			if m != nil {
				named = m[1]
			}
			return nearestWeekday(named)
		}
		if regexp.MustCompile(`last`).MatchString(entry) {
			return dayFromEnd(entry)
		}
		digits := regexp.MustCompile(`the (\d+)\w\w`).ReplaceAllString(entry, "$1")
		return numbers(digits, time.Time.Day)
	})
}

func weekdayOf(name string) time.Weekday {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if d.String() == name {
			return d
		}
	}
	panic("no day is named " + name) // the pattern has names of days only
}

func dayFromEnd(words string) (matcher, error) {
	n := 0
	switch m := regexp.MustCompile(`^the (\d+)\w\w day before the last one$`).FindStringSubmatch(words); {
	case m != nil:
		n = atoi(m[1])
	case words == "the day before the last one":
		n = 1
	case words != "the last day":
		return nil, fmt.Errorf("what is %q?", words)
	}
	return func(t time.Time) bool {
		return t.AddDate(0, 0, n).Month() == t.Month() && t.AddDate(0, 0, n+1).Month() != t.Month()
	}, nil
}

// nearestWeekday reports whether a day is the weekday of its month that is nearest to the one that is named.
func nearestWeekday(named string) (matcher, error) {
	is, err := daysInWords(named)
	if err != nil {
		return nil, err
	}
	return func(t time.Time) bool {
		for day := t.AddDate(0, 0, 1-t.Day()); day.Month() == t.Month(); day = day.AddDate(0, 0, 1) {
			if !is(day) {
				continue
			}
			for _, away := range []int{0, -1, 1, -2, 2} {
				near := day.AddDate(0, 0, away)
				if near.Month() == t.Month() && near.Weekday() != time.Saturday && near.Weekday() != time.Sunday {
					return near.Day() == t.Day()
				}
			}
		}
		return false
	}, nil
}

var everySpan = regexp.MustCompile(`^every (?:(\d+) )?(hour|minute|second)s?(?: from (\S+) to (\S+))?$`)

// timeInWords understands the times of day.
func timeInWords(words string) (matcher, error) {
	ofDay := func(t time.Time) int { return t.Hour()*3600 + t.Minute()*60 + t.Second() }
	if list, ok := strings.CutPrefix(words, "at "); ok && strings.Contains(list, ":") {
		return either(list, func(entry string) (matcher, error) {
			at, err := secondOfDay(entry)
			return func(t time.Time) bool { return ofDay(t) == at }, err
		})
	}
	if m := everySpan.FindStringSubmatch(words); m != nil {
		every, from, to := map[string]int{"hour": 3600, "minute": 60, "second": 1}[m[2]], 0, 86399
		if m[1] != "" {
			every *= atoi(m[1])
		}
		if m[3] != "" {
			var errFrom, errTo error
			from, errFrom = secondOfDay(m[3])
			to, errTo = secondOfDay(m[4])
			if errFrom != nil || errTo != nil {
				return nil, fmt.Errorf("%q: %w, %w", words, errFrom, errTo)
			}
		}
		return func(t time.Time) bool { n := ofDay(t); return n >= from && n <= to && (n-from)%every == 0 }, nil
	}
	var all []matcher
	parts := strings.Split(strings.TrimPrefix(words, "at "), " of ")
	if !strings.Contains(parts[0], "second") {
		parts = append([]string{"second 0"}, parts...)
	}
	for _, part := range parts {
		unit := regexp.MustCompile(`second|minute|hour`).FindString(part)
		of := map[string]func(time.Time) int{"second": time.Time.Second, "minute": time.Time.Minute, "hour": time.Time.Hour}[unit]
		if of == nil {
			return nil, fmt.Errorf("what is %q in %q?", part, words)
		}
		if m := everySpan.FindStringSubmatch(part); m != nil {
			every := 1
			if m[1] != "" {
				every = atoi(m[1])
			}
			all = append(all, func(t time.Time) bool { return of(t)%every == 0 })
			continue
		}
		m, err := numbers(regexp.MustCompile(`^`+unit+`s? `).ReplaceAllString(part, ""), of)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return func(t time.Time) bool { return !slices.ContainsFunc(all, func(m matcher) bool { return !m(t) }) }, nil
}

func secondOfDay(text string) (int, error) {
	at, err := time.Parse("15:04:05", text)
	if strings.Count(text, ":") == 1 {
		at, err = time.Parse("15:04", text)
	}
	return at.Hour()*3600 + at.Minute()*60 + at.Second(), err
}

// Who reads the words, and nothing else, finds the same times.
func TestWordsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := expressions.Draw(t, "expression")
		if rapid.IntRange(0, 3).Draw(t, "of five fields") == 0 {
			expr = strings.Join(unixLines.Draw(t, "line"), " ")
		}
		s, err := cronexpr.Parse(expr, time.UTC)
		if err != nil {
			t.Skip("never fires, or is read in two ways")
		}
		words := s.Explain(cronexpr.English)
		means, err := readEnglish(words)
		if err != nil {
			t.Fatalf("%v: %q: %v", s, words, err)
		}
		agree := func(at time.Time) {
			if at.Year() < 1970 || at.Year() > 2099 {
				return
			}
			if got, want := means(at), s.Next(at.Add(-time.Second)).Equal(at); got != want {
				t.Fatalf("%v: %q: at %v it is %v that it fires", s, words, at.Format("Mon 2006-01-02 15:04:05"), want)
			}
		}
		at := time.Unix(rapid.Int64Range(0, 130*365*86400).Draw(t, "from"), 0).UTC()
		for range 20 {
			next := s.Next(at)
			if next.IsZero() {
				break
			}
			for _, near := range []time.Duration{0, 1, 60, 3600, 86400, 2 * 86400, 7 * 86400, 31 * 86400, 366 * 86400} {
				agree(next.Add(-near * time.Second))
				agree(next.Add(near * time.Second))
			}
			at = next.Add(time.Duration(rapid.SampledFrom([]int{0, 3600, 86400, 40 * 86400}).Draw(t, "on")) * time.Second)
		}
	})
}
