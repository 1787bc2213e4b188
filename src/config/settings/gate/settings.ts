import { isOn, setting } from '../setting-values.ts';

export const GATE_SETTINGS = {
  strict: setting({
    flag: 'strict',
    isSwitch: true,
    only: ['serve'],
    help: 'Make the gate strict, as svc gate strict on does; leaving it out changes nothing',
    read: (text) => isOn('strict', text),
  }),
} as const;
