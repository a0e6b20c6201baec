// Command licenses collects the licences of what is linked into Go binaries:
//
//	go run ./deploy/licenses -o LICENSES BINARY...
//
// The modules are those that the binaries name. Their texts come from the module cache, which gets what it lacks. A
// module without a licence, or with one that is not allowed here, is an error, and nothing is written.
package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// own begins the paths of the modules of this repository, which have one licence: that in the working directory.
const own = "github.com/elasticjob-go/elasticjob"

func main() {
	output := flag.String("o", "LICENSES", "`FILE` to write")
	flag.Parse()
	if err := run(*output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(output string, binaries []string) error {
	linked, err := read(binaries)
	if err != nil {
		return err
	}
	folders := map[string]string{own: "."}
	if err := download(linked, folders); err != nil {
		return err
	}
	var all collection
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		failed = append(failed, all.add(name, os.DirFS(folders[name]), name == own || name == standard))
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return os.WriteFile(output, []byte(all.String()), 0o644)
}

// read returns the modules of other repositories that are linked into binaries.
func read(binaries []string) ([]debug.Module, error) {
	if len(binaries) == 0 {
		return nil, errors.New("no binary is given")
	}
	linked := map[string]debug.Module{}
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Path != own && !strings.HasPrefix(m.Path, own+"/") {
				linked[m.Path+"@"+m.Version] = *m
			}
		}
	}
	var modules []debug.Module
	for _, name := range slices.Sorted(maps.Keys(linked)) {
		modules = append(modules, linked[name])
	}
	return modules, nil
}
