// exit: 2
// says: no_such_header.h
// says: missing_header.c
#include "no_such_header.h"
int main(void) { return 0; }
