package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/coord"
)

// A patch changes what it names, also within props, where the fields stand that ElasticJob has not.
func TestPatchOfSettings(t *testing.T) {
	// With all keys that are always written.
	const document = `jobName: %s
cron: 0 0 3 * * ?
shardingTotalCount: 2
shardingItemParameters: ''
jobParameter: ''
monitorExecution: true
failover: false
misfire: true
maxTimeDiffSeconds: -1
reconcileIntervalMinutes: 10
jobListenerTypes: [one, two]
description: a script
disabled: false
overwrite: false
staticSharding: false
props:
  email.password: hunter2
  execution.timeout.seconds: '60'
  executor.threads: '3'
  retry.backoff.initial.milliseconds: '5000'
  revision: '7'
  schedule.calendars: holidays
  script.command.line: ./settle
  webhook.url: https://shop/hook
vendorKey: {a: b}
`
	type texts = map[string]string // a property that becomes empty is taken away
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		admin, n := apitest.May(access.Admin), 0
		for name, c := range map[string]struct {
			patch string
			props texts // what becomes of the properties
			code  string
			names string // what a refusal names
		}{
			"nothing":                      {patch: `{}`},
			"no property":                  {patch: `{"props":{}}`},
			"another key":                  {patch: `{"description":"other"}`},
			"a new property":               {patch: `{"props":{"script.env.DB_PASSWORD":"x"}}`, props: texts{"script.env.DB_PASSWORD": "x"}},
			"another value":                {patch: `{"props":{"webhook.url":"https://shop/other"}}`, props: texts{"webhook.url": "https://shop/other"}},
			"a property is taken away":     {patch: `{"props":{"webhook.url":null}}`, props: texts{"webhook.url": ""}},
			"null for what is not there":   {patch: `{"props":{"other":null}}`},
			"all properties of its type":   {patch: `{"props":{"script.command.line":"./other","webhook.url":"https://shop/hook"}}`, props: texts{"script.command.line": "./other"}},
			"a secret as it is shown":      {patch: `{"props":{"email.password":"***"}}`},
			"another calendar":             {patch: `{"props":{"schedule.calendars":"holidays,more"}}`, props: texts{"schedule.calendars": "holidays,more"}},
			"no calendar":                  {patch: `{"props":{"schedule.calendars":null,"x":"y"}}`, props: texts{"schedule.calendars": "", "x": "y"}},
			"a list is replaced":           {patch: `{"jobListenerTypes":["three"]}`},
			"null for all properties":      {patch: `{"props":null}`, props: texts{"email.password": "", "execution.timeout.seconds": "", "executor.threads": "", "retry.backoff.initial.milliseconds": "", "revision": "", "schedule.calendars": "", "script.command.line": "", "webhook.url": ""}},
			"wrong":                        {patch: `{"props":{"execution.timeout.seconds":"soon"}}`, code: "invalid-config", names: "execution.timeout.seconds"},
			"wrong with what stays":        {patch: `{"props":{"retry.backoff.max.milliseconds":"1000"}}`, code: "invalid-config", names: "retry.backoff.max.milliseconds"},
			"properties that are none":     {patch: `{"props":"x"}`, code: "invalid", names: "props"},
			"a property that is no text":   {patch: `{"props":{"x":{"y":"z"}}}`, code: "invalid", names: "props.x"},
			"no number of items":           {patch: `{"shardingTotalCount":null}`, code: "invalid-config", names: "shardingTotalCount"},
			"a key that nobody knows":      {patch: `{"corn":"x","props":{"x":"y"}}`, code: "invalid-config", names: "corn"},
			"the configuration of another": {patch: `{"jobName":"late"}`, code: "invalid", names: "jobName"},
		} {
			n++
			job := fmt.Sprintf("patched-%d", n)
			if _, err := w.Ops.Registry().Commit(t.Context(), coord.Put(job+"/config", fmt.Appendf(nil, document, job))); err != nil {
				t.Fatal(err)
			}
			before := settingsOf(t, w, job)
			got := heard(t, w.Do(admin, "PATCH", orders+"/jobs/"+job+"/settings", c.patch, "If-Match", "*"))
			after := settingsOf(t, w, job)
			if c.code != "" {
				if got.status != http.StatusUnprocessableEntity || got.code() != c.code || !strings.Contains(got.body, c.names) || !reflect.DeepEqual(after, before) {
					t.Errorf("%s: %d %s, and the settings are %v", name, got.status, got.body, after)
				}
				continue
			}
			var patch map[string]any
			if err := json.Unmarshal([]byte(c.patch), &patch); err != nil {
				t.Fatal(err)
			}
			props := before["props"].(map[string]any)
			for name, value := range c.props {
				if props[name] = value; value == "" {
					delete(props, name)
				}
			}
			for key, value := range patch {
				if before[key] = value; key == "props" {
					before[key] = props
				}
			}
			if len(props) == 0 {
				delete(before, "props")
			}
			if got.status != http.StatusOK || !reflect.DeepEqual(after, before) {
				t.Errorf("%s: %d %s, and the settings are\n%v\nwant\n%v", name, got.status, got.body, after, before)
			}
		}
	})
}

// What is read may be written without a property: that goes, and all else stays.
func TestSettingsWithoutAProperty(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		admin := apitest.May(access.Admin)
		if got := heard(t, w.Do(admin, "PATCH", settleJob+"/settings", `{"props":{"a":"1","b":"2","revision":"7"}}`, "If-Match", "*")); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		var read struct {
			Config map[string]any `json:"config"`
		}
		if err := json.Unmarshal([]byte(ask(t, w, admin, settleJob+"/settings").body), &read); err != nil {
			t.Fatal(err)
		}
		delete(read.Config["props"].(map[string]any), "a")
		body, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		got := heard(t, w.Do(admin, "PUT", settleJob+"/settings", string(body), "If-Match", "*"))
		want := map[string]any{"b": "2", "revision": "7", "schedule.calendars": "holidays"}
		if props := settingsOf(t, w, "settle")["props"]; got.status != http.StatusOK || !reflect.DeepEqual(props, want) {
			t.Errorf("%d %s, and the properties are %v, want %v", got.status, got.body, props, want)
		}
	})
}

// settingsOf returns the document of a job as it is in the registry.
func settingsOf(t *testing.T, w *apitest.World, job string) (document map[string]any) {
	t.Helper()
	s, err := w.Ops.Job(job).Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(s.Document, &document); err != nil {
		t.Fatal(err)
	}
	return document
}
