package guard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/testserver/pipes"
)

// connect serves a guard, and returns a connection to it.
func connect(t *testing.T, s *stand) net.Conn {
	t.Helper()
	p := pipes.New()
	server := &http.Server{Handler: s, Protocols: both()}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p) }()
	mine, err := p.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(mine.Close(), server.Close()); err != nil {
			t.Error(err)
		}
		<-served
	})
	return mine
}

// both are HTTP/1.1 and HTTP/2, which a client chooses by how it begins.
func both() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return &p
}

// connect2 serves a guard, and returns a client of HTTP/2.
func connect2(t *testing.T, s *stand) *http.Client {
	t.Helper()
	var two http.Protocols
	two.SetUnencryptedHTTP2(true)
	c := connect(t, s)
	transport := &http.Transport{Protocols: &two, DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Error(err)
	}
}

// took checks how long something has taken, in virtual time.
func took(t *testing.T, since time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(since); got != want {
		t.Errorf("after %v, want %v", got, want)
	}
}

// Whoever need not be logged in has less time for a body.
func TestSlowBody(t *testing.T) {
	for path, want := range map[string]time.Duration{"/do": 5 * time.Second, "/mine": 15 * time.Second} {
		t.Run(path, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { slowBody(t, path, want) }) })
	}
}

func slowBody(t *testing.T, path string, want time.Duration) {
	began := time.Now()
	s := newStand(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil { // as huma does
			t.Error(err)
		}
		_, err := io.ReadAll(r.Body)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		http.Error(w, "too slow", http.StatusRequestTimeout)
	})
	c := connect(t, s)
	send(t, c, "POST "+path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTo=\r\nContent-Length: 100\r\n\r\nslo")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout {
		t.Error(answer, err)
	}
	took(t, began, want)
}

// Whoever sends log-ins slowly, from many addresses, keeps nobody out who has logged in.
func TestSlowStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, Options{
			Limits:  Limits{Requests: 32, RequestsOfAddress: 32},
			Address: func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) },
		}, func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
		})
		var slow []*io.PipeWriter
		var done sync.WaitGroup
		post := func(path, from string, body io.Reader) int {
			r := httptest.NewRequest("POST", path, body)
			r.Header.Set("From", from)
			r.SetBasicAuth("anna", "")
			return s.ask(r).StatusCode
		}
		begin := func(from string) {
			body, rest := io.Pipe()
			slow = append(slow, rest)
			done.Go(func() {
				if got := post("/do", from, body); got != http.StatusOK {
					t.Errorf("a slow one from %s: %d", from, got)
				}
			})
			synctest.Wait()
		}
		begin("192.0.2.1")
		begin("192.0.2.1")
		if got := post("/do", "192.0.2.1", strings.NewReader("x")); got != http.StatusTooManyRequests {
			t.Errorf("a third one of an address: %d", got)
		}
		begin("192.0.2.2")
		begin("192.0.2.2")
		if got := post("/do", "192.0.2.3", strings.NewReader("x")); got != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", got)
		}
		if got := post("/mine", "192.0.2.1", strings.NewReader("x")); got != http.StatusOK {
			t.Errorf("of who has logged in: %d", got)
		}
		if got := s.ask(request("GET", "/do", "From", "192.0.2.1")).StatusCode; got != http.StatusOK {
			t.Errorf("a page: %d", got)
		}
		for _, rest := range slow {
			if err := rest.Close(); err != nil {
				t.Error(err)
			}
		}
		done.Wait()
	})
}

// net/http reads on for a while after an answer: that must end, too.
func TestSlowBodyThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := connect(t, newStand(t, Options{}, nothing))
		send(t, c, "POST /none HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nslo")
		if _, err := io.ReadAll(c); err != nil {
			t.Error(err)
		}
		if since := time.Since(began); since < 5*time.Second || since > 6*time.Second {
			t.Errorf("the connection ended after %v", since)
		}
	})
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newStand(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			err := context.Cause(r.Context())
			http.Error(w, err.Error(), route.Status(err))
		})
		c := connect(t, s)
		send(t, c, "GET /do HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != http.StatusGatewayTimeout {
			t.Fatal(answer, err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "not answered within 30s") {
			t.Errorf("%s, %v", text, err)
		}
		took(t, began, 30*time.Second)
	})
}

// forever is an answer without an end; it returns when a write fails.
func forever(ended chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				ended <- err
				return
			}
		}
	}
}

func TestSlowReader(t *testing.T) {
	for path, want := range map[string]time.Duration{"/do": 35 * time.Second, "/stream": 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began, ended := time.Now(), make(chan error, 1)
			c := connect(t, newStand(t, Options{}, forever(ended)))
			send(t, c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v", path, err)
			}
			took(t, began, want)
		})
	}
}

// Nor is the end of a stream waited for, that net/http has still to write.
func TestSlowReaderOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newStand(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			if _, err := io.WriteString(w, "the end"); err != nil {
				t.Error(err)
			}
		}))
		send(t, c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
		pass(11 * time.Second)
		if answer, err := http.ReadResponse(bufio.NewReader(c), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(answer, err)
		}
	})
}

// In HTTP/2 a deadline is that of one request: the connection goes on.
func TestHTTP2(t *testing.T) {
	for path, want := range map[string]time.Duration{"/do": 35 * time.Second, "/stream": 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began, ended := time.Now(), make(chan error, 1)
			s := newStand(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery == "idle" {
					_, early := io.WriteString(w, "early, ")
					w.(http.Flusher).Flush()
					pass(time.Hour)
					_, late := io.WriteString(w, "late")
					ended <- errors.Join(early, late)
					return
				}
				forever(ended)(w, r)
			})
			client := connect2(t, s)
			answer, err := client.Get("http://x" + path)
			if err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: %v", path, err)
			}
			took(t, began, want)
			_ = answer.Body.Close() // it was cut off
			if path != "/stream" {
				return
			}
			answer, err = client.Get("http://x/stream?idle")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err := errors.Join(err, <-ended, answer.Body.Close()); err != nil || string(text) != "early, late" {
				t.Errorf("an idle stream: %q, %v", text, err)
			}
		})
	}
}

// A stream may be silent for longer than any limit, and so may a connection between two requests.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				if _, err := io.WriteString(w, "tick\n"); err != nil {
					t.Error(err)
				}
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				select {
				case <-time.After(time.Hour):
				case <-r.Context().Done():
					t.Error(context.Cause(r.Context()))
				}
			}
		})
		c := connect(t, s)
		in := bufio.NewReader(c)
		for range 2 {
			send(t, c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "tick\ntick\ntick\n" {
				t.Fatalf("%q, %v", text, err)
			}
			pass(time.Hour)
		}
	})
}
