package jobtree

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Removals is the parent of what is kept of removed jobs. No job has that name, because names of
// jobs have no tilde.
const Removals = "~elasticjob/removed"

// Removal is the node that says that the job was removed, so that no program sets it up again by
// itself; see [EncodeRemoval]. It is not below the job's root, and stays when that goes.
func (j Job) Removal() string { return Removals + "/" + string(j) }

// RemovalDocument is the value of such a node. A reader ignores the keys that it does not know.
type RemovalDocument struct {
	// By and Why are free text, for people, and At is when the job was removed.
	By, Why string
	At      time.Time
	// Revision is that of the configuration that was removed. A program with a higher one sets
	// the job up again.
	Revision int
	// Expired is whether the job was removed because it had no tick left.
	Expired bool
	// Migration is the id of the migration with which the job is on its way from this namespace, or to
	// it; empty if it is not. Then what is left of the job is no rest.
	Migration string
}

// String says who has removed the job, when and why, in one line.
func (d RemovalDocument) String() string {
	who := "by " + cmp.Or(brief.Text(d.By), "an operator")
	if d.Expired {
		who = "because it had expired"
	}
	if !d.At.IsZero() {
		who += " at " + d.At.Format(time.RFC3339)
	}
	if d.Why != "" {
		who += ": " + brief.Quote(d.Why)
	}
	return who
}

// maxRemoval bounds the document in bytes. It leaves room for keys of later versions.
const maxRemoval = 4 << 10

// EncodeRemoval writes the value of such a node. By and Why are cut after 255 bytes.
func EncodeRemoval(d RemovalDocument) []byte {
	b := appendText(nil, "by", d.By, maxWho)
	b = appendText(b, "why", d.Why, maxWho)
	b = appendTime(b, "at", d.At)
	if d.Revision != 0 {
		b = append(strconv.AppendInt(append(b, "revision: "...), int64(d.Revision), 10), '\n')
	}
	if d.Expired {
		b = append(b, "expired: true\n"...)
	}
	return appendText(b, "migration", d.Migration, maxName)
}

// DecodeRemoval reads the value of such a node. An error comes with the zero document.
func DecodeRemoval(value []byte) (RemovalDocument, error) {
	d, err := readRemoval(value)
	if err != nil {
		return RemovalDocument{}, fmt.Errorf("removal: %w", err)
	}
	return d, nil
}

func readRemoval(value []byte) (d RemovalDocument, err error) {
	var at, revision, expired string
	_, err = readTexts(value, maxRemoval, map[string]*string{"by": &d.By, "why": &d.Why, "at": &at, "revision": &revision, "expired": &expired, "migration": &d.Migration})
	if errors.Is(err, yamldoc.ErrEmpty) { // an operator has created the node
		return d, nil
	}
	if err != nil {
		return d, err
	}
	if d.At, err = parseTime(at); err != nil {
		return d, fmt.Errorf("at: %w", err)
	}
	if d.Expired, err = parseSwitch(expired); err != nil {
		return d, fmt.Errorf("expired: %w", err)
	}
	if revision == "" {
		return d, nil
	}
	if d.Revision, err = strconv.Atoi(revision); err != nil || d.Revision < 0 {
		return d, fmt.Errorf("revision: %s: an integer that is not negative is allowed", brief.Quote(revision))
	}
	return d, nil
}
