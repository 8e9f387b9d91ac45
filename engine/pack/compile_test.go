package pack

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// whole is the page's example with an outbound half.
func whole(t testing.TB) fstest.MapFS {
	t.Helper()
	folder, _ := example(t)
	for _, name := range []string{"note.callout.yaml", "notes.callout.yaml", "note.push.yaml"} {
		raw, err := os.ReadFile("testdata/outbound/" + name)
		if err != nil {
			t.Fatal(err)
		}
		folder[name] = &fstest.MapFile{Data: raw}
	}
	edit(t, folder, "pack.yaml", "[webhook]", "[webhook, callout, query]")
	return folder
}

func edit(t testing.TB, folder fstest.MapFS, file, old, now string) {
	t.Helper()
	text := string(folder[file].Data)
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s holds %d times %q", file, strings.Count(text, old), old)
	}
	folder[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, now, 1))}
}

// bad is a pack with one mistake: one edit of a file, and the fault without its hint.
type bad struct{ file, old, now, want string }

const (
	route    = "orders.route.yaml"
	channel  = "orders.channel.yaml"
	mapping  = "order.mapping.yaml"
	callout  = "note.callout.yaml"
	contract = "note.push.yaml"
)

var badPacks = []bad{
	{"pack.yaml", "format: 1", "format: 2", `pack.yaml:1: format: "2" is not in the closed list`},
	{"pack.yaml", "title: Orders of a shop\n", "", `pack.yaml:1: title: the key is missing`},
	{"pack.yaml", "title:", "titel:", `pack.yaml:3: titel: the key is not known here`},
	{"pack.yaml", ", query]", "]", `note.push.yaml:1: kind: the pack does not require "query"`},
	{"pack.yaml", "format: 1", "format: [1", `pack.yaml:1: this is no YAML`},
	{"pack.yaml", "title: Orders of a shop", "title: &a Orders", `pack.yaml:3: anchors and aliases have no place in a pack`},
	{"pack.yaml", "title: Orders of a shop", "title: !!binary aGk=", `pack.yaml:3: the tag !!binary has no place in a pack`},
	{"pack.yaml", "title: Orders of a shop", "title: a\ntitle: b", `pack.yaml:4: the key title stands twice in one map`},
	{"pack.yaml", "requires:", "---\nrequires:", `pack.yaml:4: the file holds more than one document`},
	{"pack.yaml", "name: shop", "name:", `pack.yaml:2: name: the key has no value`},
	{"pack.yaml", "name: shop", "name: ' shop'", `pack.yaml:2: name: key_not_canonical`},
	{"pack.yaml", "title: Orders of a shop", "title: \"a\\u0007b\"", `pack.yaml:3: title: "a\ab" has another spelling than is wanted`},
	{route, "kind: inbound_route", "kind: inbound_rout", `orders.route.yaml:1: kind: "inbound_rout" is no kind of definition`},
	{route, "kind: inbound_route\n", "", `orders.route.yaml:1: kind: the key is missing`},
	{route, "name: orders\nversion: 1", "name: orders", `orders.route.yaml:1: version: the key is missing`},
	{route, "channel: orders", "channel: order", `orders.route.yaml:4: channel: there is no channel "order"`},
	{route, "  position: integer(payload.version)\n", "", `orders.route.yaml:6: ordering.position: the key is missing`},
	{route, "  partition: event.locator\n", "", `orders.route.yaml:6: ordering.partition: the key is missing`},
	{route, "  tie_breaker: opaque(event.key)\n", "", `orders.route.yaml:6: ordering.tie_breaker: the key is missing`},
	{route, "  gap: {deadline_seconds: 3600, disposition: hold}\n", "", `orders.route.yaml:6: ordering.gap: the key is missing`},
	{route, "disposition: hold", "disposition: skip", `orders.route.yaml:11: ordering.gap.disposition: "skip" is not in the closed list`},
	{route, `first: integer("1")`, `first: opaque("a")`, `orders.route.yaml:10: ordering.successor.first: a bytes has no successor by increment`},
	{route, `first: integer("1")`, `first: integer("x")`, `orders.route.yaml:10: ordering.successor.first: position_unreadable`},
	{route, "rule: increment", "rule: predecessor", `orders.route.yaml:10: ordering.successor.predecessor: the key is missing`},
	{route, "  contract: strict", "  proof: commutes\n  contract: strict", `orders.route.yaml:6: ordering.proof: the key has no meaning here`},
	{route, "  contract: strict", "  settle_seconds: 5\n  contract: strict", `orders.route.yaml:6: ordering.settle_seconds: the key has no meaning here`},
	{route, "integer(payload.version)", "payload.version", `orders.route.yaml:8: ordering.position: the expression gives dyn where position is wanted`},
	{route, "integer(payload.version)", "integer(payload.version", `orders.route.yaml:8: ordering.position: column 24 of the expression: Syntax error`},
	{route, "partition: event.locator", "partition: event.locater", `orders.route.yaml:7: ordering.partition: column 6 of the expression: undeclared reference to 'event.locater'`},
	{route, "partition: event.locator", `partition: '{"a": 1}.map(k, k)[0]'`, `orders.route.yaml:7: ordering.partition: the members of a map literal have no fixed order`},
	{route, "partition: event.locator", `partition: 'payload.id == 5 ? "a" : "b"'`, `orders.route.yaml:7: ordering.partition: a number of the payload is compared with an int`},
	{route, "mapping: order", "mapping: odrer", `orders.route.yaml:12: mapping: there is no field_mapping "odrer"`},
	{route, "mapping: order", "mapping: order\nwindow: {policy: grouped, members_max: 5, close_after_seconds: 9, grouping: event.locator}",
		`orders.route.yaml:13: window.policy: a strict sequence is applied one by one`},
	{route, "mapping: order", "mapping: order\nwindow: {members_max: 5}", `orders.route.yaml:13: window.members_max: the key has no meaning here`},
	{route, "mapping: order", "mapping: order\nexecution: {retry: {delays_seconds: [1, -1]}}", `orders.route.yaml:13: execution.retry.delays_seconds[1]: it is -1`},
	{route, "mapping: order", "mapping: order\ndependencies: [{requires: remote_link, deadline_seconds: 5}]",
		`orders.route.yaml:13: dependencies[0].owner_slot: the key is missing`},
	{channel, "name: orders\ncontent", "name: orders\nmethods: [POST]\ncontent", `orders.channel.yaml:3: channel.methods: the key is not known here`},
	{channel, "algorithm: hmac-sha256", "algorithm: hmac-sha265", `orders.channel.yaml:5: channel.signatures[0].algorithm: "hmac-sha265" is not in the closed list`},
	{channel, "encoding: hex", `encoding: hex, content: "{timestamp}.{body}"`, `orders.channel.yaml:5: channel.signatures[0].content: nothing fills {timestamp}`},
	{channel, "encoding: hex", `encoding: hex, content: "{url}"`, `orders.channel.yaml:5: channel.signatures[0].content: the body is not signed`},
	{channel, "encoding: hex", `encoding: hex, content: "{boby}{body}"`, `orders.channel.yaml:5: channel.signatures[0].content: nothing fills {boby}`},
	{channel, "encoding: hex", `encoding: hex, timestamp: {header: x-time, format: unix_seconds}`, `orders.channel.yaml:5: channel.signatures[0].timestamp: a timestamp that is not signed proves nothing`},
	{channel, "header: x-shop-signature", "header: X-Shop-Signature", `orders.channel.yaml:5: channel.signatures[0].header: "X-Shop-Signature" has another spelling than is wanted`},
	{channel, `content_types: [application/json]`, `identity_headers: [x-shop-signature]`, `orders.channel.yaml:3: channel.identity_headers[0]: a header that changes with each delivery identifies nothing`},
	{channel, `content_types: [application/json]`, `volatile_members: [attempt]`, `orders.channel.yaml:3: channel.volatile_members[0]: "attempt" has another spelling than is wanted`},
	{channel, `content_types: [application/json]`, `components: {form: single, at: /items}`, `orders.channel.yaml:3: channel.components.at: the key has no meaning here`},
	{channel, `content_types: [application/json]`, `limits: {depth: 65}`, `orders.channel.yaml:3: channel.limits.depth: it is 65`},
	{channel, `content_types: [application/json]`, `limits: {depth: 0x10}`, `orders.channel.yaml:3: channel.limits.depth: "0x10" is no plain integer`},
	{channel, `content_types: [application/json]`, `content_types: application/json`, `orders.channel.yaml:3: channel.content_types: it is a single value where a list is wanted`},
	{channel, `content_types: [application/json]`, `content_types: []`, `orders.channel.yaml:3: channel.content_types: the list is empty`},
	{channel, "  - name: order\n", "  - {name: all, kind: '\"x\"', key: '\"x\"', locator: '\"x\"'}\n  - name: order\n", `orders.channel.yaml:10: channel.events[0].when: the events behind this one are never reached`},
	{channel, `time(component.changed, "rfc3339")`, `timestamp(component.changed)`, `orders.channel.yaml:14: channel.events[0].occurred_at: column 10 of the expression: undeclared reference to 'timestamp'`},
	{channel, `headers["x-shop-delivery"]`, `component.id`, `orders.channel.yaml:6: channel.transport_key: column 1 of the expression: undeclared reference to 'component'`},
	{mapping, "owner: application", "owner: both", `order.mapping.yaml:8: fields[2].owner: "both" is not in the closed list`},
	{mapping, "name: total", "name: status", `order.mapping.yaml:7: fields[1]: the field "status" stands there twice`},
	{mapping, "value: payload.total", "value: 1.5", `order.mapping.yaml:7: fields[1].value: a number with a point or an exponent is inexact`},
	{callout, "origin: https://api.shop.example", "origin: http://api.shop.example", `note.callout.yaml:5: origin: a call goes over TLS`},
	{callout, "origin: https://api.shop.example", "origin: https://api.shop.example/v1", `note.callout.yaml:5: origin: this is no origin`},
	{callout, "allowed_hosts: [api.shop.example]", "allowed_hosts: [shop.example]", `note.callout.yaml:7: allowed_hosts: the host api.shop.example of the origin is not among them`},
	{callout, "name: accept", "name: authorization", `note.callout.yaml:8: headers[0].name: the header authorization is written by the egress adapter alone`},
	{callout, "path: /orders/{order}/notes", "path: /orders/../{order}", `note.callout.yaml:6: path: this is no absolute path`},
	{contract, "callout: note\n", "callout: nope\n", `note.push.yaml:5: callout: there is no callout_profile "nope"`},
	{contract, "request:\n  path: [{name: order,", "request:\n  path: [{name: ordre, value: '\"x\"'}, {name: order,", `note.push.yaml:7: request.path[0].name: the path of the callout note has no {ordre}`},
	{contract, "request:\n  path: [{name: order, value: text(intent.order)}]\n", "request:\n", `note.push.yaml:7: request.path: nothing fills {order} of the callout note`},
	{contract, "margin_seconds: 21600", "margin_seconds: 21599", `note.push.yaml:11: idempotency.margin_seconds: 21599 of 86400 seconds`},
	{contract, "margin_seconds: 21600", "margin_seconds: 86400", `note.push.yaml:11: idempotency.margin_seconds: 86400 of 86400 seconds`},
	{contract, "name: x-note", "name: idempotency-key", `note.push.yaml:8: request.headers[0].name: the idempotency header is written from the effect's own key`},
	{contract, "status_from: 400, status_to: 404", "status_from: 500, status_to: 503", `note.push.yaml:15: outcomes[2].outcome: a status that may hide a finished work proves no absence of it`},
	{contract, "status_from: 400, status_to: 404", "status_from: 400, status_to: 410", `note.push.yaml:15: outcomes[2].outcome: a status that may hide a finished work proves no absence of it`},
	{contract, "status_from: 201, status_to: 201", "status_from: 201, status_to: 302", `note.push.yaml:13: outcomes[0].outcome: a status beyond 2xx confirms nothing by itself`},
	{contract, "outcome: confirmed", "outcome: uncertain", `note.push.yaml:13: outcomes: no answer confirms the effect`},
	{contract, "retry: {delays_seconds: [60]}\n", "", `note.push.yaml:1: retry.delays_seconds: the key is missing`},
	{contract, "callout: notes", "callout: note", `note.push.yaml:18: reconcile.callout: a reconciliation reads and changes nothing`},
	{contract, "  identity: 'body.filter(n, n.key == effect.key)[0].id'\n", "", `note.push.yaml:18: reconcile.identity: the key is missing`},
	{contract, "value: body.id", "value: body.id == null", `note.push.yaml:22: remote_identity.value: the expression gives bool where key is wanted`},
}

