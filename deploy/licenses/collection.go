package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences of which somebody has read that a binary may be passed on with their texts: by their SPDX
// identifiers. For MPL-2.0 the source has to be available, too; that of a module of Go is, unchanged.
var allowed = map[string]bool{
	"Apache-2.0": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "ISC": true, "MIT": true, "MPL-2.0": true,
}

// enough is the part of a licence file, in percent, that has to be the text of known licences. The rest are copyright
// lines, and sentences about which file has which licence.
const enough = 80

var (
	// license is the file in the root of a module with its licence.
	license = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.txt|\.md)?$`)
	// further are files that are passed on, too, in all folders: of code of others within the module, for example.
	further = regexp.MustCompile(`(?i)^((licen[cs]e|copying)([.-].*)?|notice(\.txt|\.md)?|patents|copyright)$`)
)

// collection has the texts of modules, each once.
type collection struct {
	modules [][2]string         // name, identifiers
	files   map[string][]string // which have a text
}

// add adds the texts of a module: all, or only those in its root.
func (c *collection) add(name string, files fs.FS, rootOnly bool) error {
	found := false
	identifiers := map[string]bool{}
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (rootOnly || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !further.MatchString(entry.Name()) || path.Ext(file) == ".go":
			return nil
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		if path.Dir(file) == "." && license.MatchString(file) {
			found = true
			if err := check(text, identifiers); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		if c.files == nil {
			c.files = map[string][]string{}
		}
		c.files[string(text)] = append(c.files[string(text)], name+", "+file)
		return nil
	})
	if err == nil && !found {
		err = errors.New("no file LICENSE or COPYING in its root")
	}
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	c.modules = append(c.modules, [2]string{name, strings.Join(slices.Sorted(maps.Keys(identifiers)), ", ")})
	return nil
}

// check adds the identifiers of the licences in a file.
func check(text []byte, identifiers map[string]bool) error {
	covered := licensecheck.Scan(text)
	if covered.Percent < enough {
		return fmt.Errorf("unknown licence: %.0f %% of the file are text of known licences, and %d %% have to be", covered.Percent, enough)
	}
	for _, match := range covered.Match {
		if !allowed[match.ID] {
			return fmt.Errorf("licence %s; allowed are %s", match.ID, strings.Join(slices.Sorted(maps.Keys(allowed)), ", "))
		}
		identifiers[match.ID] = true
	}
	return nil
}

// String lists the modules, and then each text below the files that have it.
func (c *collection) String() string {
	var b strings.Builder
	b.WriteString("What is linked into the command elasticjob, with its licences. The texts follow.\n\n")
	for _, m := range c.modules {
		fmt.Fprintf(&b, "%s: %s\n", m[0], m[1])
	}
	texts := slices.SortedFunc(maps.Keys(c.files), func(a, b string) int { return strings.Compare(c.files[a][0], c.files[b][0]) })
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(c.files[text], "\n"), strings.TrimSpace(text))
	}
	return b.String()
}
