import { describe, expect, it } from 'vitest';
import { channelsIn } from './describe';
import { postgresFailure } from './failure';

describe('a failure of PostgreSQL', () => {
  it.each([
    ['57014', 'timeout'],
    ['55P03', 'locked'],
    ['40P01', 'deadlock'],
    ['40001', 'deadlock'],
    ['23505', 'duplicate'],
    ['23514', 'constraint'],
    ['P0001', 'constraint'],
    ['22P02', 'bad_value'],
    ['42501', 'no_privilege'],
    ['42P01', 'missing'],
    ['25006', 'read_only'],
    ['25P03', 'connection'],
    ['57P01', 'connection'],
    ['08006', 'connection'],
    ['53300', 'connection'],
    ['42601', 'other'],
  ])('%s is %s', (state, code) => {
    expect(postgresFailure(Object.assign(new Error('x'), { code: state }))).toMatchObject({ code, state });
  });

  it('is a broken connection when the socket or the driver says so', () => {
    expect(postgresFailure(Object.assign(new Error('x'), { code: 'ECONNRESET' })).code).toBe('connection');
    expect(postgresFailure(new Error('Connection terminated unexpectedly')).code).toBe('connection');
    const closed = Object.assign(new Error('database "x" is not currently accepting connections'), { code: '55000' });
    expect(postgresFailure(closed).code).toBe('connection');
    expect(postgresFailure(new Error('Query read timeout')).code).toBe('connection');
    expect(postgresFailure(new Error('timeout expired')).code).toBe('connection');
  });

  it('keeps what the driver said for the log alone', () => {
    const failure = postgresFailure(Object.assign(new Error('Key (email)=(canary) already exists'), { code: '23505' }));
    expect(failure.message).not.toContain('canary');
    expect(postgresFailure(failure)).toBe(failure);
  });
});

describe('channels of a trigger function', () => {
  it('are found whether called or stated', () => {
    expect(channelsIn(`BEGIN PERFORM pg_notify('outbox_events', NEW.id::text); RETURN NEW; END`)).toEqual(['outbox_events']);
    expect(channelsIn('BEGIN\n NOTIFY "new_row";\n RETURN NULL; END')).toEqual(['new_row']);
    expect(channelsIn('BEGIN RETURN NEW; END')).toEqual([]);
  });
});
