// Carries out a list of system calls (see ../records.ts). x0: the first record.
.text
  mov x19, x0
next:
  ldr x8, [x19]
  ldp x0, x1, [x19, 8]
  ldp x2, x3, [x19, 24]
  ldp x4, x5, [x19, 40]
  svc 0
  str x0, [x19]
  cmp x0, 0
  b.gt passed
  // A result of 0 or an error number: the list goes on where the bit of that number is set in the last word.
  neg x0, x0
  cmp x0, 63
  b.hi failed
  ldr x1, [x19, 56]
  lsr x1, x1, x0
  tbz x1, 0, failed
passed:
  add x19, x19, 64
  b next
failed:
  mov x0, 126
  mov x8, 94
  svc 0
  b failed
