package schema_test

import (
	"crypto/rand"
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/facts/serving"
	"connectorcore/machines"
	"connectorcore/proptest/world"
	"connectorcore/schema"
)

// fieldOf says, a second time and by hand, which field a column is. A name before a dot is for one table only.
var fieldOf = map[string]string{
	"account_id": "Account", "deployment_id": "Deployment", "epoch_id": "Epoch", "epoch_digest": "Epoch.Digest",
	"account_serving_gate_guard.epoch_id": "Epoch.ID",
	"serving_epoch.epoch_id":              "ID", "serving_epoch.epoch_digest": "Digest", "digest_profile": "Profile", "share_count": "ShareCount",
	"shares_digest": "SharesDigest", "generation_id": "Generation",
	"barrier_set_id": "BarrierSet", "serving_publication_barrier_set.barrier_set_id": "ID", "scope_digest": "Scope", "attempt_id": "Attempt",
	"window_id": "Window", "projection_window.window_id": "ID", "grouping_digest": "Grouping",
	"grouping_key": "Key", "route_digest": "Route", "members": "Members", "payload_bytes": "Bytes",
	"execution_id": "Execution", "execution.execution_id": "ID", "projection_id": "Projection",
	"dependency_id": "Dependency", "execution_dependency.dependency_id": "ID", "deadline_at": "Deadline",
	"command_id": "Command", "execution_ref_digest": "ExecutionRef", "outcome": "Outcome", "result_digest": "Result",
	"effect_id": "Effect", "remote_effect.effect_id": "ID", "outbound_command_id": "Command", "logical_effect_digest": "LogicalEffect",
	"permit_id": "Permit", "dispatch_permit.permit_id": "ID", "holder_id": "Holder", "gate_fence": "GateFence", "credential_fence": "CredentialFence",
	"deployment.deployment_id": "ID", "class": "Class", "organization": "Organization", "installation": "Installation", "workload": "Workload",
	"destinations": "Destinations", "deployment.scope_digest": "Scope.Digest",
	"barrier_id": "Barrier", "barrier_digest": "Digest", "owner_publication_barrier.barrier_id": "ID", "owner_publication_barrier.scope_digest": "Scope.Digest", "owner": "Owner",
	"holder_fence": "Holder", "held_at_fence": "HeldAt",
	"generation_digest": "Generation.Digest", "owner_generation.generation_digest": "ID.Digest", "owner_generation.scope_digest": "Scope.Digest",
	"name": "Name", "selector_digest": "Selector.Digest", "protocol": "Protocol", "content_digest": "Digest", "canonical": "Canonical",
	"receipt_protocol": "Receipt.Protocol", "receipt": "Receipt.Bytes", "receipt_digest": "Receipt.Digest", "seq": "Seq", "standing": "Present",
	"serving_epoch_attestation.scope_digest": "Scope.Digest",
	"serving_epoch_attestation.organization": "Catalog.Organization",
	"serving_epoch_attestation.installation": "Catalog.Installation",
	"serving_epoch_attestation.workload":     "Catalog.Workload",
	"lineage":                                "Catalog.Revision.Lineage",
	"revision":                               "Catalog.Revision.Number",
	"source_snapshot":                        "Catalog.SourceSnapshot",
	"view_digest":                            "Catalog.View",
	"catalog_receipt_protocol":               "Catalog.ReceiptProtocol",
	"receipt_lineage":                        "Catalog.ReceiptRevision.Lineage",
	"receipt_revision":                       "Catalog.ReceiptRevision.Number",
	"security_epoch":                         "Catalog.SecurityEpoch",
	"capability_version":                     "Catalog.CapabilityVersion",
	"generation_protocol":                    "Configuration.Protocol",
	"configuration_generation":               "Configuration.Generation",
	"configuration_digest":                   "Configuration.Digest",
	"configuration_receipt_protocol":         "Configuration.Receipt.Protocol",
	"configuration_receipt":                  "Configuration.Receipt.Bytes",
	"configuration_receipt_digest":           "Configuration.Receipt.Digest",
	"ordinal":                                "Ordinal",
	"binding_id":                             "Row",
	"identity_digest":                        "Identity",
	"kind":                                   "Kind",
	"owner_pack":                             "OwnerPack",
	"pack_installation":                      "BindingIdentity.Installation",
	"pack_payload":                           "PackPayload",
	"business_key":                           "BusinessKey",
	"definition_version":                     "Version",
	"credential_refs":                        "CredentialRefs",
	"runtime_command":                        "Runtime.Command",
	"runtime_version":                        "Runtime.Version",
	"pack_generation":                        "PackGeneration",
	"envelope_version":                       "EnvelopeVersion",
	"definition_digest":                      "Definition",
	"receipt_version":                        "Receipt.Protocol",
	"owner_receipt":                          "Receipt.Bytes",
	"owner_receipt_digest":                   "Receipt.Digest",
	"transport_digest":                       "Transport",
	"serving_publication_barrier_receipt.barrier_set_id": "Set",
	"hold_fence": "Fence",
	"open_scope": "OpenScope",
	"key_digest": "Key", "receipt_id": "Receipt", "admitted_digest": "Admitted", "receipt.receipt_id": "ID", "channel": "Channel",
	"transport_key": "TransportKey", "body": "Body", "header": "Header", "credential_generation_id": "Credential", "secret_member": "Member",
	"body_digest": "Body", "answer": "Answer", "receipt_redelivery.body": "Raw",
	"birth": "Birth", "due_at": "Due", "verdict": "Verdict", "reason": "Reason", "event_id": "Event", "receipt_component.content_digest": "Content",
	"event.event_id": "ID", "source_event_key": "Key", "locator": "Locator", "occurrence": "Occurrence", "contract_digest": "Contract",
	"partition_key": "Partition", "position": "Order.Position", "tie_breaker": "Order.TieBreaker", "event.content_digest": "Content", "payload": "Payload",
	"projection.projection_id": "ID", "route": "Route", "route_version": "Version", "canonical_digest": "Canonical.Digest", "input": "Input",
	"lane_id": "Lane", "projection.execution_ref_digest": "Ref.Digest", "projection_head.position": "Place.Order.Position", "projection_head.tie_breaker": "Place.Order.TieBreaker",
	"projection_head.content_digest": "Place.Content", "sort_key": "Sort", "projection_head.deadline_at": "Deadline",
	"ordering_lane.lane_id": "ID", "ordering_lane_guard.lane_id": "ID", "lane_digest": "Digest", "baseline": "Baseline", "first_position": "First",
	"high_position": "High.Order.Position", "high_tie_breaker": "High.Order.TieBreaker", "high_content": "High.Content", "active_execution": "Active",
	"active_position": "At.Order.Position", "active_tie_breaker": "At.Order.TieBreaker", "active_content": "At.Content",
	"attempt": "Attempt", "detail": "Detail", "execution.execution_ref_digest": "Ref.Digest",
	"needs": "Needs", "follows": "Follows", "unwritten": "Unwritten", "projection_need.source_event_key": "Key", "deadline_micros": "Micros",
	"link_id": "Link", "remote_link.link_id": "ID", "remote_identity_digest": "RemoteIdentity", "owner_slot_digest": "OwnerSlot",
}

