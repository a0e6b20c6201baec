package alert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// NameDingTalk is ElasticJob's name for [DingTalk].
const NameDingTalk = "DINGTALK"

// maxDingTalk is how long a text may be, in bytes.
const maxDingTalk = 20_000

const (
	propDingTalkWebhook = "dingtalk.webhook"
	propDingTalkKeyword = "dingtalk.keyword"
	propDingTalkSecret  = "dingtalk.secret"
)

// DingTalk returns the type of error handlers that write into a group of DingTalk, by the
// webhook of a robot.
func DingTalk(o Options) job.ErrorHandlerType { return NewType(dingTalkKind(), o) }

func dingTalkKind() Kind {
	return Kind{
		Name: NameDingTalk,
		Table: property.Table{
			Own: []string{"dingtalk."},
			Rows: slices.Concat([]property.Row{
				webhookRow(propDingTalkWebhook),
				{Name: propDingTalkKeyword, Check: property.Length(255), Meaning: "what the robot wants to see in each text; it comes first"},
				{Name: propDingTalkSecret, Secret: true, Check: property.Length(maxURL), Meaning: "signs the requests"},
			}, postRows("dingtalk.")),
		},
		Sender: func(v property.Values, o Options, _ *slog.Logger) (Sender, error) {
			p, err := postOf(v, o, propDingTalkWebhook, "dingtalk.")
			return dingTalk{p, v.Text(propDingTalkKeyword), v.Text(propDingTalkSecret)}, err
		},
	}
}

type dingTalk struct {
	post            post
	keyword, secret string // secret has references
}

func (s dingTalk) Send(ctx context.Context, m Message) error {
	text := m.Text()
	if s.keyword != "" {
		text = s.keyword + "\n" + text
	}
	body, err := textMessage(cut(text, maxDingTalk))
	if err != nil {
		return Permanent(err)
	}
	a, err := s.post.send(ctx, body, s.sign)
	if err != nil {
		return err
	}
	return a.checkCode("-1", "130101", "410100") // busy; too many messages in a minute
}

// sign adds the time and the signature to the query.
func (s dingTalk) sign(secrets *Secrets, u *url.URL) error {
	if s.secret == "" {
		return nil
	}
	secret, err := secrets.Expand(s.secret)
	if err != nil {
		return fmt.Errorf("the secret: %w", err)
	}
	milliseconds := strconv.FormatInt(time.Now().UnixMilli(), 10)
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "timestamp=" + milliseconds + "&sign=" + url.QueryEscape(signature(milliseconds, secret))
	return nil
}

// signature is how DingTalk defines it: the secret is the key, and the end of the text, too.
func signature(milliseconds, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(milliseconds + "\n" + secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
