// tuned: two braces
#include <stdio.h>
#define FOR(i, n) for (int i = 0; i < (n); i++)
#define CLEAR(a, n) do { for (int i_ = 0; i_ < (n); i_++) (a)[i_] = 0; } while (0)
#define EACH(i, j) for (int i = 0; i < 50; i++) for (int j = 0; j < 50; j++)
#define BEGIN {
#define END }
#define MUL(x, y) ((x) * (y))
static double a[50], b[50], c[50][50], d[50][50];
static void macros(void)
{
    FOR(i, 50)
        FOR(j, 50)
            c[i][j] += MUL(i + 1, j);
    CLEAR(a, 50);
    EACH(i, j) d[j][i] += c[i][j];
    for (int i = 0; i < 50; i++) BEGIN
        a[i] += i;
    END
}
static void two(void) { for (int i = 0; i < 50; i++) for (int j = 0; j < 50; j++) c[j][i] += i; for (int i = 0; i < 50; i++) for (int j = 0; j < 50; j++) d[j][i] -= i; }
static void unbraced(int flag)
{
    if (flag)
        for (int i = 0; i < 50; i++)
            for (int j = 0; j < 50; j++)
                c[j][i] *= 0.5;
    else
        for (int i = 0; i < 50; i++)
            for (int j = 0; j < 50; j++)
                d[j][i] *= 0.25;
    if (flag > 1) for (int i = 0; i < 50; i++) if (i % 2) for (int j = 0; j < 50; j++) d[i][j] += 1; else for (int j = 0; j < 50; j++) d[j][i] -= 1;
    while (flag-- > 0)
        for (int j = 0; j < 50; j++)
            for (int i = 0; i < 50; i++)
                c[i][j] += flag;
    do for (int j = 0; j < 50; j++) for (int i = 0; i < 50; i++) d[i][j] += 2; while (0);
}
static void labels(int k)
{
    switch (k) {
    case 0: for (int j = 0; j < 50; j++) for (int i = 0; i < 50; i++) c[i][j] += 1; break;
    case 1:
    default:
        for (int j = 0; j < 50; j++)
            for (int i = 0; i < 50; i++)
                c[i][j] -= 3;
    }
here: for (int j = 0; j < 50; j++) for (int i = 0; i < 50; i++) d[i][j] += 1;
    if (k-- > 3) goto here;
}
static void braces(void)
{
	for	(int i = 0; /* a brace { in a comment */ i < 50; // and one here }
		i++)
	{	{	{
		for (int j = 0; j < 50; j++) { ; c[j][i] += '}' - '{'; ; }
	}	}	}
#if 0
    }}}}
#endif
    for (int i = 0; i < 50; \
         i++) \
        for (int j = 0; j < 50; j++) \
            d[j][i] += c[i][j];   /* still
    one comment */ b[3] += 1;
    for (int i = 0; i < 50; i++)
#ifdef NEVER
        for (int j = 0; j < 10; j++)
#else
        for (int j = 0; j < 50; j++)
#endif
            d[j][i] += 0.125;
    // a comment that goes on \
    for (int i = 0; i < 50; i++) d[0][i] = 1e9;
    for (int i = 0; i < 50; i++) ;
    for (int i = 0; i < 50; i++) {}
}
static void digraphs(void)
<%
    for (int i = 0; i < 50; i++) <%
        for (int j = 0; j < 50; j++)
            c<:j:><:i:> += 1;
    %>
%>
int main(void)
{
    for (int t = 0; t < 8; t++) { macros(); two(); unbraced(t % 3); labels(t); braces(); digraphs(); }
    double s = 0;
    EACH(i, j) s = s * 0.99 + c[i][j] - d[j][i] + a[i] * b[j];
    printf("%.9e\n", s);
    return 0;
}
#line 5000 "elsewhere.c"
void unused(void)
{
    for (int j = 0; j < 50; j++)
        for (int i = 0; i < 50; i++)
            c[i][j] -= 3;
}
