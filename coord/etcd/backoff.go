package etcd

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// minBackoff and maxBackoff bound the pause after a request that has failed.
const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = time.Second
)

func newBackoff() *sleep.Backoff { return &sleep.Backoff{Min: minBackoff, Max: maxBackoff} }
