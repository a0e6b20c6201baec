package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// files are the flags of commands that read files with jobs.
type files struct {
	cli      *cli
	paths    []string
	profiles []string
}

// files gives a command its flags.
func (c *cli) files(cmd *cobra.Command) *files {
	f := &files{cli: c}
	cmd.Flags().StringArrayVarP(&f.paths, "file", "f", nil, "file with jobs, or a folder of such files, in the format of elasticjob.yaml; - is the standard input; may be given several times: all are merged, and defaults count for the jobs of all")
	c.profiles(cmd, &f.profiles)
	return f
}

func (c *cli) profiles(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringSliceVar(to, "profile", nil, "profile of the files; may be given several times; default: ELASTICJOB_PROFILES")
}

// declare reads what the files say of jobs.
func (f *files) declare() (*jobfile.Declarations, error) {
	if len(f.paths) == 0 {
		return nil, exit.Errorf(exit.Usage, "--file is missing: a file with jobs, a folder, or - for the standard input")
	}
	d, err := f.read(f.paths)
	if err == nil {
		for _, w := range d.Warnings() {
			f.cli.warn("%v", w)
		}
		err = d.Check(f.cli.worker(nil))
	}
	return d, f.cli.showMistakes(err)
}

// read reads files, and the files of folders.
func (f *files) read(paths []string) (*jobfile.Declarations, error) {
	var sources []jobfile.Source
	for _, path := range paths {
		names, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			s, err := f.cli.source(name)
			if err != nil {
				return nil, err
			}
			sources = append(sources, s)
		}
	}
	return jobfile.DeclareSources(jobfile.Options{Profiles: f.profiles, LookupEnv: f.cli.env.Lookup}, sources...)
}

// filesOf returns the files of a folder, by name, which is not looked into further. Hidden ones are no files of jobs: an
// editor's, say.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.IsDir() {
		return []string{path}, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && e.Name()[0] != '.' && slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if names == nil {
		return nil, fmt.Errorf("%s: the folder has no file *.yaml, *.yml or *.json", path)
	}
	return names, nil
}

// maxSource is more than a file of jobs may have: jobfile says so then.
const maxSource = 16 << 20

// source reads a file; - is the standard input.
func (c *cli) source(path string) (jobfile.Source, error) {
	s := jobfile.Source{Name: path}
	from := c.env.In
	if path == "-" {
		s.Name = "standard input"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return s, err
		}
		defer func() { _ = file.Close() }() // it was only read
		from = file
	}
	var err error
	if s.Text, err = io.ReadAll(io.LimitReader(from, maxSource)); err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return s, err
}

// mistake is what is wrong in a file, for programs.
type mistake struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
	What   string `json:"what"`
	text   string // for people
}

// mistakesOf returns the mistakes that an error lists; ok is false if it is another one.
func mistakesOf(err error) (list []mistake, more int, ok bool) {
	invalid, ok := errors.AsType[*jobfile.Error](err)
	if !ok {
		return nil, 0, false
	}
	return mistakesIn(invalid.Mistakes), invalid.More, true
}

func mistakesIn(given []*jobfile.Mistake) (list []mistake) {
	for _, m := range given {
		list = append(list, mistake{m.File, m.Line, m.Column, m.Path, m.Err.Error(), show.Line(m.Error())})
	}
	return list
}

// showMistakes prints the mistakes of files, and returns a short error.
func (c *cli) showMistakes(err error) error {
	list, more, ok := mistakesOf(err)
	if !ok {
		return exit.With(exit.Usage, err)
	}
	for _, m := range list {
		fmt.Fprintln(c.env.Err, m.text)
	}
	return exit.Errorf(exit.Usage, "the files have %s; nothing was done", count(len(list)+more, "mistake"))
}

// count says how many there are of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// validated is what validate says to programs.
type validated struct {
	Jobs      []string  `json:"jobs"`
	Calendars []string  `json:"calendars"`
	Mistakes  []mistake `json:"mistakes"`
	// More is how many further mistakes there are.
	More int `json:"more,omitempty"`
	// Warnings are what is allowed, and most likely not meant.
	Warnings []mistake `json:"warnings,omitempty"`
}

func (c *cli) validateCommand() *cobra.Command {
	var f *files
	cmd := &cobra.Command{
		Use: "validate [-f] FILE…", Short: "Check files with jobs, without a store",
		Long: `Check files in the format of elasticjob.yaml, all together, without a store. Each mistake is shown with its
line and column. The exit code is 7 if there are some. A warning is about what is allowed, and most likely not meant.

Jobs may have any type, implementation and error handler; the properties are checked of those that elasticjob run has:
their secrets have to be references, and for others in clear text, as in script.env.*, there is a warning. Which
properties of a program are secret nobody can tell. What references name need not be there.`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cobra.MinimumNArgs(1)(cmd, append(args, f.paths...))
		},
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := f.read(append(args, f.paths...))
			list, more, ok := mistakesOf(err)
			if err != nil && !ok {
				return exit.With(exit.Usage, err)
			}
			v := validated{Jobs: []string{}, Calendars: []string{}, Mistakes: append([]mistake{}, list...), More: more}
			if d != nil {
				list, v.More, _ = mistakesOf(d.Check(c.worker(nil)))
				v.Mistakes, v.Warnings = append(v.Mistakes, list...), mistakesIn(d.Warnings())
				for _, j := range d.Jobs {
					v.Jobs = append(v.Jobs, j.Config.Name)
				}
				for _, l := range d.Calendars {
					v.Calendars = append(v.Calendars, l.Name)
				}
			}
			if err := c.printValidated(v); err != nil {
				return err
			}
			if len(v.Mistakes) > 0 {
				return quiet(exit.Findings)
			}
			return nil
		},
	}
	f = c.files(cmd)
	return cmd
}

func (c *cli) printValidated(v validated) error {
	if !c.output.ForPeople() {
		return c.print(show.Result{Value: v, Names: func() []string { return v.Jobs }})
	}
	p := c.printer()
	for _, m := range v.Mistakes {
		if err := p.Say("%s", m.text); err != nil {
			return err
		}
	}
	for _, w := range v.Warnings {
		if err := p.Say("warning: %s", w.text); err != nil {
			return err
		}
	}
	switch n := len(v.Mistakes) + v.More; {
	case v.More > 0:
		return p.Say("%s, of which %d are not shown", count(n, "mistake"), v.More)
	case n > 0:
		return p.Say("%s", count(n, "mistake"))
	}
	return p.Say("%s, %s, no mistake", count(len(v.Jobs), "job"), count(len(v.Calendars), "calendar"))
}
