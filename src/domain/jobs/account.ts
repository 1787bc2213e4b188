/** What the kernel knows of a system account. */
export interface AccountIds {
  readonly uid: number;
  readonly gid: number;
}

/** A system account that jobs run as. */
export interface Account extends AccountIds {
  readonly name: string;
}

/** The capabilities of Linux by which a process that is not root starts and ends jobs as another account. */
export const ACCOUNT_CAPABILITIES: readonly { readonly name: string; readonly number: number }[] = [
  { name: 'CAP_KILL', number: 5 },
  { name: 'CAP_SETGID', number: 6 },
  { name: 'CAP_SETUID', number: 7 },
];
