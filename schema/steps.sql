-- The forward-only steps of the database, one idempotent statement each. A landed step never changes: the database
-- remembers its digest, and converge refuses one that differs.

-- step 1: create table account_serving_gate
CREATE TABLE IF NOT EXISTS account_serving_gate (
  account_id binary(16) NOT NULL,
  deployment_id binary(16) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (account_id) CLUSTERED
);

-- step 2: create table account_serving_gate_guard
CREATE TABLE IF NOT EXISTS account_serving_gate_guard (
  account_id binary(16) NOT NULL,
  epoch_id binary(16),
  epoch_digest binary(32),
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id) CLUSTERED,
  CONSTRAINT account_serving_gate_guard_epoch CHECK ((epoch_id IS NULL) = (epoch_digest IS NULL)),
  CONSTRAINT account_serving_gate_guard_serving CHECK (epoch_id IS NOT NULL OR state NOT IN ('v2_serving', 'halting_v2', 'v2_halted')),
  CONSTRAINT account_serving_gate_guard_state CHECK (state IN ('v1_serving', 'halting_v1', 'v1_stopped', 'v1_drained', 'v2_validating', 'v2_serving', 'halting_v2', 'v2_halted')),
  CONSTRAINT account_serving_gate_guard_birth CHECK (fence > 1 OR fence = 1 AND state IN ('v1_serving'))
);

-- step 3: create table account_serving_gate_ledger
CREATE TABLE IF NOT EXISTS account_serving_gate_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT account_serving_gate_ledger_edges CHECK ((from_state, edge, to_state) IN (('v1_serving', 'begin_v1_halt', 'halting_v1'), ('halting_v1', 'abort_v1_halt', 'v1_serving'), ('halting_v1', 'stop_v1', 'v1_stopped'), ('v1_stopped', 'certify_v1_drain', 'v1_drained'), ('v1_drained', 'cold_abort', 'v1_serving'), ('v1_drained', 'resume_restored_v1', 'v1_serving'), ('v1_drained', 'begin_v2_validation', 'v2_validating'), ('v2_validating', 'restore_v1_point', 'v1_drained'), ('v2_validating', 'activate_first', 'v2_serving'), ('v2_serving', 'begin_v2_halt', 'halting_v2'), ('halting_v2', 'confirm_v2_halt', 'v2_halted'), ('v2_halted', 'resume_predecessor', 'v2_serving'), ('v2_halted', 'activate_successor', 'v2_serving'))),
  CONSTRAINT account_serving_gate_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('v1_serving'))
);

-- step 4: create table serving_epoch
CREATE TABLE IF NOT EXISTS serving_epoch (
  epoch_id binary(16) NOT NULL,
  digest_profile varbinary(64) NOT NULL,
  epoch_digest binary(32) NOT NULL,
  share_count bigint unsigned NOT NULL,
  shares_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (epoch_id) CLUSTERED
);

-- step 5: create table serving_epoch_guard
CREATE TABLE IF NOT EXISTS serving_epoch_guard (
  epoch_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (epoch_id) CLUSTERED,
  CONSTRAINT serving_epoch_guard_state CHECK (state IN ('prepared', 'verified', 'rejected', 'active', 'draining', 'retired')),
  CONSTRAINT serving_epoch_guard_birth CHECK (fence > 1 OR fence = 1 AND state IN ('prepared'))
);

-- step 6: create table serving_epoch_ledger
CREATE TABLE IF NOT EXISTS serving_epoch_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT serving_epoch_ledger_edges CHECK ((from_state, edge, to_state) IN (('prepared', 'verify', 'verified'), ('prepared', 'reject_prepared', 'rejected'), ('verified', 'reject_verified', 'rejected'), ('verified', 'activate_first', 'active'), ('verified', 'activate_successor', 'active'), ('active', 'drain', 'draining'), ('draining', 'retire', 'retired'))),
  CONSTRAINT serving_epoch_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('prepared'))
);

-- step 7: create table serving_epoch_share
CREATE TABLE IF NOT EXISTS serving_epoch_share (
  epoch_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  PRIMARY KEY (epoch_id, account_id) CLUSTERED
);

-- step 8: create table credential_generation_dispatch_gate
CREATE TABLE IF NOT EXISTS credential_generation_dispatch_gate (
  generation_id binary(16) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (generation_id) CLUSTERED
);

-- step 9: create table credential_generation_dispatch_gate_guard
CREATE TABLE IF NOT EXISTS credential_generation_dispatch_gate_guard (
  generation_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (generation_id) CLUSTERED,
  CONSTRAINT credential_generation_dispatch_gate_guard_state CHECK (state IN ('enabled', 'revoked')),
  CONSTRAINT credential_generation_dispatch_gate_guard_birth CHECK (fence > 1 OR fence = 1 AND state IN ('enabled'))
);

-- step 10: create table credential_generation_dispatch_gate_ledger
CREATE TABLE IF NOT EXISTS credential_generation_dispatch_gate_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT credential_generation_dispatch_gate_ledger_edges CHECK ((from_state, edge, to_state) IN (('enabled', 'revoke', 'revoked'), ('revoked', 'reenable', 'enabled'))),
  CONSTRAINT credential_generation_dispatch_gate_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('enabled'))
);

