package pack

import (
	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Callout is how one endpoint of a provider is called. It is the binding kind callout_profile. A deployment that
// talks to a stand-in replaces the origin in its configuration; nothing else of a request can be replaced.
type Callout struct {
	Kind           string                  `pack:"kind,required,oneof=callout_profile"`
	Name           facts.DefinitionID      `pack:"name,required"`
	Version        facts.DefinitionVersion `pack:"version,required"`
	Method         string                  `pack:"method,required,oneof=GET|POST|PUT|PATCH|DELETE"`
	Origin         string                  `pack:"origin,required,as=line"`
	Path           string                  `pack:"path,required,as=line"`
	AllowedHosts   []string                `pack:"allowed_hosts,required,as=host,max=16"`
	Headers        []Constant              `pack:"headers,max=32"`
	Authentication *Authentication         `pack:"authentication"`
	Timeouts       Timeouts                `pack:"timeouts"`
	Rate           Rate                    `pack:"rate"`
	ResponseBytes  int64                   `pack:"response_bytes_max,default=1048576,min=1,max=4194304"`

	path *template
}

// Constant is a header that every call carries.
type Constant struct {
	Name  string `pack:"name,required,as=header"`
	Value string `pack:"value,required,as=line"`
}

// Authentication says where the egress adapter puts the secret, which no definition and no request template sees.
type Authentication struct {
	Form   string `pack:"form,required,oneof=bearer|basic|header"`
	Header string `pack:"header,as=header,default=authorization"`
	Prefix string `pack:"prefix,as=line"`
}

// Timeouts of one call.
type Timeouts struct {
	Connect  int64 `pack:"connect_ms,default=5000,min=100,max=60000"`
	Response int64 `pack:"response_ms,default=15000,min=100,max=120000"`
	Total    int64 `pack:"total_ms,default=30000,min=100,max=300000"`
}

// Rate bounds the calls of one account to this endpoint.
type Rate struct {
	Requests   int64 `pack:"requests,default=10,min=1,max=100000"`
	Per        int64 `pack:"per_seconds,default=1,min=1,max=86400"`
	Concurrent int64 `pack:"concurrent,default=4,min=1,max=1000"`
}

// Push is what an effect of the application becomes at the provider, and what the provider's answer means. It is the
// binding kind push_contract.
type Push struct {
	Kind        string                  `pack:"kind,required,oneof=push_contract"`
	Name        facts.DefinitionID      `pack:"name,required"`
	Version     facts.DefinitionVersion `pack:"version,required"`
	Slot        facts.EffectSlotID      `pack:"effect_slot,required"`
	Callout     facts.DefinitionID      `pack:"callout,required"`
	Request     Request                 `pack:"request,required"`
	Idempotency Idempotency             `pack:"idempotency,required"`
	Outcomes    []Outcome               `pack:"outcomes,required,max=64"`
	Retry       Retry                   `pack:"retry"`
	Reconcile   *Reconcile              `pack:"reconcile"`
	SettledBy   string                  `pack:"uncertain_settled_by,oneof=provider|operator,default=provider"`
	Identity    *Identity               `pack:"remote_identity"`
	OrderKey    expr.Expression         `pack:"order_key,default=effect.owner_slot,expr=intent/key"`
	Limits      Limits                  `pack:"limits"`
}

// Request is the template of a request: what fills the path of the callout, and what is behind it.
type Request struct {
	Path    []Filler        `pack:"path,max=16"`
	Query   []Filler        `pack:"query,max=32"`
	Headers []HeaderFiller  `pack:"headers,max=32"`
	Form    string          `pack:"body_form,oneof=none|json|form,default=none"`
	Body    expr.Expression `pack:"body,expr=intent/json"`
}

// Filler is a named text of a request.
type Filler struct {
	Name  string          `pack:"name,required,as=line"`
	Value expr.Expression `pack:"value,required,expr=intent/text"`
}

// HeaderFiller is a header of a request.
type HeaderFiller struct {
	Name  string          `pack:"name,required,as=header"`
	Value expr.Expression `pack:"value,required,expr=intent/text"`
}

// Idempotency is what the provider promises about a repeated request, for how long, and how the key is written. The
// key itself is always the effect's own.
type Idempotency struct {
	Form     string `pack:"form,required,oneof=none|raw|structured"`
	Header   string `pack:"header,as=header"`
	Lifetime int64  `pack:"lifetime_seconds,default=0,min=0,max=31536000"`
	Margin   int64  `pack:"margin_seconds,default=0,min=0,max=31536000"`
}

// Outcome is what one kind of answer proves. The first one that describes the answer is taken; an answer that none
// describes is uncertain, and so is a call without an answer.
type Outcome struct {
	From    int64           `pack:"status_from,required,min=100,max=599"`
	To      int64           `pack:"status_to,required,min=100,max=599"`
	When    expr.Expression `pack:"when,default=true,expr=response/bool"`
	Outcome string          `pack:"outcome,required,oneof=confirmed|no_effect|retry|uncertain"`
}

// Reconcile asks the provider what became of an effect whose outcome is uncertain.
type Reconcile struct {
	Callout  facts.DefinitionID `pack:"callout,required"`
	Path     []Filler           `pack:"path,max=16"`
	Query    []Filler           `pack:"query,max=32"`
	After    int64              `pack:"after_seconds,default=30,min=0,max=86400"`
	Found    expr.Expression    `pack:"found,required,expr=response/bool"`
	Identity expr.Expression    `pack:"identity,expr=response/key"`
	Absent   expr.Expression    `pack:"absent,expr=response/bool"`
	Schedule Retry              `pack:"schedule"`
}

// Identity is the remote object that a confirmed answer proves.
type Identity struct {
	Value    expr.Expression `pack:"value,required,expr=response/key"`
	Presence string          `pack:"presence,oneof=required|optional,default=required"`
}
