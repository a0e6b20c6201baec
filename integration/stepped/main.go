// Stepped is a worker of package cluster whose wall clock can be set, because it is built with a changed copy
// of package time: see cluster.BuildStepped.
package main

import (
	"os"

	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/job/script"
)

func main() { os.Exit(worker.Main(script.Supervise())) }
