package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// The names of the properties.
const (
	propLine      = "script.command.line"
	propArgs      = "script.command.args"
	propContext   = "script.context.argument"
	propDirectory = "script.directory"
	propEnv       = "script.env.*"
	propInherit   = "script.inherit"
	propUser      = "script.user"
	propGroup     = "script.group"
	propGrace     = "script.grace"
	propSuccess   = "script.codes.success"
	propSkip      = "script.codes.skip"
	propRetry     = "script.codes.retry"
)

// Bounds. A text of a program's arguments or environment has up to 128 KiB on Linux.
const (
	maxText     = 100_000
	maxCode     = 255
	maxGrace    = time.Hour
	noVariables = "none"
	// alwaysInherited is the default of script.inherit, which no list of allowed things narrows.
	alwaysInherited = "PATH,HOME,USER,LOGNAME,SHELL,LANG,LC_*,TZ,TMPDIR"
)

// Table returns the properties of the type, for programs that show or check them.
func Table() property.Table {
	codes := property.Integers(0, maxCode)
	return property.Table{Own: []string{"script."}, Rows: []property.Row{
		{Name: propLine, Check: accept("a program and its arguments are", checkLine), Meaning: "the program and its arguments, with spaces between them"},
		{Name: propArgs, Check: accept("a JSON list of texts, the program first, is", checkArgs), Meaning: "the program and its arguments, as a JSON list"},
		{Name: propContext, Default: "true", Check: property.Boolean(), Meaning: "whether the sharding context, as JSON, is the last argument"},
		{Name: propDirectory, Check: accept("an absolute path is", checkDirectory), Meaning: "the working directory"},
		{Name: propEnv, Check: accept("a text is", checkVariable), Meaning: "a variable of the environment"},
		{Name: propInherit, Default: alwaysInherited, Check: accept("names of variables are", checkInherit), Meaning: "the variables of this process that the program gets"},
		{Name: propUser, Check: accept("a name or a number is", checkIdentity), Meaning: "the user that the program runs as"},
		{Name: propGroup, Check: accept("a name or a number is", checkIdentity), Meaning: "the group that the program runs as"},
		{Name: propGrace, Default: "10s", Check: property.Duration(0, maxGrace), Meaning: "the time between the request to end and the kill"},
		{Name: propSuccess, Default: "0", Check: codes, Meaning: "the exit codes of success"},
		{Name: propSkip, Check: codes, Meaning: "the exit codes that say that there was nothing to do"},
		{Name: propRetry, Check: codes, Meaning: "the only exit codes after which Config.Retry counts"},
	}}
}

// settings are the properties of a job, read.
type settings struct {
	args        []string
	argsFrom    string // the property that has them
	context     bool
	directory   string
	env         []property.Pair
	inherit     []string
	user, group string
	grace       time.Duration
	success     []property.Range
	skip        []property.Range
	retry       []property.Range
	lookup      property.Lookup
}

func readSettings(props job.Properties) (*settings, error) {
	v, err := Table().Read(props)
	if err != nil {
		return nil, err
	}
	s := &settings{
		context: v.Boolean(propContext), directory: v.Text(propDirectory), env: v.Family(propEnv), inherit: v.List(propInherit),
		user: v.Text(propUser), group: v.Text(propGroup), grace: v.Duration(propGrace),
		success: v.Ranges(propSuccess), skip: v.Ranges(propSkip), retry: v.Ranges(propRetry),
	}
	line, args := v.Text(propLine), v.Text(propArgs)
	if args == "" {
		s.argsFrom = propLine
		s.args, err = words(line)
	} else {
		s.argsFrom = propArgs
		s.args, err = list(args)
	}
	if err != nil {
		return nil, fmt.Errorf("script: the command was checked: %w", err)
	}
	return s, errorOf(s.faults(line, args))
}

func errorOf(faults []*job.FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	shown := min(len(faults), jobtype.MaxFaults)
	return &job.ConfigError{Faults: faults[:shown], More: len(faults) - shown}
}

