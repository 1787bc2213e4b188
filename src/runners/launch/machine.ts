import { openSync, readFileSync } from 'node:fs';
import { openSystemCalls, type SystemCalls } from '../sandbox/kernel/system-call.ts';
import { Children } from './children.ts';
import { Confinement } from './confine.ts';
import { aboveThoseOfChild } from './connections.ts';
import { mapCode, mapMemory, type Memory } from './memory.ts';
import { CallList, LIST_BYTES } from './records.ts';
import { LaunchSteps } from './steps.ts';

const PR_GET_DUMPABLE = 3;
const PR_SET_DUMPABLE = 4;
/** Of jobs, where the program itself has not a higher one. */
const OOM_SCORE_ADJ = 500;
/** What a list may leave written in the memory of a slot that waits for its next use. */
const KEPT_BYTES = 64 * 1024;
const MADV_DONTNEED = 4;

/** Memory for one list, while its child shares it. */
export interface Slot {
  list(): CallList;
  /** Gives it back, once the child has left. */
  free(): void;
}

/** What all launches of this process share. */
export class Machine {
  readonly system: SystemCalls;
  readonly code: bigint;
  readonly children: Children;
  readonly confinement: Confinement;
  readonly steps: LaunchSteps;
  /** /dev/null. */
  readonly input: number;
  readonly oomScore: number;
  readonly #free: Memory[] = [];
  readonly #isDumpable: boolean;
  #changing = 0;

  /** Throws where this system has no such calls. */
  constructor() {
    this.system = openSystemCalls();
    this.code = mapCode(this.system);
    this.confinement = new Confinement(this.system);
    this.steps = new LaunchSteps(this.system, this.confinement);
    this.input = aboveThoseOfChild(this.system, openSync('/dev/null', 'r'));
    this.oomScore = Math.max(OOM_SCORE_ADJ, Number(readFileSync('/proc/self/oom_score_adj', 'latin1')));
    this.#isDumpable = this.system.call(this.system.numbers.made.prctl, PR_GET_DUMPABLE) === 1;
    this.children = new Children(this.system);
  }

  takeSlot(): Slot {
    const memory = this.#free.pop() ?? mapMemory(this.system, LIST_BYTES);
    let list = new CallList(memory);
    return {
      list: () => list,
      free: () => {
        if (list.textBytes > KEPT_BYTES)
          this.system.call(this.system.numbers.made.madvise, memory.address, LIST_BYTES, MADV_DONTNEED);
        list = new CallList(memory);
        this.#free.push(memory);
      },
    };
  }

  /**
   * A child changes to another account while it shares our memory: the kernel then closes that memory, and what is ours
   * in /proc, to that account and for all who share it.
   */
  beginChange(): void {
    this.#changing += 1;
  }

  /** With the last such child gone, our memory is opened again, so that the guard finds our descriptors. */
  endChange(): void {
    this.#changing -= 1;
    if (this.#changing === 0 && this.#isDumpable)
      this.system.call(this.system.numbers.made.prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  }
}

let opened: Machine | null = null;

/** The one of this process. Throws where the system has not what it needs. */
export function openMachine(): Machine {
  opened ??= new Machine();
  return opened;
}
