package alert

import (
	"context"
	"log/slog"
	"slices"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// NameWeChat is ElasticJob's name for [WeChat].
const NameWeChat = "WECHAT"

// maxWeChat is how long a text may be, in bytes.
const maxWeChat = 2048

const propWeChatWebhook = "wechat.webhook"

// WeChat returns the type of error handlers that write into a group of WeChat Work (WeCom), by
// the webhook of a robot.
func WeChat(o Options) job.ErrorHandlerType { return NewType(weChatKind(), o) }

func weChatKind() Kind {
	return Kind{
		Name: NameWeChat,
		Table: property.Table{
			Own:  []string{"wechat."},
			Rows: slices.Concat([]property.Row{webhookRow(propWeChatWebhook)}, postRows("wechat.")),
		},
		Sender: func(v property.Values, o Options, _ *slog.Logger) (Sender, error) {
			p, err := postOf(v, o, propWeChatWebhook, "wechat.")
			return weChat{p}, err
		},
	}
}

type weChat struct{ post post }

func (s weChat) Send(ctx context.Context, m Message) error {
	body, err := textMessage(cut(m.Text(), maxWeChat))
	if err != nil {
		return Permanent(err)
	}
	a, err := s.post.send(ctx, body, nil)
	if err != nil {
		return err
	}
	return a.checkCode("-1", "45009") // busy; too many messages in a minute
}
