// Package module tells which version of this module a program was built with.
package module

import (
	"runtime/debug"
	"sync"
)

const path = "github.com/elasticjob-go/elasticjob"

// Version returns the version of this module in the program; empty if it was built without one, as from a work tree.
func Version() string { return built() }

// built parses what Go has built in once: each job asks for it.
var built = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionOf(info)
})

func versionOf(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == path && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}
