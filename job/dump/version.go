package dump

import (
	"cmp"

	"github.com/elasticjob-go/elasticjob/internal/module"
)

// moduleVersion returns the version of this module in the program, as far as it was built with one.
func moduleVersion() string { return cmp.Or(module.Version(), "unknown") }
