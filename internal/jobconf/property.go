package jobconf

// Property is a jobtype.PropertyInfo in the document of a process.
type Property struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Meaning  string `json:"meaning,omitempty"`
}