// faults returns what is wrong between properties, and with names of variables.
func (s *settings) faults(line, args string) (faults []*job.FieldError) {
	fault := func(name, format string, args ...any) {
		faults = append(faults, &job.FieldError{Field: "props: " + name, Err: fmt.Errorf(format, args...)})
	}
	switch {
	case line == "" && args == "":
		fault(propLine, "is required, or %s", propArgs)
	case line != "" && args != "":
		fault(propArgs, "and %s: one of the two is allowed", propLine)
	}
	if s.group != "" && s.user == "" {
		fault(propGroup, "needs %s", propUser)
	}
	for _, variable := range s.env {
		name := "script.env." + brief.Text(variable.Name)
		switch {
		case !isName(variable.Name):
			fault(name, "a name of letters, digits and _ is allowed, which does not begin with a digit")
		case strings.HasPrefix(variable.Name, contextPrefix):
			fault(name, "names that begin with %s are for the sharding context", contextPrefix)
		}
	}
	if n, both := common(s.success, s.skip); both {
		fault(propSkip, "%d is a code of %s", n, propSuccess)
	}
	if n, both := common(s.success, s.retry); both {
		fault(propRetry, "%d is a code of %s", n, propSuccess)
	}
	if n, both := common(s.skip, s.retry); both {
		fault(propRetry, "%d is a code of %s", n, propSkip)
	}
	return faults
}

// accept returns a check whose errors say what is allowed, and do not show the value.
func accept(allowed string, f func(text string) error) property.Check {
	return property.Check{Allowed: allowed, Accept: func(text string) error {
		if err := f(text); err != nil {
			return fmt.Errorf("%w; %s allowed", err, allowed)
		}
		return nil
	}}
}

func checkLine(line string) error {
	args, err := words(line)
	if err != nil {
		return err
	}
	return checkCommand(args)
}

func checkArgs(text string) error {
	args, err := list(text)
	if err != nil {
		return err
	}
	return checkCommand(args)
}

func checkCommand(args []string) error {
	if len(args) == 0 || args[0] == "" {
		return errors.New("there is no program")
	}
	for _, arg := range args {
		if err := checkText(arg); err != nil {
			return err
		}
	}
	return nil
}

// list reads a JSON list of texts.
func list(text string) ([]string, error) {
	var texts []*string
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := decoder.Decode(&texts); err != nil {
		return nil, errors.New("it is no JSON list of texts")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("there is something after the list")
	}
	args := make([]string, len(texts))
	for i, text := range texts {
		if text == nil {
			return nil, fmt.Errorf("text %d of the list is null", i)
		}
		args[i] = *text
	}
	return args, nil
}

// checkText refuses what no argument and no variable of a process can be.
func checkText(text string) error {
	switch {
	case strings.ContainsRune(text, 0):
		return errors.New("it has a zero byte")
	case len(text) > maxText:
		return fmt.Errorf("one text has %d bytes, more than %d", len(text), maxText)
	}
	return nil
}

func checkDirectory(path string) error {
	if err := checkText(path); err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is not absolute", brief.Quote(path))
	}
	return nil
}

// checkVariable checks the value of a variable, and how its references are written.
func checkVariable(text string) error {
	if err := checkText(text); err != nil {
		return err
	}
	_, err := property.Expand(text, func(string) (string, bool, error) { return "", true, nil })
	return err
}

// isName reports whether a text is the name of a variable.
func isName(text string) bool {
	for i, r := range text {
		isLetter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !isLetter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return text != ""
}

func checkInherit(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "*" && !isName(strings.TrimSuffix(name, "*")) {
			return fmt.Errorf("%s is no name; %s, * and names that end with * may stand there, with commas between them", brief.Quote(name), noVariables)
		}
	}
	return nil
}

func checkIdentity(text string) error {
	if strings.ContainsAny(text, "\x00:,/ \t\r\n") {
		return fmt.Errorf("%s is neither", brief.Quote(text))
	}
	return nil
}

// common returns a number that two lists have in common.
func common(a, b []property.Range) (int, bool) {
	for _, x := range a {
		for _, y := range b {
			if n := max(x.First, y.First); x.Has(n) && y.Has(n) {
				return n, true
			}
		}
	}
	return 0, false
}

// has reports whether a list of ranges has a number.
func has(list []property.Range, n int) bool {
	_, ok := common(list, []property.Range{{First: n, Last: n}})
	return ok
}
