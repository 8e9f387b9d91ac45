package pack

import (
	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Route leads the events of a channel to one command of the application. It is the binding kind inbound_route.
type Route struct {
	Kind         string                  `pack:"kind,required,oneof=inbound_route"`
	Name         facts.RouteID           `pack:"name,required"`
	Version      facts.DefinitionVersion `pack:"version,required"`
	Channel      Channel                 `pack:"channel,required"`
	Take         []facts.EventKind       `pack:"events,max=256"`
	When         expr.Expression         `pack:"when,default=true,expr=event/bool"`
	Ordering     Ordering                `pack:"ordering,required"`
	Window       Window                  `pack:"window"`
	Dependencies []Dependency            `pack:"dependencies,max=16"`
	Mapping      facts.DefinitionID      `pack:"mapping,required"`
	Command      Command                 `pack:"command,required"`
	Execution    ExecutionPolicy         `pack:"execution"`
	Limits       Limits                  `pack:"limits"`

	contract facts.Digest // of the ordering contract; zero for an order-independent route
}

// Limits bound the expressions of a definition.
type Limits struct {
	Cost int64 `pack:"expression_cost,default=100000,min=1,max=1000000"`
}

// Ordering is the route's frozen contract with its source.
//
// Spec: Durable source ordering.
type Ordering struct {
	Contract   string          `pack:"contract,required,oneof=order_independent|latest_source_position|strict_source_sequence"`
	Proof      string          `pack:"proof,oneof=append_only|keyed_upsert_by_event|commutes"`
	Partition  expr.Expression `pack:"partition,expr=event/key"`
	Position   expr.Expression `pack:"position,expr=event/position"`
	TieBreaker expr.Expression `pack:"tie_breaker,expr=event/position"`
	Comparator string          `pack:"comparator,oneof=bytes.v1,default=bytes.v1"`
	Settle     int64           `pack:"settle_seconds,default=0,min=0,max=86400"`
	Successor  *Successor      `pack:"successor"`
	Gap        *Gap            `pack:"gap"`
}

// The ordering contracts.
const (
	orderIndependent     = "order_independent"
	latestSourcePosition = "latest_source_position"
	strictSourceSequence = "strict_source_sequence"
)

// Independent tells whether the route needs no lane.
func (o *Ordering) Independent() bool { return o.Contract == orderIndependent }

// Strict tells whether every position has exactly one successor.
func (o *Ordering) Strict() bool { return o.Contract == strictSourceSequence }

// Successor says which position follows another. By increment it is the number above it by one step; by predecessor
// the event itself names the position before it.
type Successor struct {
	Rule        string          `pack:"rule,required,oneof=increment|predecessor"`
	Step        int64           `pack:"step,default=1,min=1,max=1000000"`
	Predecessor expr.Expression `pack:"predecessor,expr=event/position"`
	First       expr.Expression `pack:"first,required,expr=constant/position"`
}

// Gap is what becomes of an event whose predecessor has not come when its deadline is acted on.
type Gap struct {
	Deadline    int64  `pack:"deadline_seconds,required,min=1,max=31536000"`
	Disposition string `pack:"disposition,required,oneof=hold|quarantine"`
}

// Window gathers events before they become one input.
//
// Spec: Inbound facts (ProjectionWindow).
type Window struct {
	Policy   string          `pack:"policy,oneof=immediate|grouped|latest|batch|settle,default=immediate"`
	Grouping expr.Expression `pack:"grouping,expr=event/key"`
	Members  int64           `pack:"members_max,default=1,min=1,max=1000"`
	Close    int64           `pack:"close_after_seconds,default=0,min=0,max=2592000"`
	Quiet    int64           `pack:"quiet_seconds,default=0,min=0,max=2592000"`
}

// Immediate tells whether each event is an input of its own.
func (w *Window) Immediate() bool { return w.Policy == "immediate" }

// Dependency is a fact of the same account that an execution waits for.
type Dependency struct {
	Requires  string          `pack:"requires,required,oneof=completed_event|remote_link"`
	When      expr.Expression `pack:"when,default=true,expr=event/bool"`
	Event     expr.Expression `pack:"event,expr=event/key"`
	OwnerSlot expr.Expression `pack:"owner_slot,expr=event/key"`
	Deadline  int64           `pack:"deadline_seconds,required,min=1,max=31536000"`
}

// Command is what the application is asked to do.
type Command struct {
	Definition facts.DefinitionID      `pack:"definition,required"`
	Version    facts.DefinitionVersion `pack:"version,required"`
}

// ExecutionPolicy is how often a command is tried, and what its failure means for the events behind it.
type ExecutionPolicy struct {
	Retry       Retry  `pack:"retry"`
	Disposition string `pack:"failed_disposition,oneof=hold|advance,default=hold"`
}

// Retry is a schedule: the delay before each attempt after the first one. Without delays there is one attempt.
type Retry struct {
	Delays []int64 `pack:"delays_seconds,max=64,item_min=0,item_max=2592000"`
	Jitter int64   `pack:"jitter_percent,default=10,min=0,max=50"`
}

// Attempts is how many attempts the schedule allows.
func (r *Retry) Attempts() int { return len(r.Delays) + 1 }

// Mapping makes the application's input of an event, field by field. It is the binding kind field_mapping.
type Mapping struct {
	Kind    string                  `pack:"kind,required,oneof=field_mapping"`
	Name    facts.DefinitionID      `pack:"name,required"`
	Version facts.DefinitionVersion `pack:"version,required"`
	Record  expr.Expression         `pack:"record,required,expr=members/key"`
	Fields  []Field                 `pack:"fields,required,max=512"`
	Limits  Limits                  `pack:"limits"`
}

// Field is one field of the application's record. Where the source owns it, each input overwrites it; where the
// application does, the input only says what it begins with.
type Field struct {
	Name  string          `pack:"name,required,as=line"`
	Owner string          `pack:"owner,required,oneof=source|application"`
	When  expr.Expression `pack:"when,default=true,expr=members/bool"`
	Value expr.Expression `pack:"value,required,expr=members/json"`
}
