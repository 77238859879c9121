-- The data folder of a worker process, which no other live process uses. Not null: the process holds its session lock (src/store/worker-sessions.ts).
alter table workers add column folder_id text;
