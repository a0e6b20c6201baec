package lives_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// history is what some actors have done: processes, an operator, and the store, which is the last one.
type history struct {
	actors []string

	mu    sync.Mutex
	from  time.Time         // what is before is not drawn
	first int64             // the number of the store's first commit
	names map[string]string // of instances, by id
	steps []step
}

// step is what an actor has done at a moment.
type step struct {
	at      time.Time
	actor   int
	lines   []string
	commits bool // it has sent what the lines say to the store
	running int  // how many executions it has more, or fewer, from here on
}

// gone is the running of an actor's last step.
const gone = -1000

// add notes what an actor does now, and how many executions it has more, or fewer.
func (h *history) add(actor, running int, line string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps = append(h.steps, step{at: time.Now(), actor: actor, running: running, lines: []string{fmt.Sprintf(line, args...)}})
}

// recorder is the registry of an actor.
type recorder struct {
	coord.Registry
	h     *history
	actor int
}

// Commit implements coord.Registry. Links delay answers only, so the store has a commit when it is sent.
func (r recorder) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	s := step{at: time.Now(), actor: r.actor, commits: true}
	revision, err := r.Registry.Commit(ctx, ops...)
	time.Sleep(time.Millisecond) // views show it before the answer is here, so both have an order
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	r.h.first = cmp.Or(r.h.first, revision)
	if s.lines = r.h.describe(ops); revision > 0 {
		s.lines[len(s.lines)-1] += fmt.Sprintf("  → commit %d", r.h.number(revision))
	}
	if conflict, ok := errors.AsType[*coord.ConflictError](err); ok {
		s.lines = append(s.lines, fmt.Sprintf("refused: %s: %v", r.h.short(conflict.Op.Path), conflict.Reason))
	}
	r.h.steps = append(r.h.steps, s)
	return revision, err
}

// number counts commits from 1.
func (h *history) number(revision int64) int64 { return revision - h.first + 1 }

// describe says what a commit does: its conditions, and then what it writes.
func (h *history) describe(ops []coord.Op) []string {
	var conditions, writes []string
	for i, op := range ops {
		what := h.short(op.Path) + h.value(op)
		switch kind := op.Kind.String() + " "; {
		case op.Kind.Writes():
			writes = append(writes, strings.Fields(kind)[0]+" "+what)
		case i > 0 && ops[i-1].Kind == op.Kind:
			conditions = append(conditions, what)
		default:
			conditions = append(conditions, kind+what)
		}
	}
	if conditions != nil {
		conditions[0] = "if " + conditions[0]
	}
	return append(fill(conditions), fill(writes)...)
}

// fill makes lines of words.
func fill(words []string) (lines []string) {
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if last := len(lines) - 1; last >= 0 && len(lines[last])+len(word) < 78 {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

var telling = regexp.MustCompile(`(?m)^(cron|accepted): (.*)$`) // of documents

// value is what is worth knowing of a value. Each process creates its instance first.
func (h *history) value(op coord.Op) string {
	text := string(op.Value)
	if id, ok := strings.CutPrefix(op.Path, "settle/instances/"); ok && text != "" {
		h.names[id] = h.actors[len(h.names)]
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return " " + at.Format("04:05")
	}
	said := telling.FindStringSubmatch(text)
	if said == nil {
		return strings.TrimRight(" "+h.names[text], " ")
	}
	if revision, err := strconv.ParseInt(said[2], 10, 64); err == nil {
		return fmt.Sprintf(" %s: %d", said[1], h.number(revision))
	}
	return " " + said[0]
}

// short is a path below the job, with the names of instances.
func (h *history) short(path string) string {
	head, last := path[:strings.LastIndex(path, "/")+1], coord.Base(path)
	if strings.HasSuffix(head, "audit/") {
		last = "…" // random
	}
	return strings.TrimPrefix(head+cmp.Or(h.names[last], last), "settle/")
}

// String draws the history: a lane for each actor, heavy while handlers run, and at the right what happens.
func (h *history) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortStableFunc(h.steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.actor, b.actor)) })
	running := make([]int, len(h.actors))
	out := fmt.Sprintf("%-11s%s\n", "min:s", strings.Join(h.actors, "     "))
	for _, s := range h.steps {
		if running[s.actor] < 0 {
			continue // what a process that has died does in the simulation
		}
		running[s.actor] += s.running
		for i, text := range s.lines {
			at, lanes := "", ""
			if i == 0 {
				at = s.at.Format("04:05.000")
			}
			for a := range h.actors {
				line := "│     "
				switch isArrow := i == 0 && s.commits; {
				case isArrow && a == s.actor:
					line = "├─────"
				case isArrow && a > s.actor && a < len(h.actors)-1:
					line = "┼─────"
				case running[a] < 0:
					line = "      "
				case running[a] > 0:
					line = "┃     "
				}
				lanes += line
			}
			if s.at.After(h.from) {
				out += fmt.Sprintf("%-11s%s%s\n", at, strings.Replace(lanes, "─│", "►│", 1), text)
			}
		}
	}
	return out
}
