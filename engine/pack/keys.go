package pack

import (
	"strings"

	"connectorcore/engine/pack/form"
)

// Keys lists every key of a pack by the document that it stands in, for docs/packs.md and its test. A route's channel
// is listed by itself.
func Keys() map[string][]string {
	var route []string
	for _, key := range form.Keys(Route{}) {
		if !strings.HasPrefix(key, "channel.") {
			route = append(route, key)
		}
	}
	return map[string][]string{
		"pack": form.Keys(Head{}), "channel": form.Keys(Channel{}), "inbound_route": route,
		"field_mapping": form.Keys(Mapping{}), "callout_profile": form.Keys(Callout{}), "push_contract": form.Keys(Push{}),
		"request": form.Keys(sampleRequest{}),
	}
}
