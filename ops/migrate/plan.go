package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Severity says how much a finding matters.
type Severity string

// The severities, the worst first.
const (
	Refused Severity = "refused" // with this, nothing moves
	Differs Severity = "differs" // something will be otherwise at the target
	Noted   Severity = "noted"   // good to know
)

// Finding is what an operator should know before the move.
type Finding struct {
	Severity Severity `json:"severity"`
	Job      string   `json:"job,omitempty"` // empty if it is about all of them
	Cause    string   `json:"cause"`
}

// State says where a job is.
type State string

// The states of a job.
const (
	There    State = "there"    // it is a job of the source
	OnItsWay State = "onItsWay" // it has left the source, and has not arrived
	AtTarget State = "atTarget" // it has arrived; the source may have something left to clear away
)

// JobPlan is what is to become of one job.
type JobPlan struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Nodes is how many are to be written at the target, and Items how many items the job has.
	Nodes int `json:"nodes"`
	Items int `json:"items"`
	// Instances are those that run it at the source.
	Instances []string `json:"instances,omitempty"`
	// IsConverted is whether its configuration is that of elastic-job 2.1.
	IsConverted bool `json:"converted,omitempty"`
}

// Plan is what [Move.Run] would do. To make it writes nothing.
type Plan struct {
	Jobs []JobPlan `json:"jobs"` // by name
	// Calendars are those that are to be written at the target. Removed and Audit say how many notes of
	// removed jobs, and entries of the audit, the source has.
	Calendars []string `json:"calendars,omitempty"`
	Removed   int      `json:"removed,omitempty"`
	Audit     int      `json:"audit,omitempty"`
	// Findings are the worst first, then by job.
	Findings []Finding `json:"findings,omitempty"`

	token     int64
	isRunning bool // a job is refused because instances run it
	shared    shared
}

// Refused returns why the move is refused; none if it is not.
func (p *Plan) Refused() []Finding {
	var list []Finding
	for _, f := range p.Findings {
		if f.Severity == Refused {
			list = append(list, f)
		}
	}
	return list
}

func (p *Plan) err() error {
	var list brief.List
	for _, f := range p.Refused() {
		list.Add(strings.TrimPrefix(f.Job+": "+f.Cause, ": "))
	}
	switch {
	case list.Empty():
		return nil
	case p.isRunning:
		return fmt.Errorf("%w: %w: %v", ErrRefused, ErrRunning, &list)
	}
	return fmt.Errorf("%w: %v", ErrRefused, &list)
}

func (p *Plan) weight() int {
	n := 0
	for _, j := range p.Jobs {
		n += j.Nodes
	}
	return n
}

func (p *Plan) names() []jobtree.Job {
	list := make([]jobtree.Job, len(p.Jobs))
	for i, j := range p.Jobs {
		list[i] = jobtree.Job(j.Name)
	}
	return list
}

func (p *Plan) find(severity Severity, format string, args ...any) {
	p.Findings = append(p.Findings, Finding{Severity: severity, Cause: fmt.Sprintf(format, args...)})
}

// lookedAt is of how many jobs a plan reads at a time where they are.
const lookedAt = 64