func TestEachBadPackHasOneFaultWithItsLineAndAHint(t *testing.T) {
	if faults := faultsOf(t, whole(t)); len(faults) > 0 {
		t.Fatalf("the pack without a mistake has faults:\n%s", strings.Join(faults, "\n"))
	}
	for _, b := range badPacks {
		folder := whole(t)
		edit(t, folder, b.file, b.old, b.now)
		faults := faultsOf(t, folder)
		if len(faults) != 1 || !strings.HasPrefix(faults[0], b.want) {
			t.Errorf("%s %q:\ngot  %s\nwant %s", b.file, b.now, strings.Join(faults, "\n     "), b.want)
		} else if hint := strings.TrimPrefix(faults[0], b.want); !strings.Contains(hint, "; ") {
			t.Errorf("%q has no hint", faults[0])
		}
	}
}

func TestEveryFaultOfAPackIsFoundInOneReading(t *testing.T) {
	folder := whole(t)
	edit(t, folder, "pack.yaml", "title:", "titel:")
	edit(t, folder, route, "mapping: order", "mapping: odrer")
	edit(t, folder, channel, "hmac-sha256", "hmac-sha265")
	edit(t, folder, mapping, "owner: application", "owner: both")
	edit(t, folder, contract, "margin_seconds: 21600", "margin_seconds: 1")
	folder["empty.yaml"] = &fstest.MapFile{}
	folder["other.yml"] = &fstest.MapFile{Data: []byte("a: 1")}
	folder["latin.yaml"] = &fstest.MapFile{Data: []byte("title: \xe9")}
	folder["list.yaml"] = &fstest.MapFile{Data: []byte("- a")}
	folder["unused.yaml"] = &fstest.MapFile{Data: []byte("kind: channel\nname: unused\n")}
	folder["twice.yaml"] = folder[callout]
	var files []string
	for _, fault := range faultsOf(t, folder) {
		files = append(files, regexp.MustCompile(`^[\w.]+`).FindString(fault))
	}
	const want = "empty.yaml latin.yaml list.yaml note.push.yaml order.mapping.yaml orders.channel.yaml orders.route.yaml other.yml pack.yaml twice.yaml unused.yaml"
	if got := strings.Join(files, " "); got != want {
		t.Errorf("faults in\n%s, want\n%s\n%s", got, want, strings.Join(faultsOf(t, folder), "\n"))
	}
}

