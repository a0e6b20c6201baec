package brief

import (
	"slices"
	"strings"
)

// Similar returns the names that a text is most likely a slip of, or the beginning of, the most
// similar one first. The case of letters does not matter.
func Similar(text string, names []string) []string {
	const longest = 200 // to compare takes the product of the lengths
	if len(text) > longest {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	text = strings.ToLower(text)
	var near []candidate
	for _, name := range names {
		lower := strings.ToLower(Cut(name, longest))
		same := 0
		for same < min(len(text), len(lower)) && text[same] == lower[same] {
			same++
		}
		rest := text[1+strings.LastIndexByte(text[:same], '.'):] // a prefix such as http. says nothing
		d := distance(text, lower)
		if same == len(text) && len(rest) > 1 {
			d = min(d, 1)
		}
		if d <= 1+min(len(rest), 60)/3 {
			near = append(near, candidate{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	var list []string
	for _, c := range near {
		list = append(list, c.name)
	}
	return list
}

// distance is how many bytes have to be put in, left out, replaced, or swapped with their
// neighbour to make one text of another.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}
