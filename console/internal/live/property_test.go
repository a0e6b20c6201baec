package live_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/live"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Whatever changes when, and however often somebody goes, comes again, is slow, or has other rights: in the end
// he has what a list of the jobs has.
func TestEndsWithTheList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, live.Options{Every: 50 * time.Millisecond, Linger: 3 * time.Second})
			var l *listener
			grants := [][]access.Grant{{{Role: access.Viewer}}, {{Role: access.Viewer, Jobs: []string{"1*", "2"}}}}
			which, lastID := 0, ""
			known := map[string]ops.JobInfo{}
			come := func() {
				if l == nil {
					l = w.listen("anna", jobs, lastID)
					l.known = known
				}
			}
			for n := range rapid.IntRange(1, 60).Draw(rt, "steps") {
				switch rapid.IntRange(0, 11).Draw(rt, "step") {
				case 0:
					if l != nil {
						l.close()
						lastID, l = l.lastID, nil
					}
				case 1:
					pass(rapid.SampledFrom([]time.Duration{time.Millisecond, 60 * time.Millisecond, 4 * time.Second}).Draw(rt, "pause"))
				case 2, 3:
					come()
					w.put(fmt.Sprintf("1=%d", n)) // so that something comes
					l.next()
				case 4:
					which = rapid.IntRange(0, 1).Draw(rt, "rights")
					w.may("anna", grants[which]...)
				case 5:
					w.recheck()
				case 6:
					w.reg.Link().EndViews(coord.ErrClosed)
				case 7, 8:
					w.put(fmt.Sprintf("-%d", rapid.IntRange(0, 12).Draw(rt, "removed")))
				default:
					w.put(fmt.Sprintf("%d=%d", rapid.IntRange(0, 12).Draw(rt, "changed"), n))
				}
			}
			come()
			w.recheck()
			w.put("1=end")
			w.put("2=end")
			list, err := ops.New(w.reg).Jobs(t.Context(), ops.JobsQuery{})
			if err != nil {
				rt.Fatal(err)
			}
			p := &access.Principal{Grants: grants[which]}
			want := map[string]ops.JobInfo{}
			for _, i := range list.Jobs {
				if p.May(access.Viewer, "shop", i.Name) {
					want[i.Name] = i
				}
			}
			end := time.Now().Add(5 * time.Minute)
			for !same(l.known, want) && time.Now().Before(end) {
				if l.next().name == "" { // he was too slow
					l.close()
					lastID, l = l.lastID, nil
					come()
				}
			}
			if !same(l.known, want) {
				rt.Errorf("a listener has %s", l.descriptions())
				l.known = want
				rt.Fatalf("the list has %s", l.descriptions())
			}
		})
	})
}

// same is maps.Equal, for times, too.
func same(a, b map[string]ops.JobInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for name, i := range a {
		j, isThere := b[name]
		if !isThere || !i.Next.Equal(j.Next) {
			return false
		}
		if i.Next = j.Next; i != j {
			return false
		}
	}
	return true
}
