-- Who created an organization: a user may create a limited number. Null: the operator, or an earlier version.
alter table organizations add column created_by_user_id bigint references users (id) on delete set null;

create index organizations_by_creator on organizations (created_by_user_id) where created_by_user_id is not null;
