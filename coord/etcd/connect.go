package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/elasticjob-go/elasticjob/coord"
)

// connect returns a client whose store has answered. ctx bounds connect; observe wraps each
// request of the client.
func connect(ctx context.Context, c Config, conns *connections, observe grpc.UnaryClientInterceptor) (*clientv3.Client, error) {
	if c.Username != "" {
		// Connect without the user first. A client with a user logs in when it is made, and
		// if nobody listens at the address, its error only says that time has passed.
		anonymous := c
		anonymous.Username, anonymous.Password = "", ""
		probe, err := connect(ctx, anonymous, &connections{}, observe)
		if err != nil {
			return nil, err
		}
		_ = probe.Close() // the store has answered; the probe is not needed any more
		return newClient(ctx, c, conns, observe)
	}
	client, err := newClient(ctx, c, conns, observe)
	if err != nil {
		return nil, err
	}
	if err := awaitAnswer(ctx, client); err != nil {
		_ = client.Close() // err is what matters
		return nil, err
	}
	return client, nil
}

// awaitAnswer asks for the server's status until there is an answer. A refusal for lack of a password
// is an answer, too.
func awaitAnswer(ctx context.Context, client *clientv3.Client) error {
	server := pb.NewMaintenanceClient(client.ActiveConnection())
	var last error
	for backoff := newBackoff(); ; {
		// A request that waits for a connection would not say why there is none.
		_, err := server.Status(ctx, &pb.StatusRequest{}, grpc.WaitForReady(false))
		if err == nil || refusedToken(err) {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if refusedHandshake(err) || !backoff.Wait(ctx) {
			return last
		}
	}
}

// newClient makes a client, and logs in if there is a user. ctx bounds newClient, not the
// client.
func newClient(ctx context.Context, c Config, conns *connections, observe grpc.UnaryClientInterceptor) (*clientv3.Client, error) {
	options := []grpc.DialOption{
		grpc.WithContextDialer(conns.dial),
		grpc.WithChainUnaryInterceptor(observe),
		grpc.WithConnectParams(grpc.ConnectParams{
			// By default gRPC waits for up to two minutes between attempts.
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: c.DialTimeout,
		}),
	}
	if c.TLS != nil && c.TLS.ServerName != "" {
		// Otherwise gRPC replaces the ServerName of the TLS configuration by the name of
		// the endpoint.
		options = append(options, grpc.WithAuthority(c.TLS.ServerName))
	}
	life, end := context.WithCancel(context.Background())
	defer context.AfterFunc(ctx, end)()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   c.Endpoints,
		Username:    c.Username,
		Password:    c.Password,
		TLS:         c.TLS,
		DialTimeout: c.DialTimeout,
		Context:     life,
		Logger:      onlyErrors(c.Logger),
		// The server allows a ping every 5 s, but gRPC sends none more often than every
		// 10 s. A connection that breaks without notice is mostly found earlier, by a
		// keep-alive of the session that gets no answer: see sendRenewal.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		MaxCallRecvMsgSize:   maxAnswer,
		DialOptions:          options,
	})
	if err != nil {
		end()
		return nil, err
	}
	return client, nil
}

// onlyErrors leaves out the client's warnings. The client logs one for every attempt of a
// request that it repeats; the caller of the request gets the final error anyway.
func onlyErrors(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		if errorsOnly, err := zapcore.NewIncreaseLevelCore(core, zapcore.ErrorLevel); err == nil {
			return errorsOnly
		}
		return core // its own level is higher still
	}))
}

// checkServer refuses a server that is too old for the adapter, and warns of one with known
// defects. It checks one server only: the one that answers. It returns how many bytes of its
// database are in use; 0 if it does not say so.
func (r *Registry) checkServer(ctx context.Context) (inUse int64, err error) {
	status, err := pb.NewMaintenanceClient(r.client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		r.log.Debug("cannot read the status of the etcd server", zap.Error(err))
		return 0, nil
	}
	if unsupported(status.Version) && !r.config.AllowOldServers {
		return 0, fmt.Errorf("%w: the server is etcd %.40q, and 3.5 is the oldest that works; Config.AllowOldServers allows it at your own risk", coord.ErrUnsupported, status.Version)
	}
	if minimum, old := tooOld(status.Version); old {
		r.log.Warn("this etcd server has known defects in watches, leases and reads",
			zap.String("version", status.Version), zap.String("minimum", minimum))
	}
	return status.DbSizeInUse, nil
}

// unsupported reports whether a version is before 3.5: watches of such servers can stay
// silent for good after an outage.
func unsupported(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < 3 || major == 3 && minor < 5
}

// tooOld reports whether a version has known defects, and returns the first version of its
// series that has none of them.
func tooOld(version string) (minimum string, old bool) {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return "", false
	}
	switch {
	case major != 3 || minor > 7:
		return "3.5.33", major < 3
	case minor == 7:
		return "3.7.1", patch < 1
	case minor == 6:
		return "3.6.14", patch < 14
	default:
		return "3.5.33", minor < 5 || patch < 33
	}
}

// dialError adds the endpoints to the error of a Dial, and says why there is no connection.
func dialError(ctx context.Context, err error, c Config) error {
	what := "dial " + strings.Join(c.Endpoints, ", ")
	if ctx.Err() != nil && kindOf(err) != coord.ErrDenied {
		return fmt.Errorf("etcd: %s: %w: %v%s", what, context.Cause(ctx), err, tlsHint(err, c))
	}
	return convertError(ctx, err, what)
}

// tlsHint says that one side probably speaks TLS and the other does not: then a connection breaks at its begin, and gRPC
// keeps only the text of that.
func tlsHint(err error, c Config) string {
	text := err.Error()
	switch secured := c.TLS != nil || strings.HasPrefix(c.Endpoints[0], "https://"); {
	case !secured && strings.Contains(text, "error reading server preface: "):
		return "; the server accepts connections and ends them: it probably requires TLS"
	case secured && strings.Contains(text, "authentication handshake failed: "):
		return "; the server accepts connections and ends the TLS handshake: it probably has no TLS"
	}
	return ""
}
