package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/fair"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Sinks are those of a console. They are safe for use by several goroutines.
type Sinks struct {
	all []*outlet
	end context.CancelFunc

	mu   sync.Mutex
	last string // the ID of the change that has come last
}

// target is where lines go. One goroutine uses it.
type target interface {
	// send sends one, with the line break at its end.
	send(ctx context.Context, line []byte) error
	close() error
}

// Open opens the sinks that a configuration names. out is what stdout stands for; log is told what goes wrong. Close them.
//
// Errors: what is wrong, with the key and what is allowed.
func Open(c Config, out io.Writer, log *slog.Logger) (*Sinks, error) {
	targets, err := c.targets(out)
	if err != nil {
		return nil, fmt.Errorf("sinks: %w", err)
	}
	s := &Sinks{}
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.Background())
	for name, t := range targets {
		o := &outlet{name: name, to: t, log: log, more: make(chan struct{}, 1), done: make(chan struct{})}
		s.all = append(s.all, o)
		go o.run(ctx)
	}
	return s, nil
}

// Close sends what is still to be sent, as long as ctx allows. Nobody may send anything after that. A write that does not
// end, to a pipe that nobody reads, is left behind.
//
// Errors: how much was not sent.
func (s *Sinks) Close(ctx context.Context) error {
	defer s.end()
	for _, o := range s.all {
		o.finish()
	}
	var all error
	for _, o := range s.all {
		select {
		case <-o.done:
		case <-ctx.Done():
			all = errors.Join(all, fmt.Errorf("sink %s: %d lines are not sent: %w", o.name, o.waiting(), context.Cause(ctx)))
		}
	}
	return all
}

const (
	maxQueue   = 4 << 20          // bytes
	keepQueue  = maxQueue / 4 * 3 // stay when it is full
	tries      = 5
	firstPause = time.Second
	lastPause  = 8 * time.Second
	logEvery   = time.Minute
)

// line is one that waits.
type line struct {
	owner string
	text  []byte
}

// outlet is a target with its queue.
type outlet struct {
	name string
	to   target
	log  *slog.Logger
	more chan struct{} // has one when something has changed
	done chan struct{}

	mu            sync.Mutex
	queue         []line // the oldest first
	size          int    // of the queue, in bytes
	isEnding      bool
	sent, dropped int
	untold        int       // of those dropped, since logged
	logged        time.Time // when that was
}

func (o *outlet) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *outlet) put(l line) {
	o.mu.Lock()
	o.queue = append(o.queue, l)
	o.size += len(l.text)
	lost := 0
	if o.size > maxQueue {
		lost = o.shorten()
	}
	o.mu.Unlock()
	if lost > 0 {
		o.lose(lost, errFull)
	}
	o.wake()
}

var errFull = errors.New("the queue is full")

// shorten drops what there is no room for, and returns how much that is.
func (o *outlet) shorten() (lost int) {
	entries := make([]fair.Entry, len(o.queue))
	for i, l := range o.queue {
		entries[i] = fair.Entry{Owner: l.owner, Size: len(l.text)}
	}
	var stays []line
	o.size = 0
	for i, goes := range fair.Drop(entries, keepQueue) {
		if goes {
			lost++
			continue
		}
		stays = append(stays, o.queue[i])
		o.size += entries[i].Size
	}
	o.queue = stays
	return lost
}

// lose counts lines that are not sent, and logs that unless it has just done so.
func (o *outlet) lose(n int, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropped += n
	o.untold += n
	if now := time.Now(); now.Sub(o.logged) >= logEvery {
		o.log.Error("sink: lines are dropped", "sink", o.name, "lines", o.untold, "error", brief.Error(why))
		o.untold, o.logged = 0, now
	}
}

func (o *outlet) finish() {
	o.mu.Lock()
	o.isEnding = true
	o.mu.Unlock()
	o.wake()
}

func (o *outlet) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue)
}

// next takes the oldest line out of the queue, and waits for one. It reports false when there are none, and will be none.
func (o *outlet) next() (line, bool) {
	for {
		o.mu.Lock()
		if len(o.queue) > 0 {
			l := o.queue[0]
			o.queue, o.size = o.queue[1:], o.size-len(l.text)
			o.mu.Unlock()
			return l, true
		}
		isEnding := o.isEnding
		o.mu.Unlock()
		if isEnding {
			return line{}, false
		}
		<-o.more
	}
}

// run sends until finish was called and the queue is empty; when ctx has ended it only counts.
func (o *outlet) run(ctx context.Context) {
	defer close(o.done)
	for l, ok := o.next(); ok; l, ok = o.next() {
		o.send(ctx, l)
	}
	if err := o.to.close(); err != nil {
		o.log.Error("sink: close", "sink", o.name, "error", brief.Error(err))
	}
}

func (o *outlet) send(ctx context.Context, l line) {
	pauses := sleep.Backoff{Min: firstPause, Max: lastPause}
	for try := 1; ; try++ {
		err := context.Cause(ctx)
		if err == nil {
			err = o.to.send(ctx, l.text)
		}
		if err == nil {
			o.mu.Lock()
			o.sent++
			o.mu.Unlock()
			return
		}
		if try == tries || !pauses.Wait(ctx) {
			o.lose(1, err)
			return
		}
	}
}

var (
	sentLines    = prometheus.NewDesc("elasticjob_console_sink_sent_total", "Lines of the traces that a sink has taken.", []string{"sink"}, nil)
	droppedLines = prometheus.NewDesc("elasticjob_console_sink_dropped_total", "Lines of the traces that were not sent.", []string{"sink"}, nil)
	waitingLines = prometheus.NewDesc("elasticjob_console_sink_waiting", "Lines of the traces that wait for a sink.", []string{"sink"}, nil)
)

// Describe is for prometheus.Collector.
func (*Sinks) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sentLines, droppedLines, waitingLines} {
		descriptions <- d
	}
}

// Collect is for prometheus.Collector.
func (s *Sinks) Collect(metrics chan<- prometheus.Metric) {
	for _, o := range s.all {
		o.mu.Lock()
		sent, dropped, waiting := o.sent, o.dropped, len(o.queue)
		o.mu.Unlock()
		metrics <- prometheus.MustNewConstMetric(sentLines, prometheus.CounterValue, float64(sent), o.name)
		metrics <- prometheus.MustNewConstMetric(droppedLines, prometheus.CounterValue, float64(dropped), o.name)
		metrics <- prometheus.MustNewConstMetric(waitingLines, prometheus.GaugeValue, float64(waiting), o.name)
	}
}
