/** A system account that jobs run as. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}
