/** What the child that probes reads and answers. */
export interface ProbeOrder {
  readonly way: 'tcp' | 'http' | 'metric' | 'bare-tcp' | 'bare-http';
  readonly port: number;
  readonly count: number;
  readonly atATime: number;
}

export interface Probed {
  readonly ms: number;
  /** Of the whole process. */
  readonly processorMs: number;
}
