package mixed

import (
	"context"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// stallsDuring does something in real time, and returns for how long the machine has stood still meanwhile,
// because its host gives the CPUs to others: then ticks are late, and JVM members do not make all of them up.
func stallsDuring(do func()) time.Duration {
	const most = 50 * time.Millisecond // a look at the time that comes later than this is a stall
	var lost time.Duration
	var watching sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	watching.Go(func() {
		for last := time.Now(); sleep.For(ctx, 10*time.Millisecond); {
			now := time.Now()
			if since := now.Sub(last); since > most {
				lost += since
			}
			last = now
		}
	})
	defer watching.Wait()
	defer stop()
	do()
	stop()
	watching.Wait()
	return lost
}