// codec is a Rows or a GuardRows without its type parameters.
type codec struct {
	table *schema.Table
	guard bool
	start func() (got string, machine machines.Machine)
	keys  func(row any) (key []any, subject facts.SubjectID)
	fresh func() (row any, addresses []any)
}

func ofRows[R any](rows schema.Rows[R]) codec {
	return codec{table: rows.Table, fresh: func() (any, []any) { r := new(R); return r, rows.Fields(r) }}
}

func ofGuards[K comparable, G any, S machines.State, E machines.EdgeOf[S]](g schema.GuardRows[K, G, S, E]) codec {
	return codec{table: g.Table, guard: true,
		start: func() (string, machines.Machine) { return g.Start.String(), g.Machine },
		keys: func(row any) ([]any, facts.SubjectID) {
			key := g.KeyOf(row.(*G))
			return g.Key(&key), g.Subject(key)
		},
		fresh: func() (any, []any) { r := new(G); return r, g.Fields(r) }}
}

var codecs = []codec{
	ofRows(schema.AccountServingGates), ofRows(schema.ServingEpochs), ofRows(schema.EpochShares),
	ofRows(schema.CredentialGenerationDispatchGates), ofRows(schema.ServingPublicationBarrierSets),
	ofRows(schema.ProjectionWindows), ofRows(schema.WindowMembers), ofRows(schema.Executions), ofRows(schema.ProjectionNeeds), ofRows(schema.ExecutionDependencies), ofRows(schema.ApplicationResults),
	ofRows(schema.RemoteEffects), ofRows(schema.DispatchPermits), ofRows(schema.RemoteLinks),
	ofRows(schema.Deployments), ofRows(schema.OwnerBarriers), ofRows(schema.OwnerBarrierHolds), ofRows(schema.OwnerGenerations),
	ofRows(schema.OwnerStandings), ofRows(schema.OwnerSelections), ofRows(schema.OwnerReferences), ofGuards(schema.OwnerBarrierGuards),
	ofRows(schema.EpochAttestations), ofRows(schema.EpochBindings), ofRows(schema.EpochCredentials), ofRows(schema.BarrierReceipts),
	ofGuards(schema.Gates), ofGuards(schema.Epochs), ofGuards(schema.CredentialGates), ofGuards(schema.BarrierSets),
	ofGuards(schema.WindowHeads), ofGuards(schema.ExecutionHeads), ofGuards(schema.DependencyHeads),
	ofRows(schema.AdmissionKeys), ofRows(schema.Receipts), ofRows(schema.Components), ofRows(schema.Redeliveries), ofRows(schema.Events), ofRows(schema.Projections),
	ofRows(schema.ExecutionAttempts), ofRows(schema.AttemptEnds), ofGuards(schema.ReceiptHeads), ofGuards(schema.ProjectionHeads), ofRows(schema.OrderingLanes), ofGuards(schema.Lanes),
	ofGuards(schema.EffectHeads), ofGuards(schema.PermitHeads), ofGuards(schema.LinkHeads),
}

