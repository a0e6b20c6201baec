package doctor

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// requestPatience and killPatience are how long a request waits, and how long a run may go on after
// it was killed, before that is a finding.
const (
	requestPatience = 5 * time.Minute
	killPatience    = time.Minute
)

// checkRequests looks for what operators have asked for, and what is not done.
func (w *world) checkRequests(c *collector) {
	why := map[string]decide.Reason{}
	if len(w.ids) > 0 {
		for _, l := range w.stalled() {
			if _, isKnown := why[l.Request]; !isKnown {
				why[l.Request] = l.Reason
			}
		}
	}
	for _, r := range w.Requests {
		if r.Err != nil || !r.Ended.IsZero() || w.ns.now.Sub(r.At) < requestPatience || isRunning(r) {
			continue
		}
		s := w.about(RequestWaits, Warning, fmt.Sprintf("request %s of %s waits: %s", brief.Text(r.ID), brief.Quote(r.By), whyWaits(why[r.ID], len(w.ids))),
			"see what it waits for, or cancel it", Cancel)
		s.Command += " " + brief.Text(r.ID)
		s.Path, s.mark, s.Since = r.Path, r.Modified, r.At
		c.add(s)
	}
	for _, i := range sortedKeys(w.Kills) {
		k := w.Kills[i]
		item := w.Item(i)
		if k.Err != nil || item.Running == nil || item.Fired == nil || !k.Kills(item.Fired.Modified) || w.ns.now.Sub(k.At) < killPatience {
			continue
		}
		s := w.about(KillWaits, Warning, fmt.Sprintf("%s has killed these runs, and they go on: their handlers do not watch their contexts, or their instances do not know kills", brief.Quote(k.By)),
			"correct the handler; end the process, if the runs must end", "")
		s.Instance, s.Since = brief.Text(item.Running.ID), k.At
		c.addItem(i, k.Modified, s)
	}
}

// isRunning reports whether an item runs for a request.
func isRunning(r *jobtree.Request) bool {
	for n := range r.Items {
		if r.RunsAt(n) {
			return true
		}
	}
	return false
}

// whyWaits says why a request waits, by what keeps an item from beginning for it.
func whyWaits(r decide.Reason, instances int) string {
	switch r {
	case decide.AllDisabled:
		return "all servers are disabled"
	case decide.RunnerGoesOn, decide.WaitsForEarlier:
		return "an earlier execution is not through"
	case decide.OwnerIsOld:
		return "the owner is too old to know requests"
	case decide.OwnerDoesNotBegin:
		return "the owner does not begin"
	case decide.HasNoOwner, decide.HasNoRoom, decide.MatchesNobody:
		return "an item has no owner"
	case decide.NotStalled:
		if instances == 0 {
			return "no instance lives"
		}
		return "for requests before it, or for disabled items"
	}
	return "nobody may run it now"
}
