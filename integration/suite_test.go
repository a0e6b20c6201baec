package integration_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

// scenario is one way to attack the promises.
type scenario struct {
	name string
	play func(*stage)
	skew time.Duration // of the clocks
	// patient gives the scenario long sessions, which a busy machine does not lose. It is
	// for scenarios that are not about lost sessions.
	patient bool
	// oneStore has the scenario played on one store with go test -short: it is about what jobs
	// do, and kills workers at most. Three of five are on etcd, whose rough scenarios are through first.
	oneStore bool
	// etcdOnly is for what ZooKeeper does not have, so that its servers could only be restarted,
	// as KillMember, MoveLeader and RestartStore do.
	etcdOnly bool
}

// patience is the session time-out of patient scenarios.
const patience = 10 * time.Second

// silence is how much longer than a session time-out an item may stay without a run while
// no scheduler reports a fault.
const silence = 10 * time.Second

// Scenarios that leave the store alone share one, some at a time. Those that take some 20 s and more come first.
var gentle = []scenario{
	{name: "Broadcast", play: broadcast, oneStore: true},
	{name: "OnceListeners", play: onceListeners, oneStore: true},
	{name: "Requests", play: requests, patient: true, oneStore: true},
	{name: "SkipsOverlap", play: skipsOverlap, patient: true, oneStore: true},
	{name: "Kills", play: kills, patient: true, oneStore: true},
	{name: "Pauses", play: pauses, patient: true, oneStore: true},
	{name: "RestartSteered", play: restartSteered(everybodyKilled), patient: true, oneStore: true},
	{name: "LongItem", play: longItem, patient: true, oneStore: true},
	{name: "Jitter", play: jitter, oneStore: true},
	{name: "Ridden", play: ridden(1), oneStore: true},
	{name: "Calendars", play: calendars, oneStore: true},
	{name: "Scripts", play: scripts, oneStore: true},
	{name: "Room", play: room, oneStore: true},
	{name: "JoinsAndLeaves", play: joinsAndLeaves, patient: true},
	{name: "KillWorker", play: killWorker},
	{name: "KillLeader", play: killLeader},
	{name: "KillTaker", play: killTaker},
	{name: "KillAll", play: killAll},
	{name: "MissedByAll", play: missedByAll, patient: true, oneStore: true},
	{name: "KillWithoutFailover", play: killWithoutFailover, oneStore: true},
	{name: "Sleeper", play: sleeper},
	{name: "CutOff", play: isolated(cluster.CutOff)},
	{name: "BlackHole", play: isolated(cluster.BlackHole)},
	{name: "AnswersDropped", play: isolated(cluster.DropAnswers)},
	{name: "RequestsDropped", play: isolated(cluster.DropRequests)},
	{name: "SlowLink", play: slowLink, patient: true},
	{name: "ShortCut", play: shortCut, patient: true},
	{name: "WrongClocks", play: wrongClocks, skew: 10 * time.Second, oneStore: true},
	{name: "RollingRestart", play: rollingRestart, patient: true, oneStore: true},
	{name: "ShortDrain", play: shortDrain, oneStore: true},
	{name: "Reconfigure", play: reconfigure, oneStore: true},
	{name: "RemoveAndCreate", play: removeAndCreate, patient: true, oneStore: true},
	{name: "Disabled", play: disabled, patient: true, oneStore: true},
	{name: "Triggers", play: triggers, oneStore: true},
	{name: "GarbageNodes", play: garbageNodes},
	{name: "RefusedConfig", play: refusedConfig, patient: true, oneStore: true},
	{name: "HungHandlers", play: hungHandlers, patient: true, oneStore: true},
	{name: "ClockYearAhead", play: clockYearAhead, patient: true},
	{name: "Streams", play: streams, oneStore: true},
	{name: "Pins", play: pins, oneStore: true},
	{name: "Steered", play: steered(1, nil), oneStore: true},
	{name: "ComeAndGo", play: comeAndGo, oneStore: true},
	{name: "Expires", play: expires, oneStore: true},
	{name: "Managed", play: managed(1), oneStore: true},
}

// Scenarios that need a store in which workers can lose their permissions.
var guarded = []scenario{
	{name: "Revoked", play: revoked},
}