-- step 11: create table serving_publication_barrier_set
CREATE TABLE IF NOT EXISTS serving_publication_barrier_set (
  barrier_set_id binary(16) NOT NULL,
  scope_digest binary(32) NOT NULL,
  attempt_id binary(16) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (barrier_set_id) CLUSTERED
);

-- step 12: create table serving_publication_barrier_set_guard
CREATE TABLE IF NOT EXISTS serving_publication_barrier_set_guard (
  barrier_set_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (barrier_set_id) CLUSTERED,
  CONSTRAINT serving_publication_barrier_set_guard_state CHECK (state IN ('acquiring', 'held', 'released', 'activation_committed')),
  CONSTRAINT serving_publication_barrier_set_guard_birth CHECK (fence > 1 OR fence = 1 AND state IN ('acquiring'))
);

-- step 13: create table serving_publication_barrier_set_ledger
CREATE TABLE IF NOT EXISTS serving_publication_barrier_set_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT serving_publication_barrier_set_ledger_edges CHECK ((from_state, edge, to_state) IN (('acquiring', 'hold', 'held'), ('acquiring', 'release_acquiring_open', 'released'), ('acquiring', 'release_acquiring_restored', 'released'), ('acquiring', 'release_acquiring_early', 'released'), ('held', 'commit_activation', 'activation_committed'), ('held', 'release_held_open', 'released'), ('held', 'release_held_restored', 'released'), ('held', 'release_held_early', 'released'), ('activation_committed', 'release_after_readback', 'released'))),
  CONSTRAINT serving_publication_barrier_set_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('acquiring'))
);

-- step 14: create table projection_window
CREATE TABLE IF NOT EXISTS projection_window (
  window_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  epoch_id binary(16) NOT NULL,
  grouping_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (window_id) CLUSTERED
);

-- step 15: create table projection_window_head
CREATE TABLE IF NOT EXISTS projection_window_head (
  account_id binary(16) NOT NULL,
  window_id binary(16) NOT NULL,
  grouping_digest binary(32) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, window_id) CLUSTERED,
  UNIQUE KEY projection_window_head_grouping (grouping_digest),
  CONSTRAINT projection_window_head_state CHECK (state IN ('open')),
  CONSTRAINT projection_window_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('open'))
);

-- step 16: create table projection_window_ledger
CREATE TABLE IF NOT EXISTS projection_window_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT projection_window_ledger_edges CHECK ((from_state, edge, to_state) IN (('open', 'seal', 'sealed'), ('open', 'quarantine', 'quarantined'))),
  CONSTRAINT projection_window_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('open'))
);

-- step 17: create table execution
CREATE TABLE IF NOT EXISTS execution (
  execution_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  projection_id binary(16) NOT NULL,
  epoch_id binary(16) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (execution_id) CLUSTERED
);

-- step 18: create table execution_head
CREATE TABLE IF NOT EXISTS execution_head (
  account_id binary(16) NOT NULL,
  execution_id binary(16) NOT NULL,
  projection_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, execution_id) CLUSTERED,
  UNIQUE KEY execution_head_projection (projection_id),
  CONSTRAINT execution_head_state CHECK (state IN ('ready', 'waiting_dependency')),
  CONSTRAINT execution_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('ready'))
);

-- step 19: create table execution_ledger
CREATE TABLE IF NOT EXISTS execution_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT execution_ledger_edges CHECK ((from_state, edge, to_state) IN (('ready', 'wait', 'waiting_dependency'), ('ready', 'complete', 'completed'), ('ready', 'quarantine_ready', 'quarantined'), ('waiting_dependency', 'resume', 'ready'), ('waiting_dependency', 'quarantine_waiting', 'quarantined'))),
  CONSTRAINT execution_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('ready'))
);

-- step 20: create table execution_dependency
CREATE TABLE IF NOT EXISTS execution_dependency (
  dependency_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  execution_id binary(16) NOT NULL,
  deadline_at datetime(6) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (dependency_id) CLUSTERED
);

-- step 21: create table execution_dependency_head
CREATE TABLE IF NOT EXISTS execution_dependency_head (
  account_id binary(16) NOT NULL,
  dependency_id binary(16) NOT NULL,
  execution_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, dependency_id) CLUSTERED,
  CONSTRAINT execution_dependency_head_state CHECK (state IN ('waiting')),
  CONSTRAINT execution_dependency_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('waiting'))
);

-- step 22: create table execution_dependency_ledger
CREATE TABLE IF NOT EXISTS execution_dependency_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT execution_dependency_ledger_edges CHECK ((from_state, edge, to_state) IN (('waiting', 'satisfy', 'satisfied'), ('waiting', 'expire', 'expired'), ('waiting', 'reject', 'rejected'))),
  CONSTRAINT execution_dependency_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('waiting'))
);

