package mixed

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var (
	seed  = flag.Uint64("seed", 1, "how long requests take, and what the soak does")
	seeds = flag.Int("seeds", 1, "how often to run each scenario at least, with this seed and those after it")
	alone = flag.Bool("alone", false, "let JVM members take the place of Go instances, and check nothing: for comparison")
	full  = flag.Bool("full", false, "let the soak run for an hour of ticks, instead of some minutes")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
