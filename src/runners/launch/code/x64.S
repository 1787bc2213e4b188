# Carries out a list of system calls (see ../records.ts). rdi: the first record.
.intel_syntax noprefix
.text
  mov rbx, rdi
next:
  mov rax, [rbx]
  mov rdi, [rbx + 8]
  mov rsi, [rbx + 16]
  mov rdx, [rbx + 24]
  mov r10, [rbx + 32]
  mov r8, [rbx + 40]
  mov r9, [rbx + 48]
  syscall
  mov [rbx], rax
  test rax, rax
  jg passed
  # A result of 0 or an error number: the list goes on where the bit of that number is set in the last word.
  neg rax
  cmp rax, 63
  ja failed
  mov rcx, [rbx + 56]
  bt rcx, rax
  jnc failed
passed:
  add rbx, 64
  jmp next
failed:
  mov edi, 126
  mov eax, 231
  syscall
  jmp failed
