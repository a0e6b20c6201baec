package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/ops"
)

// site is a console of a namespace with 10,000 jobs, on a port.
type site struct {
	reg    coord.Registry
	url    string
	client *http.Client
}

const (
	listPath  = "/api/v1/namespaces/test/jobs"
	watchPath = "/api/v1/namespaces/test/watch"
)

// onEveryStore measures something on a site. etcd runs in this process, ZooKeeper beside it.
func onEveryStore(b *testing.B, measure func(b *testing.B, s *site)) {
	b.Run("memory", func(b *testing.B) { onMemory(b, measure) })
	b.Run("etcd", func(b *testing.B) {
		s, err := etcdserver.Run(b.Context(), etcdserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Stop()
		reg, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "test"})
		onSite(b, reg, err, measure)
	})
	b.Run("zookeeper", func(b *testing.B) {
		zkserver.Require(b)
		s, err := zkserver.Run(b.Context(), zkserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		reg, err := zk.Dial(b.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "test", SessionTimeout: time.Minute})
		onSite(b, reg, err, measure)
	})
}

func onMemory(b *testing.B, measure func(b *testing.B, s *site)) {
	s := memory.NewStore(memory.Options{})
	defer s.Close()
	reg, err := s.Dial(b.Context(), memory.Config{Namespace: "test"})
	onSite(b, reg, err, measure)
}

func onSite(b *testing.B, reg coord.Registry, err error, measure func(b *testing.B, s *site)) {
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := reg.Close(context.Background()); err != nil {
			b.Log(err)
		}
	}()
	if _, err := crowd.Plant(b.Context(), reg, 10_000); err != nil {
		b.Fatal(err)
	}
	c, err := New(Options{
		Connections: connection.Fixed(map[string]*ops.Ops{"test": ops.New(reg)}), Slog: slog.New(slog.DiscardHandler), Limits: Limits{RequestsOfAddress: 512},
		Who: func(r *http.Request) (*access.Principal, error) {
			return &access.Principal{Name: r.RemoteAddr, // nobody has too many streams
				Grants: []access.Grant{{Role: access.Viewer}}}, nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(c)
	defer server.Close()
	defer func() {
		if err := c.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	measure(b, &site{reg, server.URL, clientOf(server)})
}

// clientOf returns a client with as many connections as it likes.
func clientOf(s *httptest.Server) *http.Client {
	c := s.Client()
	c.Transport.(*http.Transport).MaxIdleConnsPerHost = 1000
	return c
}

// get returns what a server answers.
func get(b *testing.B, client *http.Client, url string, header ...string) []byte {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s %s, %v", url, a.Status, text, err)
	}
	return text
}

// walk reads the whole list, in pages of 1,000 jobs, and returns how many bytes that are.
func (s *site) walk(b *testing.B) (size int) {
	jobs := 0
	for next := ""; ; {
		text := string(get(b, s.client, s.url+listPath+"?limit=1000"+next))
		size += len(text)
		jobs += strings.Count(text, `{"name":"billing.`)
		_, cursor, ok := strings.Cut(text, `],"next":"`)
		if !ok {
			break
		}
		cursor, _, _ = strings.Cut(cursor, `"`)
		next = "&after=" + cursor
	}
	if jobs != 10_000 {
		b.Fatalf("%d jobs", jobs)
	}
	return size
}

// listen opens a stream, and waits until it has begun.
func listen(tb testing.TB, ctx context.Context, client *http.Client, url string) (lines *bufio.Scanner, end func()) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := client.Do(r)
	if err != nil || a.StatusCode != http.StatusOK {
		tb.Fatalf("%v, %v", a, err)
	}
	lines = bufio.NewScanner(a.Body)
	lines.Buffer(make([]byte, 4<<10), 1<<20)
	return lines, func() { _ = a.Body.Close() } // it ends by that, whatever is said
}

// watched has somebody watch the namespace.
func (s *site) watched(b *testing.B) (end func()) {
	lines, stop := listen(b, b.Context(), s.client, s.url+watchPath)
	done := make(chan struct{})
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), `data: `) && !strings.HasSuffix(lines.Text(), `"more":true}`) {
			break // all has come
		}
	}
	go func() {
		defer close(done)
		for lines.Scan() {
		}
	}()
	return func() { stop(); <-done }
}