// Scenarios that do something to the store have it for themselves, one after the other.
var rough = []scenario{
	{name: "KillMember", play: killMember},
	{name: "PauseMember", play: pauseMember},
	{name: "MoveLeader", play: moveLeader},
	{name: "MajorityLost", play: majorityLost},
	{name: "RestartStore", play: restartStore},
	{name: "Forget", play: forget, etcdOnly: true},
	{name: "NoSpace", play: noSpace, etcdOnly: true},
	{name: "DiskFull", play: diskFull, etcdOnly: true},
	{name: "Rollback", play: rollback},
	{name: "Wipe", play: wipe},
	{name: "RestartEverything", play: restartSteered(everythingKilled)},
	{name: "SteeredStore", play: steered(2, everythingKilled)},
	{name: "RestartTicks", play: restartTicks},
}

// atOnce is how many of the gentle scenarios play on one store at the same time, while rough ones play on
// stores of their own. They wait much of the time; six would keep two cores so busy that each took twice as long, and some
// longer than they may. When a rough store is through, instead more gentle scenarios play in its stead.
const atOnce, instead = 2, 2

// roughStores is how many stores the rough scenarios of a kind have: one of ZooKeeper is three JVMs.
const roughStores = 2

// slots are how many scenarios play on a store at the same time, and may grow by more.
func slots(n, more int) chan struct{} {
	free := make(chan struct{}, n+more)
	for range n {
		free <- struct{}{}
	}
	return free
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	var starting sync.Mutex // one store of three servers starts at a time
	var playing sync.WaitGroup
	defer playing.Wait()
	playing.Go(func() {
		t.Run(withUsers, func(t *testing.T) { playAll(t, &starting, withUsers, queue(guarded), slots(1, 0)) })
	})
	for _, kind := range []string{cluster.Etcd, cluster.ZooKeeper} {
		gentle := onStore(kind)
		if kind == cluster.ZooKeeper { // which has permissions for each node
			gentle = append(gentle, guarded...)
		}
		free := slots(atOnce, instead*roughStores)
		playing.Go(func() {
			t.Run(kind, func(t *testing.T) { playAll(t, &starting, kind, queue(gentle), free) })
		})
		rough := queue(slices.DeleteFunc(slices.Clone(rough), func(sc scenario) bool { return sc.etcdOnly && kind != cluster.Etcd }))
		for n := range roughStores {
			playing.Go(func() {
				t.Run(fmt.Sprintf("%s/rough/%d", kind, n), func(t *testing.T) { playAll(t, &starting, kind, rough, slots(1, 0)) })
				for range instead {
					free <- struct{}{}
				}
			})
		}
	}
}

// onStore returns the gentle scenarios that are played on a store.
func onStore(kind string) []scenario {
	var played []scenario
	turns := 0
	for _, sc := range gentle {
		if sc.oneStore {
			turns++
			if testing.Short() && (turns%5 < 3) != (kind == cluster.Etcd) {
				continue
			}
		}
		played = append(played, sc)
	}
	return played
}

// queue returns scenarios as a channel, from which several stores may take them.
func queue(scenarios []scenario) <-chan scenario {
	all := make(chan scenario, len(scenarios))
	for _, sc := range scenarios {
		all <- sc
	}
	close(all)
	return all
}

// playAll plays scenarios on a store of a kind, as many at a time as there are slots free.
func playAll(t *testing.T, starting *sync.Mutex, kind string, scenarios <-chan scenario, free chan struct{}) {
	store := func() cluster.Store {
		starting.Lock()
		defer starting.Unlock() // also where ZooKeeper is not installed
		return startStore(t, kind)
	}()
	var playing sync.WaitGroup
	for range cap(free) {
		playing.Go(func() {
			for range free {
				sc, isLeft := <-scenarios
				if !isLeft {
					free <- struct{}{}
					return
				}
				t.Run(sc.name, func(t *testing.T) {
					limits := limits
					limits.Skew = sc.skew
					if sc.patient {
						limits.Session = patience
					}
					limits.Silence = limits.Session + silence
					play(t, store, limits, sc.play)
				})
				free <- struct{}{}
			}
		})
	}
	playing.Wait()
	noSessions(t, store)
}

// noSessions waits until all sessions at the store have ended: those that were closed
// did so at once, those whose process was killed when their time-out had passed. That is 20 s for
// an operator, and begins anew when the store elects a leader.
func noSessions(t *testing.T, store cluster.Store) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond) // neither store tells when a session ends
	defer again.Stop()
	for {
		n, err := store.Sessions(ctx)
		if err == nil && n == 0 {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Errorf("promise 11: %d sessions are left at the store (%v)", n, err)
			return
		}
	}
}

// failovers matches the start of any execution that was cut short before.
var failovers match = func(e history.Event) bool { return e.Kind == history.Start && e.Source == "FAILOVER" }
