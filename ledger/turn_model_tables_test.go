package ledger_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectorcore/facts"
	"connectorcore/ledger/turn"
	"connectorcore/proptest/model"
)

// stored is what stands in the tables of an account, in the words of the model, and under which ids.
type stored struct {
	lines      []string
	lanes      map[string]facts.LaneID
	inputs     map[string]facts.ProjectionID
	executions map[string]turn.Born
	names      map[facts.ExecutionID]string
	projected  map[facts.ProjectionID]string
	due, until map[string]time.Duration // of the inputs that wait: from now on
}

// tables reads all of it, as an administrator.
func (p *play) tables() *stored {
	at := &stored{lanes: map[string]facts.LaneID{}, inputs: map[string]facts.ProjectionID{}, executions: map[string]turn.Born{},
		names: map[facts.ExecutionID]string{}, projected: map[facts.ProjectionID]string{}, due: map[string]time.Duration{}, until: map[string]time.Duration{}}
	p.readReceipts(at)
	p.readInputs(at)
	p.readExecutions(at)
	p.readLanes(at)
	slices.Sort(at.lines)
	return at
}

func (at *stored) say(form string, args ...any) {
	at.lines = append(at.lines, strings.TrimRight(fmt.Sprintf(form, args...), " "))
}

// rows reads the rows of a query.
func (p *play) rows(query string, into []any, each func()) {
	rows, err := p.s.store.Admin.QueryContext(p.s.t.Context(), query)
	ok(p.s.t, err)
	for rows.Next() {
		ok(p.s.t, rows.Scan(into...))
		each()
	}
	ok(p.s.t, rows.Err())
	ok(p.s.t, rows.Close())
}

func (p *play) readReceipts(at *stored) {
	var id facts.ReceiptID
	var birth, text, more string
	var head bool
	var ordinal, moves int
	states := map[string]string{"whole false 0": "whole", "open true 0": "pending", "open false 1": "materialized"}
	p.rows("SELECT r.receipt_id, birth, h.receipt_id IS NOT NULL, (SELECT COUNT(*) FROM receipt_ledger l WHERE l.subject_id=r.receipt_id) FROM receipt r LEFT JOIN receipt_head h ON h.account_id=r.account_id AND h.receipt_id=r.receipt_id",
		[]any{&id, &birth, &head, &moves}, func() { at.say("receipt %s %s", p.received[id], states[fmt.Sprintf("%s %t %d", birth, head, moves)]) })
	p.rows("SELECT c.receipt_id, c.ordinal, CONCAT_WS(' ', verdict, reason), IFNULL(e.source_event_key, '') FROM receipt_component c LEFT JOIN event e USING (event_id)",
		[]any{&id, &ordinal, &text, &more}, func() { at.say("component %s/%d %s %s", p.received[id], ordinal, text, more) })
	p.rows("SELECT receipt_id, body, answer FROM receipt_redelivery", []any{&id, &text, &more}, func() { at.say("redelivery %s %s %s", p.received[id], text, more) })
	p.rows("SELECT source_event_key, payload, receipt_id, ordinal FROM event", []any{&text, &more, &id, &ordinal}, func() {
		at.say("event %s %s %s/%d", text, more, p.received[id], ordinal)
	})
}

func (p *play) readInputs(at *stored) {
	var id facts.ProjectionID
	var key, route, birth, last string
	var evidence []byte
	var due, until sql.NullInt64
	p.rows(`SELECT p.projection_id, e.source_event_key, p.route, p.birth, IFNULL(l.to_state, ''), l.evidence,
		TIMESTAMPDIFF(MICROSECOND, NOW(6), h.due_at), TIMESTAMPDIFF(MICROSECOND, NOW(6), h.deadline_at)
		FROM projection p JOIN event e USING (event_id) LEFT JOIN projection_head h ON h.account_id=p.account_id AND h.projection_id=p.projection_id
		LEFT JOIN projection_ledger l ON l.subject_id=p.projection_id`,
		[]any{&id, &key, &route, &birth, &last, &evidence, &due, &until}, func() {
			name := key + ">" + route
			at.inputs[name], at.projected[id] = id, name
			state, reason := "torn", ""
			switch {
			case birth == "whole" && last == "" && !due.Valid:
				state = "minted"
			case birth == "open" && last == "" && due.Valid:
				state = "waiting"
				at.due[name] = time.Duration(due.Int64) * time.Microsecond
				at.until[name] = time.Duration(until.Int64) * time.Microsecond
			case birth == "open" && last != "" && !due.Valid:
				state = last
			}
			for _, code := range []facts.Code{facts.PositionTied, facts.PositionKindsDiffer, facts.SequenceGap} {
				if state == "quarantined" && bytes.Contains(evidence, []byte(code.String())) {
					reason = code.String()
				}
			}
			at.say("input %s %s %s", name, state, reason)
		})
	if heads := p.s.count("SELECT COUNT(*) FROM projection_head"); heads != len(at.due) {
		at.say("%d heads of inputs, of which %d wait", heads, len(at.due))
	}
}

