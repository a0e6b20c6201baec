package sqlfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace/sqlfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A program keeps the history of the jobs of its file, in a file that others cannot read.
func TestSection(t *testing.T) {
	folder := t.TempDir()
	file, address := filepath.Join(folder, "elasticjob.yaml"), filepath.Join(folder, "history.db")
	text := fmt.Sprintf(`
registry: {memory: {namespace: shop}}
jobs: {settle: {implementation: settle, shardingTotalCount: 3}}
tracing: {type: SQL, database: "sqlite:%s"}
`, address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	app, err := jobfile.Load(t.Context(), jobfile.Options{
		Handlers:  map[string]job.Handler{"settle": job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })},
		Profiles:  []string{},
		Databases: map[string]jobfile.OpenDatabase{sqlfile.Name: sqlfile.Open},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	requested, err := app.Node().Job("settle").Trigger(t.Context(), job.TriggerRequest{})
	if err == nil {
		_, err = requested.Wait(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
	if err := app.Shutdown(context.Background()); err != nil { // it writes what is left
		t.Error(err)
	}

	if info, err := os.Stat(address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the database: %v, %v", info, err)
	}
	db, dialect, err := sqlfile.OpenDatabase("sqlite:" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tracer, err := sqltrace.Open(db, dialect, sqltrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	page, err := tracer.Executions(t.Context(), history.ExecutionFilter{Job: "settle"})
	if err != nil || len(page.Rows) != 3 {
		t.Errorf("the history has %+v, %v", page, err)
	}
}

func TestOpenDatabaseRefuses(t *testing.T) {
	for address, want := range map[string]string{
		"":                        "nothing behind the kind of the database: allowed are sqlite:",
		"sqlite:":                 "nothing behind the kind",
		"oracle:secret":           `"oracle" is no kind of a database that is known: allowed are`,
		"postgres://u:secret@h/d": "this program has no driver for postgres: it has to import github.com/jackc/pgx/v5/stdlib",
		"mysql:u:secret@tcp(h)/":  "",
		"mysql:secret":            `the mysql driver does not understand what is behind "mysql:": allowed are`,
	} {
		db, _, err := sqlfile.OpenDatabase(address)
		if db != nil {
			_ = db.Close() // it was not used
		}
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
