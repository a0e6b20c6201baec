package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// How long the controller waits where nothing that it could wait for tells it to look
// again. None of them is a poll: each is armed only while something is unsettled.
const (
	// settleAfter is how old a difference between the tree and this process may grow
	// before it is no longer put down to the view being late.
	settleAfter = time.Second
	// firstRetry and lastRetry bound the back-off after an error of the store.
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
	// partingTime bounds what a scheduler says to the store when it goes.
	partingTime = 5 * time.Second
	// commitsAtOnce bounds the commits of one step that are under way together.
	commitsAtOnce = 8
	// yieldTime bounds how long a JVM leader that deals the items holds up our fires.
	yieldTime = 30 * time.Second
)

// controller runs one job in this process. One goroutine owns all of its state but
// what stands below mu. It is level-triggered: whatever wakes it, it looks at the
// newest snapshot and asks the steps what is to be done.
type controller struct {
	reg     coord.Registry
	view    coord.View
	job     jobtree.Job
	handler Handler
	options *options
	log     *zap.Logger

	settings *settings
	state    *jobtree.State
	changed  <-chan struct{} // closed when the view has something newer than state
	refused  int64           // Modified of the last configuration that was refused

	session coord.Session
	self    self
	asked   bool // this session has tried to register
	seen    bool // this instance was in a snapshot of this session

	runs      map[int]*run
	queue     []*run // claimed and waiting for a slot
	executing int
	ended     map[int]int64
	triggers  map[int]manual
	localTick time.Time    // the last tick that was fired without records
	missed    map[int]bool // items that a tick without records found running

	gone       map[string]time.Time
	lingering  time.Time // when runs that are done wait no longer for the others
	unseen     time.Time // since when the view lacks the claim of a run that is done
	unsettled  time.Time // since when the tree has leftovers
	yielding   time.Time // since when a JVM leader deals
	suspicious bool      // a commit of ours may have happened unseen
	stale      bool      // a commit met a conflict: the view has to catch up
	conflicts  int       // in a row
	syncs      int
	retryAt    time.Time
	retryIn    time.Duration
	reconciled time.Time
	faults     [faultKinds]error
	sweeping   bool      // servers that nobody uses are to be removed
	skipped    time.Time // the tick that a wrong clock kept from running
	leaving    error     // why, once it is on its way out
	grace      time.Time // until when handlers may take to return

	inTurn   bool            // commits of a step follow each other; for tests
	stopping context.Context // ends when the time to drain is over
	wake     chan struct{}   // holds one
	started  func()          // called once this instance is in the tree
	working  sync.WaitGroup

	mu       sync.Mutex
	returned []*run
	shutdown bool
	status   Status
}

// loop runs until this instance has left, and returns why it did.
func (c *controller) loop() error {
	for {
		if gone, err := c.enter(); gone || err != nil {
			return err
		}
		if c.stale && !c.pausing() {
			c.catchUp()
		}
		c.look()
		c.collect()
		w := c.world()
		gone, err := c.pass(w)
		c.publish(w)
		if gone || err != nil {
			return err
		}
		if !c.stale || c.pausing() {
			c.wait()
		}
	}
}

// enter makes sure that there is a session. A new one is a new identity. gone is true
// when this instance was on its way out, and with its session has nothing left to hand
// over.
func (c *controller) enter() (gone bool, err error) {
	if err := c.view.Err(); err != nil {
		return true, fmt.Errorf("job %s: view of its tree: %w", c.job, err)
	}
	if c.session != nil && c.session.Context().Err() == nil {
		return false, nil
	}
	if c.session != nil {
		c.log.Warn("session lost", zap.String("instance", c.self.id), zap.Error(context.Cause(c.session.Context())))
	}
	c.forget()
	if c.session != nil && (c.isShutdown() || c.leaving != nil) {
		return true, c.why()
	}
	session, err := c.reg.Session(c.stopping)
	if err != nil {
		if c.stopping.Err() != nil {
			return true, c.why()
		}
		return true, fmt.Errorf("job %s: %w", c.job, err)
	}
	c.session = session
	c.self.id = newInstanceID(c.options.ip)
	c.self.session = session.ID()
	c.asked, c.seen, c.suspicious = false, false, false
	clear(c.ended)
	return false, nil
}

