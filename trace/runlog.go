package trace

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// LogHandler returns what keeps the lines of an execution, which its handler writes with
// [job.Logger]; nil if Options.Lines is off. It is a part of [Recorder.Option].
//
// The text of a line is its message as it is, and then its attributes as [slog.TextHandler]
// writes them.
func (r *Recorder) LogHandler(e job.Event) slog.Handler {
	lines := &r.options.Lines
	if lines.Off {
		return nil
	}
	return &runHandler{log: &runLog{
		recorder: r, bounds: lines, line: Line{Job: e.JobName, TaskID: e.TaskID, Instance: e.InstanceID, Item: e.Item},
		rate: rate{perSecond: float64(lines.PerSecond), room: float64(lines.PerSecond)},
	}}
}

// runLog is what has been written in an execution.
type runLog struct {
	recorder *Recorder
	bounds   *Lines

	mu    sync.Mutex
	line  Line // the last one, without time and text
	bytes int  // of all texts
	rate  rate
	left  int // lines that were left out, and are not told yet
}

// isFull reports whether no further line is kept, and counts that.
func (l *runLog) isFull(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line.Number < l.bounds.Max && l.bytes < l.bounds.MaxBytes && l.rate.has(now) {
		return false
	}
	l.leaveOut()
	return true
}

// write keeps a line, unless there is no room.
func (l *runLog) write(level slog.Level, at time.Time, text string) {
	text = bounded(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line.Number >= l.bounds.Max || l.bytes+len(text) > l.bounds.MaxBytes || !l.rate.take() {
		l.leaveOut()
		return
	}
	l.bytes += len(text)
	l.put(level, at, text)
}

func (l *runLog) put(level slog.Level, at time.Time, text string) {
	l.line.Number++
	line := l.line
	line.Time, line.Level, line.Text = at, level, text
	l.recorder.line(line)
}

func (l *runLog) leaveOut() {
	l.left++
	l.recorder.leftOut(l)
}

// end writes the last line, which says what was left out.
func (l *runLog) end(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		return
	}
	l.put(slog.LevelWarn, at, fmt.Sprintf("%d lines were left out: of an execution at most %d lines, %d bytes and %d lines a second are kept", l.left, l.bounds.Max, l.bounds.MaxBytes, l.bounds.PerSecond))
	l.left = 0
}

// rate is how many lines may be written now: as many as were not written within the last second.
type rate struct {
	perSecond, room float64
	at              time.Time
}

func (r *rate) has(now time.Time) bool {
	if passed := now.Sub(r.at); !r.at.IsZero() && passed > 0 {
		r.room = min(r.perSecond, r.room+passed.Seconds()*r.perSecond)
	}
	r.at = now
	return r.room >= 1
}

func (r *rate) take() bool {
	if r.room < 1 {
		return false
	}
	r.room--
	return true
}

// maxLogs bounds how many executions are remembered that have written too much.
const maxLogs = 1000

// leftOut counts a line that is left out of a log, and remembers that its end is to say so. If
// too many are remembered any other one is forgotten: some have ended, and something that their
// handler has started goes on to write.
func (r *Recorder) leftOut(l *runLog) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.LinesOut++
	task := l.line.TaskID
	if r.cut[task] != nil {
		return
	}
	for other := range r.cut {
		if len(r.cut) < maxLogs {
			break
		}
		delete(r.cut, other)
	}
	r.cut[task] = l
}

// endLog writes the last line of an execution, if something was left out.
func (r *Recorder) endLog(task string, at time.Time) {
	r.mu.Lock()
	l := r.cut[task]
	delete(r.cut, task)
	r.mu.Unlock()
	if l != nil {
		l.end(at)
	}
}

// endLogs does that for all executions of a job: some have ended, and the recorder has missed it.
func (r *Recorder) endLogs(name string, at time.Time) {
	var list []*runLog
	r.mu.Lock()
	for task, l := range r.cut {
		if l.line.Job == name {
			list = append(list, l)
			delete(r.cut, task)
		}
	}
	r.mu.Unlock()
	for _, l := range list {
		l.end(at)
	}
}
