package ops_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
)

// operation is one that changes something, as the audit should have it.
type operation struct {
	do   func(context.Context, *ops.Ops) error
	want ops.Change // without what is the same for all
}

// operations are some that follow each other, on a job of three items, none of which runs.
var operations = []operation{
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").DisableItems(ctx, 2, 0, 1) }, ops.Change{Job: "settle", Action: ops.ActionDisableItems, Detail: "items 0-2"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").EnableItems(ctx, 0, 2) }, ops.Change{Job: "settle", Action: ops.ActionEnableItems, Detail: "items 0, 2"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").DisableServers(ctx) }, ops.Change{Job: "settle", Action: ops.ActionDisableServers, Detail: "all servers 10.0.0.1"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").EnableServers(ctx, "10.0.0.1") }, ops.Change{Job: "settle", Action: ops.ActionEnableServers, Detail: "servers 10.0.0.1"}},
	{func(ctx context.Context, o *ops.Ops) error {
		return o.Job("settle").Pin(ctx, 1, ops.PinRequest{Label: "gpu"})
	}, ops.Change{Job: "settle", Action: ops.ActionPin, Detail: "item 1", After: "label gpu"}},
	{func(ctx context.Context, o *ops.Ops) error {
		return o.Job("settle").Pin(ctx, 1, ops.PinRequest{Address: "10.0.0.1", Strict: true})
	}, ops.Change{Job: "settle", Action: ops.ActionPin, Detail: "item 1", Before: "label gpu", After: "address 10.0.0.1, strictly"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").Unpin(ctx, 1) }, ops.Change{Job: "settle", Action: ops.ActionUnpin, Detail: "item 1", Before: "address 10.0.0.1, strictly"}},
	{func(ctx context.Context, o *ops.Ops) error {
		_, err := o.Job("settle").Pause(ctx, ops.PauseRequest{Why: "maintenance"})
		return err
	}, ops.Change{Job: "settle", Action: ops.ActionPause, Why: "maintenance"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").Reshard(ctx) }, ops.Change{Job: "settle", Action: ops.ActionReshard}},
	{func(ctx context.Context, o *ops.Ops) error {
		_, err := o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: UTC\ndates: [2027-01-01]\n")})
		return err
	}, ops.Change{Action: ops.ActionPutCalendar, Detail: "calendar holidays", After: "timeZone: UTC\ndates: [2027-01-01]\n"}},
	{func(ctx context.Context, o *ops.Ops) error {
		return o.RemoveCalendar(ctx, ops.RemoveCalendarRequest{Name: "holidays"})
	}, ops.Change{Action: ops.ActionRemoveCalendar, Detail: "calendar holidays", Before: "timeZone: UTC\ndates: [2027-01-01]\n"}},
	{func(ctx context.Context, o *ops.Ops) error {
		_, err := o.Job("settle").Trigger(ctx, job.TriggerRequest{Items: []int{0}})
		return err
	}, ops.Change{Job: "settle", Action: ops.ActionTrigger, Detail: "item 0", After: "its request"}},
	{func(ctx context.Context, o *ops.Ops) error {
		return o.Job("settle").Implement(ctx, ops.ImplementRequest{From: "settle", To: "com.example.Settle"})
	}, ops.Change{Job: "settle", Action: ops.ActionImplement, Before: "settle", After: "com.example.Settle"}},
	{func(ctx context.Context, o *ops.Ops) error {
		return o.Job("settle").DisableServersAhead(ctx, "10.0.0.9", "10.0.0.8", "10.0.0.9")
	}, ops.Change{Job: "settle", Action: ops.ActionDisableServers, Detail: "servers 10.0.0.8, 10.0.0.9"}},
	{func(ctx context.Context, o *ops.Ops) error {
		_, err := o.Job("settle").ClearServers(ctx, ops.ClearServersRequest{Disabled: true})
		return err
	}, ops.Change{Job: "settle", Action: ops.ActionClearServers, Detail: "servers 10.0.0.8, 10.0.0.9"}},
	{func(ctx context.Context, o *ops.Ops) error {
		_, err := o.Job("settle").Shutdown(ctx, ops.ShutdownRequest{Servers: []string{"10.0.0.1"}, Why: "maintenance"})
		return err
	}, ops.Change{Job: "settle", Action: ops.ActionShutdown, Detail: "one instance", Why: "maintenance"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Job("settle").RemoveServers(ctx) }, ops.Change{Job: "settle", Action: ops.ActionRemoveServers, Detail: "servers 10.0.0.1"}},
	{func(ctx context.Context, o *ops.Ops) error {
		return o.Job("settle").Remove(ctx, ops.RemoveRequest{Why: "moved"})
	}, ops.Change{Job: "settle", Action: ops.ActionRemove, Why: "moved"}},
	{func(ctx context.Context, o *ops.Ops) error { return o.Readmit(ctx, "settle", ops.ReadmitRequest{}) }, ops.Change{Job: "settle", Action: ops.ActionReadmit}},
}

// The audit has each change, by the commit that makes it; a dry run tells of the same and writes nothing.
func TestAudit(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		runner := runsUntilRemoved(t, d, settle(), job.WithIP("10.0.0.1"))
		owns(t, runner, 3)
		var commits [][]coord.Op
		reg := &wired{Registry: open(t, d), sees: func(ops []coord.Op) { commits = append(commits, ops) }}
		var told []ops.Change
		all := ops.New(reg).By("anna").From("10.1.1.1").OnChange(func(c ops.Change) { told = append(told, c) })
		for _, op := range operations {
			commits, told = nil, nil
			if err := op.do(ctx, all.DryRun()); err != nil {
				t.Fatalf("%s: dry run: %v", op.want.Action, err)
			}
			if len(commits) > 0 || len(told) != 1 || told[0].ID != "" || !is(told[0], op.want) {
				t.Errorf("%s: a dry run has committed %v, and told %+v", op.want.Action, commits, told)
			}
			told = nil
			if err := op.do(ctx, all); err != nil {
				t.Fatalf("%s: %v", op.want.Action, err)
			}
			if len(told) != 1 || told[0].ID == "" || !is(told[0], op.want) {
				t.Fatalf("%s: told %+v", op.want.Action, told)
			}
			for _, ops := range commits {
				if !slices.ContainsFunc(ops, func(op coord.Op) bool { return strings.HasPrefix(op.Path, "~elasticjob/audit/") }) {
					t.Errorf("%s: the commit %v has no entry", op.want.Action, ops)
				}
			}
			if op.want.Action == ops.ActionShutdown {
				<-runner.Done()
			}
		}
		list, err := all.Audit(ctx, ops.AuditQuery{})
		if err != nil || len(list) != len(operations) {
			t.Fatalf("%d changes of %d, %v", len(list), len(operations), err)
		}
		for n, c := range list {
			if want := operations[len(operations)-1-n].want; !is(c, want) || c.By != "anna" || c.From != "10.1.1.1" || time.Since(c.At) > patience {
				t.Errorf("change %d is %+v, want %+v", n, c, want)
			}
		}
		if some, err := all.Audit(ctx, ops.AuditQuery{Job: "settle", Action: ops.ActionPin, Before: list[len(list)-6].ID, Limit: 1}); err != nil || len(some) != 1 || some[0].After != "label gpu" {
			t.Errorf("the pin before the second one: %+v, %v", some, err)
		}
	})
}

// is reports whether a change is as wanted. Documents of configurations are left out.
func is(c, want ops.Change) bool {
	if c.Action == ops.ActionRemove && strings.Contains(c.Before, "jobName: settle") {
		c.Before = ""
	}
	if strings.HasPrefix(c.Detail, "instances 10.0.0.1@-@") && !strings.Contains(c.Detail, ",") {
		c.Detail = "one instance"
	}
	if c.Action == ops.ActionTrigger && strings.HasPrefix(c.After, "request ") {
		c.After = "its request"
	}
	c.ID, c.At, c.By, c.From = "", time.Time{}, "", ""
	return reflect.DeepEqual(c, want)
}

// What is as it should be already is no change.
func TestNoChange(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		owns(t, runsUntilRemoved(t, d, settle(), job.WithIP("10.0.0.1")), 3)
		ctx := t.Context()
		all := ops.New(open(t, d)).OnChange(func(c ops.Change) { t.Errorf("changed: %+v", c) })
		steer := all.Job("settle")
		there, err := steer.Settings(ctx)
		if err := errors.Join(err, steer.EnableItems(ctx, 0, 1, 2), steer.EnableServers(ctx), steer.Unpin(ctx, 1),
			steer.Update(ctx, ops.UpdateRequest{Config: there.Config, Version: there.Version})); err != nil {
			t.Error(err)
		}
	})
}

