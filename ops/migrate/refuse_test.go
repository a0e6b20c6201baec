package migrate_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// plain is a job without anything special.
func plain(name string) map[string]string {
	return map[string]string{
		name:                         name,
		name + "/config":             "cron: 0 0 3 * * ?\njobName: " + name + "\nshardingTotalCount: 1\n",
		name + "/sharding/0/fired":   "2026-01-31T03:00:00.000Z",
		name + "/sharding/0/misfire": "",
	}
}

// What cannot go is refused before anything is written; the other findings keep nothing from going.
func TestFindings(t *testing.T) {
	for name, tc := range map[string]struct {
		source, target map[string]string
		jobs           []string
		severity       migrate.Severity
		want           string
	}{
		"no name of a job":        {source: map[string]string{"a job": "", "a job/config": "jobName: a job\nshardingTotalCount: 1\n"}, severity: migrate.Refused, want: "no job can have this name"},
		"a bad configuration":     {source: map[string]string{"a/config": "jobName: a\nshardingTotalCount: 0\n"}, severity: migrate.Refused, want: "shardingTotalCount"},
		"another's configuration": {source: map[string]string{"a/config": "jobName: b\nshardingTotalCount: 1\n"}, severity: migrate.Refused, want: `that of job "b"`},
		"a long implementation":   {source: map[string]string{"a": strings.Repeat("x", 1001), "a/config": "jobName: a\nshardingTotalCount: 1\n"}, severity: migrate.Refused, want: "up to 1000 bytes"},
		"no such job":             {jobs: []string{"b"}, severity: migrate.Refused, want: "the source has no such job"},
		"another job":             {target: map[string]string{"a": "", "a/config": "jobName: a\nshardingTotalCount: 7\n"}, severity: migrate.Refused, want: "the target has a job of that name"},
		"the same job, that ran":  {target: with(plain("a"), "a/sharding/0/fired", "2026-02-01T03:00:00.000Z"), severity: migrate.Refused, want: "the target has a job of that name"},
		"nodes of no job":         {target: map[string]string{"a/x": "y"}, severity: migrate.Refused, want: "without a configuration"},
		"another calendar":        {source: map[string]string{"~elasticjob/calendars/x": "1"}, target: map[string]string{"~elasticjob/calendars/x": "2"}, severity: migrate.Refused, want: `another calendar "x"`},
		"no name of a calendar":   {source: map[string]string{"~elasticjob/calendars/a b": "1"}, severity: migrate.Noted, want: "no calendar can have the name"},
		"a schedule":              {source: map[string]string{"a/schedule": "since: whenever\n"}, severity: migrate.Differs, want: "cannot be read"},
		"all servers disabled":    {source: map[string]string{"a/servers/10.0.0.1": "DISABLED"}, severity: migrate.Differs, want: "all of its servers are disabled"},
		"a pin to an instance":    {source: map[string]string{"a/pins/0": "instance: 10.0.0.1@-@1-a\n"}, severity: migrate.Differs, want: "does not come back"},
		"a trigger":               {source: map[string]string{"a/trigger/10.0.0.1@-@1-a": ""}, severity: migrate.Differs, want: "name instances: 1"},
		"tokens":                  {severity: migrate.Differs, want: "fencing tokens begin anew"},
		"a run without failover":  {source: map[string]string{"a/sharding/0/running": "10.0.0.1@-@1-a"}, severity: migrate.Noted, want: "not run again"},
		"a stranger's node":       {source: map[string]string{"a/notes/x": "y"}, severity: migrate.Noted, want: `and do not go: 1, such as "a/notes/x"`},
		"a request":               {source: map[string]string{"a/requests/000000000007-x": "items: \"0\"\nsource: MANUAL\nat: 2026-01-31T03:00:00.000Z\n"}, severity: migrate.Noted, want: "have not ended: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, a := inMemory(t)
			_, b := inMemory(t)
			from, to := open(t, a), open(t, b)
			put(t, from, plain("a"))
			put(t, from, tc.source)
			put(t, to, tc.target)
			was, had := tree(t, from), tree(t, to)
			m := between(from, to)
			m.Jobs = tc.jobs
			plan, err := m.Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(plan.Findings, func(f migrate.Finding) bool { return f.Severity == tc.severity && strings.Contains(f.Cause, tc.want) }) {
				t.Errorf("findings are %+v", plan.Findings)
			}
			isRefused := tc.severity == migrate.Refused
			if isRefused != (len(plan.Refused()) > 0) {
				t.Errorf("refused are %+v", plan.Refused())
			}
			_, err = m.Run(t.Context())
			if isRefused != errors.Is(err, migrate.ErrRefused) {
				t.Errorf("got %v", err)
			}
			if isRefused && (!maps.Equal(tree(t, from), was) || !maps.Equal(tree(t, to), had)) {
				t.Error("something was written")
			}
		})
	}
}

