package brief

import "strconv"

// Items returns a text with the numbers of 20 items at most, and how many more there are.
func Items(items []int) string {
	const most = 20
	text := ""
	for n, i := range items {
		if n == most {
			return text + " and " + strconv.Itoa(len(items)-most) + " more"
		}
		if n > 0 {
			text += ", "
		}
		text += strconv.Itoa(i)
	}
	return text
}
