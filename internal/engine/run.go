package engine

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
)

// run is one execution of one item in this process, from its claim until its record is
// removed. The controller owns it. The goroutine that calls the handler writes only the
// ending, under the controller's lock, and gives the run back (controller.returns).
type run struct {
	decide.Run
	group   *group // the runs that were claimed in the same commit
	phase   phase
	syncs   int     // backoffs.syncs when the run was claimed; once it is done, when it was done
	total   int     // what the handler is told of how many items there are
	missed  int     // how many ticks the run leaves behind: missedBy
	claimed instant // when the claim was committed
	begun   instant // when the handler was called
	// When it was seen last that the run waited for Started of its tick; zero if it never has.
	released clocks.Moment

	cancel  context.CancelCauseFunc // ends the handler's context; set once it is executing
	ending  ending                  // set once the handler has returned
	signals exec.Signals            // between the controller and the handler
	errors  *exec.ErrorHandlers     // set once it is executing
	killed  bool                    // an operator has ended it
}

// phase is where a run stands.
//
//	queued ──a thread is free──► executing ──handler returns──► done ──record removed──► (gone)
//	   └──taken back (released, shutdown)──────────────────► done
type phase int

const (
	queued phase = iota + 1
	executing
	done
)

// group counts the runs of one claim that are not done. If the last one is done soon, one
// commit removes all their records (controller.finish).
type group struct{ open int }

// newTaskID returns an id that is unique and sorts by time.
func newTaskID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("job: task id: %w", err)
	}
	return id.String(), nil
}
