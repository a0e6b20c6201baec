package trace

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Join returns an observer that tells several, one after the other. The last one is told even
// if the first one panics. Given to a job one by one (job.WithObserver) they have a queue and
// a pace of their own each; joined, they share one. A nil one is left out.
func Join(list ...jobtype.Observer) jobtype.Observer {
	return func(e jobtype.Event) {
		for _, o := range slices.Backward(list) {
			if o != nil {
				defer o(e) // also if one before it panics
			}
		}
	}
}
