package jobtree

import (
	"errors"
	"time"
)

// AppliedJobs is the parent of what is noted of jobs that stand in files which somebody applies.
const AppliedJobs = "~elasticjob/applied"

// Applied is the node that says which set of files has the job; see [EncodeApplied]. It is not
// below the job's root, because JVM members and their consoles list what is there.
func (j Job) Applied() string { return AppliedJobs + "/" + string(j) }

// AppliedDocument is the value of such a node.
type AppliedDocument struct {
	// Set is the name of the set, as [IsName] has it.
	Set string `doc:"set,200"`
	// By is who has applied it last, and At when that was.
	By string    `doc:"by,255"`
	At time.Time `doc:"at"`
}

var applied = newCodec("applied", 4<<10, func(d *AppliedDocument) error {
	if !IsName(d.Set) {
		return errors.New("set: no set can have this name")
	}
	return nil
})

// EncodeApplied writes the value of such a node.
func EncodeApplied(d AppliedDocument) []byte { return applied.encode(d) }

// DecodeApplied reads the value of such a node. An error comes with the zero document.
func DecodeApplied(value []byte) (AppliedDocument, error) { return applied.decode(value) }
