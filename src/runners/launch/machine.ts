import { openSync } from 'node:fs';
import { openSystemCalls, type SystemCalls } from '../sandbox/kernel/system-call.ts';
import { Children } from './children.ts';
import { Confinement } from './confine.ts';
import { aboveThoseOfChild } from './connections.ts';
import { mapCode, mapMemory, type Memory } from './memory.ts';
import { CallList, LIST_BYTES } from './records.ts';
import { LaunchSteps } from './steps.ts';

const PR_GET_DUMPABLE = 3;
const PR_SET_DUMPABLE = 4;
/** The highest: when memory runs out, the kernel ends a job before any other program. */
export const OOM_SCORE_ADJ = 1_000;
/** The memory of a free slot keeps at most this much text; the pages of a longer list are given back. */
const KEPT_BYTES = 64 * 1024;
const MADV_DONTNEED = 4;

/** Memory for one list, while its child shares it. */
export interface Slot {
  list(): CallList;
  /** Frees the memory for another list; to be called after the child has left it. */
  free(): void;
}

/** The parts that all launches of this process share. */
export class Machine {
  readonly system: SystemCalls;
  readonly code: bigint;
  readonly children: Children;
  readonly confinement: Confinement;
  readonly steps: LaunchSteps;
  /** /dev/null. */
  readonly input: number;
  readonly #free: Memory[] = [];
  readonly #isDumpable: boolean;
  #changing = 0;

  /**
   * Throws where this system does not have the calls. Tests give the ABI of an older kernel, and the children of the
   * machine of this process: only one object may take their ends.
   */
  constructor({ abi, children }: { readonly abi?: number; readonly children?: Children } = {}) {
    this.system = openSystemCalls();
    this.code = mapCode(this.system);
    this.confinement = new Confinement(this.system, abi);
    this.steps = new LaunchSteps(this.system, this.confinement);
    this.input = aboveThoseOfChild(this.system, openSync('/dev/null', 'r'));
    this.#isDumpable = this.system.call(this.system.numbers.made.prctl, PR_GET_DUMPABLE) === 1;
    this.children = children ?? new Children(this.system);
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
   * A child is about to change to another account while it shares our memory. The kernel then makes this memory not
   * dumpable: other processes of that account cannot read it, nor our entries in /proc.
   */
  beginChange(): void {
    this.#changing += 1;
  }

  get isChanging(): boolean {
    return this.#changing > 0;
  }

  /** After the last such child has left, our memory becomes dumpable again, so that the guard can open our pipes. */
  endChange(): void {
    this.#changing -= 1;
    if (this.#changing === 0 && this.#isDumpable)
      this.system.call(this.system.numbers.made.prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
  }
}

let opened: Machine | null = null;

/** Returns the one machine of this process. Throws where the system lacks a call. */
export function openMachine(): Machine {
  opened ??= new Machine();
  return opened;
}
