package jobtree

var (
	PlainInstance = plainInstance
	YAMLInstance  = yamlInstance
)
