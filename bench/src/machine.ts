/** What must be known of a machine to read its figures; nothing that names it. */
import { cpus, loadavg, totalmem } from 'node:os';

export interface Machine {
  readonly date: string;
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Runnable processes over the last minute: above the number of cores, times mean little. */
  readonly load: number;
}

export function describeMachine(): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    load: loadavg()[0] ?? 0,
  };
}
