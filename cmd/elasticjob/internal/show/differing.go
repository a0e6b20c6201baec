package show

import "strings"

// maxCompared bounds the lines of two documents that are compared line by line.
const maxCompared = 1000

// Differing returns the lines that are in one of two documents alone: "- " before those that have gone,
// "+ " before those that have come.
func Differing(before, after string) []string {
	a, b := linesOf(before), linesOf(after)
	// What is the same at both ends has nothing to tell.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return steps(a, b)
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// steps leads from a to b by the longest common subsequence.
func steps(a, b []string) []string {
	if len(a) > maxCompared || len(b) > maxCompared {
		return append(marked("- ", a), marked("+ ", b)...)
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common, in order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var list []string
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			list = append(list, "- "+a[i])
			i++
		default:
			list = append(list, "+ "+b[j])
			j++
		}
	}
	return append(append(list, marked("- ", a[i:])...), marked("+ ", b[j:])...)
}

func marked(mark string, lines []string) []string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = mark + line
	}
	return list
}
