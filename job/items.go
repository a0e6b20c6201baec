package job

import (
	"strconv"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// listItems returns a text with the numbers of 20 items at most, and how many more there are.
func listItems(items []int) string {
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

// someItems returns the text of listItems as a field of a log line.
func someItems(key string, items []int) zap.Field { return zap.String(key, listItems(items)) }

// short cuts a text that comes from outside to the length that is shown.
func short(text string) string { return brief.Text(text) }

// quote returns a text between quotation marks, for an error. A long one is shortened.
func quote(text string) string { return brief.Quote(text) }
