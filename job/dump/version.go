package dump

import "runtime/debug"

const module = "github.com/elasticjob-go/elasticjob"

// moduleVersion returns the version of this module in the program, as far as it was built with one.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}