func TestEveryFactAndGuardTableHasOneCodec(t *testing.T) {
	count := map[string]int{}
	for _, c := range codecs {
		count[c.table.Name]++
		if isGuard := c.table.Kind == schema.Guard || c.table.Kind == schema.Head; c.guard != isGuard {
			t.Errorf("%s is a %s and its codec is of the other sort", c.table.Name, c.table.Kind)
		}
	}
	for _, table := range schema.Tables() {
		want := 1
		if table.Kind == schema.Ledger || table.Kind == schema.Catalogue {
			want = 0 // txn writes ledgers from the guard's own fields, converge writes the catalogue
		}
		if count[table.Name] != want {
			t.Errorf("%s has %d codecs, want %d", table.Name, count[table.Name], want)
		}
	}
}

func TestR03EveryGuardStartsWhereItsMachineDoes(t *testing.T) {
	for _, c := range codecs {
		if !c.guard {
			continue
		}
		got, m := c.start()
		if starts := m.Starts(); len(starts) != 1 || got != starts[0] {
			t.Errorf("%s is born %s, and %s starts %v", c.table.Name, got, m, starts)
		}
		if !strings.HasPrefix(c.table.Name, snake(m.String())+"_") {
			t.Errorf("%s is the guard of %s", c.table.Name, m)
		}
	}
	for guard, ledger := range map[*schema.Table]*schema.Table{
		schema.Gates.Table: schema.Gates.Ledger, schema.Epochs.Table: schema.Epochs.Ledger,
		schema.CredentialGates.Table: schema.CredentialGates.Ledger, schema.BarrierSets.Table: schema.BarrierSets.Ledger,
		schema.WindowHeads.Table: schema.WindowHeads.Ledger, schema.ExecutionHeads.Table: schema.ExecutionHeads.Ledger,
		schema.DependencyHeads.Table: schema.DependencyHeads.Ledger, schema.EffectHeads.Table: schema.EffectHeads.Ledger,
		schema.OwnerBarrierGuards.Table: schema.OwnerBarrierGuards.Ledger, schema.Lanes.Table: schema.Lanes.Ledger,
		schema.PermitHeads.Table: schema.PermitHeads.Ledger, schema.LinkHeads.Table: schema.LinkHeads.Ledger,
	} {
		name := strings.TrimSuffix(strings.TrimSuffix(guard.Name, "_guard"), "_head")
		if ledger.Name != name+"_ledger" || ledger.Kind != schema.Ledger {
			t.Errorf("transitions of %s go to %s", guard.Name, ledger.Name)
		}
	}
}

