/** Version of the store's tables. A store of another version is made again from the journals. */
export const STORE_VERSION = 1;

/** A table, and how a run's file fills it (`$1` is the run, `$2` the file). */
export interface StoreTable {
  create: string;
  source?: string;
  insert?: string;
}

/** Rows of a JSON Lines file; a torn last line is passed over. */
const lines = (columns: string) =>
  `read_json($2, format = 'newline_delimited', ignore_errors = true, columns = {${columns}})`;
const JOURNAL = lines(
  "type: 'VARCHAR', step: 'INTEGER', rollouts: 'INTEGER', metrics: 'MAP(VARCHAR, DOUBLE)', evaluation: 'INTEGER', panel: 'VARCHAR', decoding: 'VARCHAR', conditioning: 'VARCHAR', n: 'INTEGER', name: 'VARCHAR', data: 'JSON'",
);

/** All tables, in the order in which they are made. */
export const STORE_TABLES: readonly StoreTable[] = [
  { create: "create table meta (schema_version integer)" },
  {
    create:
      "create table runs (run varchar, recipe varchar, scale varchar, arm varchar, variant varchar, seed integer, state varchar, config_hash varchar, code_commit varchar, diff_hash varchar, steps integer, rollouts integer, seconds double, started_at varchar)",
  },
  {
    create: "create table metrics (run varchar, step integer, rollouts integer, name varchar, value double)",
    source: "journal.jsonl",
    insert:
      `insert into metrics select $1, step, rollouts, entry.key, entry.value from (select step, rollouts, unnest(map_entries(metrics)) as entry from ${JOURNAL} where type = 'step') order by step, entry.key`,
  },
  {
    create:
      "create table evaluations (run varchar, evaluation integer, step integer, rollouts integer, panel varchar, decoding varchar, conditioning varchar, n integer, name varchar, value double)",
    source: "journal.jsonl",
    insert:
      `insert into evaluations select $1, evaluation, step, rollouts, panel, decoding, conditioning, n, entry.key, entry.value from (select *, unnest(map_entries(metrics)) as entry from ${JOURNAL} where type = 'evaluation') order by evaluation, entry.key`,
  },
  {
    create:
      "create table events (run varchar, position integer, name varchar, step integer, rollouts integer, data json)",
    source: "journal.jsonl",
    insert:
      `insert into events select $1, position, name, step, rollouts, data from (select *, row_number() over () as position from ${JOURNAL}) where type = 'event' order by position`,
  },
  {
    create:
      "create table samples (run varchar, evaluation integer, step integer, panel varchar, decoding varchar, item varchar, reward double, answer varchar, turns integer)",
    source: "samples.jsonl",
    insert: `insert into samples select $1, evaluation, step, panel, decoding, item, reward, answer, turns from ${
      lines(
        "evaluation: 'INTEGER', step: 'INTEGER', panel: 'VARCHAR', decoding: 'VARCHAR', item: 'VARCHAR', reward: 'DOUBLE', answer: 'VARCHAR', turns: 'INTEGER'",
      )
    } order by evaluation, item`,
  },
  {
    create:
      "create table timing (run varchar, step integer, at_time varchar, seconds double, engine_seconds double, tokens integer)",
    source: "timing.jsonl",
    insert: `insert into timing select $1, step, "at", seconds, "engineSeconds", tokens from ${
      lines("step: 'INTEGER', \"at\": 'VARCHAR', seconds: 'DOUBLE', \"engineSeconds\": 'DOUBLE', tokens: 'INTEGER'")
    } order by step`,
  },
];
