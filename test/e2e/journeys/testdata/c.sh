# A parallel build with make, sanitizers, a debugger, a shared library.
# needs: gcc make gdb
# flags: --debuggers
mkdir -p src; for n in 1 2 3 4 5 6; do printf 'int f%s(int x) { return x + %s; }\n' $n $n >src/f$n.c; done
cat >src/main.c <<'P'
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
int f1(int), f2(int), f6(int);
static void *run(void *p) { *(int *)p = f6(36); return 0; }
int main(int argc, char **argv) {
	pthread_t t; int x = 0;
	pthread_create(&t, 0, run, &x); pthread_join(t, 0);
	printf("%d %d\n", f1(f2(x)), argc);
	if (argc > 1) { int *p = malloc(4); free(p); return *(volatile int *)p; }
	return 0;
}
P
printf 'CFLAGS = -g -O1\nprog: $(patsubst %%.c,%%.o,$(wildcard src/*.c))\n\t@$(CC) $(CFLAGS) -o $@ $^ -lpthread\n%%.o: %%.c\n\t@$(CC) $(CFLAGS) -c -o $@ $<\n' >Makefile
# inside
make -s -j4; ./prog
gdb -q -batch -ex 'break f6' -ex run -ex 'print x' -ex bt ./prog 2>/dev/null | grep -e '^\$1' -e '^#0' | sed 's/0x[0-9a-f]* in //'
gcc -g -fsanitize=address,undefined -o asan src/*.c -lpthread; ASAN_OPTIONS=detect_leaks=1 ./asan; ./asan fail 2>&1 | grep -o 'heap-use-after-free' | head -1
gcc -shared -fPIC -o libf.so src/f1.c && gcc -o dyn -xc - -L. -lf <<<'int f1(int); int main(void) { return f1(41) != 42; }' && LD_LIBRARY_PATH=. ./dyn && echo dynamic
ulimit -c 0; sh -c 'kill -SEGV $$' 2>/dev/null || echo $?
