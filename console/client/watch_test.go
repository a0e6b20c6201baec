package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A watch tells of all jobs that the caller may see, and then of what changes; and it goes on where it was when
// the connection breaks.
func TestWatch(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		jobs := map[string]ops.JobInfo{}
		resets, faults, step := 0, 0, 0
		for u, err := range w.as(t, "anna").Namespace("orders").Watch(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if u.Fault != "" {
				faults++
				continue
			}
			if u.Reset {
				resets++
				clear(jobs)
			}
			for _, j := range u.Jobs {
				jobs[j.Name] = j
			}
			for _, name := range u.Removed {
				delete(jobs, name)
			}
			if u.More {
				continue
			}
			switch {
			case step == 0 && len(jobs) == 5:
				step++
				must(t, w.Ops.Job("pay-out").Resume(ctx, ops.ResumeRequest{}))
			case step == 1 && jobs["pay-out"].Paused.Since.IsZero():
				step++
				w.wire.cut()
				_, err := w.Ops.Job("late").Pause(ctx, ops.PauseRequest{})
				must(t, err)
			case step == 2 && !jobs["late"].Paused.Since.IsZero():
				step++
				must(t, w.Ops.Job("late").Remove(ctx, ops.RemoveRequest{}))
			case step == 3 && jobs["late"].Name == "":
				step++
			}
			if step == 4 {
				break
			}
		}
		if step != 4 || resets != 1 || faults != 1 {
			t.Errorf("step %d, %d resets, %d faults: %v", step, resets, faults, jobs)
		}
	})
}

// A watch of a job ends when the job is removed; one of who may not watch does not begin, or ends.
func TestWatchEnds(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		last := func(c *client.Client, name string, begun func()) error {
			seen := 0
			for u, err := range c.Namespace("orders").Job(name).Watch(ctx) {
				if err != nil {
					return err
				}
				if u.Job != nil {
					if seen++; seen == 1 {
						begun()
					}
				}
			}
			return nil
		}
		anna, ben := w.as(t, "anna"), w.as(t, "ben")
		if err := last(anna, "late", func() { must(t, w.Ops.Job("late").Remove(ctx, ops.RemoveRequest{})) }); !errors.Is(err, client.ErrRemoved) && !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("removed: %v", err)
		}
		if err := last(anna, "nothing", func() {}); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("no job: %v", err)
		}
		if err := last(ben, "settle", func() {}); !errors.Is(err, client.ErrDenied) {
			t.Errorf("denied: %v", err)
		}
		if err := last(ben, "pay-out", func() {
			_, _, err := anna.SetUser(ctx, "ben", client.UserRights{Grants: []access.Grant{{Role: access.Viewer, Jobs: []string{"settle"}, Namespaces: []string{"*"}}}}, client.Any)
			must(t, err)
		}); !errors.Is(err, client.ErrDenied) {
			t.Errorf("denied meanwhile: %v", err)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range anna.Namespace("orders").Watch(impatient) {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("impatient: %v", err)
			}
		}
	})
}

// A console that is away is a fault, and the watch waits for it.
func TestWatchOfAConsoleThatIsAway(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.as(t, "anna") // has a token then
		attempts, token := 0, w.tokens["anna"]
		c, err := client.New("http://127.0.0.1", client.Options{Token: token, HTTP: &http.Client{Transport: answering(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts < 10 {
				return answer(503, "", "Retry-After", "3"), nil
			}
			return w.transport.RoundTrip(r)
		})}})
		must(t, err)
		begun := time.Now()
		var faults []string
		for u, err := range c.Namespace("orders").Watch(t.Context()) {
			must(t, err)
			if u.Reset {
				break
			}
			faults = append(faults, u.Fault)
			if isOld := u.Fault != ""; isOld == u.FaultSince.IsZero() || isOld && u.FaultSince.Before(begun.Add(-time.Second)) {
				t.Errorf("%q since %v", u.Fault, u.FaultSince)
			}
		}
		if took := time.Since(begun); len(faults) != 2 || faults[0] == "" || faults[1] != "" || took < 27*time.Second || took > 3*time.Minute {
			t.Errorf("after %v: %q", took, faults)
		}
	})
}

// beats is a stream that has a heartbeat every 15 s for some time, and then hangs.
type beats struct {
	ctx  context.Context
	left int
}

func (b *beats) Read(p []byte) (int, error) {
	if b.left == 0 {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	b.left--
	sleep.For(b.ctx, 15*time.Second)
	return copy(p, ":\n\n"), nil
}

// A stream in which nothing comes any more is a fault, and another one is begun; one that has nothing to tell is not.
func TestSilentWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, sent := time.Now(), 0
		c := over(t, func(r *http.Request) (*http.Response, error) {
			if sent++; sent > 1 {
				return answer(403, `{"code":"denied","detail":"x"}`), nil
			}
			a := answer(200, "")
			a.Body = io.NopCloser(&beats{r.Context(), 40})
			return a, nil
		})
		var told []string
		for u, err := range c.Namespace("orders").Watch(t.Context()) {
			if err != nil {
				told = append(told, "ended")
				if !errors.Is(err, client.ErrDenied) {
					t.Error(err)
				}
				break
			}
			told = append(told, u.Fault)
			if took := time.Since(begun); took != 10*time.Minute+45*time.Second {
				t.Errorf("%q after %v", u.Fault, took)
			}
		}
		if len(told) != 2 || !strings.Contains(told[0], "nothing has come for 45s") {
			t.Errorf("%q", told)
		}
	})
}

// A console that stays away is asked less and less often, and not before it wants to be.
func TestWatchBacksOff(t *testing.T) {
	for after, least := range map[string]time.Duration{"": 0, "20": 20 * time.Second, "999999": 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			c := over(t, func(*http.Request) (*http.Response, error) {
				if at = append(at, time.Now()); len(at) > 10 {
					return answer(403, ""), nil
				}
				return answer(503, "", "Retry-After", after), nil
			})
			faults := 0
			for _, err := range c.Namespace("orders").Watch(t.Context()) {
				if faults++; err != nil && !errors.Is(err, client.ErrDenied) {
					t.Error(err)
				}
			}
			pause := 500 * time.Millisecond
			for i := range len(at) - 1 {
				if gap := at[i+1].Sub(at[i]); gap < max(pause/2, least) || gap > max(pause, least) {
					t.Errorf("Retry-After %s: attempt %d after %v", after, i+2, gap)
				}
				pause = min(2*pause, 15*time.Second)
			}
			if len(at) != 11 || faults != 2 {
				t.Errorf("%d attempts, %d faults", len(at), faults)
			}
		})
	}
}

// A line without an end does not fill the memory, nor does the page of somebody who refuses.
func TestWatchIsBounded(t *testing.T) {
	for _, status := range []int{200, 404} {
		read := 0
		c := over(t, func(*http.Request) (*http.Response, error) {
			a := answer(status, "")
			a.Body = io.NopCloser(io.TeeReader(zeros{}, counter{&read}))
			return a, nil
		})
		for u, err := range c.Namespace("orders").Watch(t.Context()) {
			if status == 200 && !strings.Contains(u.Fault, "token too long") || status == 404 && err == nil || read > 40<<20 {
				t.Errorf("%d: %+v, %v, %d bytes were read", status, u, err, read)
			}
			break
		}
	}
}

type counter struct{ n *int }

func (c counter) Write(p []byte) (int, error) {
	if *c.n += len(p); *c.n > 100<<20 {
		return 0, errors.New("enough")
	}
	return len(p), nil
}
