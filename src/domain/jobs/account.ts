/** What the kernel knows of a system account. */
export interface AccountIds {
  readonly uid: number;
  readonly gid: number;
}

/** A system account that jobs run as. */
export interface Account extends AccountIds {
  readonly name: string;
}
