-- What is due at an organization's webhook, and at those of its runs, is found apart: a dead one must not be read through to the others.
drop index webhook_deliveries_due;
create index webhook_deliveries_own on webhook_deliveries (organization_id, next_attempt_at) where state = 'pending' and url is null;
create index webhook_deliveries_of_runs on webhook_deliveries (organization_id, next_attempt_at) where state = 'pending' and url is not null;
-- Attempts under way, of which there are few, are counted with every claim.
create index webhook_deliveries_leased on webhook_deliveries (organization_id) where lease_until is not null;
