import type { Witness } from './witness';

export const postgresWitness: Witness = {
  text: (column) => `(${column})::text`,
  // A function takes a hundred values, a list any number.
  object: (names, texts) =>
    `jsonb_object(ARRAY[${names.map((name) => `'${name}'`).join(', ')}]::text[], ARRAY[${texts.join(', ')}]::text[])::text`,
  ddl: (tables, headers) => [
    `CREATE TABLE history (seq bigint GENERATED ALWAYS AS IDENTITY, place text, op text, event_id text, image_before text, image_after text,
       ours boolean, intervention text, at text)`,
    'CREATE INDEX ON history (event_id, seq)',
    `CREATE FUNCTION race_header() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM set_config('race.intervention', NEW.id::text, true); RETURN NULL; END $$`,
    `CREATE TRIGGER race_header AFTER INSERT ON ${headers} FOR EACH ROW EXECUTE FUNCTION race_header()`,
    ...tables.flatMap(({ place, name, id, image }) => [
      // SECURITY DEFINER: the operator has no right to write here, and should not need one for a test to watch it.
      `CREATE FUNCTION watch_${place}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        INSERT INTO public.history (place, op, event_id, image_before, image_after, ours, intervention, at)
        VALUES ('${place}', TG_OP, CASE TG_OP WHEN 'INSERT' THEN ${id('NEW')} ELSE ${id('OLD')} END,
          CASE WHEN TG_OP <> 'INSERT' THEN ${image('OLD')} END, CASE WHEN TG_OP <> 'DELETE' THEN ${image('NEW')} END,
          session_user LIKE 'o\\_%', nullif(current_setting('race.intervention', true), ''),
          to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
        RETURN NULL;
      END $$`,
      `CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON ${name} FOR EACH ROW EXECUTE FUNCTION watch_${place}()`,
    ]),
  ],
};