// A row that was written by hand, with another value in each column, comes out of the codec field by field, and the
// codec binds the same values in the same order.
func TestEveryCodecPutsEachColumnIntoItsOwnField(t *testing.T) {
	store := world.Fresh(t) // of the deployment there is one row
	for _, c := range codecs {
		names := c.table.ColumnNames()
		row, addresses := c.fresh()
		if c.guard {
			names = names[:len(names)-len(schema.GuardTail)]
		}
		if len(addresses) != len(names) {
			t.Errorf("%s: the codec gives %d addresses for the columns %v", c.table.Name, len(addresses), names)
			continue
		}
		want := make([]any, len(names))
		for at, name := range names {
			want[at] = sample(t, c.table, name, byte(at+1))
		}
		insertRow(t, store, c, names, want)
		query := "SELECT " + strings.Join(names, ", ") + " FROM " + c.table.Name + " WHERE " + strings.Join(c.table.Primary, " = ? AND ") + " = ?"
		if err := store.Pool(t, schema.RoleReader).QueryRow(query, want[:len(c.table.Primary)]...).Scan(addresses...); err != nil {
			t.Errorf("%s: %v", c.table.Name, err)
			continue
		}
		for at, name := range names {
			path, ok := fieldOf[c.table.Name+"."+name]
			if !ok {
				path = fieldOf[name]
			}
			if got := field(row, path); name != placeColumn && got != shown(want[at]) {
				t.Errorf("%s.%s: field %s holds %s, want %s", c.table.Name, name, path, got, shown(want[at]))
			}
			bound, err := driver.DefaultParameterConverter.ConvertValue(addresses[at])
			if err != nil || shown(bound) != shown(want[at]) {
				t.Errorf("%s.%s binds %s, %v, want %s", c.table.Name, name, shown(bound), err, shown(want[at]))
			}
		}
		checkKey(t, c, row, want)
	}
}

// checkKey: the key is the primary key, and the ledger's subject is the last of it.
func checkKey(t *testing.T, c codec, row any, want []any) {
	t.Helper()
	if !c.guard {
		return
	}
	key, subject := c.keys(row)
	if len(key) != len(c.table.Primary) {
		t.Errorf("%s: the key has %d values for %v", c.table.Name, len(key), c.table.Primary)
		return
	}
	for at, address := range key {
		bound, err := driver.DefaultParameterConverter.ConvertValue(address)
		if err != nil || shown(bound) != shown(want[at]) {
			t.Errorf("%s: key column %s binds %s, %v, want %s", c.table.Name, c.table.Primary[at], shown(bound), err, shown(want[at]))
		}
	}
	if shown(subject[:]) != shown(want[len(key)-1]) {
		t.Errorf("%s: the ledger's subject is %s, want %s", c.table.Name, subject, shown(want[len(key)-1]))
	}
}

func randomBytes(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // documented never to fail
	return raw
}

// words are the values of columns whose type does not say which bytes they take.
var words = map[string]string{
	"kind":       "field_mapping",
	"event.kind": "key kind", "birth": "whole", "baseline": "empty", "answer": "conflict", "verdict": "quarantined", "reason": "event_unmatched",
	"outcome": "noop", "digest_profile": "nexuscrm.connector-digest-profile.v2", "class": "production",
	"destinations": "loopback\nsandbox.example:443", "owner": "push_contracts", "standing": "present",
}

// placeColumn is the constant key of a table of one row; no field holds it.
const placeColumn = "place"

// sample is a value for a column that no other column of its row has.
func sample(t *testing.T, table *schema.Table, name string, seed byte) any {
	t.Helper()
	switch c := column(table, name); {
	case name == placeColumn:
		return int64(1)
	case words[table.Name+"."+name] != "":
		return []byte(words[table.Name+"."+name])
	case words[name] != "":
		return []byte(words[name])
	case c.Type == "varbinary(255)":
		position, err := facts.ParseIntegerPosition(fmt.Sprint(seed))
		if err != nil {
			t.Fatal(err)
		}
		return position.Encoded()
	case c.Type == "varbinary(512)":
		return fmt.Append(nil, "key ", seed)
	case c.Type == "mediumblob" || c.Type == "blob":
		return randomBytes(40)
	case c.Type == "binary(16)":
		return randomBytes(16)
	case c.Type == "binary(32)":
		return randomBytes(32)
	case c.Type == "bigint unsigned":
		return int64(seed) + 1<<40
	case c.Type == "datetime(6)":
		return time.Date(2031, 2, 3, 4, 5, 6, int(seed)*1000, time.UTC)
	}
	t.Fatalf("%s.%s: no sample for its type", table.Name, name)
	return nil
}

