package integration_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
)

// processed matches the end of a batch of a job.
func processed(job string) match {
	return func(e history.Event) bool { return e.Kind == history.Batch && e.Job == job }
}

// Streams move: workers that run them are killed, cut off, stopped by a signal, shut down, and
// new ones join. One stream keeps up with its rows, the other one never does. No row is lost,
// and no batch whose cursor was moved is processed again (history.Check). The endless one pays no
// attention to its contexts, so nothing but the cursor stops it after it has lost an item. It goes
// to workers that join all the same.
func streams(s *stage) {
	begin := time.Now()
	props := func(size string) map[string]string {
		return map[string]string{"streaming.process": "true", "dataflow.page.size": size}
	}
	keepsUp := cluster.Job{Name: "s1", Every: 2 * time.Second, Items: 4, Failover: true, Props: props("20"),
		Stream: &worker.Stream{Begin: begin, Every: 20 * time.Millisecond}}
	endless := cluster.Job{Name: "s2", Every: 2 * time.Second, Items: 4, Failover: true, Props: props("5"), Work: []time.Duration{100 * time.Millisecond},
		Stream: &worker.Stream{Begin: begin, Every: 10 * time.Millisecond}, Stubborn: true}
	s.add(keepsUp)
	s.add(endless)
	workers := s.start("w1", "w2")
	working := func(w *cluster.Worker) {
		s.Helper()
		s.await(s.Mark(), "a batch on "+w.Name, processed(endless.Name).by(w.Name))
	}
	working(workers[0])
	third := s.start("w3")[0]
	working(third)

	rerun := match(func(e history.Event) bool { return e.Kind == history.Start && e.Job == endless.Name }).as("FAILOVER")
	s.settled() // then nothing moves any more, and who has items runs them
	working(workers[0])
	mark := s.Mark()
	s.must(workers[0].Kill())
	s.await(mark, "the failover of a stream", rerun)
	s.settled()
	working(third)
	mark = s.Mark()
	s.must(third.Break(cluster.BlackHole))
	s.await(mark, "the context to end", match(of(history.Cut)).by(third.Name))
	s.elapse(endless.Name, 1)
	third.Mend()
	s.settled()
	working(third)

	mark = s.Mark()
	s.must(third.Pause())
	taken := s.await(mark, "the failover of a stream", rerun)
	s.await(mark, "a batch of it", match(func(e history.Event) bool { return e.Kind == history.Batch && e.Task == taken.Task }))
	s.must(third.Resume())
	s.settled()
	working(third)

	fourth := s.start("w4")[0]
	working(fourth)
	s.exit(third)
	working(workers[1])
	working(fourth)
	s.settled()

	// A stream that is cut short waits to be run again, so they end before the workers do.
	for _, j := range []cluster.Job{keepsUp, endless} {
		j.Props = map[string]string{"streaming.process": "false"}
		mark = s.Mark()
		s.must(s.Reconfigure(s.ctx, j))
		s.awaitCount(mark, "the streams to end", 2*j.Items, func(e history.Event) bool {
			return e.Kind == history.End && e.Job == j.Name && e.Outcome == history.Done
		})
	}
}

// tree is a script that leaves processes behind: one in a session of its own, which ignores
// SIGTERM, and one whose parent has ended. All of them hold a pipe open. Every other item takes
// longer.
const tree = `exec 9>"$TREES/${ELASTICJOB_INSTANCE_ID%%@*}"
setsid sh -c 'trap "" TERM; sleep 1000 & wait; sleep 1000' &
(sleep 1000 &)
[ $((ELASTICJOB_ITEM % 2)) = 0 ] || sleep 2.5
`

// Scripts leave nothing behind: not when they end, nor when their worker is killed or loses its
// session.
func scripts(s *stage) {
	folder := s.TempDir()
	args, err := json.Marshal([]string{"sh", "-c", tree})
	s.must(err)
	j := cluster.Job{Name: "p1", Every: 3 * time.Second, Items: 4, Failover: true, Script: true, Props: map[string]string{
		"script.command.args": string(args), "script.context.argument": "false", "script.env.TREES": folder, "script.grace": "100ms",
	}}
	s.add(j)
	pipes := map[string]*os.File{}
	for _, name := range []string{"w1", "w2", "w3"} {
		w, err := s.Start(name, cluster.Options{})
		s.must(err)
		path := filepath.Join(folder, w.Address)
		s.must(syscall.Mkfifo(path, 0o600))
		pipe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		s.must(err)
		s.Cleanup(func() { _ = pipe.Close() }) // it was only read
		pipes[w.Address] = pipe
	}
	s.settled()
	// gone waits until no process of a script of that worker is left.
	gone := func(w *cluster.Worker) {
		s.Helper()
		pipe := pipes[w.Address]
		s.must(pipe.SetReadDeadline(time.Now().Add(2 * time.Minute)))
		if _, err := io.Copy(io.Discard, pipe); errors.Is(err, os.ErrDeadlineExceeded) {
			s.Errorf("processes of scripts of %s are left", w.Name)
		} else {
			s.must(err)
		}
	}
	s.cutShort(s.next(j.Name, 1), func(w *cluster.Worker) {
		s.kill(w)
		gone(w)
	}, s.replace)
	run, _ := s.cutShort(s.next(j.Name, 1), func(w *cluster.Worker) { s.must(w.Break(cluster.BlackHole)) }, s.mend)
	w := s.worker(run.Process)
	gone(w)
	w.Mend()
	s.settled()
	s.covered()
	for _, w := range s.Workers() {
		s.exit(w)
		gone(w)
	}
}