-- step 23: create table application_result
CREATE TABLE IF NOT EXISTS application_result (
  command_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  execution_id binary(16) NOT NULL,
  execution_ref_digest binary(32) NOT NULL,
  outcome varbinary(32) NOT NULL,
  result_digest binary(32) NOT NULL,
  committed_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (command_id) CLUSTERED,
  UNIQUE KEY application_result_execution (execution_id),
  CONSTRAINT application_result_outcome CHECK (outcome IN ('applied', 'noop', 'rejected', 'failed'))
);

-- step 24: create table remote_effect
CREATE TABLE IF NOT EXISTS remote_effect (
  effect_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  outbound_command_id binary(16) NOT NULL,
  logical_effect_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (effect_id) CLUSTERED,
  UNIQUE KEY remote_effect_command (outbound_command_id)
);

-- step 25: create table remote_effect_head
CREATE TABLE IF NOT EXISTS remote_effect_head (
  account_id binary(16) NOT NULL,
  effect_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, effect_id) CLUSTERED,
  CONSTRAINT remote_effect_head_state CHECK (state IN ('prepared', 'dispatching', 'remote_confirmed', 'uncertain')),
  CONSTRAINT remote_effect_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('prepared'))
);

-- step 26: create table remote_effect_ledger
CREATE TABLE IF NOT EXISTS remote_effect_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT remote_effect_ledger_edges CHECK ((from_state, edge, to_state) IN (('prepared', 'dispatch', 'dispatching'), ('prepared', 'quarantine_prepared', 'quarantined'), ('dispatching', 'confirm', 'remote_confirmed'), ('dispatching', 'settle_uncertain', 'uncertain'), ('dispatching', 'isolate_sending', 'uncertain'), ('dispatching', 'end_no_effect', 'no_effect'), ('dispatching', 'retry_no_effect', 'prepared'), ('dispatching', 'return_unsent', 'prepared'), ('uncertain', 'reconcile_confirmed', 'remote_confirmed'), ('uncertain', 'reconcile_no_effect', 'no_effect'), ('uncertain', 'quarantine_uncertain', 'quarantined'), ('uncertain', 'reconcile_retry', 'prepared'), ('uncertain', 'repeat_exactly', 'prepared'), ('remote_confirmed', 'finalize', 'finalized'))),
  CONSTRAINT remote_effect_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('prepared'))
);

-- step 27: create table dispatch_permit
CREATE TABLE IF NOT EXISTS dispatch_permit (
  permit_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  effect_id binary(16) NOT NULL,
  attempt_id binary(16) NOT NULL,
  holder_id binary(16) NOT NULL,
  generation_id binary(16) NOT NULL,
  gate_fence bigint unsigned NOT NULL,
  credential_fence bigint unsigned NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (permit_id) CLUSTERED,
  UNIQUE KEY dispatch_permit_attempt (attempt_id)
);

-- step 28: create table dispatch_permit_head
CREATE TABLE IF NOT EXISTS dispatch_permit_head (
  account_id binary(16) NOT NULL,
  permit_id binary(16) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, permit_id) CLUSTERED,
  CONSTRAINT dispatch_permit_head_state CHECK (state IN ('granted', 'sending')),
  CONSTRAINT dispatch_permit_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('granted'))
);

-- step 29: create table dispatch_permit_ledger
CREATE TABLE IF NOT EXISTS dispatch_permit_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT dispatch_permit_ledger_edges CHECK ((from_state, edge, to_state) IN (('granted', 'begin_send', 'sending'), ('granted', 'abandon_isolated', 'abandoned'), ('granted', 'abandon_revoked', 'abandoned'), ('sending', 'settle', 'returned'), ('sending', 'abandon_sending', 'abandoned'))),
  CONSTRAINT dispatch_permit_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('granted'))
);

-- step 30: create table remote_link
CREATE TABLE IF NOT EXISTS remote_link (
  link_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  remote_identity_digest binary(32) NOT NULL,
  owner_slot_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (link_id) CLUSTERED
);

-- step 31: create table remote_link_head
CREATE TABLE IF NOT EXISTS remote_link_head (
  account_id binary(16) NOT NULL,
  link_id binary(16) NOT NULL,
  remote_identity_digest binary(32) NOT NULL,
  owner_slot_digest binary(32) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, link_id) CLUSTERED,
  UNIQUE KEY remote_link_head_identity (remote_identity_digest),
  UNIQUE KEY remote_link_head_slot (owner_slot_digest),
  CONSTRAINT remote_link_head_state CHECK (state IN ('active')),
  CONSTRAINT remote_link_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('active'))
);

-- step 32: create table remote_link_ledger
CREATE TABLE IF NOT EXISTS remote_link_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT remote_link_ledger_edges CHECK ((from_state, edge, to_state) IN (('active', 'retire', 'retired'))),
  CONSTRAINT remote_link_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('active'))
);

