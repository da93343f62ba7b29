typedef struct { int nx, ny; double *u, *v; } grid;
void step(grid *g);
double total(const grid *g);