// forget drops what was queued under a session that has ended. What executes has had
// its context ended with the session; it stays until it returns, and keeps its item
// from starting here before that.
func (c *controller) forget() {
	for _, r := range c.queue {
		delete(c.runs, r.item)
	}
	c.queue = nil
}

// look decodes the view if it has changed, and follows the configuration.
func (c *controller) look() {
	select {
	case <-c.changed:
	default:
		if c.changed != nil {
			return
		}
	}
	c.changed = c.view.Changed() // before the snapshot: nothing is missed between them
	c.state = jobtree.Reread(c.view.Snapshot(), c.job, c.state)
	if c.state.Config == nil || c.state.Config.Modified <= c.settings.modified || c.state.Config.Modified == c.refused {
		return
	}
	document := c.state.Config
	config, err := DecodeConfig(document.Value)
	var next *settings
	if err == nil {
		next, err = c.settings.follow(config, c.options, document.Modified)
	}
	if err != nil {
		c.refused = document.Modified
		c.fault(faultConfig, fmt.Errorf("job %s: the configuration in the registry is refused, the last good one stays in force: %w", c.job, err))
		return
	}
	if c.settings.Cron != next.Cron || c.settings.TimeZone != next.TimeZone {
		c.localTick = c.options.now()
	}
	c.settings = next
	c.refused = 0
	c.fault(faultConfig, nil)
	c.log.Info("configuration changed", zap.Int64("revision", document.Modified))
}

// collect takes in the runs that have returned since the last time.
func (c *controller) collect() {
	c.mu.Lock()
	returned := c.returned
	c.returned = nil
	c.mu.Unlock()
	for _, r := range returned {
		c.executing--
		r.phase = done
		r.group.open--
		r.syncs = c.syncs
		r.cancel(nil)
		if r.token == 0 || r.instance != c.self.id {
			c.drop(r)
			continue
		}
		if c.lingering.IsZero() {
			c.lingering = c.now().Add(c.options.linger)
		}
	}
	c.dispatch()
}

func (c *controller) now() time.Time { return c.options.now() }

func (c *controller) world() *world {
	now := c.now()
	if c.settings.StaticSharding {
		c.gone = absences(c.state, c.gone, now)
	}
	return &world{
		State: c.state, job: c.job, settings: c.settings, self: c.self, now: now,
		runs: c.runs, ended: c.ended, free: c.free(), leaving: c.leaving != nil, gone: c.gone,
	}
}

// free is how many more items could begin at once.
func (c *controller) free() int { return c.settings.threads - c.executing - len(c.queue) }

// absences keeps since when each owner has been missing.
func absences(s *jobtree.State, before map[string]time.Time, now time.Time) map[string]time.Time {
	var gone map[string]time.Time
	for i := range s.Items {
		owner := s.Items[i].Owner
		if owner == nil {
			continue
		}
		if _, ok := s.Instances[owner.ID]; ok {
			continue
		}
		if gone == nil {
			gone = map[string]time.Time{}
		}
		gone[owner.ID] = now
		if since, ok := before[owner.ID]; ok {
			gone[owner.ID] = since
		}
	}
	return gone
}

// pass asks every step once. gone is true when nothing is left to be done here.
func (c *controller) pass(w *world) (gone bool, err error) {
	if c.pausing() {
		return false, nil
	}
	if c.removed() {
		return c.abandon(w, ErrJobRemoved), c.why()
	}
	if c.isShutdown() && c.leaving == nil {
		c.leaving = ErrShutdown
		w.leaving = true
	}
	c.cancelLost(w)
	c.finish(w)
	if c.leaving != nil {
		return c.leave(w)
	}
	if !w.registered() {
		return false, c.register(w)
	}
	c.seen = true
	c.obey(w)
	c.fire(w)
	w.free = c.free()
	c.commitAll(w.takeOver())
	c.settle(w)
	return false, c.lead(w)
}

// removed reports whether the whole job was removed. The view is right about it, but
// may not have seen yet that it was just set up.
func (c *controller) removed() bool {
	if c.state.Config != nil {
		return false
	}
	_, err := c.reg.Get(c.session.Context(), c.job.Config())
	if errors.Is(err, coord.ErrNoNode) {
		return true
	}
	if err != nil {
		c.failed("look", err)
	}
	c.stale = true // it is there: the view has to catch up
	return false
}

