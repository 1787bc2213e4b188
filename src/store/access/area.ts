import type { StoreArea } from '../area.ts';

export const ACCESS: StoreArea = { restored: async ({ db }) => void (await db.deleteFrom('sessions').execute()) };
