package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// standardLicense is a text of BSD-3-Clause: that of Go.
func standardLicense(t *testing.T) string {
	t.Helper()
	folders := map[string]string{}
	if err := download(nil, folders); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folders[standard], "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAdd(t *testing.T) {
	bsd := standardLicense(t)
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string // of the error
	}{
		"known":         {fstest.MapFS{"LICENSE": file(bsd)}, ""},
		"markdown":      {fstest.MapFS{"License.md": file(bsd)}, ""},
		"none":          {fstest.MapFS{"README.md": file(bsd)}, "module m v1: no file LICENSE or COPYING in its root"},
		"further alone": {fstest.MapFS{"LICENSE-3RD-PARTY": file(bsd), "sub/LICENSE": file(bsd)}, "module m v1: no file LICENSE"},
		"unknown":       {fstest.MapFS{"LICENSE": file("Ask me first.")}, "module m v1: LICENSE: unknown licence: 0 %"},
		"in part":       {fstest.MapFS{"LICENSE": file(bsd + strings.Repeat("Not for use on ships or boats. ", 30))}, "module m v1: LICENSE: unknown licence"},
		"not allowed":   {fstest.MapFS{"COPYING": file("http://creativecommons.org/licenses/by-nc/4.0/")}, "module m v1: COPYING: licence CC-BY-NC-4.0; allowed are Apache-2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			var c collection
			err := c.add("m v1", test.files, false)
			if test.want == "" {
				if err != nil || !strings.Contains(c.String(), "m v1: BSD-3-Clause\n") {
					t.Errorf("%v, %s", err, c.String())
				}
			} else if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

// Each text stands there once, with all files that have it; those in folders, too, but not those of tests.
func TestTexts(t *testing.T) {
	bsd := standardLicense(t)
	var c collection
	for _, name := range []string{"a v1", "b v2"} {
		files := fstest.MapFS{"LICENSE": file(bsd), "NOTICE": file("Thanks to " + name), "x/LICENSE": file(bsd), "testdata/LICENSE": file("no"), "license.go": file("package p")}
		if err := c.add(name, files, false); err != nil {
			t.Fatal(err)
		}
	}
	text := c.String()
	if strings.Count(text, strings.TrimSpace(bsd)) != 1 || !strings.Contains(text, "a v1, LICENSE\na v1, x/LICENSE\nb v2, LICENSE\nb v2, x/LICENSE\n") {
		t.Errorf("the text is not there once, below its files: %s", text)
	}
	if !strings.Contains(text, "Thanks to a v1") || !strings.Contains(text, "Thanks to b v2") || strings.Contains(text, "testdata") || strings.Contains(text, "license.go") {
		t.Errorf("notices, or what is none: %s", text)
	}
}

// This test's binary is one, too.
func TestRun(t *testing.T) {
	t.Chdir("../..")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "LICENSES")
	if err := run(output, []string{self}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo standard library: BSD-3-Clause\n", "\ngithub.com/google/licensecheck v0.3.1: BSD-3-Clause\n", "\ngithub.com/elasticjob-go/elasticjob: Apache-2.0\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
	if err := run(output, nil); err == nil || !strings.Contains(err.Error(), "no binary is given") {
		t.Errorf("without a binary: %v", err)
	}
	if err := run(output, []string{"LICENSE"}); err == nil {
		t.Error("a file that is no binary was taken")
	}
}