func with(nodes map[string]string, path, value string) map[string]string {
	nodes[path] = value
	return nodes
}

// Some jobs move, and the others and what they need stay. Back again, the notes of the first move give
// way.
func TestSomeJobsAndBack(t *testing.T) {
	_, a := inMemory(t)
	_, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	put(t, from, plain("a"))
	put(t, from, plain("b"))
	put(t, from, map[string]string{"~elasticjob/calendars/x": "1", "~elasticjob/removed/gone": "by: otto\n", "~elasticjob/audit/1": "job: a\n", "~elasticjob/audit/2": "job: b\n"})
	was := tree(t, from)
	there := between(from, to)
	there.Jobs = []string{"a", "a"}
	if result, err := there.Run(t.Context()); err != nil || !slices.Equal(result.Moved, []string{"a"}) {
		t.Fatal(result, err)
	}
	compare(t, tree(t, to), with(plain("a"), "~elasticjob/audit/1", "job: a\n"))
	back := migrate.Move{From: there.To, To: there.From}
	if result, err := back.Run(t.Context()); err != nil || !slices.Equal(result.Moved, []string{"a"}) {
		t.Fatal(result, err)
	}
	compare(t, tree(t, from), was)
}

// Programs that start a job where it is not, or not yet, are refused, whatever their revision is.
func TestProgramsOnTheWrongSide(t *testing.T) {
	_, a := inMemory(t)
	target, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	put(t, from, plain("a"))
	// The migration stops when the job has left the source and is not at the target.
	stuck := target.Inject(memory.Fault{Method: memory.Commit, Path: "a/sharding/**", Before: coord.ErrDenied})
	if _, err := between(from, to).Run(t.Context()); !errors.Is(err, coord.ErrDenied) {
		t.Fatal(err)
	}
	starts := func(d dial) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cfg := job.Config{Name: "a", Cron: "0 0 3 * * ?", ShardingTotalCount: 1, Revision: jobtype.MaxRevision}
		s, err := job.Schedule(ctx, open(t, d), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
		if err == nil {
			err = s.Shutdown(ctx)
		}
		return err
	}
	const wherever = "; start it when it has arrived, with the store and namespace to which it is moved"
	for side, d := range map[string]dial{"source": a, "target": b} {
		if err := starts(d); !errors.Is(err, job.ErrJobRemoved) || !strings.HasSuffix(err.Error(), wherever) || !strings.Contains(err.Error(), "is being moved "+map[string]string{"source": "to new://ns", "target": "here from old://ns"}[side]) {
			t.Errorf("at the %s, while it is on its way: %v", side, err)
		}
	}
	for side, reg := range map[string]coord.Registry{"source": from, "target": to} {
		o := ops.New(reg)
		for what, err := range map[string]error{
			"readmit": o.Readmit(t.Context(), "a", ops.ReadmitRequest{}),
			"remove":  o.Job("a").Remove(t.Context(), ops.RemoveRequest{}),
			"create":  o.Create(t.Context(), ops.CreateRequest{Config: job.Config{Name: "a", ShardingTotalCount: 1}}),
			"dry run": o.DryRun().Readmit(t.Context(), "a", ops.ReadmitRequest{}),
		} {
			if !errors.Is(err, ops.ErrMoving) {
				t.Errorf("at the %s, %s: %v", side, what, err)
			}
		}
	}
	_, c := inMemory(t)
	if _, err := between(from, open(t, c)).Run(t.Context()); !errors.Is(err, migrate.ErrOther) {
		t.Errorf("to another target: %v", err)
	}
	if _, err := between(to, open(t, c)).Run(t.Context()); !errors.Is(err, migrate.ErrOther) {
		t.Errorf("on from the target: %v", err)
	}
	back := migrate.Move{From: between(from, to).To, To: between(from, to).From}
	_, runs := back.Run(t.Context())
	_, aborts := back.Abort(t.Context())
	for _, err := range []error{runs, aborts} {
		if !errors.Is(err, migrate.ErrOther) || !strings.Contains(err.Error(), "in the other direction: go on with elasticjob migrate --from old://ns --to new://ns a, or take it back with --abort") {
			t.Errorf("in the other direction: %v", err)
		}
	}
	stuck.Remove()
	plan, err := between(from, to).Plan(t.Context())
	if err != nil || len(plan.Jobs) != 1 || plan.Jobs[0].State != migrate.OnItsWay {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	if _, err := between(from, to).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if removed, err := ops.New(from).Removed(t.Context()); err != nil || len(removed) != 1 || removed[0].Migration != "" {
		t.Errorf("removed at the source: %+v, %v", removed, err)
	}
	if err := starts(a); !errors.Is(err, job.ErrJobRemoved) || !strings.Contains(err.Error(), "was moved to new://ns") || !strings.HasSuffix(err.Error(), "it runs there now: start it with that store and namespace") {
		t.Errorf("at the source, after the move: %v", err)
	}
	if err := starts(b); err != nil {
		t.Errorf("at the target, after the move: %v", err)
	}

	// A JVM, which knows no notes, has set it up again; an operator removes that.
	o := ops.New(from)
	put(t, from, plain("a"))
	if err := o.Job("a").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
		t.Error(err)
	}
	if removed, err := o.Removed(t.Context()); err != nil || len(removed) != 1 || removed[0].MovedTo != "new://ns" || removed[0].Why != "was moved to new://ns" {
		t.Errorf("removed once more at the source: %+v, %v", removed, err)
	}
	// It would run twice if an operator readmitted or created it at the source, unless he says that it does not.
	config := job.Config{Name: "a", Cron: "0 0 3 * * ?", ShardingTotalCount: 1}
	for _, o := range []*ops.Ops{o.DryRun(), o} {
		for what, err := range map[string]error{
			"readmit": o.Readmit(t.Context(), "a", ops.ReadmitRequest{}),
			"create":  o.Create(t.Context(), ops.CreateRequest{Config: config}),
			"apply":   o.Apply(t.Context(), ops.ApplyRequest{Set: "shop", Config: config, Implementation: "a"}),
		} {
			if !errors.Is(err, ops.ErrMoved) || !strings.HasSuffix(err.Error(), "it is in new://ns; if it does not run there any more: elasticjob readmit a --moved") {
				t.Errorf("%s at the source: %v", what, err)
			}
		}
	}
	if err := o.Readmit(t.Context(), "a", ops.ReadmitRequest{Moved: true}); err != nil {
		t.Error(err)
	}
	if err := starts(a); err != nil {
		t.Errorf("readmitted at the source: %v", err)
	}
}