-- step 33: create table deployment
CREATE TABLE IF NOT EXISTS deployment (
  place bigint unsigned NOT NULL,
  deployment_id binary(16) NOT NULL,
  class varbinary(32) NOT NULL,
  organization varbinary(512) NOT NULL,
  installation varbinary(512) NOT NULL,
  workload varbinary(512) NOT NULL,
  destinations blob NOT NULL,
  scope_digest binary(32) NOT NULL,
  founded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (place) CLUSTERED,
  CONSTRAINT deployment_single CHECK (place = 1),
  CONSTRAINT deployment_class CHECK (class IN ('conformance', 'production'))
);

-- step 34: create table owner_publication_barrier
CREATE TABLE IF NOT EXISTS owner_publication_barrier (
  barrier_id binary(16) NOT NULL,
  barrier_digest binary(32) NOT NULL,
  scope_digest binary(32) NOT NULL,
  owner varbinary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (barrier_id) CLUSTERED,
  UNIQUE KEY owner_publication_barrier_digest (barrier_digest),
  CONSTRAINT owner_publication_barrier_closed CHECK (owner IN ('catalog', 'inbound_routes', 'callout_profiles', 'field_mappings', 'push_contracts', 'configuration', 'credentials'))
);

-- step 35: create table owner_publication_barrier_guard
CREATE TABLE IF NOT EXISTS owner_publication_barrier_guard (
  barrier_id binary(16) NOT NULL,
  attempt_id binary(16),
  holder_fence bigint unsigned NOT NULL,
  held_at_fence bigint unsigned NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (barrier_id) CLUSTERED,
  CONSTRAINT owner_publication_barrier_guard_holder CHECK (state = 'open' OR attempt_id IS NOT NULL),
  CONSTRAINT owner_publication_barrier_guard_state CHECK (state IN ('open', 'held')),
  CONSTRAINT owner_publication_barrier_guard_birth CHECK (fence > 1 OR fence = 1 AND state IN ('open'))
);

-- step 36: create table owner_publication_barrier_ledger
CREATE TABLE IF NOT EXISTS owner_publication_barrier_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT owner_publication_barrier_ledger_edges CHECK ((from_state, edge, to_state) IN (('open', 'hold', 'held'), ('held', 'release', 'open'))),
  CONSTRAINT owner_publication_barrier_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('open'))
);

-- step 37: create table owner_barrier_hold
CREATE TABLE IF NOT EXISTS owner_barrier_hold (
  barrier_id binary(16) NOT NULL,
  attempt_id binary(16) NOT NULL,
  came_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (barrier_id, attempt_id) CLUSTERED
);

-- step 38: create table owner_generation
CREATE TABLE IF NOT EXISTS owner_generation (
  generation_digest binary(32) NOT NULL,
  scope_digest binary(32) NOT NULL,
  owner varbinary(32) NOT NULL,
  name varbinary(512) NOT NULL,
  selector_digest binary(32) NOT NULL,
  protocol varbinary(512) NOT NULL,
  content_digest binary(32) NOT NULL,
  canonical mediumblob NOT NULL,
  receipt_protocol varbinary(512) NOT NULL,
  receipt mediumblob NOT NULL,
  receipt_digest binary(32) NOT NULL,
  published_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (generation_digest) CLUSTERED,
  CONSTRAINT owner_generation_owner CHECK (owner IN ('catalog', 'inbound_routes', 'callout_profiles', 'field_mappings', 'push_contracts', 'configuration', 'credentials'))
);

-- step 39: create table owner_standing
CREATE TABLE IF NOT EXISTS owner_standing (
  generation_digest binary(32) NOT NULL,
  seq bigint unsigned NOT NULL,
  standing varbinary(32) NOT NULL,
  since datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (generation_digest, seq) CLUSTERED,
  CONSTRAINT owner_standing_closed CHECK (standing IN ('present', 'removed'))
);

-- step 40: create table owner_selection
CREATE TABLE IF NOT EXISTS owner_selection (
  selector_digest binary(32) NOT NULL,
  seq bigint unsigned NOT NULL,
  generation_digest binary(32) NOT NULL,
  since datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (selector_digest, seq) CLUSTERED
);

-- step 41: create table owner_reference
CREATE TABLE IF NOT EXISTS owner_reference (
  generation_digest binary(32) NOT NULL,
  epoch_id binary(16) NOT NULL,
  PRIMARY KEY (generation_digest, epoch_id) CLUSTERED
);

-- step 42: create table serving_epoch_attestation
CREATE TABLE IF NOT EXISTS serving_epoch_attestation (
  epoch_id binary(16) NOT NULL,
  scope_digest binary(32) NOT NULL,
  organization varbinary(512) NOT NULL,
  installation varbinary(512) NOT NULL,
  workload varbinary(512) NOT NULL,
  lineage varbinary(512) NOT NULL,
  revision bigint unsigned NOT NULL,
  source_snapshot binary(32) NOT NULL,
  view_digest binary(32) NOT NULL,
  catalog_receipt_protocol varbinary(512) NOT NULL,
  receipt_lineage varbinary(512) NOT NULL,
  receipt_revision bigint unsigned NOT NULL,
  security_epoch bigint unsigned NOT NULL,
  capability_version varbinary(512) NOT NULL,
  generation_protocol varbinary(512) NOT NULL,
  configuration_generation varbinary(512) NOT NULL,
  configuration_digest binary(32) NOT NULL,
  configuration_receipt_protocol varbinary(512) NOT NULL,
  configuration_receipt mediumblob NOT NULL,
  configuration_receipt_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (epoch_id) CLUSTERED
);

