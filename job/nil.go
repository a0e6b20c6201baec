package job

import "reflect"

// isNil reports whether there is nothing in an interface: neither a value, nor, in the
// value, what its methods would need. A nil pointer in an interface is a common slip,
// and would panic long after the start.
func isNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
		return r.IsNil()
	}
	return false
}
