package command

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
)

func TestItems(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []int
		err  string
	}{
		{"0", []int{0}, ""},
		{"0,2-4, 7", []int{0, 2, 3, 4, 7}, ""},
		{"4-2", nil, "ends before it begins"},
		{"-1", nil, "allowed are numbers from 0"},
		{"", nil, "allowed are numbers from 0"},
		{"100000", nil, "to 99999"},
		{"0-99999,0", nil, "more than 100000"},
		{strings.Repeat("x", 1000), nil, "…"},
	} {
		var got items
		err := got.Set(tc.text)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || len(err.Error()) > 300 {
				t.Errorf("%.20q: got %v, want an error with %q", tc.text, err, tc.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %v, %v, want %v", tc.text, got, err, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 20, rapid.ID).Draw(t, "items")
		slices.Sort(want)
		var got items
		if err := got.Set(selection.Ranges(want)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v is written as %s, and read as %v, %v", want, selection.Ranges(want), got, err)
		}
	})
}

func TestMoments(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-03-04T05:06:07Z":      time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		"2026-03-04T05:06:07+02:00": time.Date(2026, 3, 4, 3, 6, 7, 0, time.UTC),
		"2026-03-04 05:06:07":       time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local),
		"2026-03-04":                time.Date(2026, 3, 4, 0, 0, 0, 0, time.Local),
	} {
		var got moment
		if err := got.Set(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v, want %v", text, got.Time, err, want)
		}
	}
	var ago moment
	if err := ago.Set("90m"); err != nil || time.Since(ago.Time).Round(time.Minute) != 90*time.Minute {
		t.Errorf("90m is %v, %v", ago.Time, err)
	}
	for _, wrong := range []string{"", "tomorrow", "-5m", "2026-13-01"} {
		if err := new(moment).Set(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
