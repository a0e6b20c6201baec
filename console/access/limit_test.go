package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// guess tries n times in a row whenever it may, for a time, and returns how often that was.
func guess(l *limiter, name string, from netip.Addr, d time.Duration) (tries int) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		err := l.try(name, from)
		if limit, ok := errors.AsType[*LimitError](err); ok {
			pass(limit.After)
			continue
		}
		l.failed(name, from)
		tries++
	}
	return tries
}

func TestOneAddressGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		attacker := netip.MustParseAddr("203.0.113.5")
		if n := guess(l, "ben", attacker, 9*time.Minute); n < 10 || n > 20 {
			t.Errorf("%d tries in the first 9 minutes", n)
		}
		for hour := range 48 {
			if n := guess(l, "ben", attacker, time.Hour); n > 13 {
				t.Errorf("%d tries in hour %d", n, hour)
			}
			if err := l.try("ben", home); err != nil {
				t.Fatalf("in hour %d, ben cannot log in from elsewhere: %v", hour, err)
			}
		}
		l.failed("ben", attacker)
		if err := l.try("anna", attacker); !errors.Is(err, ErrLimited) {
			t.Errorf("another name from there: %v", err)
		}
		pass(4 * time.Hour)
		if n := guess(l, "ben", attacker, time.Millisecond); n < 10 {
			t.Errorf("after 4 hours there are %d tries", n)
		}
	})
}

// Many addresses do slow down the log-in of a name: from where it has never been logged in, and not for long.
func TestManyAddressesGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		l.succeeded("ben", home)
		tries := 0
		for i := range 5000 {
			from := netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)})
			if l.try("ben", from) == nil {
				l.failed("ben", from)
				tries++
			}
		}
		if tries < 30 || tries > 40 {
			t.Errorf("%d addresses could try at once", tries)
		}
		stranger := netip.MustParseAddr("192.0.2.99")
		limit, ok := errors.AsType[*LimitError](l.try("ben", stranger))
		if !ok || limit.After > 30*time.Second || limit.After <= 0 {
			t.Errorf("a stranger: %v", limit)
		}
		if err := l.try("ben", home); err != nil {
			t.Errorf("from where he logged in before: %v", err)
		}
		if err := l.try("anna", stranger); err != nil {
			t.Errorf("another name: %v", err)
		}
		pass(30 * time.Second)
		if err := l.try("ben", stranger); err != nil {
			t.Errorf("after 30 s: %v", err)
		}
	})
}

// Who logs in as himself now and then gets no more tries for others' passwords.
func TestOwnLogInDoesNotReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		tries := 0
		for range 100 {
			if l.try("anna", home) != nil {
				break
			}
			l.failed("anna", home)
			tries++
			if l.try("ben", home) == nil {
				l.failed("ben", home)
				l.succeeded("ben", home)
			}
		}
		if tries > 11 {
			t.Errorf("%d tries", tries)
		}
		l = newLimiter()
		for range 12 {
			l.failed("ben", home)
		}
		if err := l.try("ben", home); err == nil {
			t.Error("no wait after 12 failures")
		}
		l.succeeded("ben", home)
		if err := l.try("ben", home); err != nil {
			t.Errorf("a success does not end the wait: %v", err)
		}
	})
}

func TestLimitsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		for i := range maxBuckets + 100 {
			from := netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 16), byte(i >> 8), byte(i)})
			l.failed(fmt.Sprint(i), from)
			l.succeeded(fmt.Sprint(i), from)
			if i < 200 {
				pass(time.Millisecond)
			}
		}
		if len(l.addresses) > maxBuckets || len(l.names) > maxBuckets || len(l.known) > maxBuckets {
			t.Errorf("%d addresses, %d names, %d places", len(l.addresses), len(l.names), len(l.known))
		}
		if l.names["0"] != nil || l.names["200"] == nil {
			t.Error("not the oldest one was forgotten")
		}
		same := []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), netip.MustParseAddr("2001:db8:0:0:ffff::")}
		for _, a := range same {
			if network(a) != network(same[0]) {
				t.Errorf("%v is another subscriber", a)
			}
		}
		if network(netip.MustParseAddr("::ffff:192.0.2.7")) != network(home) || network(netip.MustParseAddr("2001:db8:0:1::1")) == network(same[0]) {
			t.Error("addresses are taken for others")
		}
	})
}

func TestLogInLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told events
		c := open(t, Options{File: usersFile(t), Tell: told.tell})
		for range 11 {
			if _, err := c.Login(t.Context(), "ben", another, home); !errors.Is(err, ErrRefused) {
				t.Fatal(err)
			}
		}
		_, err := c.Login(t.Context(), "ben", password, home)
		if limit, ok := errors.AsType[*LimitError](err); !ok || limit.After != time.Second {
			t.Errorf("after 11 failures: %v", err)
		}
		if _, err := c.Authenticate(basic("ben", password)); !errors.Is(err, ErrLimited) {
			t.Errorf("by Basic: %v", err)
		}
		pass(time.Second)
		login(t, c, "ben")
		login(t, c, "ben")
		if got := told.kinds(); !strings.HasSuffix(got, "log-in refused, log-in limited, log-in limited, logged in, logged in") {
			t.Error(got)
		}
	})
}

// A password that was right a moment ago is checked anew where it comes from elsewhere: as many as come at a time
// before the first has failed would be guesses.
func TestKeptPasswordCountsForItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t), Hashes: 1})
		login(t, c, "ben")
		c.slots <- struct{}{} // no password is checked meanwhile
		defer func() { <-c.slots }()
		login(t, c, "ben")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Login(ctx, "ben", password, netip.MustParseAddr("203.0.113.5")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("from elsewhere: %v, want that the password is to be checked", err)
		}
	})
}

// A password that was right a moment ago cannot be guessed by who has to wait, in the same place either.
func TestKeptPasswordIsNotGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t)})
		login(t, c, "ben")
		for range 11 {
			if _, err := c.Login(t.Context(), "ben", another, home); !errors.Is(err, ErrRefused) {
				t.Fatal(err)
			}
		}
		if _, err := c.Login(t.Context(), "ben", password, home); !errors.Is(err, ErrLimited) {
			t.Errorf("who has to wait: %v", err)
		}
		pass(time.Second)
		login(t, c, "ben")
	})
}

// Who waits until a password can be checked is asked for the limits once more: others may have failed meanwhile. That
// comes before the password is compared with a kept one.
func TestLimitsCountAfterTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t), Hashes: 1})
		login(t, c, "ben")
		before := c.kept
		c.kept = map[place]kept{}
		c.slots <- struct{}{} // one is being checked
		refused := make(chan error, 1)
		go func() {
			_, err := c.Login(t.Context(), "ben", password, home)
			refused <- err
		}()
		synctest.Wait()
		c.mu.Lock()
		c.kept = before
		c.mu.Unlock()
		for range 11 {
			c.limits.failed("ben", home)
		}
		<-c.slots
		if err := <-refused; !errors.Is(err, ErrLimited) {
			t.Errorf("after the wait: %v, want that it is limited", err)
		}
	})
}

// Refused requests do not push other events out of the trail.
func TestFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told events
		c := open(t, Options{File: usersFile(t), Tell: told.tell})
		bad := ask("Authorization", "Bearer ej_x")
		for range 1000 {
			if _, err := c.Authenticate(bad); err == nil {
				t.Fatal("let in")
			}
		}
		if len(told.all) != 20 {
			t.Errorf("%d events", len(told.all))
		}
		pass(3 * time.Second)
		if _, err := c.Authenticate(bad); err == nil || len(told.all) != 21 || told.all[20].More != 980 {
			t.Errorf("%d events, the last %+v", len(told.all), told.all[len(told.all)-1])
		}
		pass(3 * time.Second)
		if _, err := c.Authenticate(bad); err == nil || len(told.all) != 22 || told.all[21].More != 0 {
			t.Errorf("%d events, the last %+v", len(told.all), told.all[len(told.all)-1])
		}
	})
}

// Who logs in all the time is counted: 230 log-ins a second are some lines a minute, and all of them are in the numbers.
func TestFloodOfLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, seconds = 230, 60
		var told events
		c, err := Open(Options{File: usersFile(t), Tell: told.tell})
		if err != nil {
			t.Fatal(err)
		}
		login(t, c, "ben")
		for range seconds {
			for range each {
				s, err := c.LoginAs("oidc:eve", []Grant{{Role: Viewer}}, home)
				if err != nil {
					t.Fatal(err)
				}
				c.Logout(wantWho(t, c, withCookie(c, s), "oidc:eve"))
			}
			pass(time.Second)
		}
		login(t, c, "ben")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		lines, counted := map[string]int{}, map[Kind]int{}
		for _, e := range told.all {
			if lines[e.By]++; e.By == "oidc:eve" {
				counted[e.Kind] += 1 + e.More
			}
		}
		if lines["ben"] != 2 || lines["oidc:eve"] > 2*(20+20+2) {
			t.Errorf("events of each: %v", lines)
		}
		if counted[LoggedIn] != each*seconds || counted[LoggedOut] != each*seconds {
			t.Errorf("eve's: %v", counted)
		}
	})
}

