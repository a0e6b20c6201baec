package command

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/consolefile"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/internal/docpage"
)

// The reference of the command has a section for each group of commands, with all commands of it that do something
// by themselves, and what help says of them.
func TestReferenceCommands(t *testing.T) {
	root := newRoot()
	page := docpage.Open(t, "reference/command.md").Section(t, "Commands")
	var titles []string
	for _, group := range root.Groups() {
		title := strings.TrimSuffix(group.Title, ":")
		titles = append(titles, title)
		var rows [][]string
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				rows = append(rows, commandRows(cmd)...)
			}
		}
		page.Section(t, title).WantRows(t, rows)
	}
	page.WantHeadings(t, 3, titles)
}

// commandRows returns the rows of a command and of those below it.
func commandRows(cmd *cobra.Command) (rows [][]string) {
	if cmd.Runnable() && !cmd.Hidden {
		use := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		rows = append(rows, []string{strings.TrimPrefix(use, "elasticjob "), cmd.Short})
	}
	for _, below := range cmd.Commands() {
		rows = append(rows, commandRows(below)...)
	}
	return rows
}

func TestReferenceExitCodes(t *testing.T) {
	var rows [][]string
	for _, m := range exit.Meanings() {
		rows = append(rows, []string{strconv.Itoa(int(m.Code)), m.Meaning})
	}
	docpage.Open(t, "reference/exit-codes.md").Section(t, "Codes").WantRows(t, rows)
}

// What the topic "store" of the help lists stands in the reference.
func TestReferenceStore(t *testing.T) {
	var rows [][]string
	for _, f := range target.Fields() {
		flag := ""
		if f.Flag != "" {
			flag = "--" + f.Flag
		}
		rows = append(rows, []string{f.Env, flag, f.Meaning})
	}
	table := docpage.Open(t, "reference/command.md").Section(t, "The store").Rows()
	for i, want := range rows {
		if i >= len(table) || !slices.Equal(table[i], want) {
			t.Errorf("the table has no row %q at its place", want)
		}
	}
	for _, row := range table[min(len(rows), len(table)):] {
		if !strings.Contains(target.Topic(), row[0]) {
			t.Errorf("the help does not know %s", row[0])
		}
	}
}

// The reference has all keys of the files of the console.
func TestReferenceConsoleFile(t *testing.T) {
	page := docpage.Open(t, "reference/console-file.md")
	got := page.Section(t, "Settings").Names()
	if want := keysOf(reflect.TypeFor[consolefile.File](), ""); !slices.Equal(got, want) {
		t.Errorf("the page has the settings\n%q, not\n%q", got, want)
	}
	got = page.Section(t, "Connections").Names()
	want := append(keysOf(reflect.TypeFor[connection.Namespace](), "namespaces.NAME."), "namespaces.NAME.password")
	want = append(append(want, keysOf(reflect.TypeFor[connection.Database](), "databases.NAME.")...), "databases.NAME.password")
	if !slices.Equal(got, want) {
		t.Errorf("the page has the connections\n%q, not\n%q", got, want)
	}
}

// keysOf returns the keys of a struct in YAML, and those of structs within it that have no type of their own in the
// page.
func keysOf(typ reflect.Type, above string) (keys []string) {
	for field := range typ.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		of := field.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of != reflect.TypeFor[connection.TLS]() {
			keys = append(keys, keysOf(of, above+key+".")...)
			continue
		}
		keys = append(keys, above+key)
	}
	return keys
}
