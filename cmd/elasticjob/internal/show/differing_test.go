package show

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiffering(t *testing.T) {
	for _, tc := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\nc\n", "a\nx\nc\n", "- b,+ x"},
		{"", "a\n", "+ a"},
		{"a\nb\nc", "b\nd", "- a,- c,+ d"},
	} {
		if got := strings.Join(Differing(tc.before, tc.after), ","); got != tc.want {
			t.Errorf("%q, %q: got %s, want %s", tc.before, tc.after, got, tc.want)
		}
	}
}

// What has gone taken from the one, and what has come from the other, leaves the same lines.
func TestDifferingLeavesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		var gone, come []string
		for _, d := range Differing(strings.Join(a, "\n"), strings.Join(b, "\n")) {
			if line, ok := strings.CutPrefix(d, "- "); ok {
				gone = append(gone, line)
			} else {
				come = append(come, strings.TrimPrefix(d, "+ "))
			}
		}
		left, right := without(a, gone), without(b, come)
		slices.Sort(left)
		slices.Sort(right)
		if !slices.Equal(left, right) {
			t.Fatalf("without %v: %v; without %v: %v", gone, left, come, right)
		}
	})
}

func without(lines, some []string) []string {
	left := slices.Clone(lines)
	for _, line := range some {
		i := slices.Index(left, line)
		left = slices.Delete(left, i, i+1)
	}
	return left
}
