package jobtype

// Type is a kind of work that is described by the configuration of a job: a script, a request
// to a URL. The node of such a job in the registry holds the name of the type, as ElasticJob's
// does ("SCRIPT", "HTTP").
//
// A program starts a job of a type with the handler job.OfType. A handler that is given to
// job.Schedule may be a Type itself; then the job has the name of its implementation, and the type
// only checks and reads the configuration (package dataflow does).
type Type interface {
	// Handler checks a configuration, and returns what does the work under it. It is called
	// at the start, and again for each configuration that comes into force; c has its defaults.
	// An execution keeps the handler that it has begun with. What Handler returns may be
	// dropped without having been called, so Handler itself must have no effect.
	//
	// An error refuses the configuration. A *ConfigError or *FieldError in it names the fields,
	// those of Config.Props as "props: name"; see package property.
	Handler(c Config) (Handler, error)
}

// Streamer is a Handler whose executions may go on over their next ticks, as long as there is
// something to do. That is no fault then, as long as the execution calls job.StopAsked once a
// minute at least.
type Streamer interface {
	// Streams reports whether that holds under the configuration that the handler is for.
	Streams() bool
}

// Describer is a Type that tells its properties, as one that embeds a property.Table does. The process shows them, so that the
// console has a field for each where a job of the type is made and changed.
type Describer interface {
	// Describe lists them. Their Type is left empty: it is the name by which the process offers the type.
	Describe() []PropertyInfo
}

// PropertyInfo describes a property of a type. Its texts, but for names, have up to 200 bytes where a process shows it.
type PropertyInfo struct {
	// Type is the name by which a process offers the type.
	Type string `json:"type"`
	// Name is the key in Config.Props. One that ends with ".*" stands for all that begin so.
	Name string `json:"name"`
	// Default is what counts if it is left out or empty.
	Default string `json:"default,omitempty"`
	// Required is whether it must be there, and not empty.
	Required bool `json:"required,omitempty"`
	// Secret is whether a reference to what the process has is wanted: "${env:NAME}".
	Secret bool `json:"secret,omitempty"`
	// Allowed are the values that are allowed, and Meaning what it is for, in words for people.
	Allowed string `json:"allowed,omitempty"`
	Meaning string `json:"meaning,omitempty"`
}

// TypeFunc makes a Type of a function.
type TypeFunc func(c Config) (Handler, error)

// Handler calls f.
func (f TypeFunc) Handler(c Config) (Handler, error) { return f(c) }
