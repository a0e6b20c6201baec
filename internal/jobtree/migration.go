package jobtree

import (
	"bytes"
	"errors"
	"fmt"
)

// Migrations is the lock of the migrations from and to this namespace, and the parent of the marks of jobs
// that are on their way. Its value is a random id, which the namespace keeps. It is never removed, so its
// version only grows. See package ops/migrate.
const Migrations = "~elasticjob/migration"

// Moving is the mark of a job on its way from or to another namespace; see [EncodeMoving].
func (j Job) Moving() string { return Migrations + "/" + string(j) }

// Step says how far a job has come in a migration.
type Step string

// The steps of a job: the first at the source, the others at the target.
const (
	Leaving  Step = "leaving"  // its configuration is taken out of the job's tree, and kept in the mark
	Arriving Step = "arriving" // it has no configuration yet, and nobody may set it up
	Arrived  Step = "arrived"  // it is a job like any other; the source may have something left of it
)

// MovingDocument is the value of the mark of a job on its way.
type MovingDocument struct {
	Step Step
	// Migration is the id of the migration: the same in the marks of both sides.
	Migration string
	// Config is the configuration of a job that leaves, as it stood in its tree.
	Config []byte
}

const (
	movingFormat = "step: %s\nmigration: %s\n"
	// movingEnd is the line between what is ours and the configuration.
	movingEnd = "---\n"
)

// EncodeMoving writes the value of a mark: a YAML document, and behind it
// the configuration.
func EncodeMoving(d MovingDocument) []byte {
	b := fmt.Appendf(nil, movingFormat, d.Step, d.Migration)
	if d.Step == Leaving {
		b = append(append(b, movingEnd...), d.Config...)
	}
	return b
}

// DecodeMoving reads the value of a mark.
func DecodeMoving(value []byte) (MovingDocument, error) {
	head, config, hasConfig := bytes.Cut(value, []byte(movingEnd))
	d := MovingDocument{Config: config}
	_, err := fmt.Sscanf(string(head), movingFormat, &d.Step, &d.Migration)
	if err == nil && d.Step != Leaving && d.Step != Arriving && d.Step != Arrived || hasConfig != (d.Step == Leaving) {
		err = errors.New("leaving with a configuration, arriving and arrived are allowed")
	}
	if err != nil {
		return MovingDocument{}, fmt.Errorf("job on its way: step: %w", err)
	}
	return d, nil
}
