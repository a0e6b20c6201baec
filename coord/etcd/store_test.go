package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

func awaitClock(t *testing.T, r coord.Registry, wanted func(coord.Clock) bool) coord.Clock {
	t.Helper()
	ctx := within(t)
	ticker := time.NewTicker(5 * time.Millisecond) // the registry tells nobody
	defer ticker.Stop()
	for {
		clock := r.Clock()
		if wanted(clock) {
			return clock
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("the clock is known %v, its error %v", clock.Known(), clock.Err())
		}
	}
}

// The clocks are compared, and again in the next session.
func TestClockIsComparedInTheBackground(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{Members: 3})
	r, links := dial(t, server, etcd.Config{SessionTimeout: 2 * time.Second, RequestTimeout: time.Second})
	first := awaitClock(t, r, coord.Clock.Known)
	local := time.Now()
	if ahead := first.Ahead(local); ahead != 0 || first.Err() != nil {
		t.Errorf("%v ahead of itself, %v", ahead, first.Err())
	}
	if ahead := first.Ahead(local.Add(10 * time.Second)); ahead < 8*time.Second || ahead > 10*time.Second {
		t.Errorf("%v ahead, which is 10 s", ahead)
	}
	for _, link := range links {
		link.Cut()
	}
	ended(t, session(t, r).Context())
	for _, link := range links {
		link.Heal()
	}
	session(t, r)
	awaitClock(t, r, func(c coord.Clock) bool { return c != first && c.Err() == nil })
}

// A comparison waits for a silent member for half of the request time-out, and then the
// answers of the others count.
func TestClockIsKnownThoughAMemberIsSilent(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	server := etcdserver.Start(t, etcdserver.Config{Members: 3})
	r, links := dial(t, server, etcd.Config{SessionTimeout: 30 * time.Second, RequestTimeout: timeout})
	links[0].BlackHole()
	clock := awaitClock(t, r, func(c coord.Clock) bool { return c.Known() || c.Err() != nil })
	if clock.Err() != nil { // how long that took says little on a machine that may stand still
		t.Errorf("the clock is known %v, its error %v", clock.Known(), clock.Err())
	}
}

// A clock that cannot be read is tried again. The error tells a server that does not answer
// from one that has no clock.
func TestClockThatCannotBeRead(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{SessionTimeout: 30 * time.Second, RequestTimeout: 2 * time.Second})
	isNoClock := func(c coord.Clock) bool { return errors.Is(c.Err(), coord.ErrNoClock) }
	isUnavailable := func(c coord.Clock) bool { return errors.Is(c.Err(), coord.ErrUnavailable) && !isNoClock(c) }
	links[0].BlackHole()
	awaitClock(t, r, isUnavailable)
	var noHTTP silentServer // which speaks gRPC only
	links[0].Redirect(noHTTP.before(t, server))
	links[0].Heal()
	awaitClock(t, r, isNoClock)
	links[0].Cut()
	awaitClock(t, r, isUnavailable)
	links[0].Redirect(server.Endpoints()[0])
	links[0].Heal()
	awaitClock(t, r, func(c coord.Clock) bool { return c.Known() && c.Err() == nil })
}

// Work under a lost session has time to return: the store keeps the session's nodes until
// the time-out, also if the registry learns earlier that the session has ended.
func TestLostSessionIsGivenBackAtItsTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{SessionTimeout: timeout})
	other, _ := dial(t, server, etcd.Config{})
	s := session(t, r)
	commit(t, r, coord.CreateEphemeral("a/e", nil))
	v := open(t, other, "a")
	if _, err := server.Admin().Delete(within(t), fmt.Sprintf("/test//sessions/%x", s.ID())); err != nil {
		t.Fatal(err)
	}
	ended(t, s.Context())
	if cause := context.Cause(s.Context()); !errors.Is(cause, coord.ErrSessionLost) || !errors.Is(cause, coord.ErrSessionEnded) {
		t.Errorf("the cause is %v", cause)
	}
	margin := max(200*time.Millisecond, timeout/10)
	least := s.Deadline().Add(margin)
	gone(t, v, "a/e")
	if early := time.Until(least); early > 0 {
		t.Errorf("the nodes went %v before the session's time-out", early)
	}
	if session(t, r).ID() == s.ID() {
		t.Error("the session came back")
	}
}

// Only what somebody else has removed tells that somebody else has ended the session: not a lease that the store
// has dropped, though its key goes with it.
func TestDroppedLeaseIsNoRemovedKey(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	s := session(t, r)
	if _, err := server.Admin().Revoke(within(t), clientv3.LeaseID(s.ID())); err != nil {
		t.Fatal(err)
	}
	ended(t, s.Context())
	if cause := context.Cause(s.Context()); !errors.Is(cause, coord.ErrSessionLost) || errors.Is(cause, coord.ErrSessionEnded) {
		t.Errorf("the cause is %v", cause)
	}
}

