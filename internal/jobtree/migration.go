package jobtree

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Migrations is the parent of the marks of migrations: jobs are on their way between this
// namespace and another one. See package ops/migrate.
const Migrations = "~elasticjob/migration"

// Migration is the mark of one migration; see [EncodeMigration]. Below it there is a node for each
// job that has begun to move; see [EncodeMoving].
func Migration(id string) string { return Migrations + "/" + id }

// Moving says how far the job has come in a migration; see [EncodeMoving].
func (j Job) Moving(id string) string { return Migration(id) + "/" + string(j) }

// MigrationDocument is the value of a migration's mark.
type MigrationDocument struct {
	// IsSource is whether jobs leave this namespace; otherwise they come here.
	IsSource bool
	// From and To name the two stores, and By and Why are free text: for people.
	From, To, By, Why string
	// At is when it began, Runner the run that goes on with it, and Jobs how many there are.
	At     time.Time
	Runner string
	Jobs   int
	// IsKept is whether all jobs have arrived, and the source keeps what it has of them.
	IsKept bool
}

const (
	// maxStoreName bounds the name of a store in bytes.
	maxStoreName = 1000
	// maxMigration bounds the document in bytes. It leaves room for keys of later versions.
	maxMigration = 8 << 10
)

// EncodeMigration writes the value of a migration's mark. Long texts are cut.
func EncodeMigration(d MigrationDocument) []byte {
	side := "target"
	if d.IsSource {
		side = "source"
	}
	b := appendText(nil, "side", side, maxName)
	b = appendText(b, "from", d.From, maxStoreName)
	b = appendText(b, "to", d.To, maxStoreName)
	b = appendText(b, "by", d.By, maxWho)
	b = appendText(b, "why", d.Why, maxWho)
	b = appendTime(b, "at", d.At)
	b = appendText(b, "runner", d.Runner, maxName)
	b = append(strconv.AppendInt(append(b, "jobs: "...), int64(d.Jobs), 10), '\n')
	if d.IsKept {
		b = append(b, "kept: true\n"...)
	}
	return b
}

// DecodeMigration reads the value of a migration's mark.
func DecodeMigration(value []byte) (MigrationDocument, error) {
	d, err := readMigration(value)
	if err != nil {
		return MigrationDocument{}, fmt.Errorf("migration: %w", err)
	}
	return d, nil
}

func readMigration(value []byte) (d MigrationDocument, err error) {
	var side, at, kept string
	document, err := readTexts(value, maxMigration, map[string]*string{
		"side": &side, "from": &d.From, "to": &d.To, "by": &d.By, "why": &d.Why, "at": &at, "runner": &d.Runner, "kept": &kept,
	})
	if err != nil {
		return d, err
	}
	if side != "source" && side != "target" {
		return d, fmt.Errorf("side: %s: source and target are allowed", brief.Quote(side))
	}
	d.IsSource = side == "source"
	if d.At, err = parseTime(at); err != nil {
		return d, fmt.Errorf("at: %w", err)
	}
	if d.Jobs, err = count(document, "jobs"); err != nil {
		return d, err
	}
	if d.IsKept, err = parseSwitch(kept); err != nil {
		return d, fmt.Errorf("kept: %w", err)
	}
	return d, nil
}

// Step says how far a job has come in a migration.
type Step string

// The steps of a job: the first two at the source, the others at the target.
const (
	Leaving  Step = "leaving"  // its configuration is taken out of the job's tree, and kept in this node
	Left     Step = "left"     // nothing of it is there any more
	Arriving Step = "arriving" // it has no configuration yet, and nobody may set it up
	Arrived  Step = "arrived"  // all of it is there, and it is a job like any other
)

// MovingDocument is the value of the node of a job that moves.
type MovingDocument struct {
	Step Step
	// Kept is another document, which comes back if the job does not move after all: at the source
	// its configuration, at the target what said there that it was removed. Nil if there is none.
	Kept []byte
}

// movingEnd is the line between what is ours and the document that is kept.
const movingEnd = "---\n"

// EncodeMoving writes the value of such a node: two YAML documents, one behind the other.
func EncodeMoving(d MovingDocument) []byte {
	b := []byte("step: " + string(d.Step) + "\n")
	if d.Kept != nil {
		b = append(append(b, movingEnd...), d.Kept...)
	}
	return b
}

// DecodeMoving reads the value of such a node.
func DecodeMoving(value []byte) (MovingDocument, error) {
	head, kept, isKept := bytes.Cut(value, []byte(movingEnd))
	text, ok := strings.CutPrefix(string(head), "step: ")
	d := MovingDocument{Step: Step(strings.TrimSuffix(text, "\n"))}
	if isKept {
		d.Kept = kept
	}
	switch d.Step {
	case Leaving, Left, Arriving, Arrived:
	default:
		ok = false
	}
	if !ok {
		return MovingDocument{}, errors.New("job on its way: step: leaving, left, arriving and arrived are allowed")
	}
	return d, nil
}
