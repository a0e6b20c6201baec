package module

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	const other = "example.com/shop"
	for name, tt := range map[string]struct {
		main debug.Module
		deps []*debug.Module
		want string
	}{
		"a program that requires it":   {debug.Module{Path: other, Version: "v2.0.0"}, []*debug.Module{{Path: path + "/console", Version: "v1.2.0"}, {Path: path, Version: "v1.3.0"}}, "v1.3.0"},
		"one of its own programs":      {debug.Module{Path: path, Version: "v1.3.0"}, nil, "v1.3.0"},
		"built from a work tree":       {debug.Module{Path: path, Version: "(devel)"}, nil, ""},
		"a program that has it not":    {debug.Module{Path: other, Version: "v2.0.0"}, nil, ""},
		"a module of the same project": {debug.Module{Path: path + "/console", Version: "v1.2.0"}, nil, ""},
	} {
		if got := versionOf(&debug.BuildInfo{Main: tt.main, Deps: tt.deps}); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
