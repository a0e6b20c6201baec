package alert

import "github.com/elasticjob-go/elasticjob/job/property"

// What the tests of the tables and of the signature look at.
var (
	CommonRows = commonRows
	Signature  = signature
)

// Kinds are the kinds of this package.
func Kinds() []Kind { return []Kind{weChatKind(), dingTalkKind(), slackKind(), webhookKind()} }

// RowsOf returns all rows that a kind has.
func RowsOf(k Kind) []property.Row { return append(commonRows(), k.Table.Rows...) }