// The list of 10,000 jobs: a page of 100 when the store is read for it, and when the namespace is watched, as it is after the
// first request; and all of it, in pages of 1,000.
func BenchmarkList(b *testing.B) {
	onEveryStore(b, func(b *testing.B, s *site) {
		b.Run("read", func(b *testing.B) {
			for b.Loop() {
				get(b, s.client, s.url+listPath, "Cache-Control", "no-cache")
			}
		})
		begin := time.Now()
		get(b, s.client, s.url+listPath)
		first := time.Since(begin)
		b.Run("page", func(b *testing.B) {
			for b.Loop() {
				get(b, s.client, s.url+listPath)
			}
			b.ReportMetric(float64(first.Milliseconds()), "ms-first")
		})
		b.Run("all", func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = s.walk(b)
			}
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	})
}

// How many pages of the list a second: by 1 and by 16 clients, and what a bare handler does that has the bytes.
func BenchmarkListRate(b *testing.B) {
	onEveryStore(b, func(b *testing.B, s *site) {
		page := get(b, s.client, s.url+listPath)
		defer s.watched(b)()
		bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(page) // the client is ours
		}))
		defer bare.Close()
		rate := func(name, url string, client *http.Client, clients int) {
			b.Run(fmt.Sprintf("%s/%d", name, clients), func(b *testing.B) {
				begin := time.Now()
				if clients == 1 {
					for range b.N {
						get(b, client, url)
					}
				} else {
					b.SetParallelism((clients + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
					b.RunParallel(func(p *testing.PB) {
						for p.Next() {
							get(b, client, url)
						}
					})
				}
				b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "requests/s")
			})
		}
		for _, clients := range []int{1, 16} {
			rate("bare", bare.URL, clientOf(bare), clients)
			rate("console", s.url+listPath, s.client, clients)
		}
	})
}

// crowdOf opens many streams of a server. Each line that has a text is told.
func crowdOf(b *testing.B, client *http.Client, url string, listeners int, has func(line string) bool) (told <-chan time.Time, end func()) {
	ctx, cancel := context.WithCancel(b.Context())
	all := make(chan time.Time, listeners)
	var running, ready sync.WaitGroup
	for range listeners {
		lines, end := listen(b, ctx, client, url)
		ready.Add(1)
		running.Go(func() {
			defer end()
			isReady := false
			for lines.Scan() {
				switch line := lines.Text(); {
				case !isReady && strings.HasPrefix(line, "data: ") && !strings.HasSuffix(line, `"more":true}`):
					isReady = true
					ready.Done()
				case isReady && has(line):
					all <- time.Now()
				}
			}
		})
	}
	ready.Wait()
	return all, func() {
		cancel()
		running.Wait()
	}
}

// From a commit to 100 listeners that have it: when nothing has changed for a while, and at any moment, when an update may
// have been sent just before. bare is a handler that writes the same bytes to as many.
func BenchmarkLive(b *testing.B) {
	const listeners = 100
	onEveryStore(b, func(b *testing.B, s *site) {
		n := 0
		run := func(name string, told <-chan time.Time, wait func() time.Duration, do func(n int) time.Time) {
			b.Run(name, func(b *testing.B) {
				var each, last []time.Duration
				for b.Loop() {
					<-time.After(wait())
					n++
					begin := do(n)
					var took time.Duration
					for range listeners {
						took = (<-told).Sub(begin)
						each = append(each, took)
					}
					last = append(last, took)
				}
				for unit, list := range map[string][]time.Duration{"told": each, "last-told": last} {
					slices.Sort(list)
					b.ReportMetric(float64(list[len(list)/2].Microseconds())/1e3, "ms-"+unit+"-p50")
					b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1e3, "ms-"+unit+"-p99")
				}
			})
		}
		commit := func(n int) time.Time { // of a job that has no tick meanwhile
			document := fmt.Appendf(nil, "cron: 0 0 0 1 1 ?\njobName: changed\nshardingTotalCount: 1\ndescription: change %d\n", n)
			begin := time.Now()
			if _, err := s.reg.Commit(b.Context(), coord.Put("changed/config", document)); err != nil {
				b.Fatal(err)
			}
			return begin
		}
		told, end := crowdOf(b, s.client, s.url+watchPath, listeners, func(line string) bool { return strings.Contains(line, `"description":"change `) })
		commit(0)
		for range listeners { // the first change, while so many have just come, does not count
			<-told
		}
		run("quiet", told, func() time.Duration { return 250 * time.Millisecond }, commit)
		run("any", told, func() time.Duration { return rand.N(200 * time.Millisecond) }, commit)
		end()

		event := []byte("event: update\nid: 0123456789abcdef0123456789abcdef\ndata: {" + strings.Repeat("x", 650) + "}\n\n")
		bare := newBare(event)
		server := httptest.NewServer(bare)
		defer server.Close()
		told, end = crowdOf(b, clientOf(server), server.URL, listeners, func(line string) bool { return strings.HasPrefix(line, "data: ") })
		run("bare", told, func() time.Duration { return 250 * time.Millisecond }, func(int) time.Time {
			begin := time.Now()
			bare.tell()
			return begin
		})
		end()
	})
}