// Plan reads both sides, and says what Run would do, and what speaks against it. It reads up to eight
// jobs at a time into memory.
//
// Errors: ErrOther; ErrEmpty; ErrTakenOver, if another run changes what would be refused; those of a read.
func (m Move) Plan(ctx context.Context) (*Plan, error) {
	p, r := &Plan{}, m.newRun()
	err := r.plan(ctx, p)
	if id := r.id; errors.Is(err, ErrOther) && r.readLocks(ctx) == nil && r.id != id { // it was the first one, and has begun meanwhile
		err = ErrTakenOver
	}
	if errors.Is(err, ErrTakenOver) {
		err = r.byWhom(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("migrate: plan: %w", err)
	}
	order := []Severity{Refused, Differs, Noted}
	slices.SortStableFunc(p.Findings, func(a, b Finding) int {
		if a.Severity != b.Severity {
			return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
		}
		return strings.Compare(a.Job, b.Job)
	})
	return p, nil
}

func (r *run) plan(ctx context.Context, p *Plan) error {
	names, err := r.candidates(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	used := map[string]bool{}
	for some := range slices.Chunk(names, lookedAt) {
		positions, err := r.look(ctx, some...)
		if err != nil {
			return err
		}
		at := map[jobtree.Job]position{}
		for i, name := range some {
			at[name] = positions[i]
		}
		err = each(ctx, some, func(ctx context.Context, name jobtree.Job) error {
			j, c, err := r.examine(ctx, name, at[name])
			if err != nil || j == nil {
				return err
			}
			if c != nil && c.refused() != nil {
				switch now, err := r.look(ctx, name); {
				case err != nil:
					return err
				case !now[0].is(at[name]): // another run was at it meanwhile
					return ErrTakenOver
				}
			}
			mu.Lock()
			defer mu.Unlock()
			p.Jobs = append(p.Jobs, *j)
			if c != nil {
				p.add(&r.Move, j.State, c)
				for _, calendar := range c.settings.Calendars {
					used[calendar] = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(p.Jobs, func(a, b JobPlan) int { return strings.Compare(a.Name, b.Name) })
	if err := r.planShared(ctx, p, used); err != nil {
		return err
	}
	if len(p.Jobs)+len(p.Calendars)+p.Removed+p.Audit == 0 {
		return fmt.Errorf("%w: %s", ErrEmpty, r.From.Name)
	}
	p.compareStores(&r.Move)
	return nil
}

// add takes in what was found about a job.
func (p *Plan) add(m *Move, at State, c *cargo) {
	p.Findings = append(p.Findings, c.findings...)
	p.token = max(p.token, c.token)
	if c.isJVM {
		cause := "JVM programs have run it, which do not note the last tick that they have begun: the first Go program makes up nothing"
		if !m.To.ZooKeeper {
			cause += "; JVM programs cannot follow to this store"
		}
		p.Findings = append(p.Findings, Finding{Differs, string(c.job), cause})
	}
	if len(c.instances) == 0 || at == OnItsWay { // then they end
		return
	}
	var list brief.List
	for _, id := range c.instances {
		list.Add(id)
	}
	f := Finding{Refused, string(c.job), fmt.Sprintf("instances run it at the source: %v", &list)}
	if m.StopInstances && c.onJVM != "" {
		f.Cause = fmt.Sprintf("a JVM program runs %s, and nothing cuts that short: disable its server, and wait until it has ended", c.onJVM)
	} else if m.StopInstances {
		f.Severity, f.Cause = Differs, f.Cause+". They are stopped, and what they run is cut short. The move waits until they have ended, or their sessions have; a handler that does not watch its context may overlap with the next run of its item"
	} else {
		p.isRunning = true
	}
	p.Findings = append(p.Findings, f)
}

// compareStores finds what the two stores do not have in common.
func (p *Plan) compareStores(m *Move) {
	if p.token > 0 {
		p.find(Differs, "fencing tokens begin anew: the newest of the source is %d. If those of the target are smaller, systems that refuse smaller tokens have to be reset", p.token)
	}
	if m.From.ZooKeeper != m.To.ZooKeeper {
		p.find(Differs, "rights (ACLs, roles) do not go: the target has its own")
	}
	from, to := m.From.Registry.Clock(), m.To.Registry.Clock()
	if !from.Known() || !to.Known() {
		return
	}
	if off := to.Now().Sub(from.Now()).Round(time.Second); off.Abs() > decide.ClockTolerance {
		p.find(Differs, "the target's clock is off by %v from the source's: ticks that the source has begun may count as not begun, or as not come", off)
	}
}

// candidates returns the nodes of the source that may be jobs, and the jobs that are on their way.
func (r *run) candidates(ctx context.Context) ([]jobtree.Job, error) {
	names, err := r.onTheirWay(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range r.Jobs {
		names = append(names, jobtree.Job(name))
	}
	if len(r.Jobs) == 0 {
		nodes, err := r.source.List(ctx, "")
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if !strings.HasPrefix(n.Path, "~") { // what begins with a tilde belongs to no job
				names = append(names, jobtree.Job(n.Path))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// examine says what is to become of a job; nil if there is no such job, and its name was not given.
func (r *run) examine(ctx context.Context, name jobtree.Job, at position) (*JobPlan, *cargo, error) {
	j := &JobPlan{Name: string(name), State: There}
	switch {
	case at.target.Step == jobtree.Arrived:
		j.State = AtTarget
		return j, nil, nil
	case at.source.Step == jobtree.Leaving:
		j.State = OnItsWay
	case at.config.Created == 0 && at.target.Step == jobtree.Arriving: // it was removed meanwhile
		return j, nil, nil
	case at.config.Created == 0 && slices.Contains(r.Jobs, string(name)):
		return j, &cargo{job: name, findings: []Finding{{Refused, string(name), "the source has no such job"}}}, nil
	case at.config.Created == 0:
		return nil, nil, nil
	}
	c, err := r.pack(ctx, name, at)
	if err != nil {
		return nil, nil, err
	}
	if c.refused() == nil && at.target.Step == "" {
		switch whyNot, err := r.isTaken(ctx, name); {
		case err != nil:
			return nil, nil, err
		case whyNot != "":
			c.refuse("%s", whyNot)
		}
	}
	j.Nodes, j.Items, j.Instances, j.IsConverted = len(c.nodes)+2, c.items, c.instances, c.isConverted
	return j, c, nil
}