-- step 43: create table serving_epoch_binding
CREATE TABLE IF NOT EXISTS serving_epoch_binding (
  epoch_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  binding_id binary(16) NOT NULL,
  identity_digest binary(32) NOT NULL,
  kind varbinary(32) NOT NULL,
  owner_pack varbinary(512) NOT NULL,
  pack_installation varbinary(512) NOT NULL,
  pack_payload binary(32) NOT NULL,
  business_key varbinary(512) NOT NULL,
  definition_version varbinary(512) NOT NULL,
  credential_refs mediumblob NOT NULL,
  runtime_command varbinary(512),
  runtime_version varbinary(512),
  pack_generation varbinary(512) NOT NULL,
  envelope_version varbinary(512) NOT NULL,
  definition_digest binary(32) NOT NULL,
  receipt_version varbinary(512) NOT NULL,
  owner_receipt mediumblob NOT NULL,
  owner_receipt_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (epoch_id, ordinal) CLUSTERED,
  CONSTRAINT serving_epoch_binding_kind CHECK (kind IN ('inbound_route', 'callout_profile', 'field_mapping', 'push_contract')),
  CONSTRAINT serving_epoch_binding_runtime CHECK ((runtime_command IS NULL) = (runtime_version IS NULL))
);

-- step 44: create table serving_epoch_credential
CREATE TABLE IF NOT EXISTS serving_epoch_credential (
  epoch_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  generation_id binary(16) NOT NULL,
  transport_digest binary(32) NOT NULL,
  receipt_protocol varbinary(512) NOT NULL,
  owner_receipt mediumblob NOT NULL,
  owner_receipt_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (epoch_id, ordinal) CLUSTERED
);

-- step 45: create table serving_publication_barrier_receipt
CREATE TABLE IF NOT EXISTS serving_publication_barrier_receipt (
  barrier_set_id binary(16) NOT NULL,
  owner varbinary(32) NOT NULL,
  hold_fence bigint unsigned NOT NULL,
  receipt_protocol varbinary(512) NOT NULL,
  receipt mediumblob NOT NULL,
  receipt_digest binary(32) NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (barrier_set_id, owner) CLUSTERED,
  CONSTRAINT serving_publication_barrier_receipt_owner CHECK (owner IN ('catalog', 'inbound_routes', 'callout_profiles', 'field_mappings', 'push_contracts', 'configuration', 'credentials'))
);

-- step 46: a barrier set that is not released names its scope (issue 2)
ALTER TABLE serving_publication_barrier_set_guard ADD COLUMN IF NOT EXISTS open_scope binary(32) NULL AFTER barrier_set_id;

-- step 47: a barrier set knows its holder's fence (issue 2)
ALTER TABLE serving_publication_barrier_set_guard ADD COLUMN IF NOT EXISTS holder_fence bigint unsigned NOT NULL AFTER open_scope;

-- step 48: one barrier set of a scope that is not released (issue 2)
CREATE UNIQUE INDEX IF NOT EXISTS serving_publication_barrier_set_guard_scope ON serving_publication_barrier_set_guard (open_scope);

-- step 49: create table receipt_admission_key
CREATE TABLE IF NOT EXISTS receipt_admission_key (
  account_id binary(16) NOT NULL,
  key_digest binary(32) NOT NULL,
  receipt_id binary(16) NOT NULL,
  admitted_digest binary(32) NOT NULL,
  body_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (account_id, key_digest) CLUSTERED
);

-- step 50: create table receipt
CREATE TABLE IF NOT EXISTS receipt (
  receipt_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  epoch_id binary(16) NOT NULL,
  channel varbinary(512) NOT NULL,
  transport_key varbinary(512) NOT NULL,
  body mediumblob NOT NULL,
  header mediumblob NOT NULL,
  credential_generation_id binary(16),
  secret_member varbinary(512),
  birth varbinary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (receipt_id) CLUSTERED,
  CONSTRAINT receipt_birth CHECK (birth IN ('open', 'whole')),
  CONSTRAINT receipt_verified CHECK ((credential_generation_id IS NULL) = (secret_member IS NULL))
);

-- step 51: create table receipt_head
CREATE TABLE IF NOT EXISTS receipt_head (
  account_id binary(16) NOT NULL,
  receipt_id binary(16) NOT NULL,
  due_at datetime(6) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, receipt_id) CLUSTERED,
  KEY receipt_head_due (due_at),
  CONSTRAINT receipt_head_state CHECK (state IN ('pending')),
  CONSTRAINT receipt_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('pending'))
);

-- step 52: create table receipt_ledger
CREATE TABLE IF NOT EXISTS receipt_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT receipt_ledger_edges CHECK ((from_state, edge, to_state) IN (('pending', 'materialize', 'materialized'))),
  CONSTRAINT receipt_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('pending'))
);

