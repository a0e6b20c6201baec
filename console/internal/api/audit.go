package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// AuditInput says which changes are wanted.
type AuditInput struct {
	InNamespace
	InShortPage
	Job    string     `query:"job" maxLength:"255" doc:"Name of the job that has changed."`
	By     string     `query:"by" maxLength:"255" doc:"Who has made the change."`
	Action ops.Action `query:"action" maxLength:"50" doc:"What was done, such as pause."`
	From   time.Time  `query:"from" doc:"Changes at this time or later."`
	To     time.Time  `query:"to" doc:"Changes before this time."`
}

// InShortPage is InPage for rows that may be long.
type InShortPage struct {
	After string `query:"after" maxLength:"2000" doc:"Cursor: next of the page before. Default: the first page."`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many rows a page has at most."`
}

// AuditEntry is a change that an operator has made.
type AuditEntry struct {
	ops.Change
	Error string `json:"error,omitempty" doc:"Why nothing of this can be told but the id."`
}

func (a *API) addAudit() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: namespacePath + "/audit", Tags: tagNamespaces, Summary: "What operators have changed, newest first",
		Description: "Changes of the namespace. It keeps 1,000; of more, the oldest ones of whoever has made the most go. The history has more of them: its events of the kind operated.",
	}, a.audit)
}

func (a *API) audit(ctx context.Context, in *AuditInput) (*answer[Page[AuditEntry]], error) {
	before, err := (&InPage{After: in.After}).place("audit")
	if err != nil {
		return nil, err
	}
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := o.Audit(ctx, ops.AuditQuery{Job: in.Job, By: in.By, Action: in.Action, From: in.From, To: in.To, Before: before, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	next := ""
	if len(changes) > in.Limit {
		changes = changes[:in.Limit]
		next = changes[in.Limit-1].ID
	}
	rows := make([]AuditEntry, len(changes))
	for i, c := range changes {
		rows[i] = AuditEntry{veiledChange(c), textOf(c.Err)}
	}
	return paged(rows, cursorTo("audit", next)), nil
}

// textOf is the beginning of an error's text; empty if there is no error.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return brief.Error(err).Error()
}
