package email

import (
	"html/template"
	"strings"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

// page is the part in HTML. The template escapes everything.
const page = `<html><body>
<h3>{{.Title}}</h3>
<table>
{{range .Lines}}<tr><td valign="top">{{.Name}}</td><td><pre style="margin:0">{{.Value}}</pre></td></tr>
{{end}}</table>
</body></html>
`

func htmlOf(m alert.Message) (string, error) {
	t, err := template.New("").Parse(page)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, m)
	return b.String(), err
}
