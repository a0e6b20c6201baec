package api

import (
	"net/http"
	"strconv"
	"strings"
)

// InVersion is the part of a request that says of which version something has to be that is to change.
type InVersion struct {
	IfMatch     string `header:"If-Match" maxLength:"1000" doc:"ETag that it has to have, or * for any. Without this header and If-None-Match the answer is 428."`
	IfNoneMatch string `header:"If-None-Match" enum:"*" doc:"With * there has to be none."`
}

// InIfMatch is InVersion of what is not made anew.
type InIfMatch struct {
	IfMatch string `header:"If-Match" maxLength:"1000" doc:"ETag that it has to have, or * for any. It is needed: without it the answer is 428."`
}

// wanted is what a request says of a version.
type wanted struct {
	isNew, isAny bool
	version      int64 // if neither
}

// one is the version that is wanted; nil if it is none, or any.
func (w wanted) one() *int64 {
	if w.isNew || w.isAny {
		return nil
	}
	return &w.version
}

// precondition returns what is wanted. It has to be said, so that nobody overwrites what he has not seen.
func (in *InVersion) precondition() (wanted, error) {
	switch {
	case in.IfNoneMatch != "" && in.IfMatch != "":
		return wanted{}, refuse("header.If-None-Match", "not together with If-Match")
	case in.IfNoneMatch != "":
		return wanted{isNew: true}, nil
	case in.IfMatch == "":
		return wanted{}, newProblem(http.StatusPreconditionRequired, "no-precondition",
			"header If-Match has to say which version is to change, or If-None-Match: * that there is to be none", FieldError{"header.If-Match", "needed"})
	}
	return readIfMatch(in.IfMatch)
}

func (in *InIfMatch) precondition() (wanted, error) {
	return (&InVersion{IfMatch: in.IfMatch}).precondition()
}

// readIfMatch reads one strong ETag, as this API gives them. No other one can match.
func readIfMatch(text string) (wanted, error) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return wanted{isAny: true}, nil
	}
	version, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`), 10, 64)
	if err != nil || text != etag(version) {
		return wanted{}, newProblem(http.StatusPreconditionFailed, "no-such-version",
			"header If-Match is no ETag of this API: allowed are one that an answer had, and *", FieldError{"header.If-Match", "no ETag of this API"})
	}
	return wanted{version: version}, nil
}
