package legacy

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/connection"
)

func TestParseURL(t *testing.T) {
	for url, want := range map[string]connection.Database{
		"jdbc:mysql://db/jobs":                                  {Driver: "mysql", Address: "db:3306", Schema: "jobs"},
		"jdbc:mysql://db:3307/jobs?useUnicode=true&useSSL=true": {Driver: "mysql", Address: "db:3307", Schema: "jobs", TLS: &connection.TLS{}},
		"jdbc:mysql://a:b@db/jobs?sslMode=DISABLED":             {Driver: "mysql", Address: "db:3306", Schema: "jobs", User: "a", Password: connection.Plain("b")},
		"jdbc:mysql://[2001:db8::1]:3306/jobs":                  {Driver: "mysql", Address: "[2001:db8::1]:3306", Schema: "jobs"},
		"jdbc:mariadb://db/jobs?sslMode=verify-full":            {Driver: "mysql", Address: "db:3306", Schema: "jobs", TLS: &connection.TLS{}},
		"jdbc:postgresql://db/jobs?user=a&password=b&ssl=true":  {Driver: "postgres", Address: "db:5432", Schema: "jobs", User: "a", Password: connection.Plain("b"), TLS: &connection.TLS{}},
		"jdbc:sqlite:/var/lib/jobs.db?mode=ro":                  {Driver: "sqlite", Address: "/var/lib/jobs.db"},
	} {
		class := map[string]string{"mysql": "com.mysql.jdbc.Driver", "mariadb": "org.mariadb.jdbc.Driver", "postgresql": "org.postgresql.Driver", "sqlite": "org.sqlite.JDBC"}[strings.Split(url, ":")[1]]
		got, err := parseURL(class, url)
		if (got.TLS == nil) != (want.TLS == nil) || got.Password.Reveal() != want.Password.Reveal() {
			t.Errorf("%s: TLS %v, password %q", url, got.TLS, got.Password.Reveal())
		}
		got.TLS, want.TLS, got.Password, want.Password = nil, nil, connection.Secret{}, connection.Secret{}
		if err != nil || got.Driver != want.Driver || got.Address != want.Address || got.Schema != want.Schema || got.User != want.User {
			t.Errorf("%s: %+v, %v; want %+v", url, got, err, want)
		}
	}
	for url, class := range map[string]string{
		"jdbc:h2:mem:":                       "org.h2.Driver",
		"jdbc:mysql:loadbalance://hunter2/x": "com.mysql.jdbc.Driver",
		"jdbc:mysql://hunter2,b/x":           "com.mysql.jdbc.Driver",
		"jdbc:mysql:///hunter2":              "com.mysql.jdbc.Driver",
		"jdbc:mysql://db:hunter2/x":          "com.mysql.jdbc.Driver",
		"mysql://db/hunter2":                 "com.mysql.jdbc.Driver",
		"jdbc:postgresql:hunter2":            "org.postgresql.Driver",
	} {
		if got, err := parseURL(class, url); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
}
