package jobtree

import (
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Guarantee is the node of a tick that once-listeners are being told of.
type Guarantee struct {
	coord.Node
	Tick time.Time
	GuaranteeDocument
	// IsOpen is whether Started has ended, or its time is over.
	IsOpen bool
	// Outcomes are those of members whose node {i}/completed does not tell, or not any more.
	Outcomes map[int]Outcome
	// Err says why the document could not be read; it is zero then.
	Err error
}

// GuaranteeDocument is the value of a guarantee's node.
type GuaranteeDocument struct {
	// Items are the members, ascending. Skipped are those of them that nobody runs.
	Items   []int `doc:"items"`
	Skipped []int `doc:"skipped"`
	// Starter is the instance that calls Started, and StartBy when its time is over.
	Starter string    `doc:"starter,319"`
	StartBy time.Time `doc:"startBy"`
	// Completer is the instance that calls Completed; empty before that. Until is when its time
	// is over.
	Completer string    `doc:"completer,319"`
	Until     time.Time `doc:"until"`
	// Begun is when the tick began, and CompleteBy when Completed is called whoever has ended.
	Begun      time.Time `doc:"begun"`
	CompleteBy time.Time `doc:"completeBy"`
	// Again is whether an instance has ended that was to make the call that is due.
	Again bool `doc:"again"`
	// Ended is whether nothing is left to be called: the node is about to go.
	Ended bool `doc:"ended"`
}

// Has reports whether an item is a member.
func (d *GuaranteeDocument) Has(item int) bool {
	_, has := slices.BinarySearch(d.Items, item)
	return has
}

// IsSkipped reports whether an item is a member that nobody runs.
func (d *GuaranteeDocument) IsSkipped(item int) bool {
	_, is := slices.BinarySearch(d.Skipped, item)
	return is
}

// Guarantee returns the node of a tick; nil if there is none.
func (s *State) Guarantee(tick time.Time) *Guarantee {
	at, isThere := s.guaranteeAt(tick)
	if !isThere {
		return nil
	}
	return s.Guarantees[at]
}

func (s *State) guaranteeAt(tick time.Time) (at int, isThere bool) {
	return slices.BinarySearchFunc(s.Guarantees, tick, func(g *Guarantee, tick time.Time) int { return g.Tick.Compare(tick) })
}

var guarantees = newCodec("guarantee", maxRequest, func(d *GuaranteeDocument) error {
	switch {
	case len(d.Items) == 0:
		return errNoItems
	case d.StartBy.IsZero() || d.CompleteBy.IsZero():
		return errors.New("startBy and completeBy are needed: nothing waits without a bound")
	}
	return nil
})

// EncodeGuarantee writes the value of a guarantee's node.
func EncodeGuarantee(d GuaranteeDocument) ([]byte, error) { return guarantees.encodeBounded(d) }

// errNoGuarantee is the error of a guarantee of which only nodes below it are there.
var errNoGuarantee = errors.New("guarantee: there is no document")

// changeGuarantee changes what is known of a tick. Of one that is new or goes, any of the nodes may come first.
func (a *applier) changeGuarantee(tick time.Time, change func(*Guarantee)) {
	at, isKnown := a.guaranteeAt(tick)
	if !isKnown {
		a.Guarantees = slices.Insert(a.Guarantees, at, &Guarantee{Tick: tick, Err: errNoGuarantee})
	}
	g := a.Guarantees[at]
	if change(g); g.Err != errNoGuarantee || g.IsOpen || g.Outcomes != nil {
		return
	}
	if a.Guarantees = slices.Delete(a.Guarantees, at, at+1); len(a.Guarantees) == 0 {
		a.Guarantees = nil
	}
}

func (a *applier) guarantee(p place, n coord.Node, isThere bool) {
	a.changeGuarantee(p.tick, func(g *Guarantee) {
		g.Node, g.GuaranteeDocument, g.Err = coord.Node{}, GuaranteeDocument{}, errNoGuarantee
		if isThere {
			g.Node = n
			g.GuaranteeDocument, g.Err = guarantees.decode(n.Value)
		}
	})
}

func (a *applier) guaranteeOpen(p place, _ coord.Node, isThere bool) {
	a.changeGuarantee(p.tick, func(g *Guarantee) { g.IsOpen = isThere })
}

func (a *applier) guaranteeItem(p place, n coord.Node, isThere bool) {
	a.changeGuarantee(p.tick, func(g *Guarantee) { put(&g.Outcomes, p.item, Outcome(brief.Cut(string(n.Value), maxName)), isThere) })
}
