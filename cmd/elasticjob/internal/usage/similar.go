package usage

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// maxSuggestions bounds how many names an error suggests.
const maxSuggestions = 3

// Similar returns the names that a text may stand for, the most similar first.
func Similar(text string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	text = strings.ToLower(brief.Cut(text, maxName))
	var near []candidate
	for _, name := range names {
		lower := strings.ToLower(name)
		d := distance(text, lower)
		if strings.HasPrefix(lower, text) && len(text) > 1 {
			d = 1
		}
		if d <= max(1, len(text)/3) {
			near = append(near, candidate{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	var list []string
	for _, c := range near[:min(len(near), maxSuggestions)] {
		list = append(list, c.name)
	}
	return list
}

// maxName is the longest name of a job.
const maxName = 200

// distance is how many characters have to be put in, taken out or replaced to make b of a
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// DidYouMean returns the end of a sentence that suggests names; empty without any.
func DidYouMean(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, brief.Quote(name))
	}
	if len(quoted) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}
