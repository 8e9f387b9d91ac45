// Package model holds independent second opinions: what the rooms must answer, worked out another way. It shares no
// decision with the rooms that it judges and imports their value types only.
package model