-- step 53: create table receipt_component
CREATE TABLE IF NOT EXISTS receipt_component (
  receipt_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  account_id binary(16) NOT NULL,
  verdict varbinary(32) NOT NULL,
  reason varbinary(48),
  event_id binary(16),
  content_digest binary(32),
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (receipt_id, ordinal) CLUSTERED,
  CONSTRAINT receipt_component_verdict CHECK (verdict IN ('event', 'quarantined')),
  CONSTRAINT receipt_component_reason CHECK ((verdict = 'quarantined') = (reason IS NOT NULL)),
  CONSTRAINT receipt_component_event CHECK (verdict != 'event' OR event_id IS NOT NULL AND content_digest IS NOT NULL)
);

-- step 54: create table event
CREATE TABLE IF NOT EXISTS event (
  event_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  epoch_id binary(16) NOT NULL,
  receipt_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  source_event_key varbinary(512) NOT NULL,
  kind varbinary(512) NOT NULL,
  locator varbinary(512) NOT NULL,
  occurrence varbinary(255),
  contract_digest binary(32),
  partition_key varbinary(512),
  position varbinary(255),
  tie_breaker varbinary(255),
  content_digest binary(32) NOT NULL,
  payload mediumblob NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (event_id) CLUSTERED,
  CONSTRAINT event_order CHECK ((contract_digest IS NULL) = (partition_key IS NULL) AND (contract_digest IS NULL) = (position IS NULL)),
  CONSTRAINT event_tie CHECK (tie_breaker IS NULL OR position IS NOT NULL)
);

-- step 55: create table projection
CREATE TABLE IF NOT EXISTS projection (
  projection_id binary(16) NOT NULL,
  account_id binary(16) NOT NULL,
  epoch_id binary(16) NOT NULL,
  event_id binary(16) NOT NULL,
  route varbinary(512) NOT NULL,
  route_version varbinary(512) NOT NULL,
  canonical_digest binary(32) NOT NULL,
  input mediumblob NOT NULL,
  birth varbinary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (projection_id) CLUSTERED,
  CONSTRAINT projection_birth CHECK (birth IN ('open', 'whole'))
);

-- step 56: create table projection_head
CREATE TABLE IF NOT EXISTS projection_head (
  account_id binary(16) NOT NULL,
  projection_id binary(16) NOT NULL,
  due_at datetime(6) NOT NULL,
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, projection_id) CLUSTERED,
  CONSTRAINT projection_head_state CHECK (state IN ('waiting')),
  CONSTRAINT projection_head_birth CHECK (fence > 1 OR fence = 1 AND state IN ('waiting'))
);

-- step 57: create table projection_ledger
CREATE TABLE IF NOT EXISTS projection_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT projection_ledger_edges CHECK ((from_state, edge, to_state) IN (('waiting', 'mint', 'minted'), ('waiting', 'supersede', 'superseded'), ('waiting', 'quarantine', 'quarantined'))),
  CONSTRAINT projection_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('waiting'))
);

-- step 58: create table execution_attempt
CREATE TABLE IF NOT EXISTS execution_attempt (
  execution_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  account_id binary(16) NOT NULL,
  holder_id binary(16) NOT NULL,
  gate_fence bigint unsigned NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (execution_id, ordinal) CLUSTERED
);

-- step 59: create table execution_attempt_end
CREATE TABLE IF NOT EXISTS execution_attempt_end (
  execution_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  account_id binary(16) NOT NULL,
  reason varbinary(48) NOT NULL,
  detail blob NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (execution_id, ordinal) CLUSTERED
);

-- step 60: an execution keeps what its command says of it (issue 3)
ALTER TABLE execution ADD COLUMN IF NOT EXISTS execution_ref_digest binary(32) NOT NULL AFTER epoch_id;

-- step 61: an execution's head knows the last claim (issue 3)
ALTER TABLE execution_head ADD COLUMN IF NOT EXISTS attempt bigint unsigned NOT NULL AFTER projection_id;

-- step 62: an execution's head knows who holds it (issue 3)
ALTER TABLE execution_head ADD COLUMN IF NOT EXISTS holder_id binary(16) NULL AFTER attempt;

-- step 63: an execution's head is due (issue 3)
ALTER TABLE execution_head ADD COLUMN IF NOT EXISTS due_at datetime(6) NOT NULL AFTER holder_id;

-- step 64: executions that are due are found (issue 3)
CREATE INDEX IF NOT EXISTS execution_head_due ON execution_head (due_at);

-- step 65: the Runtime keeps the application's answer (issue 3)
ALTER TABLE application_result ADD COLUMN IF NOT EXISTS payload mediumblob NOT NULL AFTER result_digest;

-- step 66: create table receipt_redelivery
CREATE TABLE IF NOT EXISTS receipt_redelivery (
  receipt_id binary(16) NOT NULL,
  body_digest binary(32) NOT NULL,
  account_id binary(16) NOT NULL,
  answer varbinary(32) NOT NULL,
  body mediumblob NOT NULL,
  header mediumblob NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (receipt_id, body_digest) CLUSTERED,
  CONSTRAINT receipt_redelivery_answer CHECK (answer IN ('duplicate', 'conflict'))
);

