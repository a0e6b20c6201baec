package jobtree

import (
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Original is the node that says which execution of an item was cut short first, of those that
// are run again for a tick. Whoever puts the item up to be run again writes it. It stays with
// the item, and says something only of its tick.
type Original struct{ coord.Node }

// EncodeOriginal writes the value of an original's node.
func EncodeOriginal(taskID string, tick time.Time) []byte {
	return append(append([]byte(taskID), ' '), EncodeFired(tick)...)
}

// Of returns the task id of the execution for a tick; empty if the node does not tell.
func (o *Original) Of(tick time.Time) string {
	if o == nil || tick.IsZero() {
		return ""
	}
	taskID, of, _ := strings.Cut(string(o.Value), " ")
	if !isTaskID(taskID) || of != string(EncodeFired(tick)) {
		return ""
	}
	return taskID
}