func TestAnUnknownKeyNamesTheNearestKnownOne(t *testing.T) {
	folder := whole(t)
	edit(t, folder, route, "tie_breaker:", "tiebreaker:")
	faults := strings.Join(faultsOf(t, folder), "\n")
	if !strings.Contains(faults, `ordering.tiebreaker: the key is not known here; did you mean "tie_breaker"?`) {
		t.Errorf("%s", faults)
	}
}

func TestAFolderWithoutAPackFileSaysSo(t *testing.T) {
	if got := faultsOf(t, fstest.MapFS{}); len(got) != 1 || !strings.HasPrefix(got[0], "pack.yaml: the pack does not say what it is") {
		t.Errorf("%q", got)
	}
}

func TestAnEventHasOnePlaceInOneOrder(t *testing.T) {
	folder := whole(t)
	second := strings.Replace(string(folder[route].Data), "name: orders", "name: second", 1)
	folder["second.yaml"] = &fstest.MapFile{Data: []byte(second)}
	if faults := faultsOf(t, folder); len(faults) > 0 {
		t.Errorf("two routes with one order: %q", faults)
	}
	other := strings.Replace(second, "opaque(event.key)", "opaque(event.kind)", 1)
	folder["second.yaml"] = &fstest.MapFile{Data: []byte(other)}
	if faults := faultsOf(t, folder); len(faults) != 1 || !strings.HasPrefix(faults[0], `second.yaml:6: ordering: the route "orders" takes the same events in another order`) {
		t.Errorf("two orders: %q", faults)
	}
	folder["second.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(other, "ordering:", "events: [\"refund.*\"]\nordering:", 1))}
	edit(t, folder, route, "ordering:", "events: [\"order.*\", cart]\nordering:")
	if faults := faultsOf(t, folder); len(faults) > 0 {
		t.Errorf("two orders of different events: %q", faults)
	}
}
