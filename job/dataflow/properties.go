package dataflow

import (
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// The names of the properties.
const (
	propStreaming = "streaming.process"
	propPageSize  = "dataflow.page.size"
)

// MaxPageSize bounds the property dataflow.page.size.
const MaxPageSize = 1_000_000

// properties are the properties of a Flow.
func properties() property.Table {
	return property.Table{Own: []string{"dataflow.", "streaming."}, Rows: []property.Row{
		{Name: propStreaming, Default: "false", Check: property.Boolean(), Meaning: "whether an execution goes on until a fetch returns no rows"},
		{Name: propPageSize, Default: "100", Check: property.Integer(1, MaxPageSize), Meaning: "how many rows a fetch is asked for"},
	}}
}

// settings are the values of the properties.
type settings struct {
	streaming bool
	pageSize  int
}

func read(props job.Properties) (settings, error) {
	values, err := properties().Read(props)
	if err != nil {
		return settings{}, err
	}
	return settings{values.Boolean(propStreaming), values.Integer(propPageSize)}, nil
}
