// exit: 2
// says: not_c.c
template <typename T> class Matrix { public: T &operator()(int i, int j); };
int main() { for (auto &x : xs) std::cout << x; }
