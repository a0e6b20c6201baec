package dataflow

import (
	"encoding/json"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job"
)

// decode returns the place that a cursor says. The empty cursor is the zero C.
func decode[C any](text string) (place C, err error) {
	if text == "" {
		return place, nil
	}
	if err := json.Unmarshal([]byte(text), &place); err != nil {
		return place, job.NoRetry(fmt.Errorf("dataflow: the cursor in the registry is no %T: %w", place, err))
	}
	return place, nil
}

// encode returns a place as a cursor.
func encode[C any](place C) (string, error) {
	text, err := json.Marshal(place)
	if err != nil {
		return "", fmt.Errorf("dataflow: cursor: %w", err)
	}
	if len(text) > job.MaxCursor {
		return "", fmt.Errorf("dataflow: cursor: %d bytes, at most %d are allowed", len(text), job.MaxCursor)
	}
	return string(text), nil
}
