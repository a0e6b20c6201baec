package proxy_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a server that answers each line with the same line, and reports which it read.
func echo(t *testing.T) (addr string, heard <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for s := bufio.NewScanner(c); s.Scan(); {
					lines <- s.Text()
					fmt.Fprintln(c, s.Text())
				}
			}()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String(), lines
}

func start(t *testing.T, target string) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

type client struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, p *proxy.Proxy) client {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return client{t: t, Conn: c, in: bufio.NewReader(c)}
}

func (c client) say(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c, line); err != nil {
		c.t.Fatalf("say %q: %v", line, err)
	}
}

// hear reads one line, and gives up after the time given.
func (c client) hear(within time.Duration) (string, error) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	line, err := c.in.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

func (c client) wantLine(want string) {
	c.t.Helper()
	if line, err := c.hear(time.Minute); err != nil || line != want {
		c.t.Fatalf("heard %q, %v; want %q", line, err, want)
	}
}

func (c client) wantSilence() {
	c.t.Helper()
	if line, err := c.hear(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("heard %q, %v; want nothing", line, err)
	}
}

func (c client) wantClosed() {
	c.t.Helper()
	if line, err := c.hear(time.Minute); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("heard %q, %v; want a closed connection", line, err)
	}
}

// wantRefused dials, and fails if it gets a connection that works.
func wantRefused(t *testing.T, p *proxy.Proxy) {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		return
	}
	defer c.Close()
	client{t: t, Conn: c, in: bufio.NewReader(c)}.wantClosed()
}

func TestForwards(t *testing.T) {
	addr, _ := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	for i := range 100 {
		c.say(fmt.Sprint(i))
	}
	for i := range 100 {
		c.wantLine(fmt.Sprint(i))
	}
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.hear(time.Minute); err != io.EOF {
		t.Fatalf("after the end of the requests: %v; want the end of the answers", err)
	}
	if sent, answered := p.Traffic(); sent != 290 || answered != 290 {
		t.Errorf("traffic %d, %d; want 290 bytes both ways", sent, answered)
	}
}

func TestCutClosesAndRefuses(t *testing.T) {
	addr, _ := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	c.say("a")
	c.wantLine("a")
	p.Cut()
	c.wantClosed()
	wantRefused(t, p)
	p.Heal()
	c = dial(t, p)
	c.say("b")
	c.wantLine("b")
}

func TestBlackHoleKeepsOpenAndDropsBothWays(t *testing.T) {
	addr, heard := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	c.say("a")
	c.wantLine("a")
	p.BlackHole()
	later := dial(t, p)
	c.say("lost")
	later.say("lost")
	c.wantSilence()
	later.wantSilence()
	p.Heal()
	c.wantClosed()
	later.wantClosed()
	c = dial(t, p)
	c.say("b")
	c.wantLine("b")
	for _, want := range []string{"a", "b"} {
		if line := <-heard; line != want {
			t.Errorf("the server heard %q, want %q", line, want)
		}
	}
}

func TestConnectionThatLostNothingSurvives(t *testing.T) {
	addr, _ := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	c.say("a")
	c.wantLine("a")
	p.BlackHole()
	p.Heal()
	c.say("b")
	c.wantLine("b")
}

func TestDropAnswersLetsRequestsThrough(t *testing.T) {
	addr, heard := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	p.DropAnswers()
	c.say("a")
	if line := <-heard; line != "a" {
		t.Fatalf("the server heard %q", line)
	}
	c.wantSilence()
	p.Heal()
	c.wantClosed()
}

func TestDropRequestsLetsNothingIn(t *testing.T) {
	addr, heard := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	p.DropRequests()
	c.say("a")
	c.wantSilence()
	p.Heal()
	c.wantClosed()
	select {
	case line := <-heard:
		t.Errorf("the server heard %q", line)
	default:
	}
}

func TestDelayIsOfEachAnswerAndNotOfTheStream(t *testing.T) {
	addr, heard := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	const delay = 200 * time.Millisecond
	p.Delay(delay)
	const answers = 300 // so many that it takes a minute if each waits for the one before
	begin := time.Now()
	for i := range answers {
		c.say(fmt.Sprint(i))
		<-heard
	}
	for i := range answers {
		c.wantLine(fmt.Sprint(i))
	}
	if took := time.Since(begin); took < delay || took > answers*delay/2 {
		t.Errorf("%d answers took %v; want a little more than %v", answers, took, delay)
	}
}

func TestStrandIsOfOpenConnectionsOnly(t *testing.T) {
	addr, _ := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	c.say("a")
	c.wantLine("a")
	p.Strand()
	c.say("lost")
	c.wantSilence()
	other := dial(t, p)
	other.say("b")
	other.wantLine("b")
	p.Heal()
	c.wantClosed()
	other.say("c")
	other.wantLine("c")
}

func TestPauseHoldsAndResumeDelivers(t *testing.T) {
	addr, _ := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	p.Pause()
	c.say("a")
	c.wantSilence()
	p.Resume()
	c.wantLine("a")
}

func TestNobodyBehindIt(t *testing.T) {
	// Port 1 is reserved, and systems do not give it away. A port that was just closed may be
	// the proxy's own a moment later.
	wantRefused(t, start(t, "127.0.0.1:1"))
}

func TestRedirect(t *testing.T) {
	first, heardFirst := echo(t)
	second, heardSecond := echo(t)
	p := start(t, first)
	a := dial(t, p)
	a.say("a")
	a.wantLine("a")
	p.Redirect(second)
	b := dial(t, p)
	b.say("b")
	b.wantLine("b")
	a.say("still a")
	a.wantLine("still a")
	if line := <-heardFirst; line != "a" {
		t.Errorf("the first server heard %q", line)
	}
	if line := <-heardSecond; line != "b" {
		t.Errorf("the second server heard %q", line)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	addr, _ := echo(t)
	p := start(t, addr)
	c := dial(t, p)
	c.say("a")
	c.wantLine("a")
	p.Pause()
	c.say("held")
	p.Close()
	c.wantClosed()
	if n := p.Connections(); n != 0 {
		t.Errorf("%d connections left", n)
	}
	p.Close()
}
