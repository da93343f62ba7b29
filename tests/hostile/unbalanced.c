// exit: 2
// says: unbalanced.c
static double a[50];
}}}}
int main(void) { for (int i = 0; i < 50; i++) { a[i] = ((i; }
{{{ "unterminated