// register brings this instance into the tree. Once it was there, in this session, only
// an operator can have removed it: that is how one instance is told to shut down.
func (c *controller) register(w *world) error {
	if c.asked {
		there, err := c.wasRegistered()
		if err != nil {
			c.failed("register", err)
			return nil
		}
		if there || c.seen {
			return nil // the view is late, or the session is about to say that it has ended
		}
	}
	commit, err := w.register()
	if err != nil {
		return err
	}
	c.asked = true
	c.commit(*commit)
	return nil
}

// wasRegistered looks in the store what has become of the registration. Its two nodes
// are made in one commit: if the session's is there, so was the instance's.
func (c *controller) wasRegistered() (bool, error) {
	session, err := get(c.session.Context(), c.reg, c.job.Session(c.self.id))
	if err != nil || session.Created == 0 {
		return false, err
	}
	instance, err := get(c.session.Context(), c.reg, c.job.Instance(c.self.id))
	if err != nil {
		return false, err
	}
	if instance.Created != 0 {
		c.stale = true
		return true, nil
	}
	c.log.Info("removed by an operator, shutting down", zap.String("instance", c.self.id))
	c.leaving = ErrInstanceRemoved
	c.poke()
	return true, nil
}

// obey takes a trigger, and begins the items that triggers wait for.
func (c *controller) obey(w *world) {
	if commit, trigger := w.obey(); commit != nil && c.commit(*commit) {
		c.take(w, trigger)
	}
	for _, i := range slices.Sorted(maps.Keys(c.triggers)) {
		c.yield(w, i)
	}
	if !c.settings.monitor {
		c.triggerUnmonitored(w)
		return
	}
	c.commitAll(w.manually(c.triggers))
}

// take remembers the items of a request until they are idle.
func (c *controller) take(w *world, trigger jobtree.Trigger) {
	request := trigger.Request
	switch {
	case trigger.Err != nil:
		c.log.Warn("trigger not obeyed: it cannot be read", zap.Error(trigger.Err))
	case !w.active():
		c.log.Warn("trigger not obeyed: the server is disabled", zap.String("request", request.ID))
	default:
		for _, i := range w.requested(request) {
			if _, waiting := c.triggers[i]; waiting {
				c.log.Info("trigger joins one that waits", zap.Int("item", i), zap.String("request", request.ID))
			}
			c.triggers[i] = manual{parameter: request.Parameter}
		}
	}
}

// yield gives up a trigger that waits for an item which this instance does not own: its
// owner gets it.
func (c *controller) yield(w *world, i int) {
	item := w.Item(i)
	if i >= c.settings.ShardingTotalCount || item.Disabled {
		c.log.Warn("trigger not obeyed: the item was disabled or is no more", zap.Int("item", i))
		delete(c.triggers, i)
		return
	}
	if item.Owner.Is(c.self.id) {
		return
	}
	commit, err := w.passOn(i, c.triggers[i])
	if err != nil {
		c.log.Error("trigger not passed on", zap.Int("item", i), zap.Error(err))
		return
	}
	if commit != nil && c.commit(*commit) {
		delete(c.triggers, i)
	}
}

// fire begins what is due.
func (c *controller) fire(w *world) {
	if !c.settings.monitor {
		c.fireUnmonitored(w)
		return
	}
	if c.yields(w) {
		return
	}
	commits := w.fire()
	if len(commits) == 0 {
		return
	}
	if c.clockAllows(w.lastTick()) {
		c.commitAll(commits)
	}
}

// clockAllows reports whether a tick may run by the clocks, if they are looked at. It
// asks once for each tick.
func (c *controller) clockAllows(tick time.Time) bool {
	if c.settings.MaxTimeDiff <= 0 {
		c.fault(faultClock, nil)
		return true
	}
	if tick.Equal(c.skipped) {
		return false
	}
	err := c.checkClock()
	c.fault(faultClock, err)
	if err != nil {
		c.skipped = tick
	}
	return err == nil
}

// yields reports whether a JVM leader is dealing the items: then what is assigned now
// is about to change. Our own leaders need no such time; they have a session node,
// which a JVM has not.
func (c *controller) yields(w *world) bool {
	deals := w.Leader != nil && (w.Necessary || w.Processing)
	if deals {
		_, ours := w.Sessions[w.Leader.ID]
		deals = !ours
	}
	if !deals {
		c.yielding = time.Time{}
		return false
	}
	if c.yielding.IsZero() {
		c.yielding = w.now
	}
	return w.now.Sub(c.yielding) < yieldTime
}

