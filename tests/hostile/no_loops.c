// exit: 2
// says: there is no loop nest
#include <stdio.h>
int main(void) { printf("nothing to tune\n"); return 0; }
