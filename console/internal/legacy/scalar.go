package legacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// number is a whole number. In questions it may be a text: the pages of 2.1.5 send what stands in a field
// of theirs, and Gson and Jackson take that.
type number int

func (n *number) UnmarshalJSON(text []byte) error {
	plain, isNull := unquoted(text)
	if isNull {
		return nil
	}
	i, err := strconv.ParseInt(string(plain), 10, 32)
	if err != nil {
		return fmt.Errorf("%.50s: a whole number is allowed", text)
	}
	*n = number(i)
	return nil
}

// flag is a truth value, which may be a text, too.
type flag bool

func (f *flag) UnmarshalJSON(text []byte) error {
	plain, isNull := unquoted(text)
	switch {
	case isNull:
	case bytes.Equal(plain, []byte("true")):
		*f = true
	case bytes.Equal(plain, []byte("false")):
		*f = false
	default:
		return fmt.Errorf("%.50s: true and false are allowed", text)
	}
	return nil
}

func unquoted(text []byte) (plain []byte, isNull bool) {
	return bytes.Trim(text, `"`), bytes.Equal(text, []byte("null"))
}

// hidden is null in answers, and passed over in questions.
type hidden struct{}

func (hidden) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
func (*hidden) UnmarshalJSON([]byte) error  { return nil }

var (
	_ json.Unmarshaler = (*number)(nil)
	_ json.Unmarshaler = (*flag)(nil)
	_ json.Unmarshaler = (*hidden)(nil)
)
