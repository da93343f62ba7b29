#include <stdio.h>
int main(void) { printf("nothing to tune\n"); return 0; }
