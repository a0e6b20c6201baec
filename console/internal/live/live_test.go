package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/live"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A listener is told of all jobs first, then of what changes.
func TestListen(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		l := w.listen("anna", jobs, "")
		l.wants("reset")
		pass(time.Second)
		w.put("a=1", "b=1")
		l.until("a=1 b=1")
		pass(time.Second)
		w.put("a=2")
		l.wants("update a=2")
		pass(time.Second)
		w.put("-a", "c=1")
		l.until("b=1 c=1")
		again := w.listen("anna", jobs, "")
		again.wants("reset b=1 c=1")
		again.close()

		begin := time.Now()
		go func() {
			sleep.For(t.Context(), 40*time.Second)
			w.put("d=1")
		}()
		l.wants("update d=1")
		if took := time.Since(begin); took > 41*time.Second || l.beats != 8 {
			t.Errorf("told after %v, with %d heartbeats before", took, l.beats)
		}
		if s := w.live.Stats(); s.Listeners != 1 || s.Watches != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// Whoever comes again with the last id is told what has changed since; with a useless one, everything.
func TestResume(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("a=1", "b=1", "c=1")
		l := w.listen("anna", jobs, "")
		l.wants("reset a=1 b=1 c=1")
		id := l.lastID
		l.close()
		w.put("b=2", "-c", "d=1", "b=3", "e=1", "-e")
		pass(2 * time.Second)
		l = w.listen("anna", jobs, id)
		l.wants("update b=3 d=1 -c")
		last := l.lastID
		l.close()
		l = w.listen("anna", jobs+"?lastEventId="+last, "")
		pass(time.Second)
		w.put("a=2")
		l.wants("update a=2")
		l.close()

		for _, useless := range []string{"x", strings.Repeat("0", 32), strings.Repeat("1", 1000)} {
			l := w.listen("anna", jobs, useless)
			l.wants("reset b=3 d=1 a=2")
			l.close()
		}
		w.may("anna", access.Grant{Role: access.Viewer, Jobs: []string{"*a*", "d"}})
		l = w.listen("anna", jobs, last) // an id of when she saw more
		l.wants("reset d=1 a=2")
		l.close()
		pass(2 * time.Minute) // the feed has ended
		if s := w.live.Stats(); s.Listeners != 0 || s.Watches != 0 {
			t.Errorf("%+v", s)
		}
		l = w.listen("anna", jobs, l.lastID)
		l.wants("reset a=2 d=1")
	})
}

// When the console does not reach its store, those who listen are told since when what they have is old; and when that
// is over. In a namespace as of a job, and also those who see only some jobs.
func TestSinceWhen(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.may("ben", access.Grant{Role: access.Viewer, Namespaces: []string{"shop"}, Jobs: []string{"a"}})
		w.put("a=1", "b=1")
		listeners := map[string]*listener{"all": w.listen("anna", jobs, ""), "some": w.listen("ben", jobs, ""), "one": w.listen("anna", detail("a"), "")}
		for _, l := range listeners {
			l.next()
		}
		w.reg.Link().Cut()
		cut := time.Now()
		for name, l := range listeners {
			e := l.next()
			if d := e.told(t); e.name != "fault" || d.Fault == "" || !d.Since.Equal(cut) || name == "some" && d.Fault != "what is told may be incomplete or old" {
				t.Errorf("%s is told %v, cut at %v", name, e, cut)
			}
		}
		late := w.listen("anna", jobs, "")
		if d := late.next().told(t); !d.Since.Equal(cut) {
			t.Errorf("who comes later is told %+v", d)
		}
		w.reg.Link().Heal()
		for name, l := range listeners {
			e := l.next()
			if name == "one" && e.name == "job" { // with the doubt in it
				e = l.next()
			}
			if d := e.told(t); e.name != "fault" || d.Fault != "" || !d.Since.IsZero() {
				t.Errorf("%s is told %v when it is over", name, e)
			}
		}
	})
}

// Who may see only some jobs is told nothing of others: no names, no faults that have some, not even that something has
// changed.
func TestFilter(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.may("ben", access.Grant{Role: access.Viewer, Namespaces: []string{"shop"}, Jobs: []string{"pay-*"}})
		w.put("pay-in=1", "stock=1")
		all, some := w.listen("anna", jobs, ""), w.listen("ben", jobs, "")
		all.wants("reset pay-in=1 stock=1")
		some.wants("reset pay-in=1")
		pass(time.Second)
		w.put("ship=1", "-ship", "stock=2", "-stock")
		all.until("pay-in=1")
		w.reg.Link().FaultViews(fmt.Errorf("%w: stock/config", coord.ErrDenied))
		all.wants("fault " + coord.ErrDenied.Error() + ": stock/config")
		if got := some.brief(); got != "fault what is told may be incomplete or old" {
			t.Errorf("told %q", got)
		}
		w.reg.Link().FaultViews(nil)
		some.wants("fault")
		pass(time.Second)
		w.put("pay-out=1")
		some.wants("update pay-out=1")
		pass(time.Second)
		w.put("-pay-in")
		some.wants("update -pay-in")
	})
}

// Rights are looked up at each heartbeat, or when told to.
func TestRightsChange(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("pay-in=1", "stock=1")
		l := w.listen("anna", jobs, "")
		l.wants("reset pay-in=1 stock=1")
		pass(time.Second)
		begin := time.Now()
		w.may("anna", access.Grant{Role: access.Viewer, Jobs: []string{"stock"}})
		l.wants("bye rights")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("takes %v", took)
		}
		l = w.listen("anna", jobs, "")
		l.wants("reset stock=1")
		one := w.listen("anna", detail("stock"), "")
		one.next()
		begin = time.Now()
		w.may("anna", access.Grant{Role: access.Viewer, Namespaces: []string{"other"}})
		w.recheck()
		for _, l := range []*listener{l, one} {
			l.wants("bye denied")
			l.wants("")
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("takes %v", took)
		}
		if a := w.get(t.Context(), "anna", jobs, ""); a.StatusCode != http.StatusForbidden {
			t.Errorf("again: %s", a.Status)
		}
		w.may("ben", access.Grant{Role: access.Admin})
		l = w.listen("ben", jobs, "")
		l.wants("reset pay-in=1 stock=1")
		w.may("ben") // he has logged out
		l.wants("bye denied")
		w.may("ben", access.Grant{Role: access.Admin})
		l = w.listen("ben", jobs, "")
		l.wants("reset pay-in=1 stock=1")
		w.isNow("ben", "carl") // who has logged in with the same browser
		l.wants("bye denied")
	})
}

// A listener who is slow is told the newest state, and one who takes nothing is cut off. Nobody waits for him.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, live.Options{Heartbeat: time.Minute}) // who reads nothing for a while is not told to be there
		w.put("a=0", "b=0")
		quick, slow, dead := w.listen("anna", jobs, ""), w.listen("anna", jobs, ""), w.listen("anna", jobs, "")
		for _, l := range []*listener{quick, slow, dead} {
			l.wants("reset a=0 b=0")
		}
		for n := range 80 {
			pass(100 * time.Millisecond)
			w.put(fmt.Sprintf("a=%d", n+1))
		}
		w.put("-b")
		synctest.Wait()
		quick.until("a=80")
		if events := slow.until("a=80"); events > 5 { // what is in the buffers on the way, and the rest in one
			t.Errorf("the slow one is told in %d events", events)
		}
		pass(10 * time.Second)
		if s := w.live.Stats(); s.Listeners != 2 || s.Cut != 1 {
			t.Errorf("%+v", s)
		}
		for dead.next().name != "" {
		}
		pass(time.Second)
		w.put("a=81")
		quick.wants("update a=81")
		slow.wants("update a=81")
	})
}

// The end of the console ends all streams at once, and no more begin.
func TestClose(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("a=1")
		all := []*listener{w.listen("anna", jobs, ""), w.listen("anna", jobs, ""), w.listen("anna", detail("a"), "")}
		for _, l := range all {
			l.next()
		}
		begin := time.Now()
		closed := make(chan error)
		go func() { closed <- w.live.Close(t.Context()) }()
		for _, l := range all {
			l.wants("bye closing")
			l.wants("")
		}
		if err := <-closed; err != nil || time.Since(begin) != 0 {
			t.Errorf("closed after %v: %v", time.Since(begin), err)
		}
		a := w.get(t.Context(), "anna", jobs, "")
		if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("after that: %s", a.Status)
		}
		if _, _, err := w.live.Jobs(t.Context(), "shop"); err == nil {
			t.Error("a closed one reads")
		}
	})
}