// checkClock compares the local clock with the store's.
func (c *controller) checkClock() error {
	before := c.now()
	store, err := c.reg.Now(c.session.Context(), c.job.SystemTime())
	if err != nil {
		return fmt.Errorf("job %s: the tick does not run, because the store's clock cannot be compared: %w", c.job, err)
	}
	// The answer is from between the request and now, so the nearer end counts.
	diff := max(before.Sub(store), store.Sub(c.now()))
	if diff > c.settings.MaxTimeDiff {
		return fmt.Errorf("job %s: the tick does not run: %w: %v, at most %v are allowed", c.job, ErrClock, diff.Round(time.Second), c.settings.MaxTimeDiff)
	}
	return nil
}

// finish removes the records of runs that are done, once all of their claim are, or
// they have waited long enough for the others.
func (c *controller) finish(w *world) {
	var ready []*run
	open, unseen := false, false
	for _, i := range slices.Sorted(maps.Keys(c.runs)) {
		r := c.runs[i]
		if r.phase != done || c.leaving != nil && c.unfinished(r) {
			continue
		}
		if r.group.open > 0 {
			open = true
		}
		switch w.standing(r) {
		case ours:
			if w.Item(r.item).Running == nil && r.refused {
				c.drop(r)
				continue
			}
			ready = append(ready, r)
		case foreign:
			c.drop(r)
		case behind:
			// The view is late. If it is not that, the item is gone.
			if r.syncs < c.syncs {
				c.drop(r)
				continue
			}
			unseen = true
		}
	}
	switch {
	case !unseen:
		c.unseen = time.Time{}
	case c.unseen.IsZero():
		c.unseen = w.now
	case w.now.Sub(c.unseen) >= settleAfter:
		c.unseen, c.stale = time.Time{}, true
	}
	if w.now.Before(c.lingering) && (len(ready) == 0 || open && c.leaving == nil) {
		return
	}
	c.lingering = time.Time{} // what becomes ready later has waited long enough
	if len(ready) > 0 {
		c.commitAll(w.finish(ready))
	}
}

// cancelLost ends the context of runs whose item somebody else has claimed since.
func (c *controller) cancelLost(w *world) {
	for _, r := range c.runs {
		if r.phase == executing && r.instance == c.self.id && r.token != 0 {
			if fired := w.Item(r.item).Fired; fired != nil && fired.Modified > r.token {
				r.cancel(ErrItemLost)
			}
		}
	}
}

// settle looks after what the tree has as running here although it is not.
func (c *controller) settle(w *world) {
	left := w.leftovers()
	if len(left) == 0 {
		c.unsettled, c.suspicious = time.Time{}, false
		return
	}
	if c.unsettled.IsZero() {
		c.unsettled = w.now
	}
	if !c.suspicious && w.now.Sub(c.unsettled) < settleAfter {
		return
	}
	c.unsettled, c.suspicious = time.Time{}, false
	for _, i := range left {
		running, err := c.reg.Get(c.session.Context(), c.job.Running(i))
		switch {
		case errors.Is(err, coord.ErrNoNode) || err == nil && string(running.Value) != c.self.id:
		case err != nil:
			c.failed("settle", err)
			return
		default:
			c.commit(w.settle(i))
		}
	}
}

// lead does what a leader does, or becomes one. One step commits in a pass: the next
// has to see what it did.
func (c *controller) lead(w *world) error {
	if commit := w.elect(); commit != nil {
		c.commit(*commit)
		return nil
	}
	if commit := w.abdicate(); commit != nil {
		c.commit(*commit)
		return nil
	}
	if !w.leads() {
		return nil
	}
	commit, err := w.schedule()
	if err != nil {
		return err
	}
	if commit != nil {
		c.commit(*commit)
		return nil
	}
	if orphans := c.confirm(w.orphans()); len(orphans) > 0 {
		c.commitAll(w.recover(orphans))
		return nil
	}
	if commits := w.clean(); len(commits) > 0 {
		c.commitAll(commits)
		return nil
	}
	if c.sweeping {
		c.sweeping = false
		if commits := w.sweep(); len(commits) > 0 {
			c.commitAll(commits)
			return nil
		}
	}
	commits, err := w.assign()
	c.fault(faultStrategy, err)
	c.commitAll(commits)
	return nil
}