// The newest changes stay. One that takes several commits is one entry.
func TestAuditIsBounded(t *testing.T) {
	ctx := t.Context()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg := open(t, func() (coord.Registry, error) { return store.Dial(ctx, memory.Config{Namespace: "ops"}) })
	all := ops.New(reg)
	config := settle()
	config.ShardingTotalCount = 300
	if err := all.Create(ctx, ops.CreateRequest{Config: config}); err != nil {
		t.Fatal(err)
	}
	var items []int
	for i := range 300 {
		if _, err := reg.Commit(ctx, coord.Put("settle/sharding/"+strconv.Itoa(i)+"/fired", nil)); err != nil {
			t.Fatal(err)
		}
		items = append(items, i)
	}
	parts := map[string]int{}
	if err := all.OnChange(func(c ops.Change) { parts[c.ID]++ }).Job("settle").DisableItems(ctx, items...); err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 {
		t.Errorf("entries and their commits: %v", parts)
	}
	put := func(n int) error {
		_, err := all.PutCalendar(ctx, ops.PutCalendarRequest{Name: fmt.Sprint("c", n), Document: []byte("timeZone: UTC\ndates: [2027-01-01]\n")})
		return err
	}
	for n := range 2500 {
		if err := put(n); err != nil {
			t.Fatal(err)
		}
	}
	list, err := all.Audit(ctx, ops.AuditQuery{})
	if err != nil || len(list) < ops.MaxAudit || len(list) > 2*ops.MaxAudit || list[0].Detail != "calendar c2499" {
		t.Errorf("%d changes are kept, the newest is %+v; %v", len(list), list[0], err)
	}
}

