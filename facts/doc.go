// Package facts holds every fact, key, position, fence, refusal and reason code as a value, and the canonical bytes
// and digests over them. It does no I/O, reads no clock but the port that it declares, and knows no table.
package facts