// confirm reads the records of orphans again from the store. A snapshot may show a
// commit in parts, and an old record beside a new claim must not be taken for one
// that was left behind.
func (c *controller) confirm(orphans []orphan) []orphan {
	return slices.DeleteFunc(orphans, func(o orphan) bool {
		path, want := c.job.Failovering(o.item), o.state.Failovering
		if o.state.Running != nil {
			path, want = c.job.Running(o.item), o.state.Running
		}
		n, err := c.reg.Get(c.session.Context(), path)
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			c.failed("recover", err)
		}
		if err != nil || n.Created != want.Created {
			c.stale = c.stale || err == nil
			return true
		}
		return false
	})
}

// start begins the runs of a claim.
func (c *controller) start(runs []*run, token int64) {
	g := &group{open: len(runs)}
	for _, r := range runs {
		r.token, r.group, r.phase = token, g, queued
		c.runs[r.item] = r
		c.queue = append(c.queue, r)
		if r.source == Manual {
			delete(c.triggers, r.item)
		}
	}
	c.dispatch()
}

// dispatch executes what is queued while there are free slots.
func (c *controller) dispatch() {
	for len(c.queue) > 0 && c.executing < c.settings.threads {
		r := c.queue[0]
		c.queue = c.queue[1:]
		c.execute(r)
	}
}

func (c *controller) execute(r *run) {
	taskID, err := newTaskID()
	if err != nil {
		c.log.Error("an execution has no task id", zap.Error(err))
	}
	s := c.settings
	e := execution{
		handler: c.handler, log: c.log, errors: s.errors, timeout: s.Timeout, retry: s.Retry,
		sc: ShardingContext{
			JobName: s.Name, TaskID: taskID, InstanceID: r.instance,
			Item: r.item, ItemParameter: s.parameters[r.item], JobParameter: s.JobParameter, Total: s.ShardingTotalCount,
			ScheduledTime: r.tick.In(s.zone), Source: r.source, Attempt: 1, Token: r.token,
		},
	}
	if r.param != "" {
		e.sc.JobParameter = r.param
	}
	ctx, cancel := context.WithCancelCause(c.session.Context())
	r.cancel, r.phase = cancel, executing
	c.executing++
	c.working.Go(func() {
		err := errGoexit // unless the handler returns
		defer func() {
			c.mu.Lock()
			r.err, r.cut = err, ctx.Err() != nil
			c.returned = append(c.returned, r)
			c.mu.Unlock()
			c.poke()
		}()
		err = e.do(ctx)
	})
}

// drop forgets a run whose record is gone, or is none of ours any more.
func (c *controller) drop(r *run) {
	if c.runs[r.item] == r {
		delete(c.runs, r.item)
	}
	if r.instance == c.self.id && r.token > c.ended[r.item] {
		c.ended[r.item] = r.token
	}
}

// publish lets others see how this scheduler stands.
func (c *controller) publish(w *world) {
	s := Status{
		InstanceID: c.self.id,
		Registered: w.registered(),
		Enabled:    w.ServerEnabled(c.self.ip),
		Leader:     w.leads(),
		Leaving:    c.leaving != nil,
		Running:    slices.Sorted(maps.Keys(c.runs)),
	}
	for i := range c.state.Items {
		if c.state.Items[i].Owner.Is(c.self.id) {
			s.Items = append(s.Items, i)
		}
	}
	s.Fault = errors.Join(c.faults[:]...)
	c.mu.Lock()
	c.status = s
	c.mu.Unlock()
	if s.Registered {
		c.started()
	}
}

// fault is a kind of thing that keeps a job from running as it is configured.
type fault int

const (
	faultConfig   fault = iota // the configuration in the registry is refused
	faultClock                 // the clock is off
	faultStrategy              // a custom strategy gives answers that cannot be
	faultKinds
)

// fault reports a fault, or with nil that it is over: in the log when it begins or
// changes, and in Status as long as it lasts.
func (c *controller) fault(kind fault, err error) {
	before := c.faults[kind]
	c.faults[kind] = err
	if err != nil && (before == nil || before.Error() != err.Error()) {
		c.log.Error("job is at fault", zap.Error(err))
	}
}

// poke wakes the controller, now or when it next waits.
func (c *controller) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *controller) isShutdown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutdown
}

// why is what loop returns in the end: nil after a Shutdown that was asked for.
func (c *controller) why() error {
	if c.leaving == nil || errors.Is(c.leaving, ErrShutdown) {
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, c.leaving)
}
