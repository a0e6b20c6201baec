package legacy

import (
	"bytes"
	"encoding/json"
	"reflect"
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
		return &json.UnmarshalTypeError{Value: string(text), Type: reflect.TypeFor[int]()}
	}
	*n = number(i)
	return nil
}

// truth is a truth value, which may be a text, too.
type truth bool

func (f *truth) UnmarshalJSON(text []byte) error {
	plain, isNull := unquoted(text)
	switch {
	case isNull:
	case bytes.Equal(plain, []byte("true")):
		*f = true
	case bytes.Equal(plain, []byte("false")):
		*f = false
	default:
		return &json.UnmarshalTypeError{Value: string(text), Type: reflect.TypeFor[bool]()}
	}
	return nil
}

// unquoted returns what stands for a value. A text without anything is as good as null to Jackson, and is what the
// pages of 3.x send for a field that nobody has filled in.
func unquoted(text []byte) (plain []byte, isNull bool) {
	plain = bytes.Trim(text, `"`)
	return plain, len(plain) == 0 || bytes.Equal(text, []byte("null"))
}

// optional is a value that a question need not have. null, and a text without anything, are as if it were absent.
type optional[T any] struct{ value *T }

func (o *optional[T]) UnmarshalJSON(text []byte) error {
	o.value = nil
	if _, isNull := unquoted(text); isNull {
		return nil
	}
	value := new(T)
	if err := json.Unmarshal(text, value); err != nil {
		return err
	}
	o.value = value
	return nil
}

// hidden is null in answers, and passed over in questions.
type hidden struct{}

func (hidden) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
func (*hidden) UnmarshalJSON([]byte) error  { return nil }

var (
	_ json.Unmarshaler = (*number)(nil)
	_ json.Unmarshaler = (*truth)(nil)
	_ json.Unmarshaler = (*hidden)(nil)
	_ json.Unmarshaler = (*optional[truth])(nil)
)
