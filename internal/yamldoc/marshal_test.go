package yamldoc_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// A long text is one line: JVM members and people compare documents, and look for texts in them.
func TestMarshalBreaksNoLine(t *testing.T) {
	long := strings.Repeat("0/5 * * * * ?|", 20)
	for _, style := range []yaml.Style{0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle} {
		text, err := yamldoc.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: style, Value: long})
		if err != nil || !strings.Contains(string(text), long) {
			t.Errorf("style %v: %s, %v", style, text, err)
		}
	}
}
