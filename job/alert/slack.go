package alert

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// NameSlack is a name for [Slack].
const NameSlack = "SLACK"

// maxSlack is how long a text may be. Slack counts characters; bytes are never fewer.
const maxSlack = 40_000

const propSlackWebhook = "slack.webhook"

// Slack returns the type of error handlers that write into a channel of Slack, by an incoming
// webhook.
func Slack(o Options) job.ErrorHandlerType { return NewType(slackKind(), o) }

func slackKind() Kind {
	return Kind{
		Name: NameSlack,
		Table: property.Table{
			Own:  []string{"slack."},
			Rows: slices.Concat([]property.Row{webhookRow(propSlackWebhook)}, postRows("slack.")),
		},
		Sender: func(v property.Values, o Options, _ *slog.Logger) (Sender, error) {
			p, err := postOf(v, o, propSlackWebhook, "slack.")
			return slack{p}, err
		},
	}
}

type slack struct{ post post }

func (s slack) Send(ctx context.Context, m Message) error {
	body, err := json.Marshal(struct {
		Text string `json:"text"`
	}{slackText(m)})
	if err != nil {
		return Permanent(err)
	}
	a, err := s.post.send(ctx, body, nil)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != "ok" {
		return a.refused()
	}
	return nil
}

// slackText escapes what would be a link, or a mention of all, in the text of an error.
func slackText(m Message) string {
	// A character becomes up to five bytes; a part of an escape would be shown as it is.
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(cut(m.Text(), maxSlack/5))
	return cut(text, maxSlack)
}
