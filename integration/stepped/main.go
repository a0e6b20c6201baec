// Stepped plays the roles of package cluster, as the tests' own executable does. It is built with a changed
// copy of package time, so that the wall clock of a worker can be set: see cluster.BuildStepped.
package main

import "github.com/elasticjob-go/elasticjob/integration/cluster"

func main() { cluster.PlayRole() }
