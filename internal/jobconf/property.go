package jobconf

// Property describes a property of a type, as a process tells it; see jobtype.PropertyInfo.
type Property struct {
	// Type is the name by which a process offers the type.
	Type string `json:"type"`
	// Name is the key in the properties. One that ends with ".*" stands for all that begin so.
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
