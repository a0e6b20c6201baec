package jobtree

var (
	PlainInstance = plainInstance
	ReadInstance  = readInstance
)
