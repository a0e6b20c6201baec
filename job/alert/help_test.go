package alert_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// handler is what the types of this package return.
type handler interface {
	job.ErrorHandler
	job.SuccessHandler
	job.Flusher
}

// newHandler makes the handler of a type, for the job settle.
func newHandler(t testing.TB, of job.ErrorHandlerType, log *slog.Logger, props map[string]string) handler {
	t.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h, err := of.ErrorHandler(job.Config{Name: "settle", Props: props}, log)
	if err != nil {
		t.Fatal(err)
	}
	return h.(handler)
}

// execution is one of an item of the job settle.
func execution(item int) job.ShardingContext {
	return job.ShardingContext{
		JobName: "settle", TaskID: "task-1", InstanceID: "worker-1@-@7", Item: item, Total: 10,
		ScheduledTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Source: job.SourceNormal, Attempt: 2,
	}
}

// sink is a sender that keeps what it gets.
type sink struct {
	mu       sync.Mutex
	messages []alert.Message
	at       []time.Time
	calls    int
	// answer says what becomes of a call; nil means success.
	answer func(ctx context.Context, call int) error
}

func (s *sink) Send(ctx context.Context, m alert.Message) error {
	s.mu.Lock()
	s.calls++
	call := s.calls
	s.mu.Unlock()
	if s.answer != nil {
		if err := s.answer(ctx, call); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.at = append(s.messages, m), append(s.at, time.Now())
	return nil
}

// take returns the messages since the last call.
func (s *sink) take() []alert.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.messages
	s.messages = nil
	return taken
}

// to returns a type of error handlers that sends to a sink.
func to(s alert.Sender) job.ErrorHandlerType { return toWith(s, alert.Options{Host: "host-1"}) }

func toWith(s alert.Sender, o alert.Options) job.ErrorHandlerType {
	return alert.NewType(alert.Kind{
		Name:  "SINK",
		Table: property.Table{Own: []string{"sink."}},
		Sender: func(property.Values, alert.Options, *slog.Logger) (alert.Sender, error) {
			return s, nil
		},
	}, o)
}

// lookup knows references by their names: "env:TOKEN".
func lookup(values map[string]string) property.Lookup {
	return func(name string) (string, bool, error) {
		value, ok := values[name]
		if !ok {
			return "", true, errors.New("there is none")
		}
		return value, true, nil
	}
}

// vanishing knows env:NONE, too, until the function that it returns is called.
func vanishing(known property.Lookup) (property.Lookup, func()) {
	isThere := true
	return func(name string) (string, bool, error) {
		if name == "env:NONE" && isThere {
			return "there for now", true, nil
		}
		return known(name)
	}, func() { isThere = false }
}

// with returns properties with some of them replaced.
func with(props map[string]string, pairs ...string) map[string]string {
	props = maps.Clone(props)
	for pair := range slices.Chunk(pairs, 2) {
		props[pair[0]] = pair[1]
	}
	return props
}

// logged is a log that a test reads.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
