package why

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// held is a cause that an operator has made, until he took it back. isWhole: no server may run the job.
type held struct {
	Cause
	isWhole bool
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

// subject is what is held: an item or a server, or the job if of is empty.
type subject struct {
	kind Kind
	of   string
}

// piece is how long a change has held a subject.
type piece struct {
	subject
	change int       // its place among the changes
	until  time.Time // zero while it holds
}

// holding returns what operators have kept from running. What another change has taken back without an entry, the tree
// does not show any more: nobody knows when that was, so it is left out.
func (f *facts) holding() (list []held) {
	var pieces []piece
	open := map[subject]int{} // places in pieces
	for n, c := range f.changes {
		if c.Action == ops.ActionRemove {
			for _, at := range open {
				pieces[at].until = c.At
			}
			clear(open)
		}
		h, isOne := holds[c.Action]
		if !isOne {
			continue
		}
		for _, of := range f.subjects(h.kind, c.Detail, h.ends) {
			s := subject{h.kind, of}
			if at, isOpen := open[s]; isOpen {
				pieces[at].until = c.At
				delete(open, s)
			}
			if !h.ends {
				open[s] = len(pieces)
				pieces = append(pieces, piece{s, n, time.Time{}})
			}
		}
	}
	type key struct {
		change int
		until  time.Time
	}
	places, servers := map[key]int{}, map[key][]string{}
	for _, p := range pieces {
		if p.until.IsZero() && !f.holdsNow(p.subject) {
			continue
		}
		k := key{p.change, p.until}
		at, isThere := places[k]
		if !isThere {
			at = len(list)
			places[k] = at
			c := f.changes[p.change]
			list = append(list, held{Cause: Cause{Kind: p.kind, Since: c.At, Until: p.until, By: c.By, Why: c.Why}})
		}
		if item, err := strconv.Atoi(p.of); err == nil && p.kind == ItemDisabled {
			list[at].Items = append(list[at].Items, item)
		} else if p.of != "" {
			servers[k] = append(servers[k], p.of)
		}
		list[at].isWhole = list[at].isWhole || p.of == ""
	}
	for k, at := range places {
		list[at].say(f.job.Info.Name, servers[k])
	}
	if p := f.job.Info.Paused; !p.Since.IsZero() {
		h := held{Cause: Cause{Kind: Paused, Since: p.Since, By: p.By, Why: p.Why}, isWhole: true}
		h.say(f.job.Info.Name, nil)
		list = append(list, h)
	}
	return list
}

// say adds the text, and the command that ends what still holds.
func (h *held) say(job string, servers []string) {
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
		h.Text = "disabled servers: " + strings.Join(servers, ", ")
		command += " --server " + strings.Join(servers, ",")
	}
	if h.Until.IsZero() {
		h.Command = command
	}
}

// subjects reads what a change is about. Who enables a server ends also that the whole job is disabled.
func (f *facts) subjects(kind Kind, detail string, ends bool) (list []string) {
	switch kind {
	case ItemDisabled:
		for _, item := range itemsOf(detail, max(len(f.job.Items), f.job.Config.ShardingTotalCount, 1)-1) {
			list = append(list, strconv.Itoa(item))
		}
		return list
	case ServersDisabled:
		names, isAll := strings.CutPrefix(detail, "all ")
		if names = strings.TrimSpace(strings.TrimPrefix(names, "servers")); names != "" {
			list = strings.Split(names, ", ")
		}
		if !isAll && !ends {
			return list
		}
	}
	return append(list, "")
}

// holdsNow reports whether the tree shows that something is held. A pause it shows with all that is to be told.
func (f *facts) holdsNow(s subject) bool {
	switch {
	case s.kind == ItemDisabled:
		return slices.ContainsFunc(f.job.Items, func(i ops.ItemInfo) bool { return i.Disabled && strconv.Itoa(i.Item) == s.of })
	case s.kind == ServersDisabled && s.of != "":
		return slices.ContainsFunc(f.job.Servers, func(j ops.JobServer) bool { return !j.Enabled && j.Server == s.of })
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
		if c.Action == ops.ActionKill {
			list = append(list, Cause{Kind: Killed, Items: itemsOf(c.Detail, jobtype.MaxShardingTotalCount), Since: c.At, Until: c.At, By: c.By, Why: c.Why, Text: "an operator has ended what ran"})
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
	version := ""
	end := func() {
		if left > 0 && joined > 0 {
			c.Text = fmt.Sprintf("instances have left (%d), and others have joined (%d), as at a deployment%s", left, joined, version)
			list = append(list, c)
		}
		left, joined, version = 0, 0, ""
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
		for _, in := range f.job.Instances {
			if in.ID == e.Instance && in.Version != "" {
				version = "; " + in.ID + " has version " + in.Version
			}
		}
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
	alive := map[string]bool{}
	if !f.isCut {
		for _, in := range f.job.Instances {
			alive[in.ID] = true
		}
		for _, s := range signs {
			if _, isNow := alive[s.instance]; isNow {
				alive[s.instance] = !s.hasEnd
			}
		}
	}
	isThere := func() bool { return slices.Contains(slices.Collect(maps.Values(alive)), true) }
	for i, s := range slices.Backward(signs) {
		var back time.Time
		isLast := i+1 == len(signs)
		if !isLast {
			back = signs[i+1].at
		}
		if (isLast && !f.isCut || !isLast && signs[i+1].isBegin && back.After(s.at)) && !isThere() {
			list = append(list, f.absence(s, back))
		}
		if s.instance != "" {
			alive[s.instance] = !s.isBegin
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

// itemsOf reads the items of a change, such as "items 0-3, 7", up to the one that is wanted last.
func itemsOf(detail string, last int) (list []int) {
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(detail, "item "), "items "), ", ") {
		var from, to int
		switch n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); {
		case n == 0 || from < 0: // no items, or the text was cut
			return list
		case n == 1:
			to = from
		}
		for item := from; item <= min(to, last) && len(list) < history.MaxLimit; item++ {
			list = append(list, item)
		}
	}
	return list
}

// commas writes items as a flag takes them.
func commas(items []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(items), "[]"), " ", ",")
}
