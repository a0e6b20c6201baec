package docs

import (
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

// YAML can be read, and files of jobs, of workers and of calendars by the packages that read them. The
// console's are for the tests of the command.
func TestYAML(t *testing.T) {
	for _, page := range selected(t) {
		documents, err := page.Documents()
		if err != nil {
			t.Error(err)
		}
		var files []string // those of jobs and workers, one of which may change what stands in another
		for _, d := range documents {
			switch {
			case d.Has("kind", "apiVersion", "services"): // Kubernetes, Docker Compose
			case d.Has("registry", "jobs", "node", "defaults", "profiles", "calendars", "metrics", "dump", "health", "tracing"):
				file := filepath.Join(t.TempDir(), "jobs.yaml")
				if err := os.WriteFile(file, []byte(d.Text), 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
				if declare(file) == nil {
					continue
				}
				if err := declare(files...); err != nil {
					t.Errorf("%s: %v", page.At(d.Line), err)
				}
			case d.Has("weekly", "dates", "only", "icalendar"):
				if _, err := calendar.Parse([]byte(d.Text)); err != nil {
					t.Errorf("%s: %v", page.At(d.Line), err)
				}
			}
		}
	}
}

// declare reads files, and then with each of their profiles.
func declare(files ...string) error {
	profiles := [][]string{{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var of struct {
			Profiles map[string]any `yaml:"profiles"`
		}
		if err := yaml.Unmarshal(text, &of); err != nil {
			return err
		}
		for name := range of.Profiles {
			profiles = append(profiles, []string{name})
		}
	}
	worker := jobfile.Options{Supervisor: script.Supervise(), Alerts: map[string]func(alert.Options) job.ErrorHandlerType{email.Name: email.Type}}
	for _, chosen := range profiles {
		d, err := jobfile.Declare(jobfile.Options{
			Profiles: chosen, LookupEnv: func(string) (string, bool) { return "text", true },
		}, files...)
		if err != nil {
			return err
		}
		if err := d.Check(worker); err != nil {
			return err
		}
	}
	return nil
}
