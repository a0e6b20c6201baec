package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// held is a cause that an operator has made, until he took it back.
type held struct {
	Cause
	servers []string
	isWhole bool // it is about the whole job
}

// holds says what an action keeps from running, and whether it takes that back.
var holds = map[ops.Action]struct {
	kind Kind
	ends bool
}{
	ops.ActionPause: {Paused, false}, ops.ActionResume: {Paused, true},
	ops.ActionDisableServers: {ServersDisabled, false}, ops.ActionEnableServers: {ServersDisabled, true},
	ops.ActionDisableItems: {ItemDisabled, false}, ops.ActionEnableItems: {ItemDisabled, true},
}

// subject is what is held: an item, a server, or the job if server is empty.
type subject struct {
	kind   Kind
	item   int
	server string
}

func (s subject) compare(other subject) int {
	return cmp.Or(cmp.Compare(s.kind, other.kind), cmp.Compare(s.item, other.item), cmp.Compare(s.server, other.server))
}

// holding returns what operators have kept from running, by its beginning. Of what is held no more, though no entry says so,
// nobody knows until when it was: it is left out. The pause of now is in the tree.
func (f *facts) holding() (list []held) {
	open := map[subject]int{} // the change that holds it
	all := func() []subject { return slices.SortedFunc(maps.Keys(open), subject.compare) }
	end := func(subjects []subject, until time.Time) {
		by := map[int]*held{}
		for _, s := range subjects {
			n, isOpen := open[s]
			if delete(open, s); !isOpen {
				continue
			}
			if by[n] == nil {
				c := f.changes[n]
				by[n] = &held{Cause: Cause{Kind: s.kind, Since: c.At, Until: until, By: c.By, Why: c.Why}}
			}
			by[n].add(s)
		}
		for _, n := range slices.Sorted(maps.Keys(by)) {
			by[n].say(f.job.Info.Name)
			list = append(list, *by[n])
		}
	}
	for n, c := range f.changes {
		if h, isOne := holds[c.Action]; isOne {
			subjects := f.subjects(h.kind, c.Detail, h.ends)
			end(subjects, c.At)
			for _, s := range subjects {
				if !h.ends {
					open[s] = n
				}
			}
		} else if c.Action == ops.ActionRemove {
			end(all(), c.At)
		}
	}
	end(slices.DeleteFunc(all(), func(s subject) bool { return !f.holdsNow(s) }), time.Time{})
	if p := f.job.Info.Paused; !p.Since.IsZero() {
		h := held{Cause: Cause{Kind: Paused, Since: p.Since, By: p.By, Why: p.Why}}
		h.say(f.job.Info.Name)
		list = append(list, h)
	}
	slices.SortStableFunc(list, func(a, b held) int { return a.Since.Compare(b.Since) })
	return list
}

func (h *held) add(s subject) {
	switch {
	case s.kind == ItemDisabled:
		h.Items = append(h.Items, s.item)
	case s.server == "":
		h.isWhole = true
	default:
		h.servers = append(h.servers, s.server)
	}
}

// say adds the text, and the command that ends what still holds.
func (h *held) say(job string) {
	command := "elasticjob enable " + job
	switch {
	case h.Kind == Paused:
		h.Text, command = "no tick begins during a pause", "elasticjob resume "+job
	case h.Kind == ItemDisabled:
		h.Text = "an operator had disabled it"
		command += " --items " + commas(h.Items)
	case h.isWhole:
		h.Text = "all servers of the job are disabled"
	default:
		h.Text = "disabled servers: " + strings.Join(h.servers, ", ")
		command += " --server " + strings.Join(h.servers, ",")
	}
	if h.Until.IsZero() {
		h.Command = command
	}
}

// subjects reads what a change is about. Who enables a server ends also that the whole job is disabled.
func (f *facts) subjects(kind Kind, detail string, ends bool) (list []subject) {
	if kind == ItemDisabled {
		for _, item := range f.itemsOf(detail) {
			list = append(list, subject{kind: kind, item: item})
		}
		return list
	}
	servers, isAll := strings.CutPrefix(detail, "all ")
	servers, isServers := strings.CutPrefix(servers, "servers")
	if kind == Paused || isAll || ends {
		list = append(list, subject{kind: kind})
	}
	if servers = strings.TrimSpace(servers); kind == ServersDisabled && isServers && servers != "" {
		for server := range strings.SplitSeq(servers, ", ") {
			list = append(list, subject{kind: kind, server: server})
		}
	}
	return list
}

// holdsNow reports whether the tree shows that something is held.
func (f *facts) holdsNow(s subject) bool {
	switch {
	case s.kind == ItemDisabled:
		return slices.ContainsFunc(f.job.Items, func(i ops.ItemInfo) bool { return i.Disabled && i.Item == s.item })
	case s.server != "":
		return slices.ContainsFunc(f.job.Servers, func(j ops.JobServer) bool { return !j.Enabled && j.Server == s.server })
	}
	return s.kind == ServersDisabled && f.job.Info.Status == ops.JobDisabled
}

// covers reports whether a cause was there at a moment.
func (c *Cause) covers(at time.Time) bool {
	return !c.Since.After(at) && (c.Until.IsZero() || c.Until.After(at))
}

// heldAt returns the last cause of a kind that was there at a moment; nil if none was.
func (f *facts) heldAt(kind Kind, at time.Time) (last *held) {
	for i := range f.held {
		if f.held[i].Kind == kind && f.held[i].covers(at) {
			last = &f.held[i]
		}
	}
	return last
}

