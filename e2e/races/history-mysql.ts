import type { Witness } from './witness';

const OPS = { INSERT: ['NEW', null, 'NEW'], UPDATE: ['OLD', 'OLD', 'NEW'], DELETE: ['OLD', 'OLD', null] } as const;

export const mysqlWitness: Witness = {
  text: (column, { kind, type }) =>
    kind === 'binary' ? `lower(hex(${column}))` : /^bit/i.test(type) ? `cast(${column} + 0 AS char)` : `cast(${column} AS char)`,
  // As a text: the driver would make an object of it.
  object: (names, texts) => `cast(json_object(${names.map((name, index) => `'${name}', ${texts[index] ?? 'NULL'}`).join(', ')}) AS char)`,
  ddl: (tables, headers) => [
    `CREATE TABLE history (seq bigint AUTO_INCREMENT PRIMARY KEY, place varchar(20), op varchar(20), event_id varchar(500), image_before longtext,
       image_after longtext, ours boolean, intervention varchar(40), at varchar(40),
       KEY (event_id, seq)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    // Transactions have no number that can be asked for: the session remembers which record it began with.
    `CREATE TRIGGER race_header AFTER INSERT ON ${headers} FOR EACH ROW SET @race_intervention = NEW.id`,
    // A trigger runs as who made it: the operator has no right to write here, and should not need one for a test to watch it.
    ...tables.flatMap(({ place, name, id, image }) =>
      Object.entries(OPS).map(
        ([op, [row, before, after]]) => `CREATE TRIGGER watch_${place}_${op.toLowerCase()} AFTER ${op} ON ${name} FOR EACH ROW
          INSERT INTO history (place, op, event_id, image_before, image_after, ours, intervention, at)
          VALUES ('${place}', '${op}', ${id(row)}, ${before === null ? 'NULL' : image(before)}, ${after === null ? 'NULL' : image(after)},
            user() LIKE 'o\\_%', if(user() LIKE 'o\\_%', @race_intervention, NULL), date_format(sysdate(6), '%Y-%m-%dT%H:%i:%s.%fZ'))`,
      ),
    ),
  ],
};
