package usage

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// DidYouMean returns the end of a sentence that suggests names, three at most; empty without any.
func DidYouMean(names []string) string {
	var quoted []string
	for _, name := range names[:min(len(names), 3)] {
		quoted = append(quoted, brief.Quote(name))
	}
	if len(quoted) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}