// What a provider has refused is told as other log-ins are: bounded, and without names that no provider has said.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told events
		c := open(t, Options{File: usersFile(t), Tell: told.tell})
		c.Refused(ask(), "oidc:anna@example.com", "by oidc: no group")
		for _, name := range []string{"", "my-password", "oidc:\x1b[31m", strings.Repeat("x:", 200)} {
			c.Refused(ask(), name, strings.Repeat("y", 10_000))
		}
		first := told.all[0]
		if first.Time = (time.Time{}); first != (Event{Kind: LogInRefused, User: "oidc:anna@example.com", Address: "192.0.2.7", Detail: "by oidc: no group"}) {
			t.Errorf("%+v", first)
		}
		for _, e := range told.all[1:] {
			if e.User != "" || len(e.Detail) > 600 {
				t.Errorf("%+v", e)
			}
		}
		for range 100 {
			c.Refused(ask(), "", "by oidc: no group")
		}
		if len(told.all) != 20 {
			t.Errorf("%d events", len(told.all))
		}
	})
}

// allocated returns how many MiB a function has allocated: a check of a hash takes 19.
func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int((after.TotalAlloc - before.TotalAlloc) >> 20)
}

// A script's requests with the same name and password have it checked once in a minute, also if they come at once.
func TestBasicIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t), Hashes: 2})
		hundred := func() {
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					if p, err := c.Authenticate(basic("ben", password)); err != nil || p.Name != "ben" {
						t.Error(p, err)
					}
				})
			}
			all.Wait()
		}
		if mib := allocated(hundred); mib < 19 || mib > 3*19 {
			t.Errorf("%d MiB for the first requests", mib)
		}
		if mib := allocated(hundred); mib > 5 {
			t.Errorf("%d MiB for the next ones", mib)
		}
		wantRefused(t, c, basic("ben", another), "wrong")
		wantWho(t, c, basic("ben", password), "ben")
		pass(keepFor)
		if mib := allocated(hundred); mib < 19 {
			t.Errorf("%d MiB after a minute", mib)
		}
	})
}

// A name that there is not takes as much work as one that there is.
func TestNobodyTakesAsLong(t *testing.T) {
	for name, f := range map[string]File{"users": usersFile(t), "no users": ""} {
		c := open(t, Options{File: f})
		for _, user := range []string{"ben", "eve", "no name at all", ""} {
			if mib := allocated(func() { wantRefused(t, c, basic(user, another), "wrong name or password") }); mib < 18 || mib > 25 {
				t.Errorf("%s: %q takes %d MiB", name, user, mib)
			}
		}
	}
	if err := nobody.Validate(); err != nil {
		t.Error(err)
	}
}

// That is also so where users have brought hashes of another kind, which takes hardly any memory.
func TestNobodyTakesAsLongAsBcrypt(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "users.yaml"))
	if err := f.Change(t.Context(), func(u *Users) error {
		u.Users = map[string]*User{
			"anna": {Password: "$2y$10$abcdefghijklmnopqrstuuBdMhrQiP4bPYDcUWeDf3U8k2yaLqgzu", Grants: []Grant{everything}},
			"ben":  {}, // has no password
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c := open(t, Options{File: f})
	for _, user := range []string{"anna", "ben", "eve"} {
		if mib := allocated(func() { wantRefused(t, c, basic(user, another), "wrong name or password") }); mib > 5 {
			t.Errorf("%s takes %d MiB", user, mib)
		}
	}
}

// Passwords wait until others are checked, and not all of them.
func TestChecksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options{File: usersFile(t), Hashes: 1})
		c.slots <- struct{}{} // one is being checked
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range maxWaiting {
			all.Go(func() {
				if _, err := c.Login(ctx, "ben", password, home); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if _, err := c.Login(t.Context(), "ben", password, home); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		cancel()
		all.Wait()
		<-c.slots
		login(t, c, "ben")
	})
}

// No other value than that of a session is one.
func FuzzSession(f *testing.F) {
	s := &sessions{idle: time.Hour, absolute: time.Hour, most: 10, mostOfUser: 10, all: map[string]*session{}}
	begun := s.begin(session{})
	f.Add(begun.Value())
	f.Add(begun.Value()[:len(begun.Value())-1])
	f.Add("")
	f.Fuzz(func(t *testing.T, value string) {
		if _, ok := s.find(value, true); ok != (value == begun.Value()) {
			t.Errorf("%q is a session: %v", value, ok)
		}
	})
}
