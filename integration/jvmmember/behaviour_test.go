package jvmmember_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

// bubble runs a test in a bubble, ten seconds after a tick of [base].
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(10 * time.Second)
		test(t, newWorld(t))
	})
}

// operate opens a registry for an operator.
func (w *world) operate() coord.Registry {
	w.t.Helper()
	r, err := w.store.Dial(w.t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = r.Close(context.Background()) }) // the test is over
	return r
}

// A member whose session is lost goes on with its run, and others take it for dead. With the
// next session it registers again, and clears the items that it owns.
func TestALostSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.start(1, base)
		b := w.start(2, base)
		w.takes.Store(0, 40*time.Second)
		w.takes.Store(2, 40*time.Second)
		time.Sleep(52 * time.Second)
		w.ran()
		session, err := b.registry.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.registry.Link().Cut()
		time.Sleep(10 * time.Second)
		if w.has("settle/instances/" + b.ID()) {
			t.Fatal("the instance is still there")
		}
		got := w.ran()
		if len(got) == 0 {
			t.Error("nobody has taken over")
		}
		b.registry.Link().Heal()
		time.Sleep(10 * time.Second)
		if !w.has("settle/instances/" + b.ID()) {
			t.Error("the instance has not come back")
		}
		if again, err := b.registry.Session(t.Context()); err != nil || again.ID() == session.ID() {
			t.Errorf("the session is the old one: %v", err)
		}
		if w.value("settle/servers/10.0.0.2") != "ENABLED" {
			t.Error("the server is not enabled")
		}
		time.Sleep(3 * time.Minute)
		got = w.ran()
		if got["0 10.0.0.2@-@2 NORMAL_TRIGGER"] == 0 {
			t.Errorf("the member does not fire again: %v", got)
		}
	})
}

// Somebody removes the node of an instance: it shuts itself down, and its run goes on.
func TestARemovedInstance(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.start(1, base)
		w.start(2, base)
		operator := w.operate()
		time.Sleep(51 * time.Second)
		w.ran()
		w.commit(operator, coord.Delete("settle/instances/"+a.ID()))
		<-a.Done()
		if err := a.Err(); err != nil {
			t.Error(err)
		}
		if got := w.value("settle/leader/election/instance"); got != "10.0.0.2@-@2" {
			t.Errorf("the leader is %q", got)
		}
		time.Sleep(time.Minute)
		if got := w.ran(); got["1 10.0.0.2@-@2 NORMAL_TRIGGER"] != 1 {
			t.Errorf("the other one has run %v", got)
		}
	})
}

// What is written for a run hangs on the configuration.
func TestWhatIsWrittenForARun(t *testing.T) {
	for _, c := range []struct {
		name     string
		document string
		there    bool
		lasts    bool // the node outlives the session
	}{
		{"failover", base, true, true},
		{"without failover", with("failover: false"), true, false},
		{"without monitoring", with("monitorExecution: false"), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				a := w.start(1, c.document)
				time.Sleep(51 * time.Second)
				n, there := w.store.Snapshot("test").Get("settle/sharding/1/running")
				if there != c.there || there && (string(n.Value) != a.ID() || n.Ephemeral() == c.lasts) {
					t.Errorf("running: %v, %+v", there, n)
				}
			})
		})
	}
}

// A tick that comes in a run is a misfire: it is made up after the next run, unless the
// configuration says otherwise.
func TestMisfires(t *testing.T) {
	for _, c := range []struct {
		name     string
		document string
		want     int
	}{
		{"made up", base, 1},
		{"dropped", with("misfire: false"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				a := w.start(1, c.document)
				w.takes.Store(0, 70*time.Second)
				time.Sleep(50*time.Second + 71*time.Second)
				if !w.has("settle/sharding/2/misfire") {
					t.Error("the misfire is not marked")
				}
				w.takes.Delete(0)
				w.ran()
				time.Sleep(time.Minute)
				if got := w.ran()["0 "+a.ID()+" MISFIRE"]; got != c.want {
					t.Errorf("made up %d times, not %d", got, c.want)
				}
			})
		})
	}
}

