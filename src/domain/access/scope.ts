/** The scopes of a credential. They are listed where they are needed, never ranked: host is below and beside all. */
export const SCOPES = ['readonly', 'operator', 'approve', 'host'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes that the contract lets through to every GET route. */
export const READERS = ['readonly', 'operator', 'approve'] as const satisfies readonly Scope[];
export const OPERATORS = ['operator'] as const satisfies readonly Scope[];
/** Who may see the values of a plan. */
export const PLAN_READERS = ['operator', 'approve'] as const satisfies readonly Scope[];
export const DECIDERS = ['approve'] as const satisfies readonly Scope[];
/** Who decides in the console, where a person sees the plan. */
export const CONSOLE_DECIDERS = ['operator', 'approve'] as const satisfies readonly Scope[];
