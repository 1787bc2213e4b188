/** Receivers of pages on loopback: one shaped like ntfy, and a mail server that keeps what it is sent. */
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { createServer as createTcp, type Socket } from 'node:net';
import type { Ending } from '../fixtures/installation.ts';

export interface ReceivedNotification {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** What was posted, where it is JSON. */
  readonly page: {
    readonly topic?: string;
    readonly sequence_id?: string;
    readonly id?: string;
    readonly title: string;
    readonly message: string;
    readonly click: string;
    readonly priority: number;
    readonly actions: readonly { action: string; label: string; url: string; method?: string }[];
  };
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly pages: ReceivedNotification[];
  /** What is answered from now on. */
  answer: number;
  /** Called when a page has arrived, before it is answered; the answer waits for it. */
  onNotification: (() => Promise<void> | void) | null;
}

export async function openReceiver(ending: Ending): Promise<Receiver> {
  const pages: ReceivedNotification[] = [];
  const server = createHttp((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      pages.push({
        path: request.url ?? '',
        headers: request.headers,
        page: JSON.parse(text) as ReceivedNotification['page'],
        at: Date.now(),
      });
      void Promise.resolve(receiver.onNotification?.()).then(() =>
        response.writeHead(receiver.answer, { 'content-type': 'application/json' }).end('{"id":"x","event":"message"}'),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  ending.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const receiver: Receiver = { url: `http://127.0.0.1:${port}`, port, pages, answer: 200, onNotification: null };
  return receiver;
}

export interface MailSink {
  readonly port: number;
  readonly mails: { readonly from: string; readonly to: string; readonly text: string }[];
}

/** As much of RFC 5321 as takes a mail. */
export async function openMailSink(ending: Ending): Promise<MailSink> {
  const mails: MailSink['mails'] = [];
  const open = new Set<Socket>();
  const server = createTcp((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    converse(socket, mails);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ending.after(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as { port: number }).port, mails };
}

function converse(socket: Socket, mails: MailSink['mails']): void {
  let buffer = '';
  let mail = { from: '', to: '' };
  let inData = false;
  const say = (line: string): void => void socket.write(`${line}\r\n`);
  say('220 sink.test ESMTP');
  socket.on('data', (chunk) => {
    buffer += chunk.toString();
    for (;;) {
      const end = buffer.indexOf(inData ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const line = buffer.slice(0, end);
      buffer = buffer.slice(end + (inData ? 5 : 2));
      if (inData) {
        mails.push({ ...mail, text: line });
        inData = false;
        say('250 kept');
      } else if (/^EHLO|^HELO/i.test(line)) say('250 sink.test');
      else if (/^MAIL FROM:/i.test(line)) {
        mail = { from: /<([^>]*)>/.exec(line)?.[1] ?? '', to: '' };
        say('250 ok');
      } else if (/^RCPT TO:/i.test(line)) {
        mail = { ...mail, to: /<([^>]*)>/.exec(line)?.[1] ?? '' };
        say('250 ok');
      } else if (/^DATA/i.test(line)) {
        inData = true;
        say('354 go on');
      } else if (/^QUIT/i.test(line)) {
        say('221 bye');
        socket.end();
      } else say('250 ok');
    }
  });
}
