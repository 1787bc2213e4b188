/** A server that does nothing, beside the service: how fast this machine answers at all. */
import { createServer } from 'node:http';
import { FLOOR_PORT } from './service.ts';

createServer((_, response) => response.end('{}')).listen(FLOOR_PORT, '127.0.0.1');
