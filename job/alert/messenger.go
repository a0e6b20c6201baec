package alert

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// textMessage is the JSON of a text, for WeChat and DingTalk.
func textMessage(content string) ([]byte, error) {
	var m struct {
		Type string `json:"msgtype"`
		Text struct {
			Content string `json:"content"`
		} `json:"text"`
	}
	m.Type, m.Text.Content = "text", content
	return json.Marshal(m)
}

// cut returns a text of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return brief.Cut(text, most-len("…"))
}

// checkCode checks the answer of WeChat or DingTalk: status 200 and the code 0 mean success.
// busy are the codes that mean "later".
func (a answer) checkCode(busy ...string) error {
	if a.status != http.StatusOK {
		return a.refused()
	}
	var result struct {
		Code    json.RawMessage `json:"errcode"`
		Message string          `json:"errmsg"`
	}
	if err := json.Unmarshal(a.body, &result); err != nil {
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
