package jobfile

import (
	"io"
	"log/slog"
	"reflect"
)

// MakeSchema makes what Schema returns.
func MakeSchema() ([]byte, error) { return makeSchema() }

// Keys lists the keys of a job with what each is called in the registry.
func Keys() map[string]string {
	keys := map[string]string{}
	new(declared).fields().list("", keys)
	return keys
}

func (fs fields) list(path string, to map[string]string) {
	for _, f := range fs {
		if below, ok := f.shape.(fields); ok {
			below.list(path+f.key+".", to)
			continue
		}
		to[path+f.key] = f.registry
		if f.registry == "" {
			to[path+f.key] = f.key
		}
	}
}

// Adapter is the adapter's configuration, as the section registry has filled it.
func (f *File) Adapter() any {
	switch s := f.registry; {
	case s.etcd != nil:
		return s.etcd.config
	case s.zookeeper != nil:
		return s.zookeeper.config
	}
	return *f.registry.memory
}

// Unset names the fields of the section node that are not set.
func (f *File) Unset() (names []string) {
	v := reflect.ValueOf(f.node)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

// LoggerTo is the logger of the section log.
func (f *File) LoggerTo(w io.Writer) *slog.Logger { return f.logger(w) }