-- step 67: a projection knows its lane (issue 4)
ALTER TABLE projection ADD COLUMN IF NOT EXISTS lane_id binary(16) NULL AFTER input;

-- step 68: a projection names the one execution that it may mint (issue 4)
ALTER TABLE projection ADD COLUMN IF NOT EXISTS execution_ref_digest binary(32) NOT NULL AFTER lane_id;

-- step 69: an execution knows its lane (issue 4)
ALTER TABLE execution ADD COLUMN IF NOT EXISTS lane_id binary(16) NULL AFTER execution_ref_digest;

-- step 70: a waiting projection knows its lane (issue 4)
ALTER TABLE projection_head ADD COLUMN IF NOT EXISTS lane_id binary(16) NOT NULL AFTER projection_id;

-- step 71: a waiting projection is found in its lane by its place (issue 4)
ALTER TABLE projection_head ADD COLUMN IF NOT EXISTS sort_key varbinary(512) NOT NULL AFTER lane_id;

-- step 72: a waiting projection has a position (issue 4)
ALTER TABLE projection_head ADD COLUMN IF NOT EXISTS position varbinary(255) NOT NULL AFTER sort_key;

-- step 73: a waiting projection has a tie-breaker (issue 4)
ALTER TABLE projection_head ADD COLUMN IF NOT EXISTS tie_breaker varbinary(255) NULL AFTER position;

-- step 74: a waiting projection ties with another by its content (issue 4)
ALTER TABLE projection_head ADD COLUMN IF NOT EXISTS content_digest binary(32) NOT NULL AFTER tie_breaker;

-- step 75: the gap before a waiting projection has a deadline (issue 4)
ALTER TABLE projection_head ADD COLUMN IF NOT EXISTS deadline_at datetime(6) NULL AFTER content_digest;

-- step 76: what waits in a lane is found in its order (issue 4)
CREATE INDEX IF NOT EXISTS projection_head_lane ON projection_head (lane_id, sort_key);

-- step 77: waiting projections that are due are found (issue 4)
CREATE INDEX IF NOT EXISTS projection_head_due ON projection_head (due_at);

-- step 78: create table ordering_lane
CREATE TABLE IF NOT EXISTS ordering_lane (
  lane_id binary(16) NOT NULL,
  lane_digest binary(32) NOT NULL,
  account_id binary(16) NOT NULL,
  epoch_id binary(16) NOT NULL,
  route varbinary(512) NOT NULL,
  route_version varbinary(512) NOT NULL,
  partition_key varbinary(512) NOT NULL,
  contract_digest binary(32) NOT NULL,
  baseline varbinary(32) NOT NULL,
  first_position varbinary(255),
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (lane_id) CLUSTERED,
  UNIQUE KEY ordering_lane_digest (lane_digest),
  CONSTRAINT ordering_lane_baseline CHECK (baseline IN ('empty'))
);

-- step 79: create table ordering_lane_guard
CREATE TABLE IF NOT EXISTS ordering_lane_guard (
  account_id binary(16) NOT NULL,
  lane_id binary(16) NOT NULL,
  high_position varbinary(255),
  high_tie_breaker varbinary(255),
  high_content binary(32),
  active_execution binary(16),
  active_position varbinary(255),
  active_tie_breaker varbinary(255),
  active_content binary(32),
  state varbinary(32) NOT NULL,
  fence bigint unsigned NOT NULL,
  touched bigint unsigned NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, lane_id) CLUSTERED,
  CONSTRAINT ordering_lane_guard_active CHECK (state = 'free' OR active_execution IS NOT NULL),
  CONSTRAINT ordering_lane_guard_place CHECK ((active_execution IS NULL) = (active_position IS NULL) AND (active_execution IS NULL) = (active_content IS NULL)),
  CONSTRAINT ordering_lane_guard_high CHECK ((high_position IS NULL) = (high_content IS NULL)),
  CONSTRAINT ordering_lane_guard_state CHECK (state IN ('free', 'taken', 'held')),
  CONSTRAINT ordering_lane_guard_birth CHECK (fence > 1 OR fence = 1 AND state IN ('free'))
);

-- step 80: create table ordering_lane_ledger
CREATE TABLE IF NOT EXISTS ordering_lane_ledger (
  subject_id binary(16) NOT NULL,
  seq bigint unsigned NOT NULL,
  from_state varbinary(32) NOT NULL,
  edge varbinary(48) NOT NULL,
  to_state varbinary(32) NOT NULL,
  evidence mediumblob NOT NULL,
  recorded_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (subject_id, seq) CLUSTERED,
  CONSTRAINT ordering_lane_ledger_edges CHECK ((from_state, edge, to_state) IN (('free', 'take', 'taken'), ('taken', 'release', 'free'), ('taken', 'hold_failed', 'held'), ('taken', 'hold_closed', 'held'), ('taken', 'hold_unmet', 'held'))),
  CONSTRAINT ordering_lane_ledger_birth CHECK (seq > 1 OR seq = 1 AND from_state IN ('free'))
);

