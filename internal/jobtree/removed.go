package jobtree

import (
	"cmp"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Removals is the parent of what is kept of removed jobs. No job has that name: names of jobs have no tilde.
const Removals = "~elasticjob/removed"

// Removal is the node that says that the job was removed, so that no program sets it up again by
// itself; see [EncodeRemoval]. It is not below the job's root, and stays when that goes.
func (j Job) Removal() string { return Removals + "/" + string(j) }

// RemovalDocument is the value of such a node. It may be empty: then an operator has created the node.
type RemovalDocument struct {
	// By and Why are free text, for people, and At is when the job was removed.
	By  string    `doc:"by,255"`
	Why string    `doc:"why,255"`
	At  time.Time `doc:"at"`
	// Revision is that of the configuration that was removed. A program with a higher one sets the job up again.
	Revision int `doc:"revision"`
	// Expired is whether the job was removed because it had no tick left.
	Expired bool `doc:"expired"`
	// Migration is the id of the migration with which the job is on its way from this namespace, or to
	// it; empty if it is not. Then what is left of the job is no rest.
	Migration string `doc:"migration,64"`
	// MovedTo is the namespace in which the job is since a migration; empty if it was removed.
	MovedTo string `doc:"movedTo,255"`
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

// Cure says how the job comes to run again.
func (d RemovalDocument) Cure() string {
	switch {
	case d.Migration != "":
		return "start it when it has arrived, with the store and namespace to which it is moved"
	case d.MovedTo != "":
		return "it runs there now: start it with that store and namespace"
	}
	return fmt.Sprintf("raise Config.Revision above %d, or have an operator readmit the job (elasticjob readmit, or ops.Readmit) and start it again", d.Revision)
}

var removals = newCodec("removal", 4<<10, func(d *RemovalDocument) error {
	if d.Revision < 0 {
		return fmt.Errorf("revision: %d: an integer that is not negative is allowed", d.Revision)
	}
	return nil
})

// EncodeRemoval writes the value of such a node. By and Why are cut after 255 bytes.
func EncodeRemoval(d RemovalDocument) []byte { return removals.encode(d) }

// DecodeRemoval reads the value of such a node. An error comes with the zero document.
func DecodeRemoval(value []byte) (RemovalDocument, error) { return removals.decode(value) }
