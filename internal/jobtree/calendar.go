package jobtree

import "strings"

// Calendars is the parent of the calendars of a namespace, beside its jobs. Each child holds
// the document of one; see package calendar.
const Calendars = "~elasticjob/calendars"

// Calendar is the node of one calendar.
func Calendar(name string) string { return Calendars + "/" + name }

// MaxNameLength bounds the name of a job or a calendar, in bytes.
const MaxNameLength = 200

// IsName reports whether a job or a calendar can have a name.
func IsName(name string) bool {
	if len(name) < 1 || len(name) > MaxNameLength || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case strings.IndexByte("._-:", c) >= 0:
		default:
			return false
		}
	}
	return true
}