// What does not come after all is as before at the source, and the target has but a note.
func TestAbort(t *testing.T) {
	_, a := inMemory(t)
	target, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	put(t, from, plain("a"))
	put(t, to, map[string]string{"~elasticjob/removed/a": "why: it was wrong here\n"})
	was := tree(t, from)
	stuck := target.Inject(memory.Fault{Method: memory.Commit, Path: "a/sharding/**", Before: coord.ErrDenied})
	if _, err := between(from, to).Run(t.Context()); !errors.Is(err, coord.ErrDenied) {
		t.Fatal(err)
	}
	stuck.Remove()
	var told []ops.Action
	m := between(from, to)
	m.OnChange = func(c ops.Change) { told = append(told, c.Action) }
	if result, err := m.Abort(t.Context()); err != nil || !slices.Equal(result.Stayed, []string{"a"}) || len(result.Moved) > 0 {
		t.Fatal(result, err)
	}
	compare(t, tree(t, from), was)
	const note = "~elasticjob/removed/a"
	got := tree(t, to)
	if !strings.Contains(got[note], "was not moved here") || !strings.Contains(got[note], "movedTo: ") { // it runs there
		t.Errorf("the note says %q", got[note])
	}
	compare(t, got, map[string]string{note: got[note]})
	if !slices.Equal(told, []ops.Action{ops.ActionAbortMigration, ops.ActionAbortMigration}) {
		t.Errorf("told of %v", told)
	}
	for _, reg := range []coord.Registry{from, to} {
		changes, err := ops.New(reg).Audit(t.Context(), ops.AuditQuery{Action: ops.ActionAbortMigration})
		if err != nil || len(changes) != 1 || changes[0].By != "anna" {
			t.Errorf("audit %+v, %v", changes, err)
		}
	}
}

// Nothing cuts short what a JVM runs: such a job is not moved from under it.
func TestStopOfAJVMThatRuns(t *testing.T) {
	_, a := inMemory(t)
	_, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	put(t, from, plain("a"))
	const id = "10.0.0.9@-@1"
	name := jobtree.Job("a")
	if _, err := from.Commit(t.Context(), coord.CreateEphemeral(name.Instance(id), nil), coord.Put(name.Running(0), []byte(id))); err != nil {
		t.Fatal(err)
	}
	m := between(from, to)
	m.StopInstances = true
	was := tree(t, from)
	if _, err := m.Run(t.Context()); !errors.Is(err, migrate.ErrRefused) || !strings.Contains(err.Error(), "a JVM program runs item 0 on ") {
		t.Errorf("it runs: %v", err)
	}
	compare(t, tree(t, from), was)
	if _, err := from.Commit(t.Context(), coord.Delete(name.Running(0))); err != nil {
		t.Fatal(err)
	}
	if result, err := m.Run(t.Context()); err != nil || !slices.Equal(result.Moved, []string{"a"}) {
		t.Errorf("it has ended: %+v, %v", result, err)
	}
}

