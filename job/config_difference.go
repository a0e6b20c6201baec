package job

import "fmt"

// differences lists the fields in which another configuration differs, with both values.
// Those of properties are not shown: they may be secret.
func (c Config) differences(next Config) []string {
	a, b := c.WithDefaults(), next.WithDefaults()
	var list []string
	before, after := append(a.fields(), a.propFields()...), append(b.fields(), b.propFields()...)
	for i := range before {
		if was, is := before[i].get(), after[i].get(); was != is {
			list = append(list, fmt.Sprintf("%s: %s → %s", before[i].key, quote(was), quote(is)))
		}
	}
	for key, value := range b.Props {
		if was, had := a.Props[key]; !had || was != value {
			list = append(list, propsPrefix+quote(key)+" was set")
		}
	}
	for key := range a.Props {
		if _, has := b.Props[key]; !has {
			list = append(list, propsPrefix+quote(key)+" was removed")
		}
	}
	const most = 40
	return list[:min(len(list), most)]
}
