package browsertest

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// BenchmarkTenThousandJobs opens the list of 10,000 jobs in a browser that has nothing of it yet, until all are counted
// and the first are drawn.
func BenchmarkTenThousandJobs(b *testing.B) {
	url := newSite(b, func(reg coord.Registry, _ *sql.DB) error {
		_, err := crowd.Plant(b.Context(), reg, 10_000)
		return err
	})
	measure(b, url, "/namespaces/test/jobs", `document.querySelectorAll("a[href*='billing.settlement']").length > 0 && document.getElementById("page").textContent.includes("10,000 jobs")`)
}

// BenchmarkTimeline opens a job whose timeline has 100 items and 1,000 ticks of each, until it is drawn.
func BenchmarkTimeline(b *testing.B) {
	url := newSite(b, func(reg coord.Registry, db *sql.DB) error {
		// 1,000 ticks in the 6 hours that are over, one each 20 s, and what is around them.
		const rows = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99999)
			INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success,
				start_time, complete_time, instance, scheduled_micros, start_micros, duration_micros, outcome)
			SELECT '0190a000-0000-7000-8' || printf('%03x-%012x', random() & 4095, random() & 281474976710655), 'settle', '', 'host', '10.0.0.1', n % 100, 'NORMAL_TRIGGER', 1,
				strftime('%Y-%m-%d %H:%M:%S.000000', ?1 + n / 100 * 20, 'unixepoch'), strftime('%Y-%m-%d %H:%M:%S.000000', ?1 + n / 100 * 20, 'unixepoch'),
				'10.0.0.1@-@1@-@' || n % 7, (?1 + n / 100 * 20) * 1000000, (?1 + n / 100 * 20) * 1000000 + n * 7919 % 100000, 1000000 + n * 7919 % 9000000, 'OK' FROM numbers`
		_, err := db.ExecContext(b.Context(), rows, time.Now().Add(-20_000*time.Second).Unix())
		return errors.Join(err, ops.New(reg).Create(b.Context(), ops.CreateRequest{Config: job.Config{Name: "settle", Cron: "0/20 * * * * ?", ShardingTotalCount: 100}}))
	})
	measure(b, url, "/namespaces/test/jobs/settle?span=6h", `document.querySelector(".timeline canvas") && performance.getEntriesByType("resource").some(e => e.name.includes("history/columns"))`)
}

// measure opens a page again and again, each time in a tab that has nothing of the console yet, until ready is true.
func measure(b *testing.B, url, path, ready string) {
	browser.Require(b)
	chromium := browser.New() // the places of no other test
	b.Cleanup(chromium.Close)
	chromium.Tab(b, url).Open("/about") // Chromium has started
	var paint, done, script, layout, heap, received float64
	for b.Loop() {
		tab := chromium.Tab(b, url)
		tab.Throttle(sixMbit)
		tab.Spent() // counts from here
		tab.Open(path)
		tab.WaitFor(ready)
		var at struct{ Paint, Done float64 }
		tab.Eval(`({Paint: performance.getEntriesByName("first-contentful-paint")[0].startTime, Done: performance.now()})`, &at)
		spent := tab.Spent()
		paint += at.Paint
		done += at.Done
		script += float64(spent.Script.Microseconds()) / 1e3
		layout += float64((spent.Layout + spent.Style).Microseconds()) / 1e3
		heap += float64(spent.Heap) / (1 << 20)
		received += float64(tab.Received("")) / 1e3
	}
	for unit, sum := range map[string]float64{"ms-first-paint": paint, "ms-all-there": done, "ms-script": script, "ms-layout": layout, "MiB-heap": heap, "kB": received} {
		b.ReportMetric(sum/float64(b.N), unit)
	}
}

// BenchmarkThousandItems looks on for a minute while a job of 1,000 items begins and ends a tick, in 68 commits.
func BenchmarkThousandItems(b *testing.B) {
	const items = 1000
	var reg coord.Registry
	url := newSite(b, func(r coord.Registry, _ *sql.DB) error {
		reg = r
		return crowd.PlantLarge(b.Context(), reg, items)
	})
	browser.Require(b)
	tab := chromium.Tab(b, url)
	tab.Spent()
	tab.Open("/namespaces/test/jobs/" + string(crowd.Large))
	tab.See("1,000 items")
	tab.See("Live")
	before, received := tab.Spent(), tab.Received("")
	for b.Loop() {
		minute := time.After(time.Minute)
		for _, ops := range crowd.Tick(time.Now().Truncate(time.Second), items, 30) {
			_, err := reg.Commit(b.Context(), ops...)
			fatal(b, err)
			<-time.After(210 * time.Millisecond) // each is told by itself
		}
		<-minute
	}
	after := tab.Spent()
	b.ReportMetric(float64(tab.Received("")-received)/1e3/float64(b.N), "kB/min")
	b.ReportMetric(100*(after.Task-before.Task).Minutes()/float64(b.N), "%-busy")
	b.ReportMetric(100*(after.Script-before.Script).Minutes()/float64(b.N), "%-script")
}

// sixMbit is a slow line, in bytes a second.
const sixMbit = 6e6 / 8

// BenchmarkLive changes a job while a browser and 100 other clients listen, until the change is on the screen.
func BenchmarkLive(b *testing.B) {
	var reg coord.Registry
	url := newSite(b, func(r coord.Registry, _ *sql.DB) error {
		reg = r
		_, err := crowd.Plant(b.Context(), reg, 100)
		return err
	})
	browser.Require(b)
	commit := func(n int) time.Time { // of a job that has no tick meanwhile
		document := fmt.Appendf(nil, "cron: 0 0 0 1 1 ?\njobName: changed\nshardingTotalCount: 1\ndescription: change %d.\n", n)
		begin := time.Now()
		if _, err := reg.Commit(b.Context(), coord.Put("changed/config", document)); err != nil {
			b.Fatal(err)
		}
		return begin
	}
	commit(0)
	told, end := listen(b, url+"/api/v1/namespaces/test/watch", 100)
	defer end()
	tab := chromium.Tab(b, url)
	tab.Open("/namespaces/test/jobs?search=changed")
	tab.See("change 0.")
	tab.Eval(`(() => {
		window.seen = [];
		const page = document.getElementById("page");
		new MutationObserver(() => {
			const n = /change (\d+)\./.exec(page.textContent)?.[1];
			if (n && !seen[n]) requestAnimationFrame(() => (seen[n] ??= performance.timeOrigin + performance.now()));
		}).observe(page, {subtree: true, childList: true, characterData: true});
		return 0;
	})()`, new(int))
	var clients, screen []time.Duration
	n := 0
	for b.Loop() {
		<-time.After(rand.N(400 * time.Millisecond))
		n++
		begin := commit(n)
		for range 100 {
			clients = append(clients, (<-told).Sub(begin))
		}
		tab.WaitFor(fmt.Sprintf("seen[%d]", n))
		var at float64 // by the same clock
		tab.Eval(fmt.Sprintf("seen[%d]", n), &at)
		screen = append(screen, time.UnixMicro(int64(at*1000)).Sub(begin))
	}
	for name, list := range map[string][]time.Duration{"client": clients, "screen": screen} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1e3, "ms-"+name+"-p50")
		b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1e3, "ms-"+name+"-p99")
	}
}

// listen has many clients listen to a stream, and returns when each of them gets a change.
func listen(b *testing.B, url string, clients int) (told <-chan time.Time, end func()) {
	ctx, cancel := context.WithCancel(b.Context())
	at, begun, ended := make(chan time.Time, clients), make(chan struct{}, clients), make(chan struct{}, clients)
	for range clients {
		go func() {
			defer func() { ended <- struct{}{} }()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				b.Error(err)
				return
			}
			a, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
			if err != nil {
				b.Error(err)
				return
			}
			defer a.Body.Close()
			lines := bufio.NewScanner(a.Body)
			lines.Buffer(nil, 64<<20)
			for lines.Scan() {
				switch {
				case strings.Contains(lines.Text(), `"description":"change 0."`):
					begun <- struct{}{}
				case strings.Contains(lines.Text(), `"description":"change `):
					at <- time.Now()
				}
			}
		}()
	}
	for range clients {
		<-begun
	}
	return at, func() {
		cancel()
		for range clients {
			<-ended
		}
	}
}

