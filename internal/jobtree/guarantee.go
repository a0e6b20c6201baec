package jobtree

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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
	Items, Skipped []int
	// Starter is the instance that calls Started, and StartBy when its time is over.
	Starter string
	StartBy time.Time
	// Completer is the instance that calls Completed; empty before that. Until is when its time
	// is over.
	Completer string
	Until     time.Time
	// Begun is when the tick began, and CompleteBy when Completed is called whoever has ended.
	Begun, CompleteBy time.Time
	// Again is whether an instance has ended that was to make the call that is due.
	Again bool
	// Ended is whether nothing is left to be called: the node is about to go.
	Ended bool
}

// maxInstanceID bounds the ids of instances, in bytes: an address, and what tells processes apart.
const maxInstanceID = MaxIP + 64

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

// IsFor reports whether the node tells the end of a run for a tick that nobody goes on with, and
// that no request has asked for. It is asked for many items, so it does not decode the whole.
func (c *Completion) IsFor(tick time.Time) bool {
	if c == nil {
		return false
	}
	rest, ok := bytes.CutPrefix(c.Value, appendTime(nil, "tick", tick))
	if !ok || bytes.Contains(rest, []byte("\nreq: ")) {
		return false
	}
	return !bytes.Contains(rest, []byte("out: "+OutcomeCut+"\n")) && !bytes.Contains(rest, []byte("out: "+OutcomeKilled+"\n"))
}

// EncodeGuarantee writes the value of a guarantee's node.
func EncodeGuarantee(d GuaranteeDocument) ([]byte, error) {
	var b []byte
	items := func(key string, items []int) {
		if len(items) > 0 {
			b = append(append(append(b, key...), strconv.Quote(formatItems(items))...), '\n')
		}
	}
	flag := func(key string, is bool) {
		if is {
			b = append(b, key...)
		}
	}
	items("items: ", d.Items)
	items("skipped: ", d.Skipped)
	b = appendText(b, "starter", d.Starter, maxInstanceID)
	b = appendTime(b, "startBy", d.StartBy)
	b = appendText(b, "completer", d.Completer, maxInstanceID)
	b = appendTime(b, "until", d.Until)
	b = appendTime(b, "begun", d.Begun)
	b = appendTime(b, "completeBy", d.CompleteBy)
	flag("again: true\n", d.Again)
	flag("ended: true\n", d.Ended)
	if len(b) > maxRequest {
		return nil, fmt.Errorf("guarantee: %d bytes, at most %d are allowed", len(b), maxRequest)
	}
	return b, nil
}

func decodeGuarantee(n coord.Node, tick time.Time) *Guarantee {
	g := &Guarantee{Node: n, Tick: tick}
	if g.GuaranteeDocument, g.Err = readGuarantee(n.Value); g.Err != nil {
		g.GuaranteeDocument, g.Err = GuaranteeDocument{}, fmt.Errorf("guarantee: %w", g.Err)
	}
	return g
}

func readGuarantee(value []byte) (d GuaranteeDocument, err error) {
	var items, skipped, startBy, until, begun, completeBy, again, ended string
	if _, err := readTexts(value, maxRequest, map[string]*string{
		"items": &items, "skipped": &skipped, "starter": &d.Starter, "startBy": &startBy, "completer": &d.Completer,
		"until": &until, "begun": &begun, "completeBy": &completeBy, "again": &again, "ended": &ended,
	}); err != nil {
		return d, err
	}
	for _, field := range []struct {
		key, text string
		time      *time.Time
	}{{"startBy", startBy, &d.StartBy}, {"until", until, &d.Until}, {"begun", begun, &d.Begun}, {"completeBy", completeBy, &d.CompleteBy}} {
		if *field.time, err = parseTime(field.text); err != nil {
			return d, fmt.Errorf("%s: %w", field.key, err)
		}
	}
	if d.Items, err = parseItems(items); err != nil {
		return d, fmt.Errorf("items: %w", err)
	}
	if skipped != "" {
		if d.Skipped, err = parseItems(skipped); err != nil {
			return d, fmt.Errorf("skipped: %w", err)
		}
	}
	switch {
	case len(d.Starter) > maxInstanceID || len(d.Completer) > maxInstanceID:
		return d, fmt.Errorf("an instance id has more than %d bytes", maxInstanceID)
	case d.StartBy.IsZero() || d.CompleteBy.IsZero():
		return d, errors.New("startBy and completeBy are needed: nothing waits without a bound")
	}
	d.Again, d.Ended = again == "true", ended == "true"
	return d, nil
}

