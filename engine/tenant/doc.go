// Package tenant is how a person says what a tenant decides: one YAML file with every account, what is enabled in it,
// and which credential generation stands for each reference; and the publication of a credential, whose secret is tried
// once before anything refers to it.
//
// It publishes through the owners and holds nothing of its own. It knows no pack: what may be enabled is what the
// Catalog's view names.
package tenant