// One action on many jobs has few entries, which name the jobs that have changed, and leaves older ones in place.
func TestManyJobsShareEntries(t *testing.T) {
	ctx := t.Context()
	reg := inMemory(t)
	var traced sync.Map
	keeps := sink(func(_ context.Context, b trace.Batch) error {
		for _, e := range b.Events {
			traced.Store(e.ID, e.Job)
		}
		return nil
	})
	anna := ops.New(reg, ops.WithTrace(keeps, nil)).By("anna")
	const jobs = 1000
	name := func(n int) string { return fmt.Sprintf("job-%d", n) }
	for n := range jobs {
		plant(t, reg, name(n), map[string]string{"config": small})
	}
	const older = 900
	for n := range older {
		if err := anna.Note(ctx, ops.ActionAddUser, fmt.Sprint(n), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := anna.Job(name(7)).Pause(ctx, ops.PauseRequest{Why: "before"}); err != nil {
		t.Fatal(err)
	}
	together := anna.Together()
	turns := make(chan int)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for n := range turns {
				if _, err := together.Job(name(n)).Pause(ctx, ops.PauseRequest{Why: "the warehouse moves"}); (err != nil) != (n == 7) {
					t.Errorf("%s: %v", name(n), err)
				}
			}
		})
	}
	for n := range jobs {
		turns <- n
	}
	close(turns)
	workers.Wait()
	list, err := anna.Audit(ctx, ops.AuditQuery{By: "anna", Action: ops.ActionPause})
	var named []string
	for _, c := range list {
		if named = append(named, c.Jobs...); c.Why == "the warehouse moves" && (c.Job != "" || len(c.Jobs) > 200) {
			t.Errorf("an entry of %d jobs: %+v", len(c.Jobs), c)
		}
	}
	slices.Sort(named)
	if err != nil || len(list) != 6 || len(slices.Compact(named)) != jobs-1 || slices.Contains(named, name(7)) {
		t.Errorf("%d entries name %d jobs, %v", len(list), len(named), err)
	}
	if list, err := anna.Audit(ctx, ops.AuditQuery{Action: ops.ActionAddUser}); err != nil || len(list) != older {
		t.Errorf("%d older entries are left, %v", len(list), err)
	}
	if list, err := anna.Audit(ctx, ops.AuditQuery{Job: name(8)}); err != nil || len(list) != 1 || !slices.Contains(list[0].Jobs, name(8)) {
		t.Errorf("of a job: %+v, %v", list, err)
	}
	mine := anna.Only(func(job string) bool { return job == name(8) || job == name(9) })
	if list, err := mine.Audit(ctx, ops.AuditQuery{Action: ops.ActionPause}); err != nil || len(list) == 0 || strings.Contains(fmt.Sprint(list), name(10)) {
		t.Errorf("who may see some jobs: %+v, %v", list, err)
	}
	// The history has an event for each job, also if the audit is traced again.
	if err := anna.TraceAudit(ctx, keeps); err != nil {
		t.Fatal(err)
	}
	events := map[string]int{}
	traced.Range(func(_, job any) bool { events[job.(string)]++; return true })
	if events[name(8)] != 1 || events[name(7)] != 1 || events[""] != older {
		t.Errorf("events of jobs: %d, %d, %d", events[name(8)], events[name(7)], events[""])
	}
}

