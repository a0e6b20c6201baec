package job

import (
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// short cuts a text that comes from outside to the length that is shown.
func short(text string) string { return brief.Text(text) }

// quote returns a text between quotation marks, for an error. A long one is shortened.
func quote(text string) string { return brief.Quote(text) }
