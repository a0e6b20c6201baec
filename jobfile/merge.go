package jobfile

import "slices"

// merge puts a later value over an earlier one: mappings key by key, everything else as a
// whole. null stays, so that it removes what comes before it; see withoutNulls.
func merge(earlier, later *value) *value {
	switch {
	case later == nil:
		return earlier
	case earlier == nil || earlier.kind != mapping || later.kind != mapping:
		return later
	}
	merged := *later
	merged.entries = slices.Clone(earlier.entries)
	index := make(map[string]int, len(merged.entries))
	for i, e := range merged.entries {
		index[e.key] = i
	}
	for _, e := range later.entries {
		i, isThere := index[e.key]
		if !isThere {
			merged.entries = append(merged.entries, e)
			continue
		}
		e.value = merge(merged.entries[i].value, e.value)
		merged.entries[i] = e
	}
	return &merged
}

// withoutNulls leaves out the keys whose value is null, in all mappings.
func withoutNulls(v *value) *value {
	if v == nil || v.kind != mapping {
		return v
	}
	left := *v
	left.entries = nil
	for _, e := range v.entries {
		if e.value.kind != null {
			e.value = withoutNulls(e.value)
			left.entries = append(left.entries, e)
		}
	}
	return &left
}

// without leaves out some keys of a mapping.
func (v *value) without(keys ...string) *value {
	if v == nil || v.kind != mapping {
		return v
	}
	left := *v
	left.entries = slices.DeleteFunc(slices.Clone(v.entries), func(e entry) bool { return slices.Contains(keys, e.key) })
	return &left
}

// mergeAll merges files and profiles to one value, with nothing left that only merging is
// about. First come the files, in their order; then, for each profile in its order, what the
// files have for it, in theirs; at last the defaults under each job.
func mergeAll(files []*value, profiles []string) *value {
	var whole *value
	for _, f := range files {
		whole = merge(whole, f.without(keyProfiles))
	}
	for _, profile := range profiles {
		for _, f := range files {
			if v := f.get(keyProfiles).get(profile); v != nil && v.kind == mapping {
				whole = merge(whole, v)
			}
		}
	}
	return withoutNulls(underEachJob(whole))
}

// underEachJob puts the defaults under the jobs.
func underEachJob(whole *value) *value {
	defaults, jobs := whole.get(keyDefaults), whole.get(keyJobs)
	if whole = whole.without(keyDefaults); defaults == nil || jobs == nil || jobs.kind != mapping {
		return whole
	}
	each := *jobs
	each.entries = slices.Clone(jobs.entries)
	for i, e := range each.entries {
		if e.value.kind == mapping {
			each.entries[i].value = merge(defaults, e.value)
		}
	}
	merged := *whole
	merged.entries = slices.Clone(whole.entries)
	for i, e := range merged.entries {
		if e.key == keyJobs {
			merged.entries[i].value = &each
		}
	}
	return &merged
}