// newSite serves a console of a namespace in memory with a history, as fill makes them. Whoever comes is an admin.
func newSite(b testing.TB, fill func(coord.Registry, *sql.DB) error) (url string) {
	store := memory.NewStore(memory.Options{})
	b.Cleanup(store.Close)
	dial := func(ctx context.Context) (coord.Registry, error) {
		return store.Dial(ctx, memory.Config{Namespace: "test"})
	}
	reg, err := dial(b.Context())
	fatal(b, err)
	b.Cleanup(func() { fatal(b, reg.Close(context.Background())) })
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "history.db"))
	fatal(b, err)
	b.Cleanup(func() { fatal(b, db.Close()) })
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	fatal(b, err)
	b.Cleanup(tracer.Close)
	fatal(b, tracer.Migrate(b.Context()))
	fatal(b, fill(reg, db))
	book, err := connection.Open(connection.Options{
		Given: []connection.Given{{Namespace: connection.Namespace{Name: "test", Kind: "etcd", Endpoints: []string{"127.0.0.1:1"}, Path: "test", Database: "history"}, Dial: dial}},
		GivenDatabases: []connection.GivenDatabase{{
			Database: connection.Database{Name: "history", Driver: connection.SQLite, Address: "history.db"},
			Open:     func() (connection.History, error) { return opened{tracer, db}, nil },
		}},
		Slog: slog.New(slog.DiscardHandler),
	})
	fatal(b, err)
	b.Cleanup(func() { fatal(b, book.Close(context.Background())) })
	c, err := console.New(console.Options{
		Connections: book, Slog: slog.New(slog.DiscardHandler), Limits: console.Limits{RequestsOfAddress: 512},
		Who: func(r *http.Request) (*access.Principal, error) {
			name := r.RemoteAddr // nobody has too many streams
			if strings.HasPrefix(r.UserAgent(), "Mozilla/") {
				name = "browser"
			}
			return &access.Principal{Name: name, Grants: []access.Grant{{Role: access.Admin}}}, nil
		},
	})
	fatal(b, err)
	server := httptest.NewServer(c)
	b.Cleanup(func() {
		fatal(b, c.Close(context.Background()))
		server.Close()
	})
	return server.URL
}

func fatal(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// opened is a history that stays when a console closes it.
type opened struct {
	*sqltrace.Tracer
	db *sql.DB
}

func (o opened) Ping(ctx context.Context) error { return o.db.PingContext(ctx) }
func (o opened) Close() error                   { return nil }
