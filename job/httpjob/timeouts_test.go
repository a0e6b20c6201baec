package httpjob_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// listen starts a server that does what it likes with each connection.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // nothing is read or written any more
		serving.Wait()
	})
	return l.Addr().String()
}

// await reads the beginning of a request. A server that answers before it is at fault.
func await(c net.Conn) { _, _ = c.Read(make([]byte, 10_000)) }

// dribble writes a text again and again, slowly, until the other side has gone.
func dribble(w io.Writer, text string) {
	for range time.Tick(5 * time.Millisecond) {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) } // until the other side has gone

// Each kind of slowness has a time-out, whose error says which property it is.
func TestTimeouts(t *testing.T) {
	long := func(more props) props {
		return props{
			"http.connect.timeout.milliseconds": "60000", "http.read.timeout.milliseconds": "60000", "http.answer.timeout.milliseconds": "60000",
		}.with(more)
	}
	flush := func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }
	for name, tc := range map[string]struct {
		url  string
		p    props
		says string
	}{
		"no handshake": {
			"https://" + listen(t, silent), long(props{"http.connect.timeout.milliseconds": "50"}),
			"there is no connection after 50ms (http.connect.timeout.milliseconds)",
		},
		"no proxy": {
			"https://example.invalid", long(props{"http.connect.timeout.milliseconds": "50", "http.proxy": "http://" + listen(t, silent)}),
			"there is no connection after 50ms (http.connect.timeout.milliseconds)",
		},
		"no header": {
			"http://" + listen(t, silent), long(props{"http.read.timeout.milliseconds": "50"}),
			"the server is silent for 50ms (http.read.timeout.milliseconds)",
		},
		"slow header": {
			"http://" + listen(t, func(c net.Conn) {
				await(c)
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nX-Slow: ")
				dribble(c, "x")
			}), long(props{"http.read.timeout.milliseconds": "100"}),
			"the server is silent for 100ms (http.read.timeout.milliseconds)",
		},
		"header without an end": {
			"http://" + listen(t, func(c net.Conn) {
				await(c)
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\n")
				for {
					if _, err := fmt.Fprintf(c, "X: %s\r\n", strings.Repeat("x", 1000)); err != nil {
						return
					}
				}
			}), long(nil),
			"server response headers exceeded 262144 bytes",
		},
		"body stops": {
			serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "begin") // who reads it notices if it fails
				flush(w)
				<-r.Context().Done()
			}).URL, long(props{"http.read.timeout.milliseconds": "50"}),
			"the server is silent for 50ms (http.read.timeout.milliseconds)",
		},
		"body dribbles": {
			"http://" + listen(t, func(c net.Conn) {
				await(c)
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
				dribble(c, "x")
			}), long(props{"http.answer.timeout.milliseconds": "100"}),
			"the answer has no end after 100ms (http.answer.timeout.milliseconds)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := execute(t, get(tc.url).with(tc.p)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q in it", err, tc.says)
			}
		})
	}
}

// A server may be slower than the time-out in all, if it is not silent for that long.
func TestSlowIsNotSilent(t *testing.T) {
	t.Parallel()
	const timeout = 1500 * time.Millisecond
	for again := 0; ; again++ {
		longest, asked := make(chan time.Duration, 1), time.Now() // for which the server was silent
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			tick := time.NewTicker(40 * time.Millisecond)
			defer tick.Stop()
			silent, last := time.Duration(0), asked
			for range 45 {
				<-tick.C
				_, _ = io.WriteString(w, "x")             // who reads it notices if it fails
				_ = http.NewResponseController(w).Flush() // who reads it notices if it fails
				silent, last = max(silent, time.Since(last)), time.Now()
			}
			longest <- silent
		}).URL
		err := execute(t, get(url).with(props{
			"http.connect.timeout.milliseconds": "60000", "http.read.timeout.milliseconds": strconv.FormatInt(timeout.Milliseconds(), 10),
		}))
		if err == nil {
			return
		}
		if silent := <-longest; silent < timeout/2 || again == 10 { // otherwise the machine stood still
			t.Errorf("%v, and the server was silent for %v at most", err, silent)
			return
		}
	}
}

// A server that is not there, one that resets the connection, and one that speaks no HTTP.
func TestBrokenServers(t *testing.T) {
	for name, tc := range map[string]struct{ url, says string }{
		"nobody":  {"http://127.0.0.1:1", "connection refused"}, // a port that nobody is given,
		"no name": {"http://example.invalid/", "example.invalid"},
		"reset": {"http://" + listen(t, func(c net.Conn) {
			await(c)
			_ = c.(*net.TCPConn).SetLinger(0) // the close is a reset then
		}), "reset by peer"},
		"closed": {"http://" + listen(t, await), "EOF"},
		"no HTTP": {"http://" + listen(t, func(c net.Conn) {
			await(c)
			fmt.Fprint(c, strings.Repeat("hello ", 1000))
		}), "malformed HTTP"},
		"cut": {"http://" + listen(t, func(c net.Conn) {
			await(c)
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegin")
		}), "the answer breaks off: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			err := execute(t, get(tc.url))
			if err == nil || !strings.Contains(err.Error(), tc.says) || len(err.Error()) > 1000 {
				t.Errorf("got %v, want %q in it", err, tc.says)
			}
			if isForGood(t, err) {
				t.Error("it is not tried again")
			}
		})
	}
}
