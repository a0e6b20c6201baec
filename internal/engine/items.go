package engine

import (
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// someItems returns the text of brief.Items as a field of a log line.
func someItems(key string, items []int) zap.Field { return zap.String(key, brief.Items(items)) }

// short cuts a text that comes from outside to the length that is shown.
func short(text string) string { return brief.Text(text) }

// quote returns a text between quotation marks, for an error. A long one is shortened.
func quote(text string) string { return brief.Quote(text) }
