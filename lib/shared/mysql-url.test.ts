import { describe, expect, it } from 'vitest';
import { mysqlParameters } from './mysql-url';

const parameters = (query: string): ReturnType<typeof mysqlParameters> => mysqlParameters(new URL(`mysql://u:p@h/d${query}`));

describe('a connection string for MySQL', () => {
  it('takes TLS as the servers and as PostgreSQL’s users write it', () => {
    expect(parameters('')).toMatchObject({ sslMode: 'disabled', socket: null });
    expect(parameters('?ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca.pem')).toMatchObject({ sslMode: 'verify_identity', sslCa: '/ca.pem' });
    expect(parameters('?sslmode=verify-full')).toMatchObject({ sslMode: 'verify_identity' });
    expect(parameters('?ssl_mode=required')).toMatchObject({ sslMode: 'required' });
    expect(parameters('?ssl-ca=/ca.pem')).toMatchObject({ sslMode: 'verify_ca' });
  });

  it('has no other parameters: none of the driver’s own options can be switched on', () => {
    for (const query of ['?multipleStatements=true', '?flags=LOCAL_FILES', '?typeCast=true', '?charset=latin1'])
      expect(parameters(query)).toMatch(/^there is no parameter/);
    expect(parameters('?ssl-mode=perhaps')).toMatch(/^there is no such ssl-mode/);
  });
});
