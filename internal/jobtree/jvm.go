package jobtree

import (
	"maps"
	"slices"
)

// OfJVM returns the JVM members that own some of the items, which ascend, and the items that they
// run beside these if they are asked for them: a JVM member that is triggered runs all of its items.
// Both ascend.
func (s *State) OfJVM(items []int) (members []string, beside []int) {
	asked := map[string]bool{}
	for _, i := range items {
		if owner := s.Item(i).Owner; owner != nil && s.isJVM(owner.ID) {
			asked[owner.ID] = true
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	for i := range s.Items {
		if owner := s.Items[i].Owner; owner != nil && asked[owner.ID] {
			if _, isAsked := slices.BinarySearch(items, i); !isAsked {
				beside = append(beside, i)
			}
		}
	}
	return slices.Sorted(maps.Keys(asked)), beside
}

// isJVM reports whether an instance is there, and is a JVM member.
func (s *State) isJVM(id string) bool {
	in, isThere := s.Instances[id]
	return isThere && in.Owner != 0 && s.Sessions[id] == nil
}
