package jobtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// trial is one Run that is under way.
type trial struct {
	Case
	store    *memory.Store
	registry *memory.Registry
	node     *job.Node
	recorder *Recorder
	job      *ops.Job
	leaving  sync.WaitGroup // for shutdowns
}

func (c Case) run(ctx context.Context, h job.Handler) (result Result, err error) {
	switch {
	case c.Item < 0:
		return result, errors.New("items begin at 0")
	case c.Config.Broadcast && c.Item != 0:
		return result, errors.New("a broadcast job has one item for each instance, so here it has item 0 only")
	}
	if least := min(c.KillAfter, c.ShutdownAfter, c.Drain, c.LoseSessionAfter); least < 0 {
		return result, fmt.Errorf("%v: times of a Case are not negative", least)
	}
	recorder := NewRecorder()
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	registry, err := store.Dial(ctx, memory.Config{Namespace: namespace, SessionTimeout: time.Second})
	if err != nil {
		return result, err
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	defer func() { _ = registry.Close(ended) }() // the store goes, too
	var ahead time.Duration
	if !c.Tick.IsZero() {
		ahead = time.Until(c.Tick.Add(time.Millisecond)) // a tick must not be in the future, for a backfill
	}
	store.SetClockOffset(ahead)
	by := ownTime()
	node, err := job.NewNode(registry, job.NodeConfig{Options: []job.Option{
		job.WithIP("jobtest"), job.WithObserver(recorder.observer(by)), job.WithScope(recorder.scope(by)),
		setup.Clock(func() time.Time { return time.Now().Add(ahead) }),
	}})
	if err != nil {
		return result, err
	}
	t := &trial{Case: c, store: store, registry: registry, node: node, recorder: recorder, job: ops.New(registry).By("jobtest").Job(c.Config.Name)}
	defer func() {
		_ = node.Shutdown(ended) // its only run has ended, or an error says more
		t.leaving.Wait()
	}()
	if err := t.start(ctx, h); err != nil {
		return result, err
	}
	if err = t.ask(ctx); err == nil {
		result, err = t.await(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, recorder) // before the shutdown adds to it
	}
	return result, err
}

// start starts the job so that no tick of it ever begins: its only server is disabled until
// the job is paused. Requests run during a pause.
func (t *trial) start(ctx context.Context, h job.Handler) error {
	cfg := t.Config
	if err := cfg.Validate(); err != nil {
		return err
	}
	cfg.Calendars, cfg.Expiry, cfg.Disabled = nil, job.Expiry{}, true
	var options []job.Option
	if cfg.Label != "" {
		options = append(options, job.WithLabels(cfg.Label))
	}
	if _, err := t.node.Schedule(ctx, cfg, h, append(options, t.Options...)...); err != nil {
		return err
	}
	if t.Cursor != "" {
		value, err := jobtree.EncodeCursor(jobtree.CursorDocument{Position: t.Cursor, Moved: time.Now()})
		if err != nil {
			return err
		}
		if _, err := t.registry.Commit(ctx, coord.Put(jobtree.Job(cfg.Name).Cursor(t.Item), value)); err != nil {
			return err
		}
	}
	if _, err := t.job.Pause(ctx, ops.PauseRequest{}); err != nil {
		return err
	}
	return t.job.EnableServers(ctx)
}

// ask asks for the execution.
func (t *trial) ask(ctx context.Context) error {
	if t.Tick.IsZero() {
		_, err := t.job.Trigger(ctx, job.TriggerRequest{Items: []int{t.Item}, Parameter: t.Parameter})
		return err
	}
	_, err := t.job.Backfill(ctx, ops.BackfillRequest{From: t.Tick, To: t.Tick, Items: []int{t.Item}, Parameter: t.Parameter})
	return err
}

// await waits for the end of the execution, and does meanwhile what the case wants.
func (t *trial) await(ctx context.Context) (Result, error) {
	if err := t.until(ctx, func(list []Execution) bool { return len(list) > 0 }); err != nil {
		return Result{}, err
	}
	acts := []*time.Timer{
		t.after(t.KillAfter, func() {
			if _, err := t.job.Kill(ctx, ops.KillRequest{}); err != nil { // it has just ended, or cannot be killed
				t.recorder.tell("operator", "cannot kill it: "+err.Error())
			}
		}),
		t.after(t.ShutdownAfter, func() {
			drain, cancel := context.WithTimeout(ctx, t.Drain)
			defer cancel()
			_ = t.node.Shutdown(drain) // the outcome tells what became of the execution
		}),
		t.after(t.LoseSessionAfter, t.registry.Link().BlackHole), // and there is no other session, in which the item would run again
	}
	defer func() {
		for _, act := range acts {
			if act != nil && act.Stop() {
				t.leaving.Done()
			}
		}
	}()
	if err := t.until(ctx, func(list []Execution) bool { return !list[0].IsRunning() }); err != nil {
		return Result{}, err
	}
	result := Result{Execution: t.recorder.Executions().list[0]}
	if node, ok := t.store.Snapshot(namespace).Get(jobtree.Job(t.Config.Name).Cursor(t.Item)); ok {
		d, err := jobtree.DecodeCursor(node.Value)
		if err != nil {
			return result, fmt.Errorf("%s: %w", node.Path, err)
		}
		result.Cursor = d.Position
	}
	return result, nil
}

// after does something later, unless the timer is stopped before; leaving waits for it.
func (t *trial) after(d time.Duration, act func()) *time.Timer {
	if d <= 0 {
		return nil
	}
	t.leaving.Add(1)
	return time.AfterFunc(d, func() {
		defer t.leaving.Done()
		act()
	})
}

// until waits until the executions are as wanted.
func (t *trial) until(ctx context.Context, ok func([]Execution) bool) error {
	for {
		changed := t.recorder.change()
		if ok(t.recorder.Executions().list) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return t.why(ctx)
		}
	}
}

// why says why an execution has not come, or has not ended.
func (t *trial) why(ctx context.Context) error {
	err := context.Cause(ctx)
	for _, s := range t.node.Jobs() {
		err = errors.Join(err, s.Status().Fault())
	}
	return err
}
