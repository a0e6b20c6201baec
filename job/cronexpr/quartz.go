package cronexpr

import "strings"

// InQuartz is what Quartz makes of an expression that Parse reads.
type InQuartz int

// What Quartz may make of it.
const (
	// QuartzSame: it fires at the same times, but for the clock changes that the package comment
	// lists.
	QuartzSame InQuartz = iota
	// QuartzOther: it reads it, and fires at other times, or searches for one without end.
	QuartzOther
	// QuartzRefuses: it does not read it.
	QuartzRefuses
)

// Quartz says what Quartz 2.3.2, that of ElasticJob 3.0.4, makes of an expression that Parse reads.
// It follows the lists of the package comment, whatever the months are: a 31W counts as
// another time also in an expression for January.
func Quartz(expr string) InQuartz {
	words := split(expr)
	if len(words) == 0 || words[0].text[0] == '@' || len(words) == len(unixFields) {
		return QuartzRefuses
	}
	worst := QuartzSame
	for i, word := range words {
		entries := strings.Split(word.text, ",")
		for _, entry := range entries {
			worst = max(worst, entryInQuartz(i, entry, len(entries) == 1))
		}
		if i == dayOfWeek && strings.Count(word.text, "#") > 1 {
			worst = QuartzRefuses
		}
	}
	return worst
}

// entryInQuartz says what Quartz makes of an entry of a field, which may be the only one there.
func entryInQuartz(field int, entry string, isOnly bool) InQuartz {
	if from, to, isRange := strings.Cut(entry, "-"); isRange && from != "" && to != "" && from != "L" && isLetter(from[0]) != isLetter(to[0]) {
		return QuartzRefuses // from a number to a name
	}
	switch {
	case field == dayOfMonth && strings.HasPrefix(entry, "L"):
		switch {
		case !isOnly:
			return QuartzRefuses
		case strings.HasPrefix(entry, "L-") && strings.HasSuffix(entry, "W") && len(entry) == len("L-28W") && entry >= "L-28W":
			return QuartzOther // it never returns from a month that is too short
		}
	case field == dayOfMonth && strings.HasSuffix(entry, "W"):
		if !isOnly || len(entry) == len("29W") && entry >= "29W" {
			return QuartzOther
		}
	case field == dayOfWeek && strings.HasSuffix(entry, "L") && !isOnly:
		return QuartzRefuses
	case field == dayOfWeek && strings.Contains(entry, "#") && !isOnly:
		return QuartzOther
	}
	return QuartzSame
}
