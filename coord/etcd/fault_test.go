package etcd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// awaitFault waits until the fault of a view is what is wanted, nil for none.
func awaitFault(t *testing.T, v coord.View, want error) error {
	t.Helper()
	ctx := within(t)
	for {
		changed := v.Changed()
		fault := v.Fault()
		if errors.Is(fault, want) {
			return fault
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the fault stays %v, want %v", fault, want)
		}
		if err := v.Err(); err != nil {
			t.Fatalf("the view has ended: %v", err)
		}
	}
}

// A view that may not be read any more says so, and is whole again when it may.
func TestDenialIsAFaultAndNoEnd(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/test/"}})
	r, links := dial(t, server, etcd.Config{Username: "u", Password: "p", SessionTimeout: 30 * time.Second, Logger: zap.New(core)})
	s := session(t, r)
	views := []coord.View{open(t, r, "a"), open(t, r, "b")}
	held := acquire(t, r, "latch")
	put(t, r, "a/k", 0)
	syncView(t, views[0]) // a commit may be answered before the view has its event
	end := clientv3.GetPrefixRangeEnd("/test/")
	if _, err := server.Admin().RoleRevokePermission(within(t), "client", "/test/", end); err != nil {
		t.Fatal(err)
	}
	links[0].Cut() // what is watched is watched on, until it has to be read again
	links[0].Heal()
	for _, v := range views {
		if fault := awaitFault(t, v, coord.ErrDenied); !strings.Contains(fault.Error(), "view ") {
			t.Errorf("the fault %q does not name the view", fault)
		}
	}
	if err := views[0].Sync(within(t)); !errors.Is(err, coord.ErrDenied) {
		t.Errorf("sync: %v", err)
	}
	if _, err := r.View(within(t), "c", coord.AllLevels); !errors.Is(err, coord.ErrDenied) {
		t.Errorf("view: %v", err)
	}
	for _, err := range r.Walk(within(t), "c") {
		if !errors.Is(err, coord.ErrDenied) || !strings.Contains(err.Error(), `walk "c"`) {
			t.Errorf("walk: %v", err)
		}
	}
	if !views[0].Snapshot().Exists("a/k") {
		t.Error("the snapshot is gone")
	}
	if _, err := server.Admin().Put(within(t), "/test/a/later", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Admin().RoleGrantPermission(within(t), "client", "/test/", end, clientv3.PermissionType(clientv3.PermReadWrite)); err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		awaitFault(t, v, nil)
	}
	if !syncView(t, views[0]).Exists("a/later") {
		t.Error("the view lacks what was committed meanwhile")
	}
	if s.Context().Err() != nil || held.Context().Err() != nil {
		t.Errorf("session %v, latch %v", context.Cause(s.Context()), context.Cause(held.Context()))
	}
	for _, message := range []string{"cannot be followed", "followed again"} {
		for ctx := within(t); logs.FilterMessageSnippet(message).Len() == 0 && ctx.Err() == nil; {
			syncView(t, views[0]) // the session's and the latch's keys may be tried again later
		}
		if n := logs.FilterMessageSnippet(message).Len(); n != 1 {
			t.Errorf("%d lines that say %q", n, message)
		}
	}
	views[0].Close()
	if err := views[0].Err(); !errors.Is(err, coord.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// For a while a server with a certificate that is not trusted takes the place of the right
// one.
func TestUntrustedCertificateAfterAReconnectEndsNothing(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{TLS: true})
	stranger := etcdserver.Start(t, etcdserver.Config{TLS: true})
	r, links := dial(t, server, etcd.Config{TLS: server.ClientTLS(), SessionTimeout: 30 * time.Second, RequestTimeout: time.Second})
	s := session(t, r)
	v := open(t, r, "a")
	links[0].Redirect(stranger.Endpoints()[0])
	links[0].Cut()
	links[0].Heal()
	for range 3 {
		if err := v.Sync(within(t)); !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, coord.ErrDenied) {
			t.Errorf("sync: %v", err)
		}
	}
	if err := v.Err(); err != nil {
		t.Errorf("the view has ended: %v", err)
	}
	links[0].Redirect(server.Endpoints()[0])
	links[0].Cut()
	links[0].Heal()
	follows(t, r, v, "a/x")
	if s.Context().Err() != nil {
		t.Errorf("the session has ended: %v", context.Cause(s.Context()))
	}
}