// A new cron counts from now on; a new time zone alone does not.
func TestANewCron(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.start(1, base)
		operator := w.operate()
		w.commit(operator, coord.Set("settle/config", []byte(with("cron: 0/10 * * * * ?"))))
		time.Sleep(time.Second)
		w.ran()
		time.Sleep(30 * time.Second)
		if got := w.ran()["0 10.0.0.1@-@1 NORMAL_TRIGGER"]; got != 3 {
			t.Errorf("fired %d times in 30 s", got)
		}
	})
}

// With static sharding nothing is assigned again, whoever comes.
func TestStaticSharding(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		document := with("staticSharding: true")
		w.start(1, document)
		time.Sleep(52 * time.Second)
		w.ran()
		w.start(2, document)
		time.Sleep(time.Minute)
		check(t, "after a join", w.ran(), "0 10.0.0.1@-@1 NORMAL_TRIGGER", "1 10.0.0.1@-@1 NORMAL_TRIGGER", "2 10.0.0.1@-@1 NORMAL_TRIGGER")
	})
}

// The strategies of ElasticJob; with any other one the deal fails, and nobody runs anything.
func TestStrategies(t *testing.T) {
	for name, want := range map[string][]string{
		"AVG_ALLOCATION": {"0 10.0.0.2@-@2", "2 10.0.0.2@-@2", "1 10.0.0.1@-@1"},
		"ODEVITY":        {"0 10.0.0.2@-@2", "2 10.0.0.2@-@2", "1 10.0.0.1@-@1"},
		"STICKY":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.start(1, with("jobShardingStrategyType: "+name))
				w.start(2, base)
				time.Sleep(51 * time.Second)
				var runs []string
				for _, item := range want {
					runs = append(runs, item+" NORMAL_TRIGGER")
				}
				check(t, name, w.ran(), runs...)
			})
		})
	}
}

// Each release knows its own key of the thread pool, and none that it has not.
func TestKeysOfAConfiguration(t *testing.T) {
	for _, c := range []struct {
		release jvmmember.Release
		line    string
		reads   bool
	}{
		{jvmmember.V304, "jobExecutorServiceHandlerType: CPU", true},
		{jvmmember.V305, "jobExecutorServiceHandlerType: CPU", false},
		{jvmmember.V304, "jobExecutorThreadPoolSizeProviderType: CPU", false},
		{jvmmember.V305, "jobExecutorThreadPoolSizeProviderType: CPU", true},
		{jvmmember.V304, "retention: 3", false},
	} {
		t.Run(string(c.release)+" "+c.line, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				r := w.operate()
				m, err := jvmmember.Start(t.Context(), jvmmember.Config{
					Registry: r, Job: "settle", IP: "10.0.0.1", PID: 1, Class: "A", Document: []byte(with(c.line)), Release: c.release, Work: w.work,
				})
				if (err == nil) != c.reads {
					t.Fatalf("started: %v", err)
				}
				if m != nil {
					m.Crash()
					if err := r.Close(context.Background()); err != nil {
						t.Error(err)
					}
					<-m.Done()
				}
			})
		})
	}
}

// A job of another class is not started.
func TestAnotherClass(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.start(1, base)
		_, err := jvmmember.Start(t.Context(), jvmmember.Config{
			Registry: w.operate(), Job: "settle", IP: "10.0.0.2", PID: 2, Class: "com.example.Other", Document: []byte(base), Work: w.work,
		})
		if err == nil || !strings.Contains(err.Error(), "class") {
			t.Errorf("started: %v", err)
		}
	})
}

