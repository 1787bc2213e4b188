/** The bundle in a separate folder, where a new build of it can be installed. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { VERSION } from '../../../src/version.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

export interface ProgramCopy {
  readonly main: string;
  /** A build that says that it is this version. */
  install(version: string): void;
  /** The start of what this file of it holds ends with a syntax error, until the next build is installed. */
  damage(file: 'main.js' | 'server.js'): void;
}

/** Of a bundle, by default the one that the tests run; `folder` must not exist. */
export function copyProgram(folder: string, bundle = dirname(process.env['GATEHOUSE_MAIN'] ?? '')): ProgramCopy {
  if (!existsSync(join(bundle, 'main.js'))) throw new Error('these tests need the bundle: npm test makes it');
  const dist = join(folder, 'dist');
  mkdirSync(folder, { mode: 0o755 });
  for (const part of ['package.json', 'bin', 'migrations'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  cpSync(bundle, dist, { recursive: true });
  const main = join(dist, 'main.js');
  return {
    main,
    install(version) {
      cpSync(bundle, dist, { recursive: true });
      const line = `VERSION=${JSON.stringify(VERSION)}`;
      const files = readdirSync(dist).filter((name) => /\.m?js$/.test(name));
      const changed = files.filter((file) => {
        const text = readFileSync(join(dist, file), 'utf8');
        if (!text.includes(line)) return false;
        writeFileSync(join(dist, file), text.replace(line, `VERSION="${version}"`));
        return true;
      });
      if (changed.length === 0) throw new Error(`no file of the bundle has ${line}`);
    },
    damage: (file) => writeFileSync(join(dist, file), 'let broken = ;\n'),
  };
}
