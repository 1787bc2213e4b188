import { cString, openSystemCalls } from '../sandbox/kernel/system-call.ts';

/** The attributes by which systemd marks a group that it leaves to a service (`Delegate=yes`); root has its own. */
const MARKS = ['trusted.delegate', 'user.delegate'];
const YES = '1'.charCodeAt(0);

/** True when systemd has delegated this control group. */
export function isMarkedAsDelegated(group: string): boolean {
  const system = openSystemCalls();
  const value = Buffer.alloc(8);
  return MARKS.some((name) => {
    const length = system.call(system.numbers.made.getxattr, cString(group), cString(name), value, value.length);
    return length === 1 && value[0] === YES;
  });
}
