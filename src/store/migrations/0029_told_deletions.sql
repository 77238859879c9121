-- A deletion is told when the run is gone: what is needed of it then goes along. `deleted_run_webhooks`: where it was reported instead, as it had them.
alter table webhook_deliveries alter column run_id drop not null, add column deleted_run_id bigint, add column deleted_run_repository_id bigint,
  add column deleted_run_webhooks text;
