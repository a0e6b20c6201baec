package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/coord"
)

// A plan has what a calendar leaves out of some days, whether it is there or only to be.
func TestCalendarPlan(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer, "settle")
		if _, err := w.Ops.Registry().Commit(t.Context(), coord.Put("~elasticjob/calendars/broken", []byte("dates: [never]"))); err != nil {
			t.Fatal(err)
		}
		plan := func(document, days string) said {
			body, err := json.Marshal(map[string]string{"document": document})
			if err != nil {
				t.Fatal(err)
			}
			return heard(t, w.Do(anna, http.MethodPost, orders+"/calendars:plan?"+days, string(body)))
		}
		const berlin = "timeZone: Europe/Berlin\n"
		for name, tt := range map[string]struct {
			got    said
			status int
			want   string
		}{
			"there":        {ask(t, w, anna, orders+"/calendars/holidays/plan?from=2026-12-30&days=7"), 200, `{"timeZone":"UTC","from":"2026-12-30T00:00:00Z","to":"2027-01-06T00:00:00Z","rows":[{"from":"2027-01-01T00:00:00Z","to":"2027-01-02T00:00:00Z"}],"more":false}`},
			"today":        {plan(berlin, "days=1"), 200, `{"timeZone":"Europe/Berlin","from":"2000-01-01T00:00:00+01:00","to":"2000-01-02T00:00:00+01:00","rows":[],"more":false}`},
			"days of 25 h": {plan(berlin+"weekly: ['SUN 12:00-13:00']", "from=2026-10-25&days=1"), 200, `"from":"2026-10-25T00:00:00+02:00","to":"2026-10-26T00:00:00+01:00","rows":[{"from":"2026-10-25T12:00:00+01:00","to":"2026-10-25T13:00:00+01:00"}]`},
			"for ever":     {plan(berlin+"only: []\nweekly: [MON-SUN]", "from=2099-12-31&days=1"), 200, `"rows":[{"from":"2099-12-31T00:00:00+01:00","to":"2100-01-01T00:00:00+01:00"}]`},
			"unreadable":   {ask(t, w, anna, orders+"/calendars/broken/plan"), 200, `{"rows":[],"more":false,"error":"calendar: timeZone: `},
			"none":         {ask(t, w, anna, orders+"/calendars/nothing/plan"), 404, "no-calendar"},
			"no calendar":  {plan(berlin+"dates: [02-30]", ""), 422, `"field":"body.document","reason":"calendar: dates: line 2`},
			"no day":       {plan(berlin, "from=2026-02-30"), 422, "query.from"},
			"long ago":     {plan(berlin, "from=1969-12-31"), 422, "1970-01-01 to 2099-12-31"},
			"too many":     {plan(berlin, "days=367"), 422, "query.days"},
			"elsewhere":    {ask(t, w, anna, "/api/v1/namespaces/other/calendars/holidays/plan"), 403, "denied"},
		} {
			if tt.got.status != tt.status || !strings.Contains(tt.got.body, tt.want) {
				t.Errorf("%s: %d %s, want %d %s", name, tt.got.status, tt.got.body, tt.status, tt.want)
			}
		}
		const hourly = "  BEGIN:VEVENT\n  DTSTART:20260101T00%s00Z\n  DURATION:PT1M\n" +
			"  RRULE:FREQ=DAILY;COUNT=9000;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n  END:VEVENT\n"
		many := plan("timeZone: UTC\nicalendar: |\n  BEGIN:VCALENDAR\n"+fmt.Sprintf(hourly+hourly, "00", "30")+"  END:VCALENDAR\n", "from=2026-01-01&days=366")
		if rows, _ := many.rows(t); len(rows) != 10_000 || !strings.HasSuffix(strings.TrimSpace(many.body), `"more":true}`) {
			t.Errorf("%d spans", len(rows))
		}
	})
}
