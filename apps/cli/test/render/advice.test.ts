import { describe, expect, it } from 'vitest';
import { Advice } from '../../src/drive/advice.ts';

const place = { program: 'holdfast', cwd: '/home/ada' };

describe('advice', () => {
  it('leaves the default folder out, and names another as it is seen from here', () => {
    expect(new Advice(place, '/home/ada/.holdfast').resume('r1')).toBe('holdfast resume r1');
    expect(new Advice(place, '/home/ada/runs').resume('r1')).toBe(
      'holdfast resume r1 --directory runs',
    );
    expect(new Advice(place, '/srv/runs').resume('r1')).toBe(
      'holdfast resume r1 --directory /srv/runs',
    );
  });

  it('quotes what a shell would read otherwise', () => {
    expect(new Advice(place, "/srv/ada's runs").show('r1')).toBe(
      "holdfast show r1 --directory '/srv/ada'\\''s runs'",
    );
  });
});
