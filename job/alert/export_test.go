package alert

import (
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/job/property"
)

// What the tests of the tables and of the signature look at.
var (
	CommonRows = commonRows
	Signature  = signature
)

// Kinds are the kinds of this package.
func Kinds() []Kind { return []Kind{weChatKind(), dingTalkKind(), slackKind(), webhookKind()} }

// RowsOf returns all rows that a kind has.
func RowsOf(k Kind) []property.Row { return append(commonRows(), k.Table.Rows...) }

// BackoffAfter returns when the second attempt comes, after an answer to the first.
func BackoffAfter(status int, retryAfter string, now time.Time) time.Duration {
	a := answer{status: status, header: http.Header{"Retry-After": {retryAfter}}, secrets: NewSecrets(nil)}
	return backoff(1, a.refusedAt(now))
}
