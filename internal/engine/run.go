package engine

import (
	"context"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// run is one execution of one item in this process, from its claim until its record is
// removed. The controller owns it. The goroutine that calls the handler writes only the
// ending, under the controller's lock, and gives the run back (controller.giveBackRun).
type run struct {
	decide.Run
	group   *group // the runs that were claimed in the same commit
	phase   exec.Phase
	syncs   int            // Committer.Syncs when the run was claimed; once it is done, when it was done
	total   int            // what the handler is told of how many items there are
	missed  int            // how many ticks the run leaves behind: missedBy
	claimed clocks.Instant // when the claim was committed
	begun   clocks.Instant // when the handler was called
	// When it was seen last that the run waited for Started of its tick; zero if it never has.
	heldAt clocks.Moment

	cancel  context.CancelCauseFunc // ends the handler's context; set once it is executing
	ending  exec.Ending             // set once the handler has returned
	signals exec.Signals            // between the controller and the handler
	errors  *exec.ErrorHandlers     // set once it is executing
	killed  bool                    // an operator has ended it
}

// group counts the runs of one claim that are not done. If the last one is done soon, one
// commit removes all their records (controller.finish).
type group struct{ open int }

// completionOf returns what the tree is told of the end of a run.
func completionOf(r *run) *jobtree.CompletionDocument {
	return &jobtree.CompletionDocument{
		Tick: r.Tick, Token: r.Token, Outcome: jobtree.Outcome(r.ending.Outcome.String()), Begun: r.begun.Wall, Ended: r.ending.At.Wall,
		TaskID: r.TaskID, Original: r.Original, Source: jobtype.Source(r.Source).String(), Request: r.Request, Error: r.ending.Text,
	}
}