// All listeners get the same.
func TestManyListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, live.Options{PerPrincipal: 100})
		for n := range 1000 {
			w.put(fmt.Sprintf("job-%03d=%s", n, strings.Repeat("x", 255)))
		}
		var all []*listener
		for range 20 {
			all = append(all, w.listen("anna", jobs, ""))
		}
		var first []event
		for n, l := range all {
			var got []event
			for len(l.known) < 1000 {
				got = append(got, l.next())
			}
			if n == 0 {
				first = got
			}
			if fmt.Sprint(got) != fmt.Sprint(first) {
				t.Fatalf("listener %d is told something else", n)
			}
		}
		if len(first) < 2 || first[0].name != "reset" || !first[0].told(t).More || first[1].name != "update" || first[len(first)-1].told(t).More {
			t.Errorf("all is told in %d events, the first of which is %s", len(first), first[0].name)
		}
		pass(time.Second)
		w.put("job-007=new")
		for _, l := range all {
			l.wants("update job-007=new")
		}
	})
}

// There are limits, and a place that is left can be had again.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, live.Options{Listeners: 3, PerPrincipal: 2, Watches: 2})
		w.put("a=1", "b=1")
		w.may("ben", access.Grant{Role: access.Viewer})
		refused := func(user, path string, want int) {
			t.Helper()
			a := w.get(t.Context(), user, path, "")
			if a.StatusCode != want || want != http.StatusNotFound && a.Header.Get("Retry-After") == "" {
				t.Errorf("%s to %s: %s, want %d", path, user, a.Status, want)
			}
			io.Copy(io.Discard, a.Body)
		}
		first := w.listen("anna", jobs, "")
		w.listen("anna", detail("a"), "")
		refused("anna", jobs, http.StatusTooManyRequests)
		refused("ben", detail("b"), http.StatusServiceUnavailable)
		w.listen("ben", jobs, "")
		refused("ben", jobs, http.StatusServiceUnavailable)
		first.close()
		synctest.Wait()
		w.listen("anna", jobs, "").wants("reset a=1 b=1")
		if s := w.live.Stats(); s.Listeners != 3 || s.Watches != 2 || s.Refused != 3 {
			t.Errorf("%+v", s)
		}
	})
	given(t, func(t *testing.T, w *world) {
		for _, path := range []string{"/api/v1/namespaces/none/watch", detail("none")} {
			if a := w.get(t.Context(), "anna", path, ""); a.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %s", path, a.Status)
			}
		}
		pass(time.Second)
		if s := w.live.Stats(); s.Listeners != 0 || s.Watches != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A place that is only kept for who may come again is given to who is there.
func TestIdleFeedsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, live.Options{Watches: 1})
		w.put("a=1")
		l := w.listen("anna", jobs, "")
		l.wants("reset a=1")
		l.close()
		synctest.Wait()
		w.listen("anna", detail("a"), "").next()
	})
}

// A job is told in full whenever it changes, until it is removed.
func TestJob(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("a=1", "b=1")
		l := w.listen("anna", detail("a"), "")
		describes := func(l *listener, want string) {
			t.Helper()
			if e := l.next(); e.name != "job" || !strings.Contains(e.data, `"description":"`+want+`"`) {
				t.Errorf("told %v, want %s", e, want)
			}
		}
		describes(l, "1")
		pass(time.Second)
		w.put("b=2", "a=2")
		describes(l, "2")
		id := l.lastID
		l.close()
		l = w.listen("anna", detail("a"), id)
		pass(time.Second)
		w.put("a=3")
		describes(l, "3")
		w.put("-a")
		l.wants("bye removed")
		l.wants("")
	})
}

