package alert

import (
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// What the tests of the tables and of the signature look at.
var (
	CommonRows = commonRows
	Signature  = signature
)

// Kinds are the kinds of this package.
func Kinds() []Kind { return []Kind{weChat().kind(), dingTalk().kind(), slack().kind(), webhookKind()} }

// RowsOf returns all rows that a kind has.
func RowsOf(k Kind) []property.Row { return append(commonRows(), k.Table.Rows...) }

// BackoffAfter returns when the second attempt comes, after an answer to the first.
func BackoffAfter(status int, retryAfter string, now time.Time) time.Duration {
	header := http.Header{"Retry-After": {retryAfter}, "Date": {now.Format(http.TimeFormat)}}
	first := sleep.Backoff{Min: firstBackoff, Max: maxBackoff}
	return pauseAfter(answer{httpx.Answer{Status: status, Header: header}, property.NewSecrets()}.refused(), first.Next())
}

// After are the times after which messages tell of the whole job, by the alert that does so, too.
func After() map[string]time.Duration {
	return map[string]time.Duration{"ElasticJobTickMissed": missedAfter, "ElasticJobFault": faultAfter, "ElasticJobStarves": starvingAfter}
}
