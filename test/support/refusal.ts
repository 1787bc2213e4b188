import assert from 'node:assert/strict';
import { Failure, type FailureCode } from '../../src/domain/failure.ts';

/** For assert.rejects and assert.throws: a Failure of this code, whose message matches. */
export function refusal(code: FailureCode, message?: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof Failure, String(error));
    assert.equal(error.code, code, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  };
}