// Who takes patches has the same after each of them as who is told all of the job; also after he has missed some, or has come
// again. A tick of many items is told in a fraction of the bytes.
func TestPatches(t *testing.T) {
	const items = 400
	given(t, func(t *testing.T, w *world) {
		if err := crowd.PlantLarge(t.Context(), w.reg, items); err != nil {
			t.Fatal(err)
		}
		path := detail(string(crowd.Large))
		whole, patched := w.listen("anna", path, ""), w.listen("anna", path+"?patches=true", "")
		v := view{t: t}
		sum, sumWhole := 0, 0
		agree := func(commits ...coord.Op) {
			t.Helper()
			if _, err := w.reg.Commit(t.Context(), commits...); err != nil {
				t.Fatal(err)
			}
			pass(210 * time.Millisecond)
			all := whole.next()
			e := patched.next()
			v.take(e)
			sum, sumWhole = sum+len(e.data), sumWhole+len(all.data)
			if got := v.json(); got != compact(t, all.data) {
				t.Fatalf("after %s, he has\n%.2000s\nwant\n%.2000s", e, got, all.data)
			}
		}
		v.take(patched.next())
		whole.next()
		tick := time.Now().Truncate(time.Second)
		for _, commit := range crowd.Tick(tick, items, 30) {
			agree(commit...)
		}
		if sum > 750*items || sumWhole < 10*sum {
			t.Errorf("a tick of %d items is told in %d bytes, without patches in %d", items, sum, sumWhole)
		}
		// A value that has changed below one that came, went, and came again; a list that becomes longer; a name with a slash.
		agree(coord.Delete(crowd.Large.Server("10.0.0.1")), coord.Put(crowd.Large.Server("10.0.0.2"), nil), coord.Put(crowd.Large.Server("10.0.0.3"), nil))
		agree(coord.Put(crowd.Large.ItemInstance(items), nil), coord.Put("billing.large/~1/x", nil))
		patched.close()
		missed := crowd.Tick(tick.Add(time.Minute), 60, 30)
		for _, commit := range append(missed, missed[:2]...) {
			if _, err := w.reg.Commit(t.Context(), commit...); err != nil {
				t.Fatal(err)
			}
			pass(210 * time.Millisecond)
			whole.next()
		}
		patched = w.listen("anna", path+"?patches=true", patched.lastID)
		agree(missed[2]...)
		if patched.lastID == "" || v.patches < 30 {
			t.Errorf("%d patches", v.patches)
		}
	})
}

// view is a job as who takes patches has it.
type view struct {
	t       *testing.T
	now     any
	patches int
}

func (v *view) take(e event) {
	v.t.Helper()
	if e.name == "job" {
		v.now = nil
		v.must(json.Unmarshal([]byte(e.data), &v.now))
		return
	}
	v.patches++
	d := json.NewDecoder(strings.NewReader(e.data))
	next := func() string {
		token, err := d.Token()
		v.must(err)
		return fmt.Sprint(token)
	}
	next()
	for d.More() {
		path := strings.Split(next(), "/")[1:]
		var value any
		v.must(d.Decode(&value))
		v.now = v.put(v.now, path, value)
	}
}

func (v *view) put(in any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
	switch in := in.(type) {
	case map[string]any:
		if in[name] = v.put(in[name], path[1:], value); in[name] == nil {
			delete(in, name)
		}
	case []any:
		i, err := strconv.Atoi(name)
		v.must(err)
		in[i] = v.put(in[i], path[1:], value)
	}
	return in
}

func (v *view) json() string {
	text, err := json.Marshal(v.now)
	v.must(err)
	return string(text)
}

func (v *view) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// compact is a JSON text as json.Marshal writes what it says.
func compact(t *testing.T, text string) string {
	v := view{t: t}
	v.take(event{name: "job", data: text})
	return v.json()
}

// A store that hangs, or is away, is told of, and nobody else waits for it.
func TestStoreIsAway(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("a=1")
		hangs := make(chan struct{})
		w.mu.Lock()
		w.opse = func(ctx context.Context) error {
			select {
			case <-hangs:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		w.mu.Unlock()
		l := w.listen("anna", jobs, "")
		l.wants("fault the store has not answered for 5s")
		close(hangs)
		l.wants("fault")
		l.wants("reset a=1")

		// While it is away, the last known state stays; the watch is opened again, and only what has changed is told.
		w.mu.Lock()
		w.opse = func(context.Context) error { return ops.ErrStoreAway }
		w.mu.Unlock()
		w.reg.Link().EndViews(coord.ErrClosed)
		if got := l.brief(); !strings.HasPrefix(got, "fault ") {
			t.Errorf("told %q", got)
		}
		begin := time.Now()
		time.AfterFunc(2*time.Minute, func() {
			w.put("b=1")
			w.mu.Lock()
			defer w.mu.Unlock()
			w.opse = nil
		})
		l.wants("fault ops: the store is away")
		l.wants("fault")
		l.wants("update b=1")
		if took := time.Since(begin); took > 181*time.Second {
			t.Errorf("told after %v", took)
		}
	})
}

