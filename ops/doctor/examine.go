package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Options say what is examined, and how.
type Options struct {
	// Jobs are the names of those to be examined. Default: the whole namespace, and the store.
	Jobs []string
	// Wait is the time between the two looks. Default 5 s. What heals by itself takes less, unless
	// the processes are very busy.
	Wait time.Duration
	// History tells of the past; without one no missed ticks are found. It stays the caller's.
	History history.Reader
	// Thresholds say from when on something is a finding.
	Thresholds Thresholds
	// Progress is told after each job how many the look has examined, of how many: of 0 if nobody knows. It may be nil.
	Progress func(done, of int)
}

// Thresholds say from when on something is a finding. Zero ones have their defaults.
type Thresholds struct {
	// Late is how long after its tick, and after the jitter of its job, an execution may begin. Default ops.LateAfter.
	Late time.Duration `yaml:"late"`
	// Long is how long an execution may go on. Default: until 10 s and the misfire tolerance after the next tick.
	Long time.Duration `yaml:"long"`
	// Missed is how many ticks of a job may be missed within a day. Default 100.
	Missed int `yaml:"missed"`
}

// Validate returns an error that says which threshold is none.
func (t Thresholds) Validate() error {
	for name, n := range map[string]int64{"late": int64(t.Late), "long": int64(t.Long), "missed": int64(t.Missed)} {
		if n < 0 {
			return fmt.Errorf("%s is below 0", name)
		}
	}
	return nil
}

const (
	defaultWait   = 5 * time.Second
	defaultMissed = 100
	// clockWait bounds the wait for the store's clock.
	clockWait = 2 * time.Second
	clockStep = 20 * time.Millisecond
	// clockTolerance is how far a clock may be off, as for jobtype.FaultClock.
	clockTolerance = 5 * time.Second
	// readOneByOne is how many jobs are read one by one at the second look. For more of them the
	// whole namespace is read again.
	readOneByOne = 500
	// readAgain is how often a namespace is read from the beginning, because the store has dropped the
	// state that was read.
	readAgain = 3
)

// Examine looks for what is wrong with the jobs of a namespace, and with its store. It writes
// nothing, but for the node by which ZooKeeper tells the time ([coord.ClockPath]). The registry stays
// the caller's.
//
// Errors: ops.ErrNoJob if one of Options.Jobs is not there; ErrUnavailable, ErrClosed, ErrCompacted of
// package coord, and the cause of ctx. What may not be read is a finding.
func Examine(ctx context.Context, reg coord.Registry, o Options) (Report, error) {
	jobs := slices.Sorted(slices.Values(o.Jobs))
	o.Jobs, o.Wait = slices.Compact(jobs), cmp.Or(o.Wait, defaultWait)
	o.Thresholds.Late, o.Thresholds.Missed = cmp.Or(o.Thresholds.Late, ops.LateAfter), cmp.Or(o.Thresholds.Missed, defaultMissed)
	e := &examination{reg: reg, o: o, report: Report{At: clocks.Wall(), Findings: []Finding{}}}
	if err := e.run(ctx); err != nil {
		return e.report, fmt.Errorf("doctor: %w", err)
	}
	return e.report, nil
}

type examination struct {
	reg    coord.Registry
	o      Options
	report Report
}

func (e *examination) run(ctx context.Context) error {
	sure := newCollector() // what needs no second look
	clock, err := e.compareClocks(ctx)
	if err != nil {
		return err
	}
	if ahead := clock.Ahead(clocks.Wall()); ahead.Abs() > clockTolerance {
		sure.add(symptom{Finding: Finding{Kind: ClockOff, Severity: Warning,
			Cause:  fmt.Sprintf("the clock of this host is %v ahead of the store's; if it is the store's that is wrong, all instances say so", ahead.Round(time.Millisecond)),
			Advice: "set the clock that is wrong"}})
	}
	if store, ok := e.reg.(coord.Inspector); ok && len(e.o.Jobs) == 0 {
		facts, err := store.Facts(ctx)
		if err != nil {
			return err
		}
		e.report.Store = &facts
		checkStore(facts, sure)
	}
	for _, name := range e.o.Jobs {
		if !jobtree.IsName(name) && !jobtree.IsJVMName(name) {
			return fmt.Errorf("%w: %s", ops.ErrNoJob, brief.Quote(name))
		}
	}
	first, err := e.look(ctx, scope{all: len(e.o.Jobs) == 0, names: e.o.Jobs})
	if err != nil {
		return err
	}
	if e.report.Jobs = first.jobs; first.jobs < len(e.o.Jobs) {
		away := slices.DeleteFunc(slices.Clone(e.o.Jobs), func(name string) bool { return first.names[name] })
		return fmt.Errorf("%w: %s, of %d that were named", ops.ErrNoJob, brief.Quote(away[0]), len(e.o.Jobs))
	}
	found := first.list
	if len(found) > 0 {
		if !sleep.For(ctx, e.o.Wait) {
			return context.Cause(ctx)
		}
		second, err := e.look(ctx, suspects(found, len(e.o.Jobs) == 0))
		if err != nil {
			return err
		}
		found = standing(found, second.list)
	}
	for _, s := range found {
		sure.add(s)
	}
	e.checkHistory(ctx, first.names, sure)
	e.report.Findings = append(e.report.Findings, findings(sure.list)...)
	slices.SortFunc(e.report.Findings, compare)
	e.report.More = first.more + sure.more
	return nil
}

