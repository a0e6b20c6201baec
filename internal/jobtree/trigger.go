package jobtree

import "github.com/elasticjob-go/elasticjob/coord"

// Trigger asks an instance to run all of its items now, as ElasticJob's consoles do. Its value means nothing.
type Trigger struct {
	coord.Node
	// Instance is the id of the instance that is asked.
	Instance string
}