// A watch that ends again and again, although it tells what there is each time, is opened less and less often, and the log is
// told of it less and less often. One that has gone well for long begins anew.
func TestWatchThatEndsAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		w := newWorld(t, live.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		w.put("a=1")
		var opened []time.Time
		isBad := true
		w.mu.Lock()
		w.opse = func(context.Context) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if opened = append(opened, time.Now()); isBad {
				time.AfterFunc(5*time.Second, func() { w.reg.Link().EndViews(coord.ErrClosed) })
			}
			return nil
		}
		w.mu.Unlock()
		l, read := w.listen("anna", jobs, ""), make(chan struct{})
		go func() {
			defer close(read)
			for l.next().name != "" {
			}
		}()
		defer func() { l.close(); <-read }()
		pass(3 * time.Hour)
		w.mu.Lock()
		longest := time.Duration(0)
		for i := range opened[1:] {
			longest = max(longest, opened[i+1].Sub(opened[i]))
		}
		if len(opened) < 160 || len(opened) > 180 || longest > 66*time.Second || opened[1].Sub(opened[0]) > 6*time.Second {
			t.Errorf("opened %d times, %v apart at most", len(opened), longest)
		}
		isBad, opened = false, nil
		w.mu.Unlock()
		if n := log.count("a watch has ended"); n < 5 || n > 9 {
			t.Errorf("told %d times:\n%s", n, log.text.String())
		}
		pass(3 * time.Hour)
		told := log.count("a watch has ended")
		end := time.Now()
		w.reg.Link().EndViews(coord.ErrClosed)
		pass(2 * time.Minute)
		if at := opened[len(opened)-1]; at.Sub(end) > time.Second || log.count("a watch has ended") != told+1 {
			t.Errorf("opened again after %v, told %d times", at.Sub(end), log.count("a watch has ended")-told)
		}
	})
}

// Who asks now and then for the list of a namespace whose store is away, each time by a new feed, does not fill the log.
func TestListsWhileStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		w := newWorld(t, live.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Watches: 3})
		w.mu.Lock()
		w.opse = func(context.Context) error { return ops.ErrStoreAway }
		w.mu.Unlock()
		for range 3 * 60 * 2 {
			if _, _, err := w.live.Jobs(t.Context(), "shop"); !errors.Is(err, ops.ErrStoreAway) {
				t.Fatal(err)
			}
			pass(30 * time.Second)
		}
		if n := log.count("a watch has ended"); n < 5 || n > 9 || !strings.Contains(log.text.String(), `"ends before, not told"=`) {
			t.Errorf("told %d times", n)
		}
	})
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// Who asks for the list is told what the feed knows, which goes on for a while; if something is wrong with it, the store is read.
func TestJobs(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("b=1", "a=1")
		watches := 0
		w.mu.Lock()
		w.opse = func(context.Context) error { watches++; return nil }
		w.mu.Unlock()
		list := func(wantWatches int, want string) {
			t.Helper()
			var got []string
			jobs, at, err := w.live.Jobs(t.Context(), "shop")
			for _, i := range jobs {
				got = append(got, i.Name+"="+i.Description)
			}
			if err != nil || strings.Join(got, " ") != want || watches != wantWatches || !at.Equal(time.Now()) {
				t.Errorf("%v of %v, %v, after %d watches; want %s after %d", got, at, err, watches, want, wantWatches)
			}
		}
		list(1, "a=1 b=1")
		w.put("c=1")
		pass(300 * time.Millisecond)
		list(1, "a=1 b=1 c=1")
		w.put("b=2", "a=2", "b=3")
		pass(10 * time.Second)
		list(1, "a=2 b=3 c=1")
		w.put("a=1", "b=1", "-c", "c=1")
		pass(300 * time.Millisecond)
		list(1, "a=1 b=1 c=1")
		pass(10 * time.Second)
		w.reg.Link().FaultViews(coord.ErrUnavailable)
		pass(time.Second)
		list(2, "a=1 b=1 c=1") // read from the store
		w.reg.Link().FaultViews(nil)
		pass(2 * time.Minute)
		if s := w.live.Stats(); s.Watches != 0 {
			t.Errorf("%+v", s)
		}
		l := w.listen("anna", jobs, "")
		l.wants("reset a=1 b=1 c=1")
		w.put("-b")
		l.wants("update -b")
		list(3, "a=1 c=1")
		if _, _, err := w.live.Jobs(t.Context(), "none"); !errors.Is(err, connection.ErrNoNamespace) {
			t.Errorf("jobs of no namespace: %v", err)
		}
	})
}

// Rights that change while the answer waits for a first state are not missed.
func TestRightsChangeBeforeBegin(t *testing.T) {
	given(t, func(t *testing.T, w *world) {
		w.put("pay-in=1")
		w.opse = func(context.Context) error {
			w.may("anna")
			w.recheck()
			return nil
		}
		w.listen("anna", jobs, "").wants("bye denied")
	})
}
