// Package turn does the work of one account in turns: one transaction locks the account's gate once, loads what all items
// need with a number of statements that depends on the batch through its size class alone, decides each item by a pure
// function, and writes all rows together.
//
// An item is an admission, a materialization, a claim, the end of an attempt, or a completion. The refusal of one never
// fails its neighbours. What is legal in which mode of the gate is R10: a completion asks for no serving gate, everything
// else here does.
//
// Rules R01, R02, R05, R09 to R12, R16, R18, R21, R26, R45. Spec: Inbound facts; Transaction and crash rules.
package turn
