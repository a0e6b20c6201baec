package zk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/either"
)

// CommitGroups implements [coord.Inspector]: each commit is a request of its own.
func (r *Registry) CommitGroups() (requests []int64, waiting int) { return nil, 0 }

// Facts implements [coord.Inspector]. It asks all servers for their version, by the four-letter word srvr, and finds
// out what this user may do. Servers answer srvr unless 4lw.commands.whitelist leaves it out. The
// request time-out bounds each question.
func (r *Registry) Facts(ctx context.Context) (coord.StoreFacts, error) {
	facts := coord.StoreFacts{Product: "ZooKeeper", Compacts: coord.Yes, Members: make([]coord.MemberFacts, len(r.config.Servers))}
	// Close does not wait for callers, so they have to end with it.
	ctx, cancel := either.Context(ctx, r.ctx)
	defer cancel()
	var asking sync.WaitGroup
	for i, server := range r.config.Servers {
		asking.Go(func() { facts.Members[i] = r.memberFacts(ctx, server) })
	}
	asking.Wait()
	facts.Reads, facts.Writes = r.mayRead(ctx), r.mayWrite(ctx)
	if ctx.Err() != nil {
		return facts, context.Cause(ctx)
	}
	return facts, nil
}

func (r *Registry) mayRead(ctx context.Context) coord.Answer {
	_, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) (struct{}, error) {
		_, _, err := client.Children(r.root)
		return struct{}{}, err
	})
	switch {
	case err == nil:
		return coord.Yes
	case errors.Is(err, zookeeper.ErrNoAuth):
		return coord.No
	}
	return coord.Unknown
}

// mayWrite sends a multi that would create a node, but fails at its second request. A server checks
// the rights of the first one before.
func (r *Registry) mayWrite(ctx context.Context) coord.Answer {
	results, err := read(r.limit(ctx), r, func(client *zookeeper.Conn) ([]zookeeper.MultiResponse, error) {
		results, err := client.Multi(
			&zookeeper.CreateRequest{Path: r.root + "/~elasticjob.may", Data: []byte{}, Acl: r.acl},
			&zookeeper.CheckVersionRequest{Path: r.root + "/~elasticjob.may/not", Version: 0},
		)
		if len(results) == 2 {
			return results, nil
		}
		return nil, err
	})
	switch {
	case err != nil:
	case errors.Is(results[0].Error, zookeeper.ErrNoAuth):
		return coord.No
	case results[0].Error == nil:
		return coord.Yes
	}
	return coord.Unknown
}

// memberFacts asks one server.
func (r *Registry) memberFacts(ctx context.Context, address string) coord.MemberFacts {
	answer, err := r.fourLetters(ctx, address, "srvr")
	if err != nil {
		return coord.MemberFacts{Address: address, Why: err.Error(), Silent: true}
	}
	return readServer(address, answer)
}

// readServer reads the answer to srvr: lines with a key, a colon and a value.
func readServer(address, answer string) coord.MemberFacts {
	facts := coord.MemberFacts{Address: address}
	for line := range strings.Lines(answer) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Zookeeper version":
			facts.Version, _, _ = strings.Cut(value, "-") // a build follows
		case "Mode":
			facts.Leads = value == "leader" || value == "standalone"
		}
	}
	if facts.Version == "" {
		facts.Why = fmt.Sprintf("srvr: %.100q", answer)
	}
	facts.Unsupported = unsupported(facts.Version)
	return facts
}

// unsupported reports whether a version is before 3.5, the first that the adapter works with.
func unsupported(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < 3 || major == 3 && minor < 5
}

// fourLetters sends a four-letter word, on a connection of its own, and returns the beginning of
// the answer.
func (r *Registry) fourLetters(ctx context.Context, address, word string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.config.RequestTimeout, errTimeout)
	defer cancel()
	failed := func(err error) (string, error) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("%s: %w", word, err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // a closed one needs none
	if r.config.TLS != nil {
		conn = tls.Client(conn, tlsFor(r.config.TLS, address)) // whose handshake comes with the first write
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return failed(err)
	}
	const most = 64 << 10
	answer, err := io.ReadAll(io.LimitReader(conn, most))
	if err != nil && len(answer) == 0 {
		return failed(err)
	}
	return string(answer), nil
}
