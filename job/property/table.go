package property

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Row describes one property.
type Row struct {
	// Name is the key in Config.Props. A name that ends with ".*" stands for all that begin so:
	// "http.header.*".
	Name string
	// Default is the value if the property is left out or empty, as text.
	Default string
	// Required is whether it must be there, and not empty.
	Required bool
	// Secret is whether the value is secret: then it must have a reference such as
	// "${env:NAME}", so that the secret itself does not stand in the registry. The type looks it
	// up by Expand.
	Secret bool
	// Check says which values are allowed. The zero Check allows all.
	Check Check
	// Meaning is for people, in one line.
	Meaning string
}

// Table lists the properties of a type of jobs or error handlers.
type Table struct {
	// Own are the beginnings of the names that belong to the table, such as "http.". A property
	// that begins so and has no row is refused: it is a slip.
	Own  []string
	Rows []Row
}

// Read checks properties, and returns their values. The error is a *job.ConfigError that lists
// all that is wrong. It does not show values, unless a check does: they may be secret.
func (t Table) Read(props job.Properties) (Values, error) {
	v := Values{texts: map[string]string{}}
	var faults []*jobtype.FieldError
	fault := func(name string, err error) {
		if err != nil {
			faults = append(faults, &jobtype.FieldError{Field: "props: " + name, Err: err})
		}
	}
	for _, row := range t.Rows {
		if row.isFamily() {
			continue
		}
		text, _ := props.Get(row.Name)
		fault(row.Name, row.check(text))
		if text == "" {
			text = row.Default
		}
		v.texts[row.Name] = text
	}
	for name, text := range props.All() {
		row, known := t.rowOf(name)
		switch {
		case !known && t.owns(name):
			fault(brief.Text(name), t.unknown(name))
		case known && row.isFamily():
			fault(brief.Text(name), row.check(text))
			v.texts[name] = text
		}
	}
	if len(faults) > 0 {
		shown := min(len(faults), jobtype.MaxFaults)
		return Values{}, &jobtype.ConfigError{Faults: faults[:shown], More: len(faults) - shown}
	}
	return v, nil
}

// Describe implements [jobtype.Describer], also for a type that embeds the table.
func (t Table) Describe() []jobtype.PropertyInfo {
	infos := make([]jobtype.PropertyInfo, len(t.Rows))
	for i, row := range t.Rows {
		allowed := strings.TrimSuffix(strings.TrimSuffix(row.Check.Allowed, " are"), " is")
		infos[i] = jobtype.PropertyInfo{Name: row.Name, Default: row.Default, Required: row.Required, Secret: row.Secret, Allowed: allowed, Meaning: row.Meaning}
	}
	return infos
}

// Type returns a type that describes the properties, so that the console has a field for each, and does what another one does.
func (t Table) Type(of job.Type) job.Type {
	return struct {
		job.Type
		Table
	}{of, t}
}

func (r Row) isFamily() bool { return strings.HasSuffix(r.Name, ".*") }

// check checks a value; an empty one is left out.
func (r Row) check(text string) error {
	switch {
	case text == "" && r.Required:
		return errors.New("is required")
	case text == "":
		return nil
	case r.Secret && !HasReference(text):
		return errors.New("is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}, alone or within a text")
	}
	return r.Check.accepts(text)
}

func (t Table) rowOf(name string) (Row, bool) {
	for _, row := range t.Rows {
		family, isFamily := strings.CutSuffix(row.Name, "*")
		if name == row.Name || isFamily && strings.HasPrefix(name, family) && len(name) > len(family) {
			return row, true
		}
	}
	return Row{}, false
}

func (t Table) owns(name string) bool {
	return slices.ContainsFunc(t.Own, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// unknown says what was meant by a name that has no row.
func (t Table) unknown(name string) error {
	if near := brief.Similar(name, t.names()); near != nil {
		return fmt.Errorf("is not known; did you mean %s?", near[0])
	}
	return fmt.Errorf("is not known; %s are", strings.Join(t.names(), ", "))
}

func (t Table) names() []string {
	var names []string
	for _, row := range t.Rows {
		names = append(names, row.Name)
	}
	return names
}