// A job that a JVM has set up again at the source is told of, and stays.
func TestSetUpAgain(t *testing.T) {
	_, a := inMemory(t)
	target, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	put(t, from, plain("a"))
	stuck := target.Inject(memory.Fault{Method: memory.Commit, Path: "a/sharding/**", Before: coord.ErrDenied})
	if _, err := between(from, to).Run(t.Context()); !errors.Is(err, coord.ErrDenied) {
		t.Fatal(err)
	}
	stuck.Remove()
	put(t, from, map[string]string{"a/config": "jobName: a\nshardingTotalCount: 1\n"})
	if _, err := between(from, to).Run(t.Context()); !errors.Is(err, migrate.ErrSetUpAgain) || !strings.Contains(err.Error(), "job a") {
		t.Errorf("got %v", err)
	}
	if result, err := between(from, to).Abort(t.Context()); err != nil || !slices.Equal(result.Stayed, []string{"a"}) {
		t.Errorf("aborted: %+v, %v", result, err)
	}
	compare(t, tree(t, from), with(plain("a"), "a/config", "jobName: a\nshardingTotalCount: 1\n"))
}

// A namespace without anything, whose name may be mistyped, is no move of nothing. One whose jobs have moved is.
func TestEmptySource(t *testing.T) {
	_, a := inMemory(t)
	_, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	if _, err := between(from, to).Run(t.Context()); !errors.Is(err, migrate.ErrEmpty) || !strings.HasSuffix(err.Error(), "the source has no jobs: old://ns") {
		t.Errorf("got %v", err)
	}
	compare(t, tree(t, from), nil)
	put(t, from, plain("a"))
	for range 2 {
		if _, err := between(from, to).Run(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A namespace cannot be moved to itself, through whatever connections.
func TestToItself(t *testing.T) {
	_, a := inMemory(t)
	from := open(t, a)
	put(t, from, plain("a"))
	was := tree(t, from)
	for _, to := range []coord.Registry{from, open(t, a)} {
		if _, err := between(from, to).Run(t.Context()); !errors.Is(err, migrate.ErrRefused) || !strings.Contains(err.Error(), "has a job of that name") {
			t.Errorf("got %v", err)
		}
		compare(t, tree(t, from), was)
	}
}

// meddler is a registry on which somebody else writes when a commit has been carried out.
type meddler struct {
	coord.Registry
	after func(ops []coord.Op)
}

func (m *meddler) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	revision, err := m.Registry.Commit(ctx, ops...)
	m.after(ops)
	return revision, err
}

// What somebody writes into the tree of a job on its way, on either side, is found before the job is one
// at the target. When that is gone, the migration goes on.
func TestSourceAndTargetDiffer(t *testing.T) {
	for name, write := range map[string]func(from, to coord.Registry) (coord.Registry, coord.Op){
		"an operator at the source": func(from, _ coord.Registry) (coord.Registry, coord.Op) {
			return from, coord.Put("a/pins/0", []byte("label: gpu\n"))
		},
		"a change at the target": func(_, to coord.Registry) (coord.Registry, coord.Op) { return to, coord.Put("a/sharding/0/fired", nil) },
		"something at the target": func(_, to coord.Registry) (coord.Registry, coord.Op) {
			return to, coord.Put("a/sharding/9/fired", []byte("x"))
		},
		"a removal at the target": func(_, to coord.Registry) (coord.Registry, coord.Op) {
			return to, coord.DeleteTree("a/sharding/0/fired")
		},
		"an instance at the target": func(_, to coord.Registry) (coord.Registry, coord.Op) {
			return to, coord.CreateEphemeral("a/instances/x", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, a := inMemory(t)
			_, b := inMemory(t)
			from, to := open(t, a), open(t, b)
			put(t, from, plain("a"))
			reg, op := write(from, to)
			isDone := false
			target := &meddler{Registry: to, after: func(ops []coord.Op) {
				isStaging := slices.ContainsFunc(ops, func(op coord.Op) bool { return op.Path == "a/sharding/0/fired" })
				if isStaging && !isDone {
					isDone = true
					if _, err := reg.Commit(t.Context(), op); err != nil {
						t.Error(err)
					}
				}
			}}
			if _, err := between(from, target).Run(t.Context()); !errors.Is(err, migrate.ErrDiffers) || !strings.Contains(err.Error(), op.Path) {
				t.Fatalf("got %v", err)
			}
			if _, err := to.Get(t.Context(), "a/config"); !errors.Is(err, coord.ErrNoNode) {
				t.Errorf("it is a job at the target: %v", err)
			}
			if result, err := between(from, target).Run(t.Context()); err != nil || !slices.Equal(result.Moved, []string{"a"}) {
				t.Error(result, err)
			}
		})
	}
}