// silentServer stands in front of a real server. It can tell another version, and it can
// keep those watch streams silent that exist at some time.
type silentServer struct {
	pb.UnimplementedMaintenanceServer
	version string
	to      *grpc.ClientConn
	newest  atomic.Int64 // the number of the newest stream
	silent  atomic.Int64 // streams up to this number
}

type raw struct{ bytes []byte }

type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return v.(*raw).bytes, nil }
func (rawCodec) Unmarshal(data []byte, v any) error {
	v.(*raw).bytes = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string { return "proto" }

func (s *silentServer) forward(_ any, down grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(down)
	md, _ := metadata.FromIncomingContext(down.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(down.Context(), md))
	defer cancel()
	number := int64(0)
	if strings.HasSuffix(method, "/Watch") {
		number = s.newest.Add(1)
	}
	up, err := s.to.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method, grpc.ForceCodec(rawCodec{}))
	if err != nil {
		return err
	}
	go func() {
		for {
			var m raw
			if err := down.RecvMsg(&m); err != nil {
				if err == io.EOF {
					_ = up.CloseSend() // what is wrong with the stream shows when it is read
				} else {
					cancel()
				}
				return
			}
			if up.SendMsg(&m) != nil {
				return
			}
		}
	}()
	for {
		var m raw
		if err := up.RecvMsg(&m); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if number > 0 && number <= s.silent.Load() {
			continue
		}
		if err := down.SendMsg(&m); err != nil {
			return err
		}
	}
}

// before starts the server, and returns its address.
func (s *silentServer) before(t *testing.T, server *etcdserver.Server) string {
	t.Helper()
	to, err := grpc.NewClient(server.Endpoints()[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	s.to = to
	t.Cleanup(func() { _ = to.Close() }) // nobody uses it any more
	return serve(t, grpc.NewServer(grpc.UnknownServiceHandler(s.forward), grpc.ForceServerCodec(rawCodec{})))
}

// serveStatus starts a server that tells its version and nothing else.
func serveStatus(t *testing.T, s *silentServer) string {
	t.Helper()
	g := grpc.NewServer()
	pb.RegisterMaintenanceServer(g, s)
	return serve(t, g)
}

func serve(t *testing.T, g *grpc.Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = g.Serve(listener) // who dials it notices if it does not serve
	}()
	t.Cleanup(func() {
		g.Stop()
		<-served
	})
	return listener.Addr().String()
}

// A watch that stays silent on a connection that works begins again on another stream.
func TestSilentWatchIsLeft(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	server := etcdserver.Start(t, etcdserver.Config{})
	var silent silentServer
	endpoint := silent.before(t, server)
	r, err := etcd.Dial(within(t), etcd.Config{Endpoints: []string{endpoint}, Namespace: "test", SessionTimeout: 3 * time.Second, DialTimeout: 30 * time.Second, RequestTimeout: 4 * time.Second, Logger: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background()) }) // how it ends is not the question
	views := []coord.View{open(t, r, "a"), open(t, r, "b"), open(t, r, "c")}
	silent.silent.Store(silent.newest.Load())
	if _, err := server.Admin().Put(within(t), "/test/a/k", ""); err != nil {
		t.Fatal(err)
	}
	// Nobody calls Sync.
	told := awaitFault(t, views[0], coord.ErrUnavailable)
	if !strings.Contains(told.Error(), "behind") {
		t.Errorf("the fault is %v", told)
	}
	for _, v := range views {
		awaitFault(t, v, nil)
	}
	for ctx := within(t); !views[0].Snapshot().Exists("a/k"); {
		if ctx.Err() != nil {
			t.Fatal("the view lacks what was committed")
		}
		awaitFault(t, views[0], nil)
	}
	follows(t, r, views[1], "b/x")
	if n := logs.FilterMessageSnippet("cannot be followed").Len(); n != 1 {
		t.Errorf("told %d times", n)
	}
}