// What 3.0.5 does otherwise when it starts: it removes the servers without an instance, also
// disabled ones. 3.0.4 means to, and does not.
func TestServersWithoutInstances(t *testing.T) {
	for release, stays := range map[jvmmember.Release]bool{jvmmember.V304: true, jvmmember.V305: false} {
		t.Run(string(release), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.commit(w.operate(), coord.Create("settle/servers/10.0.0.9", []byte("DISABLED")))
				w.start(1, base, func(c *jvmmember.Config) { c.Release = release })
				if w.has("settle/servers/10.0.0.9") != stays {
					t.Errorf("the server is there: %v", !stays)
				}
			})
		})
	}
}

// 3.0.6-SNAPSHOT keeps the record of an item that has failed: it never runs again, and nothing is assigned any more.
func TestAFailedItem(t *testing.T) {
	for release, stays := range map[jvmmember.Release]bool{jvmmember.V305: false, jvmmember.V306: true} {
		t.Run(string(release), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				fails := func(c *jvmmember.Config) {
					c.Release = release
					c.Work = func(ctx context.Context, e jvmmember.Execution) error {
						err := w.work(ctx, e)
						if e.Item == 1 {
							err = errors.New("it fails")
						}
						return err
					}
				}
				w.start(1, base, fails)
				time.Sleep(55 * time.Second)
				if w.has("settle/sharding/1/running") != stays || w.has("settle/sharding/0/running") {
					t.Errorf("the record of what has failed is there: %v", !stays)
				}
				w.ran()
				time.Sleep(time.Minute)
				if got := w.ran(); got["0 10.0.0.1@-@1 NORMAL_TRIGGER"] != 1 || (got["1 10.0.0.1@-@1 NORMAL_TRIGGER"] == 0) != stays {
					t.Errorf("at the next tick: %v", got)
				}
				w.start(2, base, fails)
				time.Sleep(3 * time.Minute)
				if w.has("settle/leader/sharding/necessary") != stays {
					t.Errorf("the items are still to be assigned: %v", !stays)
				}
			})
		})
	}
}

// The taker of an item dies, too. 3.0.4 leaves its running, so that the next one has nothing to
// run until somebody removes it; 3.0.5 clears it.
func TestATakerThatDies(t *testing.T) {
	for release, want := range map[jvmmember.Release]int{jvmmember.V304: 0, jvmmember.V305: 1} {
		t.Run(string(release), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				as := func(c *jvmmember.Config) { c.Release = release }
				w.takes.Store(0, 20*time.Second)
				w.takes.Store(1, time.Second)
				w.takes.Store(2, time.Second)
				hosts := map[string]*host{}
				for n := range 3 {
					h := w.start(n+1, base, as)
					hosts[h.ID()] = h
				}
				// Both that survive put the item up, and each removes running after that. Whoever takes the item over
				// before the other one has done so runs nothing (ElasticJob has that race, too); here nobody does.
				w.store.Inject(memory.Fault{Method: memory.Acquire, Path: "settle/leader/failover/latch", Delay: 100 * time.Millisecond})
				time.Sleep(53 * time.Second)
				w.ran()
				owner := hosts[w.value("settle/sharding/0/instance")]
				owner.kill()
				time.Sleep(2 * time.Second)
				taker := hosts[w.value("settle/sharding/0/failovering")]
				if taker == nil || taker == owner {
					t.Fatal("nobody has taken over")
				}
				w.ran()
				taker.kill()
				time.Sleep(5 * time.Second)
				total := 0
				for _, n := range w.ran() {
					total += n
				}
				if total != want {
					t.Errorf("the third one has run %d times, not %d", total, want)
				}
			})
		})
	}
}

// An exit waits for the run as long as its context lets it. The hook and a run that wants to fire
// for an item that it has taken over wait for each other, as in ElasticJob.
func TestAnExitThatNeverEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.start(1, base)
		b := w.start(2, base)
		w.takes.Store(1, 20*time.Second)
		time.Sleep(51 * time.Second)
		b.kill()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.Sleep(time.Second) // A is busy, and has put up what B ran
		if err := a.Exit(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("exit: %v", err)
		}
		if w.value("settle/sharding/2/failovering") != a.ID() {
			t.Error("the run has taken nothing over")
		}
	})
}
