package jobtype

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// ParseItemParameters reads Config.ShardingItemParameters: pairs of an item and its
// parameter, "0=Beijing,1=Shanghai". Spaces around items and parameters are ignored, a
// parameter may be empty, and a comma after the last pair is allowed.
//
// A comma or equals sign in a parameter needs a backslash before it: \, or \=. Anywhere else
// a backslash is an ordinary character, except in a row of backslashes right before a comma
// or equals sign, where each has to be doubled. So a text means the same as in ElasticJob,
// unless it has a backslash right before a comma or equals sign.
//
// The error names the pair, and says what is allowed.
func ParseItemParameters(text string) (map[int]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	parameters := make(map[int]string)
	for rest := text; ; {
		pair, n := parsePair(rest)
		last := n == len(rest)
		if last && len(parameters) > 0 && strings.TrimSpace(pair.source) == "" {
			return parameters, nil
		}
		item, err := pair.item()
		if err != nil {
			return nil, err
		}
		if _, twice := parameters[item]; twice {
			return nil, fmt.Errorf("item %d has two parameters; one is allowed", item)
		}
		parameters[item] = strings.TrimSpace(pair.fields[1])
		if last {
			return parameters, nil
		}
		rest = rest[n+1:]
	}
}

// itemParameter is one pair as it was read.
type itemParameter struct {
	source string   // the pair as it is written
	fields []string // the texts between equals signs, without escapes
}

func (p itemParameter) item() (int, error) {
	if len(p.fields) != 2 {
		return 0, fmt.Errorf(`pair %s: item=parameter is allowed, with \, and \= for a comma and an equals sign in it`, brief.Quote(p.source))
	}
	key := strings.TrimSpace(p.fields[0])
	item, err := strconv.Atoi(key)
	if err != nil || item < 0 || item >= jobtree.MaxItems {
		return 0, fmt.Errorf("pair %s: item %s: an integer from 0 to %d is allowed", brief.Quote(p.source), brief.Quote(key), jobtree.MaxItems-1)
	}
	return item, nil
}

// parsePair reads the pair at the beginning of text, and returns the place of the comma
// that ends it, or the length of text.
func parsePair(text string) (itemParameter, int) {
	var (
		fields []string
		field  strings.Builder
	)
	i := 0
	for i < len(text) && text[i] != ',' {
		switch text[i] {
		case '=':
			fields = append(fields, field.String())
			field.Reset()
			i++
		case '\\':
			run := backslashes(text[i:])
			i += run
			if i < len(text) && special(text[i]) {
				field.WriteString(text[i-run : i-run+run/2])
				if run%2 == 1 {
					field.WriteByte(text[i])
					i++
				}
			} else {
				field.WriteString(text[i-run : i])
			}
		default:
			field.WriteByte(text[i])
			i++
		}
	}
	return itemParameter{source: text[:i], fields: append(fields, field.String())}, i
}

// FormatItemParameters writes a map for Config.ShardingItemParameters. [ParseItemParameters]
// returns the same map, without spaces around the parameters.
func FormatItemParameters(parameters map[int]string) string {
	var b strings.Builder
	for i, item := range slices.Sorted(maps.Keys(parameters)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(item))
		b.WriteByte('=')
		parameter := strings.TrimSpace(parameters[item])
		escape(&b, parameter, i < len(parameters)-1)
	}
	return b.String()
}

// escape writes a parameter. more is whether a comma will follow it.
func escape(b *strings.Builder, parameter string, more bool) {
	for i := 0; i < len(parameter); {
		if special(parameter[i]) {
			b.WriteByte('\\')
			b.WriteByte(parameter[i])
			i++
			continue
		}
		run := backslashes(parameter[i:])
		end := i + run
		b.WriteString(parameter[i:end])
		if end == len(parameter) && more || end < len(parameter) && special(parameter[end]) {
			b.WriteString(parameter[i:end])
		}
		if run == 0 {
			b.WriteByte(parameter[i])
			end++
		}
		i = end
	}
}

func special(c byte) bool { return c == ',' || c == '=' }

// backslashes counts the backslashes at the beginning of text.
func backslashes(text string) int {
	return len(text) - len(strings.TrimLeft(text, `\`))
}
