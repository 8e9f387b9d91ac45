// Package model predicts, with code of its own, what the product must do: it is the oracle of the tests and shares no
// decision with the rooms that it judges.
package model
