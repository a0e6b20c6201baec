package httpjob

import (
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Table is the table of the properties, for its comparison with the package comment.
func Table() property.Table { return New(Options{}).worker("").table() }

// FillURL, FillHeader and FillBody put the values of an execution into a text.
func FillURL(text string, sc job.ShardingContext) (string, error) {
	t, err := parseURL(text, "http", "https")
	if err != nil {
		return "", err
	}
	u, err := New(Options{}).worker("").filler(sc).url(t)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func FillHeader(text string, sc job.ShardingContext) (string, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	return New(Options{}).worker("").filler(sc).header(t)
}

func FillBody(text string, sc job.ShardingContext) (string, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	return New(Options{}).worker("").filler(sc).body(t)
}

// Transports is how many kinds of connections the type keeps.
func (t *Type) Transports() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.transports)
}

// MaxTransports bounds that number.
const MaxTransports = maxTransports