func (p *play) readExecutions(at *stored) {
	var id facts.ExecutionID
	var projection facts.ProjectionID
	var ref facts.Digest
	var lane, holder, evidence []byte
	var attempt sql.NullInt64
	var due sql.NullBool
	var last string
	author, err := facts.ProfileV2.Author()
	ok(p.s.t, err)
	p.rows(`SELECT x.execution_id, x.projection_id, x.execution_ref_digest, x.lane_id, h.attempt, h.holder_id, h.due_at <= NOW(6), IFNULL(l.to_state, ''), l.evidence
		FROM execution x LEFT JOIN execution_head h ON h.account_id=x.account_id AND h.execution_id=x.execution_id LEFT JOIN execution_ledger l ON l.subject_id=x.execution_id`,
		[]any{&id, &projection, &ref, &lane, &attempt, &holder, &due, &last, &evidence}, func() {
			name := at.projected[projection]
			born := turn.Born{Execution: id, Projection: projection, Command: author.Command(id).ID, Ref: facts.ExecutionRefDigest{Digest: ref}}
			copy(born.Lane[:], lane)
			at.executions[name], at.names[id] = born, name
			switch {
			case last == "completed" && !attempt.Valid:
				at.say("execution %s completed %s", name, receiptIn(evidence))
			case last == "" && attempt.Valid && due.Bool:
				at.say("execution %s attempt %d of %s, due", name, attempt.Int64, p.held(holder))
			case last == "" && attempt.Valid:
				at.say("execution %s attempt %d of %s", name, attempt.Int64, p.held(holder))
			default:
				at.say("execution %s torn", name)
			}
		})
	var ordinal int
	p.rows("SELECT execution_id, ordinal, holder_id FROM execution_attempt", []any{&id, &ordinal, &holder}, func() { at.say("attempt %s#%d %s", at.names[id], ordinal, p.held(holder)) })
	p.rows("SELECT execution_id, ordinal FROM execution_attempt_end", []any{&id, &ordinal}, func() { at.say("end %s#%d", at.names[id], ordinal) })
}

// receiptIn is the Runtime's receipt in the evidence of a completion, and the outcome.
func receiptIn(evidence []byte) string {
	receipt, outcome := "?", "applied"
	for _, one := range []string{"a", "b"} {
		if bytes.Contains(evidence, bytes.Repeat([]byte(one), 32)) {
			receipt = one
		}
	}
	if bytes.Contains(evidence, []byte("failed")) {
		outcome = "failed"
	}
	return receipt + " " + outcome
}

// held is the name of a holder.
func (p *play) held(id []byte) string {
	for name, holder := range p.holders {
		if bytes.Equal(holder[:], id) {
			return name
		}
	}
	return ""
}

func (p *play) readLanes(at *stored) {
	var id facts.LaneID
	var route, partition, state, says string
	var active, high, tie []byte
	p.rows(`SELECT f.lane_id, f.route, f.partition_key, g.state, g.active_execution, g.high_position, g.high_tie_breaker,
		IFNULL((SELECT MIN(payload) FROM event e WHERE e.content_digest=g.high_content), '')
		FROM ordering_lane f LEFT JOIN ordering_lane_guard g ON g.account_id=f.account_id AND g.lane_id=f.lane_id`,
		[]any{&id, &route, &partition, &state, &active, &high, &tie, &says}, func() {
			name := route + "/" + partition
			at.lanes[name] = id
			by, after := "", "nothing"
			if active != nil {
				by = at.names[facts.ExecutionID(active)]
			}
			if high != nil {
				after = fmt.Sprintf("%s/%s=%s", p.position(high), p.tie(tie), says)
			}
			at.say("lane %s %s %s after %s", name, state, by, after)
		})
}

// position is a stored position in the words of the model.
func (p *play) position(encoded []byte) string {
	for n := range 12 {
		for _, kind := range []string{"integer", "opaque"} {
			at := model.Position{Kind: kind, N: n}
			if bytes.Equal(placeOf(p.s.t, at).Encoded(), encoded) {
				return at.String()
			}
		}
	}
	return "elsewhere"
}

func (p *play) tie(encoded []byte) string {
	for _, tie := range ties {
		if bytes.Equal(orderOf(p.s.t, "1", tie).TieBreaker.Encoded(), encoded) {
			return tie
		}
	}
	return "?"
}
