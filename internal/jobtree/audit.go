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

// AuditDocument is the value of such a node. A reader ignores the keys that it does not know.
type AuditDocument struct {
	At time.Time
	// By is who has made the change, and From where that was, such as an address.
	By, From string
	// Job is the job that has changed; "" if it is the namespace.
	Job string
	// Action is what was done, Detail to whom, and Why is for people.
	Action, Detail, Why string
	// Before and After are how it was, and how it is. Cut is whether one of them was too long.
	Before, After string
	Cut           bool
}

// Bounds of such a document in bytes.
const (
	// MaxAuditText bounds Before and After, each.
	MaxAuditText = 16 << 10
	// MaxAuditDetail bounds Detail.
	MaxAuditDetail = 1 << 10
	maxAuditAction = 40
	// maxAudit leaves room for quoting, and for keys of later versions.
	maxAudit = 256 << 10
)

// EncodeAudit writes the value of such a node. Texts that are too long are cut.
func EncodeAudit(d AuditDocument) []byte {
	b := appendTime(nil, "at", d.At)
	b = appendText(b, "by", d.By, maxWho)
	b = appendText(b, "from", d.From, maxWho)
	b = appendText(b, "job", d.Job, MaxNameLength)
	b = appendText(b, "action", d.Action, maxAuditAction)
	b = appendText(b, "detail", d.Detail, MaxAuditDetail)
	b = appendText(b, "why", d.Why, maxWho)
	b = appendText(b, "before", d.Before, MaxAuditText)
	b = appendText(b, "after", d.After, MaxAuditText)
	if d.Cut || len(d.Before) > MaxAuditText || len(d.After) > MaxAuditText {
		b = append(b, "cut: true\n"...)
	}
	return b
}

// DecodeAudit reads the value of such a node. An error comes with the zero document.
func DecodeAudit(value []byte) (AuditDocument, error) {
	d, err := readAudit(value)
	if err != nil {
		return AuditDocument{}, fmt.Errorf("audit: %w", err)
	}
	return d, nil
}

func readAudit(value []byte) (d AuditDocument, err error) {
	var at, cut string
	_, err = readTexts(value, maxAudit, map[string]*string{
		"at": &at, "by": &d.By, "from": &d.From, "job": &d.Job, "action": &d.Action, "detail": &d.Detail, "why": &d.Why,
		"before": &d.Before, "after": &d.After, "cut": &cut,
	})
	if err != nil {
		return d, err
	}
	if d.At, err = parseTime(at); err != nil {
		return d, fmt.Errorf("at: %w", err)
	}
	if d.Cut, err = parseSwitch(cut); err != nil {
		return d, fmt.Errorf("cut: %w", err)
	}
	return d, nil
}