// errNoGuarantee is the error of a guarantee of which only nodes below it are there.
var errNoGuarantee = errors.New("guarantee: there is no document")

// readGuarantee decodes a node of guarantee. A tick comes before the nodes below it, because
// of their paths. Nodes that are not named after a tick are of JVM members.
func (r *reader) readGuarantee(name string, n coord.Node) {
	if name == "" {
		r.Guaranteed = r.fired(n, r.before.Guaranteed)
		return
	}
	tick, below, ok := guaranteePath(name)
	if !ok {
		return
	}
	last := len(r.Guarantees) - 1
	isOf := last >= 0 && r.Guarantees[last].Tick.Equal(tick)
	if below == "" {
		g := decodeGuarantee(n, tick)
		if before := r.before.Guarantee(tick); before != nil && same(before.Node, n) {
			g.GuaranteeDocument, g.Err = before.GuaranteeDocument, before.Err
		}
		r.Guarantees = append(r.Guarantees, g)
		return
	}
	if !isOfGuarantee(below) {
		return
	}
	if !isOf {
		r.Guarantees = append(r.Guarantees, &Guarantee{Tick: tick, Err: errNoGuarantee})
		last++
	}
	r.Guarantees[last].note(below, n, true)
}

// isOfGuarantee reports whether a name below that of a tick is one of ours. Others go with the
// tick.
func isOfGuarantee(below string) bool {
	_, isItem := ParseItem(below)
	return isItem || below == guaranteeOpen
}

// guaranteePath returns what a path below guarantee is about.
func guaranteePath(name string) (tick time.Time, below string, ok bool) {
	text, below, _ := strings.Cut(name, "/")
	tick, err := parseTime(text)
	if err != nil || tick.IsZero() || string(EncodeFired(tick)) != text {
		return time.Time{}, "", false
	}
	return tick, below, true
}

// note takes in a node below that of the tick.
func (g *Guarantee) note(below string, n coord.Node, isThere bool) {
	if below == guaranteeOpen {
		g.IsOpen = isThere
		return
	}
	i, _ := ParseItem(below) // isOfGuarantee
	if isThere {
		put(&g.Outcomes, i, Outcome(brief.Cut(string(n.Value), maxName)))
		return
	}
	if delete(g.Outcomes, i); len(g.Outcomes) == 0 {
		g.Outcomes = nil
	}
}

// followGuarantee takes in a node of guarantee. It reports false for all others, and where the
// whole tree has to be read again.
func (r *reader) followGuarantee(job Job, n coord.Node, isThere bool) bool {
	path, ok := strings.CutPrefix(n.Path, string(job)+"/"+guarantee)
	if !ok || r.Config == nil {
		return false
	}
	if path == "" && isThere {
		r.Guaranteed = r.fired(n, nil)
		return true
	}
	if path, ok = strings.CutPrefix(path, "/"); !ok {
		return false
	}
	tick, below, ok := guaranteePath(path)
	if !ok || below != "" && !isOfGuarantee(below) {
		return isThere
	}
	if !r.ownsGuarantees { // a clone of the state has the list itself
		r.Guarantees, r.ownsGuarantees = slices.Clone(r.Guarantees), true
	}
	at, isKnown := r.guaranteeAt(tick)
	g := &Guarantee{Tick: tick, Err: errNoGuarantee}
	switch {
	case isKnown && below != "":
		known := *r.Guarantees[at]
		known.Outcomes = maps.Clone(known.Outcomes)
		g = &known
	case isThere && below == "":
		g = decodeGuarantee(n, tick)
	}
	if isKnown && below == "" {
		g.IsOpen, g.Outcomes = r.Guarantees[at].IsOpen, r.Guarantees[at].Outcomes
	}
	if below != "" {
		g.note(below, n, isThere)
	}
	isEmpty := g.Err == errNoGuarantee && !g.IsOpen && g.Outcomes == nil
	switch {
	case isEmpty && isKnown:
		if r.Guarantees = slices.Delete(r.Guarantees, at, at+1); len(r.Guarantees) == 0 {
			r.Guarantees = nil
		}
	case isEmpty:
	case isKnown:
		r.Guarantees[at] = g
	default:
		r.Guarantees = slices.Insert(r.Guarantees, at, g)
	}
	return true
}
