package auditlog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// maxJobs and maxNames bound the jobs of an entry, and the bytes of their names: each commit writes all of it.
	maxJobs  = 200
	maxNames = 16 << 10
	// maxText bounds Before and After of changes that share entries: what has a document keeps it.
	maxText = 255
)

// Batch is one action on many jobs.
type Batch struct {
	turn chan struct{} // has one from Begin to End, which guards the rest
	open map[common]*Entry
}

// NewBatch returns a batch that has done nothing yet.
func NewBatch() *Batch { return &Batch{make(chan struct{}, 1), map[common]*Entry{}} }

// common is what the changes of an entry have in common.
type common struct{ by, from, action, detail, why string }

// Entry is an entry of the audit that changes of several jobs share.
type Entry struct {
	batch *Batch
	ID    string
	// Document is the value of its node. Before and After are those of all, or empty.
	Document jobtree.AuditDocument
	// Last is the revision of its last commit; 0 before the first.
	Last  int64
	names int  // bytes
	added bool // whether Begin has added the job
	was   jobtree.AuditDocument
}

// Shares reports whether a change can share an entry: it is one of a job, and has no documents.
func Shares(d jobtree.AuditDocument) bool {
	return d.Job != "" && len(d.Before) <= maxText && len(d.After) <= maxText
}

// Begin returns the entry of a change, with its job added: a new one if there is none with room. Other changes wait until its
// End, unless there is an error.
func (b *Batch) Begin(ctx context.Context, d jobtree.AuditDocument) (*Entry, error) {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	key := commonOf(d)
	job := d.Job
	e := b.open[key]
	if e != nil && slices.Contains(e.Document.Jobs, job) { // another commit of the same change
		e.added = false
		return e, nil
	}
	if e == nil || len(e.Document.Jobs) == maxJobs || e.names+len(job) > maxNames {
		id, err := uuid.NewV7()
		if err != nil {
			<-b.turn
			return nil, fmt.Errorf("audit: %w", err)
		}
		d.Job, d.Jobs = "", nil
		e = &Entry{batch: b, ID: id.String(), Document: d}
		b.open[key] = e
	}
	e.was, e.added = e.Document, true
	e.Document.Jobs = append(slices.Clip(e.Document.Jobs), job)
	e.names += len(job)
	if d.Before != e.Document.Before {
		e.Document.Before = ""
	}
	if d.After != e.Document.After {
		e.Document.After = ""
	}
	return e, nil
}

// End says what has become of the commit: its revision, or 0 if it was refused or isUnknown.
func (e *Entry) End(revision int64, isUnknown bool) {
	defer func() { <-e.batch.turn }()
	switch {
	case revision > 0:
		e.Last = revision
	case isUnknown || e.Last == 0:
		delete(e.batch.open, commonOf(e.Document))
	case e.added:
		e.names -= len(e.Document.Jobs[len(e.Document.Jobs)-1])
		e.Document = e.was
	}
}

func commonOf(d jobtree.AuditDocument) common {
	return common{d.By, d.From, d.Action, d.Detail, d.Why}
}

// Largest returns the list of jobs of the largest entry, to find out whether it fits into a commit.
func Largest() []string { return []string{strings.Repeat("x", maxNames+8*maxJobs)} }
