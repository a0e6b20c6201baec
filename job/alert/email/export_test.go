package email

import "github.com/elasticjob-go/elasticjob/job/property"

// Rows are the rows of the table.
func Rows() []property.Row { return kind().Table.Rows }
