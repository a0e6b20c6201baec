package alert

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// The names of the messengers: those of WeChat and DingTalk are ElasticJob's.
const (
	NameWeChat   = "WECHAT"
	NameDingTalk = "DINGTALK"
	NameSlack    = "SLACK"
)

// WeChat returns the type of error handlers that write into a group of WeChat Work (WeCom), by
// the webhook of a robot.
func WeChat(o Options) job.ErrorHandlerType { return NewType(weChat().kind(), o) }

// DingTalk returns the type of error handlers that write into a group of DingTalk, by the
// webhook of a robot.
func DingTalk(o Options) job.ErrorHandlerType { return NewType(dingTalk().kind(), o) }

// Slack returns the type of error handlers that write into a channel of Slack, by an incoming
// webhook.
func Slack(o Options) job.ErrorHandlerType { return NewType(slack().kind(), o) }

// messenger is how a service writes into a group or a channel what is posted to a webhook.
type messenger struct {
	name   string
	prefix string         // of its properties
	rows   []property.Row // those that others have not
	text   func(v property.Values, m Message) string
	body   func(text string) any
	sign   func(v property.Values, secrets *property.Secrets, u *url.URL) error // nil: requests are not signed
	check  func(a answer) error
}

func weChat() messenger {
	return messenger{
		name: NameWeChat, prefix: "wechat.",
		text:  func(_ property.Values, m Message) string { return cut(m.Text(), 2048) },
		body:  groupMessage,
		check: func(a answer) error { return a.checkCode("-1", "45009") }, // busy; too many messages in a minute
	}
}

const (
	propDingTalkKeyword = "dingtalk.keyword"
	propDingTalkSecret  = "dingtalk.secret"
)

func dingTalk() messenger {
	return messenger{
		name: NameDingTalk, prefix: "dingtalk.",
		rows: []property.Row{
			{Name: propDingTalkKeyword, Check: property.Length(255), Meaning: "what the robot wants to see in each text; it comes first"},
			{Name: propDingTalkSecret, Secret: true, Check: property.Length(maxURL), Meaning: "signs the requests"},
		},
		text: func(v property.Values, m Message) string {
			text := m.Text()
			if keyword := v.Text(propDingTalkKeyword); keyword != "" {
				text = keyword + "\n" + text
			}
			return cut(text, 20_000)
		},
		body:  groupMessage,
		sign:  signDingTalk,
		check: func(a answer) error { return a.checkCode("-1", "130101", "410100") }, // busy; too many messages in a minute
	}
}

func slack() messenger {
	return messenger{
		name: NameSlack, prefix: "slack.",
		text: slackText,
		body: func(text string) any { return map[string]string{"text": text} },
		check: func(a answer) error {
			if a.Status != http.StatusOK || strings.TrimSpace(string(a.Body)) != "ok" {
				return a.refused()
			}
			return nil
		},
	}
}

func (s messenger) kind() Kind {
	webhook := s.prefix + "webhook"
	return Kind{
		Name: s.name,
		Table: property.Table{
			Own:  []string{s.prefix},
			Rows: slices.Concat([]property.Row{webhookRow(webhook)}, s.rows, postRows(s.prefix)),
		},
		Sender: func(v property.Values, o Options, _ *slog.Logger) (Sender, error) {
			p, err := postOf(v, o, webhook, s.prefix)
			if s.sign != nil {
				p.sign = func(secrets *property.Secrets, u *url.URL) error { return s.sign(v, secrets, u) }
			}
			return SenderFunc(func(ctx context.Context, m Message) error {
				body, err := json.Marshal(s.body(s.text(v, m)))
				if err != nil {
					return Permanent(err)
				}
				a, err := p.send(ctx, property.NewSecrets(p.lookup), body)
				if err != nil {
					return err
				}
				return s.check(a)
			}), err
		},
	}
}

// groupMessage is the message of WeChat and DingTalk.
func groupMessage(text string) any {
	return map[string]any{"msgtype": "text", "text": map[string]string{"content": text}}
}

// slackText escapes what would be a link, or a mention of all, in the text of an error.
func slackText(_ property.Values, m Message) string {
	// Slack counts characters; bytes are never fewer. A character becomes up to five bytes; a
	// part of an escape would be shown as it is.
	const most = 40_000
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(cut(m.Text(), most/5))
	return cut(text, most)
}

// cut returns a text of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return brief.Cut(text, most-len("…"))
}

// signDingTalk adds the time and the signature to the query.
func signDingTalk(v property.Values, secrets *property.Secrets, u *url.URL) error {
	if v.Text(propDingTalkSecret) == "" {
		return nil
	}
	secret, err := secrets.Expand(v.Text(propDingTalkSecret))
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

// checkCode checks the answer of WeChat or DingTalk: status 200 and the code 0 mean success.
// busy are the codes that mean "later".
func (a answer) checkCode(busy ...string) error {
	if a.Status != http.StatusOK {
		return a.refused()
	}
	var result struct {
		Code    json.RawMessage `json:"errcode"`
		Message string          `json:"errmsg"`
	}
	if err := json.Unmarshal(a.Body, &result); err != nil {
		return fmt.Errorf("the receiver answered 200 without an errcode: %s", a.text())
	}
	code := strings.Trim(string(result.Code), `"`)
	if code == "0" {
		return nil
	}
	err := fmt.Errorf("the receiver answered errcode %s: %s", brief.Quote(a.secrets.Hide(code)), brief.Quote(a.secrets.Hide(result.Message)))
	if slices.Contains(busy, code) {
		return err
	}
	return Permanent(err)
}
