package legacy

import (
	"net/http"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Routes returns all routes.
func (rs *Routes) Routes() []route.Route { return slices.Clone(rs.list) }

// Find returns the route of a method at a path, and otherwise the methods that there are. Of two patterns that both fit,
// the one counts that has a literal where they differ first (ElasticJob's restful module, DefaultUriPatternMatcher):
// patterns of http.ServeMux must not overlap so.
func (rs *Routes) Find(method string, path []string) (found *route.Route, others []string) {
	for i := range rs.list {
		r := &rs.list[i]
		switch {
		case !matches(r.Pattern, path):
		case r.Method != method && (r.Method != http.MethodGet || method != http.MethodHead):
			others = append(others, r.Method)
		case found == nil || isMoreLiteral(r.Pattern, found.Pattern):
			found = r
		}
	}
	return found, others
}

// matches reports whether a path has the literals of a pattern, and a segment for each of its parameters.
func matches(pattern string, path []string) bool {
	return slices.EqualFunc(route.Segments(pattern), path, func(segment, is string) bool {
		return segment == is || isParameter(segment)
	})
}

// isMoreLiteral reports whether a pattern has a literal where it first differs from another one of its length.
func isMoreLiteral(pattern, other string) bool {
	segments, others := route.Segments(pattern), route.Segments(other)
	for i, segment := range segments {
		if segment != others[i] && isParameter(segment) != isParameter(others[i]) {
			return isParameter(others[i])
		}
	}
	return false
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }
