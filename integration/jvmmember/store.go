package jvmmember

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// retries are the waits before a request is sent again: Curator's back-off, with the mean of its
// jitter.
var retries = [...]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}

// request sends a request, and again if the connection was lost. After a crash it sends nothing.
func (m *Member) request(send func(context.Context) error) error {
	for attempt := 0; ; attempt++ {
		if m.config.Step != nil {
			m.config.Step()
		}
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		err := send(m.ctx)
		switch {
		case err == nil, errors.Is(err, coord.ErrNoNode), errors.Is(err, coord.ErrConflict):
			return err
		case m.ctx.Err() != nil:
			return context.Cause(m.ctx)
		case errors.Is(err, coord.ErrUnavailable), errors.Is(err, coord.ErrUnknownOutcome), errors.Is(err, coord.ErrSessionLost):
			if attempt == len(retries) || !m.sleep(retries[attempt]) {
				return err
			}
		default:
			m.fail(err)
			return err
		}
	}
}

// node is the path of a node of the job; "" is the job's own.
func (m *Member) node(name string) string {
	if name == "" {
		return m.config.Job
	}
	return coord.Join(m.config.Job, name)
}

// direct reads a node from the store. ElasticJob takes a node for absent if the store is away.
func (m *Member) direct(name string) (value string, there bool) {
	err := m.request(func(ctx context.Context) error {
		n, err := m.config.Registry.Get(ctx, m.node(name))
		value = string(n.Value)
		return err
	})
	return value, err == nil
}

func (m *Member) exists(name string) bool {
	_, there := m.direct(name)
	return there
}

// cached reads a node from the cache, and from the store if the cache does not have it.
func (m *Member) cached(name string) (value string, there bool) {
	if value, there := m.cache.get(m.node(name)); there {
		return value, true
	}
	return m.direct(name)
}

// children lists the names below a node in descending order.
func (m *Member) children(name string) []string {
	var names []string
	err := m.request(func(ctx context.Context) error {
		nodes, err := m.config.Registry.List(ctx, m.node(name))
		names = nil
		for _, n := range nodes {
			names = append(names, coord.Base(n.Path))
		}
		return err
	})
	if err != nil {
		return nil
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// commit writes. ElasticJob goes on without a word if a node is there already or not there any
// more, and if the store is away: so the error is dropped here.
func (m *Member) commit(ops ...coord.Op) {
	_ = m.request(func(ctx context.Context) error {
		_, err := m.config.Registry.Commit(ctx, ops...)
		return err
	})
}

// persist writes a node, and makes it if it is not there.
func (m *Member) persist(name, value string) {
	if m.exists(name) {
		m.commit(coord.Set(m.node(name), []byte(value)))
	} else {
		m.commit(coord.Create(m.node(name), []byte(value)))
	}
}

// persistEphemeral makes an ephemeral node, in place of the one that is there.
func (m *Member) persistEphemeral(name, value string) {
	if m.exists(name) {
		m.commit(coord.DeleteTree(m.node(name)))
	}
	m.commit(coord.CreateEphemeral(m.node(name), []byte(value)))
}

// createIfNeeded makes an empty node if it is not there and the job is.
func (m *Member) createIfNeeded(name string) {
	if m.exists("") && !m.exists(name) {
		m.persist(name, "")
	}
}

func (m *Member) removeIfThere(name string) {
	if m.exists(name) {
		m.commit(coord.DeleteTree(m.node(name)))
	}
}

// inLatch calls do while the member holds a latch of Curator. It waits for its turn however long
// it takes, also through lost sessions.
func (m *Member) inLatch(name string, do func()) {
	latch, err := m.config.Registry.Latch(m.node(name))
	if err != nil {
		m.fail(err)
		return
	}
	for {
		var held coord.Held
		err := m.request(func(context.Context) error {
			held, err = m.acquire(latch)
			return err
		})
		if m.ctx.Err() != nil {
			return
		}
		if err != nil {
			continue
		}
		do()
		// Without an answer the candidate goes when the session ends.
		_ = m.request(held.Release)
		return
	}
}

// acquire waits for the turn. Who crashes meanwhile leaves the candidate where it is: it goes
// with the session, and then the task ends.
func (m *Member) acquire(latch coord.Latch) (coord.Held, error) {
	type answer struct {
		held coord.Held
		err  error
	}
	answers := make(chan answer, 1)
	m.tasks.Go(func() {
		held, err := latch.Acquire(context.WithoutCancel(m.ctx))
		answers <- answer{held, err}
	})
	select {
	case a := <-answers:
		return a.held, a.err
	case <-m.ctx.Done():
		return nil, context.Cause(m.ctx)
	}
}
