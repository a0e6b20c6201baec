package ops

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Action is what an operator has done.
type Action string

// The actions. Each is named after the method that does it.
const (
	ActionCreate         Action = "create"
	ActionUpdate         Action = "update"
	ActionApply          Action = "apply"
	ActionRelease        Action = "release"
	ActionImplement      Action = "implement"
	ActionRemove         Action = "remove"
	ActionReadmit        Action = "readmit"
	ActionTrigger        Action = "trigger"
	ActionRetry          Action = "retry"
	ActionBackfill       Action = "backfill"
	ActionCancel         Action = "cancel"
	ActionKill           Action = "kill"
	ActionPause          Action = "pause"
	ActionResume         Action = "resume"
	ActionReshard        Action = "reshard"
	ActionPin            Action = "pin"
	ActionUnpin          Action = "unpin"
	ActionDisableItems   Action = "disable items"
	ActionEnableItems    Action = "enable items"
	ActionDisableServers Action = "disable servers"
	ActionEnableServers  Action = "enable servers"
	ActionShutdown       Action = "shut down"
	ActionRemoveServers  Action = "remove servers"
	ActionClearMisfires  Action = "clear misfires"
	ActionClearFailovers Action = "clear failovers"
	ActionClearServers   Action = "clear servers"
	ActionClearStale     Action = "clear stale nodes"
	ActionPutCalendar    Action = "put calendar"
	ActionRemoveCalendar Action = "remove calendar"
	// Of package rights.
	ActionAddUser    Action = "add user"
	ActionRemoveUser Action = "remove user"
	// Of package migrate, in both namespaces.
	ActionMigrate        Action = "migrate"
	ActionAbortMigration Action = "abort migration"
)

// Change is what an operator has changed: [Ops.OnChange] tells it, and [Ops.Audit] keeps it.
type Change struct {
	// ID names the entry of the audit; it sorts by time. It is empty if nothing was written,
	// because of [Ops.DryRun].
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at,omitzero"`
	// By is who has made the change ([Ops.By]), and From where he was ([Ops.From]).
	By   string `json:"by,omitempty"`
	From string `json:"from,omitempty"`
	// Job is the job that has changed; empty if it is the namespace, or several: the Jobs of [Ops.Together]. To OnChange each
	// of these is told by itself, with the ID of the entry that it shares.
	Job    string   `json:"job,omitempty"`
	Jobs   []string `json:"jobs,omitempty"`
	Action Action   `json:"action"`
	// Detail says what of the job it concerns, such as "items 0-3", in 1,024 bytes at most.
	Detail string `json:"detail,omitempty"`
	Why    string `json:"why,omitempty"`
	// Before and After are how it was, and how it is: whole documents of configurations and
	// calendars, or a few words. 16 KiB are kept of each at most; Cut is whether there was more.
	// Versions of ZooKeeper repeat (see package coord): if it was removed and created again while an
	// operator changed it, Before may be how it was in its earlier life.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
	// Err says why nothing of this can be told but the ID: the entry cannot be read.
	Err error `json:"-"`
}

// document returns what the audit keeps of a change.
func (c Change) document() jobtree.AuditDocument {
	return jobtree.AuditDocument{
		At: c.At, By: c.By, From: c.From, Job: c.Job, Jobs: c.Jobs, Action: string(c.Action), Detail: c.Detail, Why: c.Why,
		Before: c.Before, After: c.After, Cut: c.Cut,
	}
}

// changeOf returns a change as the audit has it.
func changeOf(id string, d jobtree.AuditDocument) Change {
	return Change{
		ID: id, At: d.At, By: d.By, From: d.From, Job: d.Job, Jobs: d.Jobs, Action: Action(d.Action), Detail: d.Detail, Why: d.Why,
		Before: d.Before, After: d.After, Cut: d.Cut,
	}
}

// bounded returns the change with its texts as the audit keeps them.
func (c Change) bounded() Change {
	c.Cut = c.Cut || len(c.Before) > jobtree.MaxAuditText || len(c.After) > jobtree.MaxAuditText
	c.Before, c.After = brief.Cut(c.Before, jobtree.MaxAuditText), brief.Cut(c.After, jobtree.MaxAuditText)
	c.Detail, c.Why = brief.Cut(c.Detail, jobtree.MaxAuditDetail), brief.Cut(c.Why, maxBy)
	return c
}
