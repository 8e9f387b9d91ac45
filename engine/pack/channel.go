package pack

import (
	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Channel is how deliveries come in, and what one is made of: an ingress channel with the extraction of components
// and the normalization of events. It is no binding of its own: each inbound route carries the whole of its channel,
// so that the frozen bytes of a route say everything from the door to the command.
type Channel struct {
	Name         facts.Channel   `pack:"name,required"`
	ContentTypes []string        `pack:"content_types,as=line,max=16"`
	Method       string          `pack:"method,oneof=POST|PUT,default=POST"`
	Signatures   []Signature     `pack:"signatures,max=4"`
	Handshakes   []Handshake     `pack:"handshakes,max=4"`
	TransportKey expr.Expression `pack:"transport_key,required,expr=request/key"`
	Identity     []string        `pack:"identity_headers,as=header,max=16"`
	Volatile     []string        `pack:"volatile_members,as=pointer,max=16"`
	Retries      string          `pack:"redelivery,required,oneof=never|by_request|by_itself"`
	Tolerance    int64           `pack:"halt_tolerance_seconds,required,min=0,max=31536000"`
	Components   Components      `pack:"components"`
	Events       []EventRule     `pack:"events,required,max=256"`
	Limits       ChannelLimits   `pack:"limits"`
}

// ChannelLimits bound what one delivery may cost.
type ChannelLimits struct {
	BodyBytes  int64 `pack:"body_bytes,default=4194304,min=1,max=4194304"`
	Depth      int64 `pack:"depth,default=64,min=1,max=64"`
	Components int64 `pack:"components,default=1000,min=1,max=1000"`
	KeyBytes   int64 `pack:"key_bytes,default=512,min=1,max=512"`
	Cost       int64 `pack:"expression_cost,default=100000,min=1,max=1000000"`
}

// Signature is one scheme by which a delivery proves its sender. Where a channel has several, one that verifies is
// enough; a channel without any takes only what comes over a path that is trusted otherwise.
type Signature struct {
	Algorithm  string     `pack:"algorithm,required,oneof=hmac-sha1|hmac-sha256|hmac-sha512|sha256|ed25519"`
	Header     string     `pack:"header,required,as=header"`
	Prefix     string     `pack:"prefix,as=line"`
	Encoding   string     `pack:"encoding,required,oneof=hex|base64"`
	List       *List      `pack:"list"`
	Content    string     `pack:"content,default={body},as=line"`
	Timestamp  *Timestamp `pack:"timestamp"`
	IDHeader   string     `pack:"id_header,as=header"`
	BodyDigest *BodyHash  `pack:"body_digest"`
	Ports      string     `pack:"url_port,oneof=as_received|with_or_without,default=as_received"`
	Secret     Secret     `pack:"secret"`
}

// List is a header that holds several signatures: tag, tag separator, value; then the separator of the list.
type List struct {
	Separator    string   `pack:"separator,required,as=line"`
	TagSeparator string   `pack:"tag_separator,required,as=line"`
	Accept       []string `pack:"accept,required,as=line,max=8"`
	TimestampTag string   `pack:"timestamp_tag,as=line"`
}

// Timestamp is where the moment of signing stands, how it is spelled, and how far it may be from ours on both sides.
type Timestamp struct {
	Header    string `pack:"header,as=header"`
	Format    string `pack:"format,required,as=time"`
	Tolerance int64  `pack:"tolerance_seconds,default=300,min=1,max=3600"`
}

// BodyHash is a digest of the body which is signed in its place.
type BodyHash struct {
	Algorithm string `pack:"algorithm,required,oneof=sha256|sha512"`
	Query     string `pack:"query,as=line"`
	Header    string `pack:"header,as=header"`
	Form      string `pack:"form,required,oneof=hex|base64|structured"`
}

// Secret is how the text of a secret becomes the bytes of a key.
type Secret struct {
	Prefix   string `pack:"prefix,as=line"`
	Encoding string `pack:"encoding,oneof=text|hex|base64,default=text"`
}

// Handshake is a request that a provider sends before it delivers anything, and its answer.
type Handshake struct {
	Form   string `pack:"form,required,oneof=json_echo|webhook_options"`
	Member string `pack:"member,as=pointer"`
	Equals string `pack:"equals,as=line"`
	Echo   string `pack:"echo,as=pointer"`
	Rate   int64  `pack:"allowed_rate,default=120,min=1,max=1000000"`
}

// Components is what makes one body several components.
type Components struct {
	Form string `pack:"form,oneof=single|array|lines,default=single"`
	At   string `pack:"at,as=pointer"`
}

// EventRule makes an event of the components that it describes. The first one whose condition holds is taken.
type EventRule struct {
	Name       string          `pack:"name,required,as=word"`
	When       expr.Expression `pack:"when,default=true,expr=component/bool"`
	Kind       expr.Expression `pack:"kind,required,expr=component/key"`
	Key        expr.Expression `pack:"key,required,expr=component/key"`
	Locator    expr.Expression `pack:"locator,required,expr=component/key"`
	OccurredAt expr.Expression `pack:"occurred_at,expr=component/position"`
}
