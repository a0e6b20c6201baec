package jobtree

import (
	"fmt"
	"time"
)

// AppliedJobs is the parent of what is noted of jobs that stand in files which somebody applies.
const AppliedJobs = "~elasticjob/applied"

// Applied is the node that says which set of files has the job; see [EncodeApplied]. It is not
// below the job's root, because JVM members and their consoles list what is there.
func (j Job) Applied() string { return AppliedJobs + "/" + string(j) }

// AppliedDocument is the value of such a node. A reader ignores the keys that it does not know.
type AppliedDocument struct {
	// Set is the name of the set, as [IsName] has it.
	Set string
	// By is who has applied it last, and At when that was.
	By string
	At time.Time
}

// maxApplied bounds the document in bytes. It leaves room for keys of later versions.
const maxApplied = 4 << 10

// EncodeApplied writes the value of such a node.
func EncodeApplied(d AppliedDocument) []byte {
	b := appendText(nil, "set", d.Set, MaxNameLength)
	b = appendText(b, "by", d.By, maxWho)
	return appendTime(b, "at", d.At)
}

// DecodeApplied reads the value of such a node. An error comes with the zero document.
func DecodeApplied(value []byte) (AppliedDocument, error) {
	var d AppliedDocument
	var at string
	_, err := readTexts(value, maxApplied, map[string]*string{"set": &d.Set, "by": &d.By, "at": &at})
	if err == nil && !IsName(d.Set) {
		err = fmt.Errorf("set: no set can have this name")
	}
	if err == nil {
		d.At, err = parseTime(at)
	}
	if err != nil {
		return AppliedDocument{}, fmt.Errorf("applied: %w", err)
	}
	return d, nil
}
