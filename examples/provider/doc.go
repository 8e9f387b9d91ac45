// Package provider plays a provider for trials and tests: it knows the deliveries that the samples of a pack hold, and
// signs them as the pack's channel says. Which provider that is stands in the pack alone.
package provider
