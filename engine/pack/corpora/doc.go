// Package corpora gives the real deliveries that others publish for a pack's provider, as the pack names them in
// samples/corpora.yaml. The ordinary clients of two package registries fetch them into the user's cache, once; none is
// copied into this repository, and the daemon never asks for them.
package corpora