// kills returns whom operators have ended, and when.
func (f *facts) kills() (list []Cause) {
	for _, c := range f.changes {
		if items := f.itemsOf(c.Detail); c.Action == ops.ActionKill && items != nil {
			list = append(list, Cause{Kind: Killed, Items: items, Since: c.At, Until: c.At, By: c.By, Why: c.Why, Text: "an operator has ended what ran"})
		}
	}
	return list
}

// around is how near to a tick a change may be what has kept an item from running.
const around = 5 * time.Minute

// configured returns when the configuration has changed. That an operator has changed it says more than that it took effect.
func (f *facts) configured() (list []Cause) {
	add := func(at time.Time, by, why, text string) {
		list = append(list, Cause{Kind: Configured, Since: at, Until: at, By: by, Why: why, Text: text})
	}
	for _, c := range f.changes {
		if c.Before != "" && slices.Contains([]ops.Action{ops.ActionUpdate, ops.ActionApply, ops.ActionImplement}, c.Action) {
			add(c.At, c.By, c.Why, "an operator has changed the configuration")
		}
	}
	for _, e := range f.events { // each instance tells that it took effect
		isKnown := func(c Cause) bool { return e.Time.Sub(c.Since).Abs() <= around }
		if e.Kind == jobtype.EventConfigured && e.Detail != "" && !slices.ContainsFunc(list, isKnown) {
			add(e.Time, "", "", "another configuration took effect: "+brief.Text(e.Detail))
		}
	}
	return list
}

// replaced returns when instances have left and others have joined, less than five minutes after each other.
func (f *facts) replaced() (list []Cause) {
	var left, joined int
	var c Cause
	end := func() {
		if left > 0 && joined > 0 {
			c.Text = fmt.Sprintf("instances have left (%d), and others have joined (%d), as at a deployment", left, joined)
			list = append(list, c)
		}
		left, joined = 0, 0
	}
	for _, e := range f.events {
		if e.Kind != jobtype.EventJoined && e.Kind != jobtype.EventLeft {
			continue
		}
		if e.Time.Sub(c.Until) > around {
			end()
			c = Cause{Kind: NewInstances, Since: e.Time}
		}
		if c.Until = e.Time; e.Kind == jobtype.EventLeft {
			left++
			continue
		}
		joined++
	}
	end()
	return list
}

// sign is something that is known of an instance. Of a JVM it is not known which.
type sign struct {
	at              time.Time
	instance        string
	isBegin, hasEnd bool
}

// signs returns all that is known of instances, ascending.
func (f *facts) signs() (list []sign) {
	for _, c := range f.changes {
		if c.Action == ops.ActionCreate && c.Before == "" { // nobody was there
			list = append(list, sign{at: c.At, hasEnd: true})
		}
	}
	for _, e := range f.events {
		if e.Instance != "" {
			list = append(list, sign{e.Time, e.Instance, e.Kind == jobtype.EventJoined, e.Kind == jobtype.EventLeft})
		}
	}
	for _, x := range f.runs {
		for _, at := range []time.Time{x.StartTime, x.CompleteTime} {
			if !at.IsZero() {
				list = append(list, sign{at: at, instance: x.Instance})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b sign) int {
		if n := a.at.Compare(b.at); n != 0 || a.isBegin == b.isBegin {
			return n
		} else if a.isBegin {
			return -1
		}
		return 1
	})
	return list
}

// absences returns when no instance was there: until the next thing that is heard of one is that it joins.
func (f *facts) absences() (list []Cause) {
	signs := f.signs()
	hasEnd, alive := map[string]bool{}, map[string]bool{}
	for _, s := range signs {
		hasEnd[s.instance] = s.hasEnd
	}
	for _, in := range f.job.Instances {
		if !f.isCut && !hasEnd[in.ID] {
			alive[in.ID] = true
		}
	}
	for i, s := range slices.Backward(signs) {
		isGap, back := !f.isCut, time.Time{}
		if i+1 < len(signs) {
			back = signs[i+1].at
			isGap = signs[i+1].isBegin && back.After(s.at)
		}
		if isGap && len(alive) == 0 {
			list = append(list, f.absence(s, back))
		}
		if s.isBegin {
			delete(alive, s.instance)
		} else if s.instance != "" {
			alive[s.instance] = true
		}
	}
	slices.Reverse(list)
	return list
}

// absence says that no instance was there after a sign, and who has ended it.
func (f *facts) absence(s sign, back time.Time) Cause {
	c := Cause{Kind: NoInstance, Since: s.at, Until: back, Text: "no instance of the job was there", Command: "elasticjob doctor " + f.job.Info.Name}
	switch {
	case !s.hasEnd:
		c.Text = "no instance of the job was there: nothing is known of one after the beginning of that time"
	case back.IsZero():
		c.Text = "no instance of the job is there now"
	}
	for _, change := range f.changes {
		if change.Action == ops.ActionShutdown && s.hasEnd && (s.at.IsZero() || change.At.Sub(s.at).Abs() <= around) {
			c.By, c.Why = change.By, change.Why
		}
	}
	return c
}

// itemsOf reads the items of a change, such as "items 0-3, 7": those that it is asked about.
func (f *facts) itemsOf(detail string) (list []int) {
	first, last := 0, history.MaxLimit-1
	if f.item != nil {
		first, last = *f.item, *f.item
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(detail, "item "), "items "), ", ") {
		var from, to int
		switch n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); {
		case n == 0 || from < 0: // no items, or the text was cut
			return list
		case n == 1:
			to = from
		}
		for item := max(from, first); item <= min(to, last); item++ {
			list = append(list, item)
		}
	}
	return list
}

// commas writes items as a flag takes them.
func commas(items []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(items), "[]"), " ", ",")
}
