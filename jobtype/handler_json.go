package jobtype

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// MarshalJSON returns what ElasticJob gives to scripts and URLs, in ASCII: jobName, taskId,
// shardingTotalCount, jobParameter, shardingItem, and shardingParameter if the item has one.
// After these come ours: instanceId, scheduledTime (RFC 3339), source, attempt, and token.
func (sc ShardingContext) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		JobName            string `json:"jobName"`
		TaskID             string `json:"taskId"`
		ShardingTotalCount int    `json:"shardingTotalCount"`
		JobParameter       string `json:"jobParameter"`
		ShardingItem       int    `json:"shardingItem"`
		ShardingParameter  string `json:"shardingParameter,omitempty"`
		InstanceID         string `json:"instanceId"`
		ScheduledTime      string `json:"scheduledTime"`
		Source             string `json:"source"`
		Attempt            int    `json:"attempt"`
		Token              int64  `json:"token"`
	}{
		sc.JobName, sc.TaskID, sc.Total, sc.JobParameter, sc.Item, sc.ItemParameter,
		sc.InstanceID, sc.ScheduledTime.Format(time.RFC3339Nano), sc.Source.String(), sc.Attempt, sc.Token,
	})
	if err != nil {
		return nil, fmt.Errorf("job %s: sharding context: %w", brief.Text(sc.JobName), err)
	}
	return inASCII(bytes.TrimSpace(text.Bytes())), nil
}

// inASCII escapes what is not ASCII in a JSON text, because not every header and locale can
// carry that.
func inASCII(text []byte) []byte {
	escaped := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch text = text[size:]; {
		case r < 0x7f: // which no header can carry
			escaped = append(escaped, byte(r))
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			escaped = fmt.Appendf(escaped, `\u%04x\u%04x`, high, low)
		default:
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		}
	}
	return escaped
}
