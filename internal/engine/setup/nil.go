package setup

import "reflect"

// IsNil reports whether an interface is nil, or holds a nil pointer, function or the like. A
// nil pointer in an interface is a common mistake, and would panic long after the start.
func IsNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}