func insertRow(t *testing.T, store *world.Store, c codec, names []string, values []any) {
	t.Helper()
	names, values = slices.Clone(names), slices.Clone(values)
	if c.guard {
		start, _ := c.start()
		names, values = append(names, schema.GuardTail...), append(values, []byte(start), 1)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	_, err := store.Pool(t, schema.RoleLedger).Exec("INSERT INTO "+c.table.Name+" ("+strings.Join(names, ", ")+") VALUES ("+marks+")", values...)
	if err != nil {
		t.Fatalf("%s: %v", c.table.Name, err)
	}
}

// field is the value at a path of field names, as shown.
func field(row any, path string) string {
	value := reflect.ValueOf(row).Elem()
	for _, name := range strings.Split(path, ".") {
		if value = value.FieldByName(name); !value.IsValid() {
			return "no field " + path
		}
	}
	if value.Kind() == reflect.Array {
		raw := make([]byte, value.Len())
		reflect.Copy(reflect.ValueOf(raw), value)
		return shown(raw)
	}
	switch v := value.Interface().(type) {
	case serving.Opaque:
		return shown(v.Bytes())
	case []byte:
		return shown(v)
	case facts.SourcePosition:
		return shown(v.Encoded())
	case serving.Destinations:
		return shown([]byte(v[0].String() + "\n" + v[1].String()))
	case bool:
		return shown([]byte(map[bool]string{true: "present", false: "removed"}[v]))
	case facts.Fence:
		return shown(int64(v))
	case uint64:
		return shown(int64(v))
	case fmt.Stringer: // a state, a profile, or a time
		if at, ok := v.(time.Time); ok {
			return shown(at)
		}
		return shown([]byte(v.String()))
	}
	return fmt.Sprintf("%T", value.Interface())
}

func shown(v any) string {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf("%x", v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

func TestWhatNamesNothingIsNeverBound(t *testing.T) {
	for _, c := range codecs {
		_, addresses := c.fresh()
		for at, name := range c.table.ColumnNames()[:len(addresses)] {
			if column(c.table, name).Type == "bigint unsigned" {
				continue // zero counts nothing and is a number
			}
			if slices.Contains([]string{placeColumn, "destinations", "standing", "body", "header", "payload", "input", "detail", "reason", "sort_key", "follows"}, name) {
				continue // a constant; a list that may be empty; one of two words; bytes of which there may be none; no code is NULL
			}
			bound, err := driver.DefaultParameterConverter.ConvertValue(addresses[at])
			if column(c.table, name).Nullable {
				if bound != nil || err != nil {
					t.Errorf("%s.%s: absence is bound as %v, %v", c.table.Name, name, bound, err)
				}
			} else if err == nil {
				t.Errorf("%s.%s: an empty field is bound as %v", c.table.Name, name, bound)
			}
		}
	}
}

func TestADeadlineIsStoredAsItIsOrRefused(t *testing.T) {
	var r inbound.ExecutionDependency
	deadline := schema.ExecutionDependencies.Fields(&r)[7].(driver.Valuer)
	r.Deadline = time.Date(2031, 2, 3, 4, 5, 6, 7_001, time.UTC)
	if value, err := deadline.Value(); err == nil {
		t.Errorf("a deadline of %s became %v", r.Deadline, value)
	}
	zone := time.FixedZone("east", 3600)
	r.Deadline = time.Date(2031, 2, 3, 4, 5, 6, 7_000, zone)
	if value, err := deadline.Value(); err != nil || value.(time.Time).Location() != time.UTC || !value.(time.Time).Equal(r.Deadline) {
		t.Errorf("a deadline of %s became %v, %v", r.Deadline, value, err)
	}
}
