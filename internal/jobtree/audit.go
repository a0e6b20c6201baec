package jobtree

import (
	"fmt"
	"time"
)

// Audits is the parent of what operators have changed in the namespace. No job has that name,
// because names of jobs have no tilde.
const Audits = "~elasticjob/audit"

// Audit is the node of one change; see [EncodeAudit]. Ids sort by time.
func Audit(id string) string { return Audits + "/" + id }

// Bounds of what an [AuditDocument] has, in bytes.
const (
	MaxAuditText   = 16 << 10 // Before and After, each
	MaxAuditDetail = 1 << 10
)

// AuditDocument is the value of such a node.
type AuditDocument struct {
	At time.Time `doc:"at"`
	// By is who has made the change, and From where that was, such as an address.
	By   string `doc:"by,255"`
	From string `doc:"from,255"`
	// Job is the job that has changed, or Jobs are; none if it is the namespace.
	Job  string   `doc:"job,200"`
	Jobs []string `doc:"jobs"`
	// Action is what was done, Detail to whom, and Why is for people.
	Action string `doc:"action,40"`
	Detail string `doc:"detail,1024"`
	Why    string `doc:"why,255"`
	// Before and After are how it was, and how it is. Cut is whether one of them was too long.
	Before string `doc:"before,16384"`
	After  string `doc:"after,16384"`
	Cut    bool   `doc:"cut"`
}

// audits leaves room for quoting, and for keys of later versions.
var audits = newCodec[AuditDocument]("audit", 256<<10, nil)

// EncodeAudit writes the value of such a node. Texts that are too long are cut.
func EncodeAudit(d AuditDocument) []byte {
	d.Cut = d.Cut || len(d.Before) > MaxAuditText || len(d.After) > MaxAuditText
	return audits.encode(d)
}

// DecodeAudit reads the value of such a node. An error comes with the zero document.
func DecodeAudit(value []byte) (AuditDocument, error) {
	if len(value) == 0 {
		return AuditDocument{}, fmt.Errorf("audit: %w", errNone)
	}
	return audits.decode(value)
}