-- step 81: a window names its exact route (issue 4)
ALTER TABLE projection_window ADD COLUMN IF NOT EXISTS route varbinary(512) NOT NULL AFTER grouping_digest;

-- step 82: a window names the version of its route (issue 4)
ALTER TABLE projection_window ADD COLUMN IF NOT EXISTS route_version varbinary(512) NOT NULL AFTER route;

-- step 83: a window keeps its grouping key (issue 4)
ALTER TABLE projection_window ADD COLUMN IF NOT EXISTS grouping_key varbinary(512) NOT NULL AFTER route_version;

-- step 84: a window has an immutable deadline (issue 4)
ALTER TABLE projection_window ADD COLUMN IF NOT EXISTS deadline_at datetime(6) NOT NULL AFTER grouping_key;

-- step 85: a full window takes no input of its grouping (issue 4)
ALTER TABLE projection_window_head MODIFY COLUMN grouping_digest binary(32) NULL;

-- step 86: an open window counts its members (issue 4)
ALTER TABLE projection_window_head ADD COLUMN IF NOT EXISTS members bigint unsigned NOT NULL AFTER grouping_digest;

-- step 87: an open window counts their bytes (issue 4)
ALTER TABLE projection_window_head ADD COLUMN IF NOT EXISTS payload_bytes bigint unsigned NOT NULL AFTER members;

-- step 88: an open window has its deadline (issue 4)
ALTER TABLE projection_window_head ADD COLUMN IF NOT EXISTS deadline_at datetime(6) NOT NULL AFTER payload_bytes;

-- step 89: an open window is due (issue 4)
ALTER TABLE projection_window_head ADD COLUMN IF NOT EXISTS due_at datetime(6) NOT NULL AFTER deadline_at;

-- step 90: windows that are due are found (issue 4)
CREATE INDEX IF NOT EXISTS projection_window_head_due ON projection_window_head (due_at);

-- step 91: a projection knows its window (issue 4)
ALTER TABLE projection ADD COLUMN IF NOT EXISTS window_id binary(16) NULL AFTER input;

-- step 92: create table window_member
CREATE TABLE IF NOT EXISTS window_member (
  window_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  account_id binary(16) NOT NULL,
  event_id binary(16) NOT NULL,
  route_digest binary(32) NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (window_id, ordinal) CLUSTERED,
  UNIQUE KEY window_member_event (event_id, route_digest)
);

-- step 93: an event names what follows from it (issue 4)
ALTER TABLE event ADD COLUMN IF NOT EXISTS follows mediumblob NOT NULL AFTER payload;

-- step 94: an event counts the routes of which nothing is written yet (issue 4)
ALTER TABLE event ADD COLUMN IF NOT EXISTS unwritten bigint unsigned NOT NULL AFTER follows;

-- step 95: a projection counts the facts that its execution requires (issue 4)
ALTER TABLE projection ADD COLUMN IF NOT EXISTS needs bigint unsigned NOT NULL AFTER execution_ref_digest;

-- step 96: a dependency has its place among those of its execution (issue 4)
ALTER TABLE execution_dependency ADD COLUMN IF NOT EXISTS ordinal bigint unsigned NOT NULL AFTER execution_id;

-- step 97: a dependency knows how many its execution has (issue 4)
ALTER TABLE execution_dependency ADD COLUMN IF NOT EXISTS needs bigint unsigned NOT NULL AFTER ordinal;

-- step 98: a dependency names the required event (issue 4)
ALTER TABLE execution_dependency ADD COLUMN IF NOT EXISTS event_id binary(16) NOT NULL AFTER needs;

-- step 99: a dependency names the required event's key (issue 4)
ALTER TABLE execution_dependency ADD COLUMN IF NOT EXISTS source_event_key varbinary(512) NOT NULL AFTER event_id;

-- step 100: a waiting dependency names the required event (issue 4)
ALTER TABLE execution_dependency_head ADD COLUMN IF NOT EXISTS event_id binary(16) NOT NULL AFTER execution_id;

-- step 101: a waiting dependency is due (issue 4)
ALTER TABLE execution_dependency_head ADD COLUMN IF NOT EXISTS due_at datetime(6) NOT NULL AFTER event_id;

-- step 102: what waits for an event is found (issue 4)
CREATE INDEX IF NOT EXISTS execution_dependency_head_event ON execution_dependency_head (event_id);

-- step 103: waiting dependencies that are due are found (issue 4)
CREATE INDEX IF NOT EXISTS execution_dependency_head_due ON execution_dependency_head (due_at);

-- step 104: create table projection_need
CREATE TABLE IF NOT EXISTS projection_need (
  projection_id binary(16) NOT NULL,
  ordinal bigint unsigned NOT NULL,
  account_id binary(16) NOT NULL,
  event_id binary(16) NOT NULL,
  source_event_key varbinary(512) NOT NULL,
  deadline_micros bigint unsigned NOT NULL,
  born_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (projection_id, ordinal) CLUSTERED
);
