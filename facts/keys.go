package facts

// The kinds of Key, each with its noun.
type (
	transportKeyKind         struct{}
	channelKind              struct{}
	eventKindKind            struct{}
	sourceEventKeyKind       struct{}
	sourceLocatorKind        struct{}
	orderingPartitionKind    struct{}
	groupingKeyKind          struct{}
	applicationScopeKind     struct{}
	activationScopeKind      struct{}
	effectSlotKind           struct{}
	ownerSlotKind            struct{}
	remoteIdentityKind       struct{}
	routeKind                struct{}
	definitionKind           struct{}
	definitionVersionKind    struct{}
	packGenerationKind       struct{}
	serviceConfigurationKind struct{}
	ownerKind                struct{}
	organizationKind         struct{}
	installationKind         struct{}
	workloadKind             struct{}
	lineageKind              struct{}
	packNameKind             struct{}
	packInstallationKind     struct{}
	credentialIdentityKind   struct{}
	providerScopeKind        struct{}
	secretVersionKind        struct{}
	protocolKind             struct{}
)

func (transportKeyKind) noun() string         { return "transport key" }
func (channelKind) noun() string              { return "channel" }
func (eventKindKind) noun() string            { return "event kind" }
func (sourceEventKeyKind) noun() string       { return "source event key" }
func (sourceLocatorKind) noun() string        { return "source locator" }
func (orderingPartitionKind) noun() string    { return "ordering partition" }
func (groupingKeyKind) noun() string          { return "grouping key" }
func (applicationScopeKind) noun() string     { return "application scope" }
func (activationScopeKind) noun() string      { return "activation scope" }
func (effectSlotKind) noun() string           { return "effect slot" }
func (ownerSlotKind) noun() string            { return "owner slot" }
func (remoteIdentityKind) noun() string       { return "remote identity" }
func (routeKind) noun() string                { return "route" }
func (definitionKind) noun() string           { return "definition" }
func (definitionVersionKind) noun() string    { return "definition version" }
func (packGenerationKind) noun() string       { return "pack generation" }
func (serviceConfigurationKind) noun() string { return "service configuration generation" }
func (ownerKind) noun() string                { return "owner" }
func (organizationKind) noun() string         { return "organization" }
func (installationKind) noun() string         { return "application installation" }
func (workloadKind) noun() string             { return "workload" }
func (lineageKind) noun() string              { return "lineage" }
func (packNameKind) noun() string             { return "pack name" }
func (packInstallationKind) noun() string     { return "pack installation" }
func (credentialIdentityKind) noun() string   { return "credential identity" }
func (providerScopeKind) noun() string        { return "provider scope" }
func (secretVersionKind) noun() string        { return "secret version" }
func (protocolKind) noun() string             { return "protocol" }

// The keys and locators that outside authors choose. Names that end in ID are opaque: an owner minted them, and we
// only store and compare them.
type (
	TransportKey                   = Key[transportKeyKind]         // one delivery, unique by account and channel
	Channel                        = Key[channelKind]              // an ingress channel of an account
	EventKind                      = Key[eventKindKind]            // what happened, in the pack's vocabulary
	SourceEventKey                 = Key[sourceEventKeyKind]       // one event at its source; no delivery id
	SourceLocator                  = Key[sourceLocatorKind]        // where the source object lives
	OrderingPartition              = Key[orderingPartitionKind]    // what has one order
	GroupingKey                    = Key[groupingKeyKind]          // what one window gathers
	ApplicationScope               = Key[applicationScopeKind]     // the trusted scope that authored an effect
	ActivationScope                = Key[activationScopeKind]      // what one barrier set closes
	EffectSlotID                   = Key[effectSlotKind]           // which effect of one operation
	OwnerSlot                      = Key[ownerSlotKind]            // the local place that a remote object belongs to
	RemoteIdentity                 = Key[remoteIdentityKind]       // a remote object, in its provider account
	RouteID                        = Key[routeKind]                // a route definition
	DefinitionID                   = Key[definitionKind]           // any other definition: command, effect, window
	DefinitionVersion              = Key[definitionVersionKind]    // its exact version
	PackGenerationID               = Key[packGenerationKind]       // opaque storage id of an installed pack
	ServiceConfigurationGeneration = Key[serviceConfigurationKind] // opaque id of the frozen tenant configuration
	OwnerName                      = Key[ownerKind]                // an outside owner, in receipts
	Organization                   = Key[organizationKind]         // who owns the installation
	ApplicationInstallation        = Key[installationKind]         // one installed application
	Workload                       = Key[workloadKind]             // what may use the bindings
	Lineage                        = Key[lineageKind]              // the line of a catalog's revisions
	PackName                       = Key[packNameKind]             // the pack that owns a definition
	PackInstallationID             = Key[packInstallationKind]     // opaque id of a pack's installation
	CredentialIdentity             = Key[credentialIdentityKind]   // what stays the same when a credential is rotated
	ProviderScope                  = Key[providerScopeKind]        // the provider and realm for which a credential is good
	SecretVersion                  = Key[secretVersionKind]        // one immutable version at a secret backend
	Protocol                       = Key[protocolKind]             // the exact format of bytes that an owner hands out
)
