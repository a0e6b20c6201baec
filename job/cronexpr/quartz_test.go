package cronexpr_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

// golden is what Quartz answered for an expression. testdata/quartz/README.md describes
// the format.
type golden struct {
	expr    string
	failure string // error, exception, endless, or empty
	runs    []run
}

// run is a start in a zone and the distances to the times after it: steps has the seconds
// from each to the next. If there are fewer than goldenTimes, there are no more before 2100.
type run struct {
	zone, start string
	steps       []int64
}

const goldenTimes = 40

func readGoldens(t testing.TB, file string) []golden {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			all = append(all, golden{expr: line[1 : len(line)-1]})
			continue
		}
		last := &all[len(all)-1]
		words := strings.Fields(line)
		if len(words) == 1 {
			last.failure = line
			continue
		}
		r := run{zone: words[0], start: words[1]}
		for _, word := range words[2:] {
			count, step, repeated := strings.Cut(word, "*")
			if !repeated {
				count, step = "1", word
			}
			for range number(t, count) {
				r.steps = append(r.steps, number(t, step))
			}
		}
		last.runs = append(last.runs, r)
	}
	return all
}

func number(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// times returns the start of the run, and the times after it.
func (r run) times(t testing.TB, loc *time.Location) (start time.Time, times []time.Time) {
	t.Helper()
	start, err := time.ParseInLocation("2006-01-02T15:04:05", r.start, loc)
	if err != nil {
		t.Fatal(err)
	}
	at := start
	for _, step := range r.steps {
		at = at.Add(time.Duration(step) * time.Second)
		times = append(times, at)
	}
	return start, times
}

func goldenZones(t testing.TB) map[string]*time.Location {
	return map[string]*time.Location{
		"UTC":                 time.UTC,
		"Asia/Shanghai":       shanghai(),
		"Asia/Kolkata":        kolkata(),
		"America/New_York":    newYork(t),
		"Australia/Lord_Howe": lordHowe(t),
	}
}

func TestAgreesWithQuartz(t *testing.T) {
	zones := goldenZones(t)
	for _, g := range readGoldens(t, "testdata/quartz/times.txt") {
		t.Run(g.expr, func(t *testing.T) {
			if _, err := cronexpr.Parse(g.expr, time.UTC); (err != nil) != (g.failure != "") {
				t.Fatalf("Quartz says %q, Parse says %v", g.failure, err)
			}
			for _, r := range g.runs {
				s, err := cronexpr.Parse(g.expr, zones[r.zone])
				if errors.Is(err, cronexpr.ErrNeverFires) && len(r.steps) == 0 {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				start, times := r.times(t, zones[r.zone])
				last := start
				for _, want := range times {
					if got := s.Next(last); !got.Equal(want) {
						t.Fatalf("after %v Quartz says %v, Next says %v", last, want, got)
					}
					if got := s.Prev(want); !got.Equal(want) {
						t.Fatalf("%v is a time of Quartz, Prev says %v", want, got)
					}
					if got := s.Prev(want.Add(-1)); last != start && !got.Equal(last) {
						t.Fatalf("before %v Quartz says %v, Prev says %v", want, last, got)
					}
					last = want
				}
				if got := s.Next(last); len(times) < goldenTimes && !got.IsZero() {
					t.Fatalf("after %v Quartz says nothing, Next says %v", last, got)
				}
			}
		})
	}
}

// TestDiffersFromQuartz checks the differences that the package comment lists: Quartz
// does something else there, and this package does what is written there.
func TestDiffersFromQuartz(t *testing.T) {
	const refused = "refused"
	cases := map[string]struct {
		same string // an expression of the same meaning here, or refused
		zone string // the only zone where Quartz differs; empty if it differs in any
	}{
		// Quartz moves the first day of the list only, and drops the others.
		"0 0 0 1,15W * ?":  {same: "0 0 0 15W,1 * ?"},
		"0 0 0 5W,10W * ?": {same: "0 0 0 10W,5W * ?"},
		// In a month that is a day too short, Quartz fires on the last if it is a Friday.
		"0 0 0 31W * ?":   {same: "0 0 0 31W JAN,MAR,MAY,JUL,AUG,OCT,DEC ?"},
		"0 0 0 30W 2,3 ?": {same: "0 0 0 30W 3 ?"},
		"0 0 0 29W 2,3 ?": {same: "0 0 0 29W 2,3 ?"},
		// Quartz never returns from a month that is too short.
		"0 0 0 L-30W * ?": {same: "0 0 0 L-30W JAN,MAR,MAY,JUL,AUG,OCT,DEC ?"},
		// Quartz applies # to the first weekday of the week, and drops the others.
		"0 0 0 ? * MON#1,FRI": {same: "0 0 0 ? * FRI,2#1"},
		"0 0 0 ? * FRI,MON#1": {same: "0 0 0 ? * FRI,2#1"},
		// Quartz steps over the first times after half an hour was skipped.
		"0 29,31 * * * ?":    {same: "0 31,29 * * * ?", zone: "Australia/Lord_Howe"},
		"0 10-50/10 * * * ?": {same: "0 10,20,30,40,50 * * * ?", zone: "Australia/Lord_Howe"},

		"0 0 0 1,L * ?":       {same: "0 0 0 L,1 * ?"},
		"0 0 0 15,LW * ?":     {same: "0 0 0 LW,15 * ?"},
		"0 0 0 ? * 2#1,4#3":   {same: "0 0 0 ? * WED#3,MON#1"},
		"0 0 0 ? * SUN,6L":    {same: "0 0 0 ? * FRIL,1"},
		"0 0 0 ? * 2-FRI":     {same: "0 0 0 ? * MON-FRI"},
		"0 0 0 ? * MON-6":     {same: "0 0 0 ? * MON-FRI"},
		"@daily":              {same: "0 0 0 * * ?"},
		"0 0 0 ? * MON/2":     {same: refused},
		"0 0 0 ? * MON-FRI/2": {same: refused},

		"0 0 0 1 JAN-JUN/2 ?":     {same: refused},
		"0 0 0 ? * MONDAY-FRIDAY": {same: refused},
		"0 0 0 1 JANUARY ?":       {same: refused},
		"0 0 0 ? * 6LX":           {same: refused},
		"0/0 * * * * ?":           {same: refused},
		"*/0 * * * * ?":           {same: refused},
		"0-30/0 * * * * ?":        {same: refused},
		"0-30/61 * * * * ?":       {same: refused},
		"5x * * * * ?":            {same: refused},
		"*5 * * * * ?":            {same: refused},
		"1,,2 * * * * ?":          {same: refused},
		"0 0 0 1-5-9 * ?":         {same: refused},
		"0 0 0 15WL * ?":          {same: refused},
		"0 0 0 0W * ?":            {same: refused},
		"0 0 0 ? * 0#1":           {same: refused},
		"0 0 0 ? * 8#1":           {same: refused},
		"0 0 0 ?,5 * MON":         {same: refused},
		"L * * * * ?":             {same: refused},
		"0 0 0 1 L ?":             {same: refused},
		"0 0 0 1 1 ? 1950-2099":   {same: refused},
		"0 0 0 1 1 ? 2028-2150":   {same: refused},
		"0 0 0 * * ? 2027 junk":   {same: refused},
		"0 0 0 30 2 ?":            {same: refused},
		"0 0 0 29 2 ? 2027":       {same: refused},
		"0 0 0 ? 2 MON#5 2027":    {same: refused},
	}
	goldens := readGoldens(t, "testdata/quartz/differences-times.txt")
	if len(goldens) != len(cases) {
		t.Errorf("%d expressions asked of Quartz, %d here", len(goldens), len(cases))
	}
	zones := goldenZones(t)
	for _, g := range goldens {
		t.Run(g.expr, func(t *testing.T) {
			want, known := cases[g.expr]
			if !known {
				t.Fatal("Quartz was asked, but what is right is not said")
			}
			if want.same == refused {
				if s, err := cronexpr.Parse(g.expr, time.UTC); err == nil {
					t.Fatalf("read as %s", s)
				}
				if g.failure == "error" {
					t.Fatal("Quartz refuses it, too")
				}
				return
			}
			if s := parse(t, want.same, time.UTC); parse(t, g.expr, time.UTC).String() != s.String() {
				// They may have the same times although they are written in different ways.
				sameTimes(t, parse(t, g.expr, time.UTC), s)
			}
			differ := g.failure != ""
			for _, r := range g.runs {
				s := parse(t, g.expr, zones[r.zone])
				at, times := r.times(t, zones[r.zone])
				agree := true
				for _, next := range times {
					agree = agree && s.Next(at).Equal(next)
					at = next
				}
				differ = differ || !agree
				if !agree && want.zone != "" && r.zone != want.zone {
					t.Errorf("differs from Quartz in %s, too", r.zone)
				}
			}
			if !differ {
				t.Error("agrees with Quartz")
			}
		})
	}
}

func parse(t testing.TB, expr string, loc *time.Location) *cronexpr.Schedule {
	t.Helper()
	s, err := cronexpr.Parse(expr, loc)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sameTimes(t *testing.T, a, b *cronexpr.Schedule) {
	t.Helper()
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 200 {
		next := a.Next(at)
		if other := b.Next(at); !next.Equal(other) {
			t.Fatalf("after %v %s says %v, %s says %v", at, a, next, b, other)
		}
		at = next
	}
}
