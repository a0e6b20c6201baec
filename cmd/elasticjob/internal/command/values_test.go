package command

import (
	"slices"
	"strings"
	"testing"

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