// A change whose commit is refused, or of which nobody knows, is in no entry that goes on.
func TestEntriesAreOfWhatHasChanged(t *testing.T) {
	ctx := t.Context()
	reg := inMemory(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		plant(t, reg, name, map[string]string{"config": small})
	}
	fails := map[string]error{"b": coord.ErrDenied, "c": coord.ErrUnknownOutcome}
	job := ""
	together := ops.New(&wired{Registry: reg, answer: func(commit func() (int64, error)) (int64, error) {
		if err := fails[job]; err != nil {
			return 0, err
		}
		return commit()
	}}).Together()
	for _, job = range []string{"a", "b", "c", "d"} {
		if _, err := together.Job(job).Pause(ctx, ops.PauseRequest{}); !errors.Is(err, fails[job]) {
			t.Errorf("%s: %v", job, err)
		}
	}
	list, err := together.Audit(ctx, ops.AuditQuery{Action: ops.ActionPause})
	if err != nil || len(list) != 2 || !slices.Equal(list[0].Jobs, []string{"d"}) || !slices.Equal(list[1].Jobs, []string{"a"}) {
		t.Errorf("%+v, %v", list, err)
	}
}

// Who makes many changes, with whatever tokens, pushes out nobody else's: of his own the newest stay.
func TestAuditIsFair(t *testing.T) {
	ctx := t.Context()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg := open(t, func() (coord.Registry, error) { return store.Dial(ctx, memory.Config{Namespace: "ops"}) })
	all := ops.New(reg)
	if err := all.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
		t.Fatal(err)
	}
	note := func(by string, n int) {
		t.Helper()
		for i := range n {
			if err := all.By(by).Note(ctx, ops.ActionPause, fmt.Sprint("change ", i), "", ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	const few, many = 10, 2400
	note("anna", few)
	note("ben (token t)", few)
	for i := range many / 2 {
		eve := all.By(fmt.Sprintf("eve (token t%d)", i)).Job("settle")
		_, err := eve.Pause(ctx, ops.PauseRequest{})
		if err := errors.Join(err, eve.Resume(ctx, ops.ResumeRequest{})); err != nil {
			t.Fatal(err)
		}
	}
	list, err := all.Audit(ctx, ops.AuditQuery{})
	if newest := fmt.Sprintf("eve (token t%d)", many/2-1); err != nil || len(list) < ops.MaxAudit || len(list) > 2*ops.MaxAudit || list[0].By != newest {
		t.Errorf("%d changes are kept, the newest is %+v; %v", len(list), list[0], err)
	}
	for _, by := range []string{"anna", "ben (token t)"} {
		if list, err := all.Audit(ctx, ops.AuditQuery{By: by}); err != nil || len(list) != few {
			t.Errorf("of %s %d changes of %d are kept; %v", by, len(list), few, err)
		}
	}
}

// A change whose answer is lost is found by its entry: so whoever has made it is told, also of the last one of
// several commits. What has not arrived is an error.
func TestAnswersAreLost(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		if err := ops.New(reg).Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		var items []int
		for i := range 100 {
			if _, err := reg.Commit(ctx, coord.Put("settle/sharding/"+strconv.Itoa(i)+"/fired", nil)); err != nil {
				t.Fatal(err)
			}
			items = append(items, i)
		}
		arrive, told, commits := 1, 0, 0
		lossy := &wired{Registry: reg, answer: func(commit func() (int64, error)) (int64, error) {
			if commits++; commits <= arrive {
				if _, err := commit(); err != nil {
					t.Error(err)
				}
			}
			return 0, coord.ErrUnknownOutcome
		}}
		all := ops.New(lossy).OnChange(func(ops.Change) { told++ })
		if err := all.Job("settle").Pin(ctx, 1, ops.PinRequest{Label: "gpu"}); err != nil || told != 1 || commits != 1 {
			t.Errorf("%v; %d changes were told, of %d commits", err, told, commits)
		}
		told, commits = 0, 0
		if err := all.Job("settle").DisableItems(ctx, items...); !errors.Is(err, coord.ErrUnknownOutcome) || told != 1 || commits != 2 {
			t.Errorf("the second part has not arrived: %v; %d changes were told, of %d commits", err, told, commits)
		}
		arrive, told, commits = 2, 0, 0
		if err := all.Job("settle").EnableItems(ctx, items...); err != nil || told != 2 || commits != 2 {
			t.Errorf("%v; %d changes were told, of %d commits", err, told, commits)
		}
	})
}
