package jvmmember

import (
	"context"
	"fmt"
)

// Exit ends the process as SIGTERM does, by ElasticJob's shutdown hook: the scheduler stops and
// waits for the run in progress, then the leader's and the instance's node go. The session is
// left to the caller. While it waits the listeners do nothing. 3.0.5 does not interrupt the run
// either: Quartz's interruptJobsOnShutdown is for a shut-down that does not wait.
//
// A run that has ended may take an item over, and cannot fire for it any more: the lock is the
// hook's. Then neither of them ever ends, as in the real one. So ctx bounds the wait; after an
// error the caller has to Crash the member.
//
// Errors: the cause of ctx, or of the process that ended first.
func (m *Member) Exit(ctx context.Context) error {
	if err := m.exit(ctx); err != nil {
		return fmt.Errorf("job %s: member %s: exit: %w", m.config.Job, m.id, err)
	}
	m.end(errEnded)
	return nil
}

func (m *Member) exit(ctx context.Context) error {
	t := m.timer
	if m.shut.Load() {
		return nil // there is no schedule any more, so the hook has nothing to do
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	}
	defer t.leave()
	if t.isClosed() {
		return nil
	}
	t.halt()
	select {
	case <-t.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	}
	t.close()
	if m.isLeader() {
		m.removeLeader()
	}
	m.removeIfThere(instanceNode(m.id))
	return nil
}

// Shutdown is ElasticJob's JobBootstrap.shutdown(): it ends the job and not the process, and does
// not wait for the run in progress. 3.0.4 lets it go on to its end; 3.0.5 interrupts it. Done is
// closed when the run has ended.
func (m *Member) Shutdown() {
	m.deafen()
	m.shutDownInstance()
	m.poolShut.Store(true)
	if m.config.Release != V304 {
		m.drain()
	}
}

// shutDownInstance ends the job. Somebody has removed the instance's node, or the program ends it.
func (m *Member) shutDownInstance() {
	if m.isLeader() {
		m.removeLeader()
	}
	m.shut.Store(true)
	if m.timer.shutDown(m.config.Release != V304) {
		m.removeIfThere(instanceNode(m.id))
	}
	m.deafen()
	m.cache.close()
}