// compareClocks returns the store's clock, or an unknown one if it cannot be read soon.
func (e *examination) compareClocks(ctx context.Context) (coord.Clock, error) {
	clock := e.reg.Clock()
	for range clockWait / clockStep {
		if clock.Known() || clock.Err() != nil {
			break
		}
		if !sleep.For(ctx, clockStep) {
			return clock, context.Cause(ctx)
		}
		clock = e.reg.Clock()
	}
	return clock, nil
}

// scope is what a look is at: all children of the namespace, or some.
type scope struct {
	all   bool
	names []string
}

// suspects returns what has symptoms, or all if that is much.
func suspects(found []symptom, mayAll bool) scope {
	var names []string
	isAll := false
	for _, s := range found {
		name := s.Job
		if name == "" {
			name, _, _ = strings.Cut(s.Path, "/")
		}
		isAll = isAll || coord.ValidatePath(name) != nil // what no path may be cannot be read alone
		if name != own {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return scope{all: mayAll && (isAll || len(names) > readOneByOne), names: names}
}

// look examines what is in a scope once.
func (e *examination) look(ctx context.Context, at scope) (*collector, error) {
	e.report.Looks++
	for attempt := 1; ; attempt++ {
		c, err := e.lookOnce(ctx, at)
		if errors.Is(err, coord.ErrDenied) {
			// Some child of the namespace, or a node below it, may not be read.
			at, err = e.eachOf(ctx)
			if errors.Is(err, coord.ErrDenied) {
				c.add(denied("", err))
				return c, nil
			}
			if err == nil {
				c, err = e.lookOnce(ctx, at)
			}
		}
		if !errors.Is(err, coord.ErrCompacted) || attempt == readAgain {
			return c, err
		}
	}
}

func (e *examination) lookOnce(ctx context.Context, at scope) (*collector, error) {
	c := newCollector()
	ns, err := readNamespace(ctx, e.reg, e.reg.Clock(), c)
	if err != nil {
		return c, err
	}
	ns.Thresholds = e.o.Thresholds
	list := named(ctx, e.reg, at.names)
	if at.all {
		list = children(ctx, e.reg)
	}
	for found, err := range list {
		if err != nil {
			return c, err
		}
		if examine(ns, found, c) {
			if c.jobs++; e.o.Progress != nil {
				e.o.Progress(c.jobs, len(at.names))
			}
			c.names[found.name] = true
		}
	}
	return c, nil
}

// eachOf returns all children of the namespace, to be read one by one.
func (e *examination) eachOf(ctx context.Context) (scope, error) {
	nodes, err := e.reg.List(ctx, "")
	var at scope
	for _, n := range nodes {
		if n.Path != own {
			at.names = append(at.names, n.Path)
		}
	}
	return at, err
}

// examine examines one child of the namespace, and reports whether it is a job.
func examine(ns *namespace, found child, c *collector) (isJob bool) {
	switch {
	case errors.Is(found.err, coord.ErrInvalidPath):
		c.add(symptom{Finding: unusableName(found.name, "no program can use this name, nor read what is below it")})
		return false
	case found.err != nil:
		c.add(denied(found.name, found.err))
		return true
	}
	s := jobtree.Read(found.tree, jobtree.Job(found.name))
	if len(s.LeftOut) > 0 {
		c.add(tooMany(found.name, s))
	}
	if len(s.TooLarge) > 0 {
		c.add(tooLarge(found.name, s))
	}
	switch {
	case s.Config == nil:
		if _, isMoving := ns.moving[found.name]; !isMoving {
			_, isRest := ns.removed[found.name]
			c.add(noJob(found, isRest))
		}
		return false
	case !jobtree.IsName(found.name):
		c.add(symptom{mark: s.Config.Created, Finding: ofJVM(found.name, s)})
		return true
	}
	newWorld(ns, found.name, s).check(c)
	return true
}

// ofJVM is about a job whose name no Go job can have.
func ofJVM(name string, s *jobtree.State) Finding {
	running := 0
	for i := range s.Items {
		if s.Items[i].Running != nil {
			running++
		}
	}
	if len(s.Instances) == 0 && len(s.Sessions) == 0 {
		f := unusableName(name, "it is a job by a name that only JVM members can use, and none of them lives now")
		f.Advice = "leave it if a JVM is to run it again; if not, remove it by the store's own tools. Go jobs have names of letters, digits and . _ - :"
		return f
	}
	return Finding{
		Kind: JVMOnly, Severity: Info, Job: name,
		Cause:  fmt.Sprintf("it is a job of JVM members, of which %d live and run %d items; no Go process can join it, because Go jobs have names of letters, digits and . _ - :", len(s.Instances), running),
		Advice: "leave it to its JVM members; for Go members give it another name",
	}
}

func unusableName(name, cause string) Finding {
	return Finding{
		Kind: UnusableName, Severity: Warning, Path: brief.Cut(name, coord.MaxPathLength), Cause: cause,
		Advice: "remove it by the store's own tools; names have letters, digits and . _ - :",
	}
}

func noJob(found child, isRest bool) symptom {
	f := Finding{
		Kind: NoJob, Severity: Info, Path: brief.Cut(found.name, coord.MaxPathLength),
		Cause: "it has no configuration, so it is no job", Advice: "remove it, if it belongs to nobody",
	}
	if isRest {
		f.Kind, f.Severity, f.Job, f.Path = RemovalRest, Warning, found.name, ""
		f.Cause = fmt.Sprintf("the job was removed, and %d nodes of it are left: its removal was cut short", found.tree.Len())
		f.Advice, f.Action, f.Command = "remove it again", Remove, commandOf(Remove, found.name)
	}
	return symptom{mark: int64(found.tree.Len()), Finding: f} // with other nodes somebody is at work there
}
