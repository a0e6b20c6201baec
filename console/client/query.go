package client

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// add adds a parameter to a query, unless it is the zero value, which stands for the default.
func add(q url.Values, name string, value any) {
	v := reflect.ValueOf(value)
	if v.IsZero() {
		return
	}
	v = reflect.Indirect(v)
	if at, isTime := v.Interface().(time.Time); isTime {
		q.Set(name, at.Format(time.RFC3339Nano))
		return
	}
	if v.Kind() != reflect.Slice {
		q.Set(name, fmt.Sprint(v))
		return
	}
	texts := make([]string, v.Len())
	for i := range texts {
		texts[i] = fmt.Sprint(v.Index(i))
	}
	q.Set(name, strings.Join(texts, ","))
}

// orNew returns a key, or a new one that nobody else has.
func orNew(key string) string {
	if key == "" {
		return rand.Text()
	}
	return key
}