// The time of a new session begins when the store has answered, and it is renewed at once.
func TestSessionAfterAnOutageHasItsWholeTime(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	server := etcdserver.Start(t, etcdserver.Config{})
	core, logs := observer.New(zap.WarnLevel)
	r, links := dial(t, server, etcd.Config{SessionTimeout: timeout, RequestTimeout: 20 * time.Second, Logger: zap.New(core)})
	s := session(t, r)
	links[0].Cut()
	ended(t, s.Context())
	// Meanwhile the registry asks for the next session, for most of that session's time-out.
	outage, cancel := context.WithTimeout(within(t), timeout*8/10)
	defer cancel()
	<-outage.Done()
	links[0].Heal()
	next := session(t, r)
	if left := time.Until(next.Deadline()); left < timeout/2 {
		t.Errorf("it begins with %v of %v", left, timeout)
	}
	if n := logs.FilterMessage("session lost").Len(); n != 1 {
		t.Errorf("%d sessions were lost", n)
	}
}

// pretender is a server that tells a version, and answers nothing else.
func pretender(t *testing.T, version string) string {
	t.Helper()
	return serveStatus(t, &silentServer{version: version})
}

func (s *silentServer) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Version: s.version}, nil
}

func TestOldServerIsRefused(t *testing.T) {
	for _, c := range []struct {
		version string
		allow   bool
		refused bool
	}{
		{"3.4.23", false, true},
		{"3.4.23", true, false},
		{"3.5.0", false, false},
	} {
		config := etcd.Config{Endpoints: []string{pretender(t, c.version)}, Namespace: "test", AllowOldServers: c.allow, DialTimeout: 10 * time.Second, RequestTimeout: 10 * time.Second}
		_, err := etcd.Dial(within(t), config)
		if errors.Is(err, coord.ErrUnsupported) != c.refused {
			t.Errorf("%s: %v", c.version, err)
		}
		if c.refused && !strings.Contains(err.Error(), c.version) {
			t.Errorf("the error %q does not name the version", err)
		}
	}
}

// The server's certificate has to be for the ServerName of the configuration, for all kinds
// of requests.
func TestServerNameIsAskedFor(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{TLS: true})
	for name, trusted := range map[string]bool{"localhost": true, "elsewhere.example": false} {
		config := etcd.Config{Endpoints: server.Endpoints(), Namespace: "test", TLS: server.ClientTLS()}
		config.TLS.ServerName = name
		r, err := etcd.Dial(within(t), config)
		if !trusted {
			if !errors.Is(err, coord.ErrDenied) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		commit(t, r, coord.Put("a", nil))
		awaitClock(t, r, coord.Clock.Known)
		if err := r.Close(within(t)); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingSecretIsPrinted(t *testing.T) {
	const secret = "s3cret"
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: secret, Prefix: "/test/"}})
	config := etcd.Config{Endpoints: server.Endpoints(), Namespace: "test", Username: "u", Password: secret, TLS: (*tls.Config)(nil)}
	r, err := etcd.Dial(within(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.Background())
	for _, value := range []any{config, &config, r, []any{config, r}, map[string]*etcd.Config{"c": &config}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of a %T tells the password: %s", verb, value, text)
			}
		}
	}
	if text := fmt.Sprint(r); !strings.Contains(text, "test") || !strings.Contains(text, config.Endpoints[0]) {
		t.Errorf("printed as %q", text)
	}
}

// A store without space takes no writes, and the error says so.
func TestDatabaseIsFull(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	put(t, r, "a", 0)
	alarms := pb.NewMaintenanceClient(server.Admin().ActiveConnection())
	alarm := func(action pb.AlarmRequest_AlarmAction) {
		t.Helper()
		if _, err := alarms.Alarm(within(t), &pb.AlarmRequest{Action: action, Alarm: pb.AlarmType_NOSPACE}); err != nil {
			t.Fatal(err)
		}
	}
	alarm(pb.AlarmRequest_ACTIVATE)
	_, err := r.Commit(within(t), coord.Put("a", nil), coord.Exists("a"))
	if !errors.Is(err, coord.ErrUnavailable) || errors.Is(err, coord.ErrUnknownOutcome) || !strings.Contains(err.Error(), "database space exceeded") {
		t.Errorf("got the error %v", err)
	}
	alarm(pb.AlarmRequest_DEACTIVATE)
	commit(t, r, coord.Put("a", nil))
}