// bare is the least that tells many the same.
type bare struct {
	event []byte
	mu    sync.Mutex
	next  chan struct{}
}

func newBare(event []byte) *bare { return &bare{event: event, next: make(chan struct{})} }

func (h *bare) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.next)
	h.next = make(chan struct{})
}

func (h *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		h.mu.Lock()
		next := h.next
		h.mu.Unlock()
		if _, err := w.Write(h.event); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
	}
}

// listenersFor says to a process of this test what it is to listen to: an address and a path.
const listenersFor = "ELASTICJOB_LISTENERS_FOR"

// listenTo is the other process of BenchmarkListeners: it takes what 500 streams tell.
func listenTo(at string) error {
	address, path, _ := strings.Cut(at, " ")
	var running, ready sync.WaitGroup
	var open []net.Conn
	for range 500 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		open = append(open, c)
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, address); err != nil {
			return err
		}
		ready.Add(1)
		running.Go(func() {
			lines := bufio.NewScanner(c)
			lines.Buffer(nil, 1<<20)
			for isReady := false; lines.Scan(); {
				if !isReady && strings.HasPrefix(lines.Text(), "data: ") && !strings.HasSuffix(lines.Text(), `"more":true}`) {
					isReady = true
					ready.Done()
				}
			}
		})
	}
	ready.Wait()
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
	for _, c := range open {
		_ = c.Close() // that is how its reader ends
	}
	running.Wait()
	return nil
}

// What 500 listeners in another process cost, beside the watch itself: of memory that is in use, and of what the process has.
// bare is a handler that writes one event to as many.
func BenchmarkListeners(b *testing.B) {
	measure := func(b *testing.B, url, path string) {
		for b.Loop() {
			heap, rss := inUse(b)
			cmd := exec.CommandContext(b.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), listenersFor+"="+strings.TrimPrefix(url, "http://")+" "+path)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				b.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			lines := bufio.NewScanner(stdout)
			for lines.Scan() && lines.Text() != "ready" {
			}
			heap2, rss2 := inUse(b)
			b.ReportMetric(float64(heap2-heap)/500, "heap-B/listener")
			b.ReportMetric(float64(rss2-rss)/500, "rss-B/listener")
			b.ReportMetric(float64(rss2)/1e6, "rss-MB")
			if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
				b.Error(err)
			}
		}
	}
	onMemory(b, func(b *testing.B, s *site) {
		b.Run("live", func(b *testing.B) {
			defer s.watched(b)()
			measure(b, s.url, watchPath)
		})
		b.Run("bare", func(b *testing.B) {
			server := httptest.NewServer(newBare([]byte("data: {}\n\n")))
			defer server.Close()
			measure(b, server.URL, "/")
		})
	})
}

// inUse returns how much memory is in use on the heap and for stacks, and how much the process has, once all that is free is given back.
func inUse(b *testing.B) (heap, resident int64) {
	runtime.GC() // what pools keep goes with the second one
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal("how much memory a process has is known on Linux only")
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return int64(m.HeapAlloc + m.StackInuse), pages * int64(os.Getpagesize())
}
